"""Each mistake with scales and weights is made by hand, launched, and named first from the output alone."""

import numpy as np
import pytest
from launched import KEPT, Host, Operands, row_major, shuffled, tiled, up


def first(answer):
    """Exit code 1 and a confirmed cause, exact: the first one."""
    code, found = answer
    assert code == 1
    assert found["verdict"] == "explained"
    assert found["findings"][0]["confirmed"]
    assert found["findings"][0]["exact"]
    return found["findings"][0]


class TestScales:
    @pytest.mark.parametrize("names", [("ScaleA", "ScaleB"), ("ScaleA",), ("ScaleB",)])
    def test_b1_row_major(self, asked, small, ragged, names):
        images = {"ScaleA": row_major(ragged.scale_a), "ScaleB": row_major(ragged.scale_b)}
        output = small.run(ragged, images={name: images[name] for name in names})
        cause = first(asked(small, ragged, output))
        assert cause["name"] == f"scales row-major ({' and '.join(name[-1] for name in names)})"
        assert cause["what"] == (
            f"the scales of {' and '.join(name[-1] for name in names)} lie row by row, the kernel reads tiles"
            " (scale_32x8)"
        )
        assert "scales of " + names[0][-1] + " are read wrong" in cause["evidence"]
        assert "your output equals that of such a launch, 0 ulp in all 20480 outputs" in cause["evidence"]

    def test_row_major_without_padding(self, asked, small, ragged):
        output = small.run(ragged, images={"ScaleA": row_major(ragged.scale_a, columns=1)})
        cause = first(asked(small, ragged, output))
        assert cause["name"] == "scales row-major, columns not padded (A)"

    def test_b2_written_with_52_columns_where_56_are_read(self, asked, small, ragged):
        output = small.run(ragged, images={"ScaleA": tiled(ragged.scale_a, count=52)})
        cause = first(asked(small, ragged, output))
        assert cause["name"] == "column stride unpadded (A)"
        assert cause["what"] == (
            "the scales of A were written with a column count of 52, the kernel reads them with 56"
        )
        assert "row group 1 begins at byte 1792, not 1664" in cause["fix"]

    def test_b2_the_stride_argument_is_52(self, asked, small, ragged):
        output = small.run(ragged, fields={"stride_ScaleA0": 52})
        cause = first(asked(small, ragged, output))
        assert cause["name"] == "stride_ScaleA0 unpadded"
        assert cause["fix"] == "set it to 56: K/32 rounded up"

    def test_b3_padding_of_0x7f(self, asked, small, ragged):
        images = {"ScaleA": tiled(ragged.scale_a, pad=0x7F), "ScaleB": tiled(ragged.scale_b, pad=0x7F)}
        cause = first(asked(small, ragged, small.run(ragged, images=images)))
        assert cause["name"] == "scale pad 0x7f (A and B)"
        assert "hold 0x7f, 1.0, and the kernel multiplies them in" in cause["what"]

    def test_b3_padding_of_0xff_is_nan(self, asked, small, ragged):
        output = small.run(ragged, images={"ScaleA": tiled(ragged.scale_a, pad=0xFF)})
        code, found = asked(small, ragged, output)
        assert code == 1
        assert found["output"]["non_finite"] == 20480
        assert found["findings"][0]["name"].startswith("scale pad 0xff")
        assert "agree by chance" in found["findings"][0]["evidence"]

    def test_b7_scales_of_a_and_b_exchanged(self, asked, small):
        operands = Operands(256, 256, 512)
        output = small.run(operands, pointers={"ScaleA": "ScaleB", "ScaleB": "ScaleA"})
        cause = first(asked(small, operands, output))
        assert cause["name"] == "A/B scales exchanged"
        assert cause["what"] == "ptr_ScaleA points to the scales of B and ptr_ScaleB to those of A"

    def test_b10_tiled_as_cublas_wants_them(self, asked, small, ragged):
        scales = ragged.scale_a
        r, c = np.indices(scales.shape)
        image = np.zeros(up(80, 128) * 56, np.uint8)
        image[(r // 128 * 14 + c // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4] = scales
        cause = first(asked(small, ragged, small.run(ragged, images={"ScaleA": image})))
        assert cause["name"] == "scales tiled as scale_128x4 (A)"

    def test_tiled_for_gfx1250(self, asked, small, ragged):
        images = {}
        for name, scales in (("ScaleA", ragged.scale_a), ("ScaleB", ragged.scale_b)):
            r, c = np.indices(scales.shape)
            images[name] = np.zeros(up(scales.shape[0], 32) * 56, np.uint8)
            images[name][r // 32 * 32 * 56 + c // 4 * 128 + r % 32 * 4 + c % 4] = scales
        cause = first(asked(small, ragged, small.run(ragged, images=images)))
        assert cause["name"] == "scales tiled as scale_32x4 (A and B)"
        assert cause["fix"] == "`argpack layout convert --from scale_32x4 --to scale_32x8`"

    def test_b1_rows_not_padded_to_32(self, asked, small):
        operands = Operands(48, 128, 256)
        cut = tiled(operands.scale_a)[:384]
        noise = np.random.default_rng(3).integers(100, 140, 1 << 16, np.uint8)
        output = small.run(operands, images={"ScaleA": np.concatenate([cut, noise])})
        cause = first(asked(small, operands, output))
        assert cause["name"] == "scale rows not padded (A)"
        assert "rows padded: 48 to 64" in cause["what"]
        assert "depend on memory behind the buffers" in cause["evidence"]

    def test_constant_scales_are_no_evidence_for_a_layout(self, asked, small):
        operands = Operands(64, 128, 256)
        operands.scale_a[:] = 127
        output = small.run(operands, images={"ScaleB": row_major(operands.scale_b)})
        code, found = asked(small, operands, output)
        assert code == 1
        assert found["findings"][0]["what"].startswith("the scales of B lie row by row")
        assert found["untestable"] == [
            "layouts of the scales of A: all of them are equal, and equal values look the same in every order"
        ]


class TestWeights:
    def test_b_is_not_preshuffled(self, asked, small, ragged):
        output = small.run(ragged, images={"B": ragged.b.reshape(-1)})
        cause = first(asked(small, ragged, output))
        assert cause["name"] == "B not preshuffled"
        assert "AITER's shuffle_weight" in cause["fix"]

    def test_g3_b_is_preshuffled_twice(self, asked, small, ragged):
        output = small.run(ragged, images={"B": shuffled(shuffled(ragged.b).reshape(ragged.b.shape))})
        assert first(asked(small, ragged, output))["name"] == "B preshuffled twice"

    def test_g1_b_is_shuffled_in_32x16_tiles(self, asked, small, ragged):
        n, k = np.indices(ragged.b.shape)
        image = np.empty(ragged.b.size, np.uint8)
        image[n // 32 * 32 * 832 + k // 16 * 512 + n % 32 * 16 + k % 16] = ragged.b
        cause = first(asked(small, ragged, small.run(ragged, images={"B": image})))
        assert cause["name"] == "B preshuffled as weight_32x16"

    def test_g2_b_is_preshuffled_for_the_kernel_that_wants_rows(self, asked, plain):
        operands = Operands(64, 256, 256)
        cause = first(asked(plain, operands, plain.run(operands, images={"B": shuffled(operands.b)})))
        assert cause["name"] == "B preshuffled"
        assert cause["fix"] == "give B as it is"

    @pytest.mark.parametrize("operand", ["A", "B"])
    def test_nibbles_swapped_on_one_side(self, asked, small, ragged, tmp_path, operand):
        logical = ragged.a if operand == "A" else ragged.b
        swapped = (logical << 4) | (logical >> 4)
        image = swapped.reshape(-1) if operand == "A" else shuffled(swapped)
        answer = asked(small, ragged, small.run(ragged, images={operand: image}))
        assert first(answer)["name"].startswith("nibbles swapped on one side")
        # Pairs of codes meet in the same products, whichever side is swapped; the order of sums may tell, or not.
        assert {one["name"] for one in answer[1]["findings"]} == {
            "nibbles swapped on one side (A)",
            "nibbles swapped on one side (B)",
        }
        assert "2 causes give this output" in answer[1]["notes"][0]
        placed = tmp_path / "placed.npy"
        np.save(placed, image)
        options = [f"--placed-{operand.lower()}", placed]
        code, found = asked(small, ragged, small.run(ragged, images={operand: image}), *options)
        assert (code, len(found["findings"])) == (1, 1)
        assert found["findings"][0]["what"].startswith(
            f"{operand}: the two nibbles of each byte were exchanged"
        )

    def test_b9_ggml_order_on_one_side(self, asked, small, ragged):
        codes = np.stack([ragged.a & 15, ragged.a >> 4], axis=-1).reshape(80, -1, 2, 16)
        image = (codes[:, :, 0] | codes[:, :, 1] << 4).reshape(-1)
        cause = first(asked(small, ragged, small.run(ragged, images={"A": image})))
        assert cause["name"] == "nibbles in order ggml_q4 (A)"


@pytest.mark.parametrize(
    ("name", "tile", "size"),
    [
        ("BpreShuffle_32x128", (32, 128), (80, 256, 1664)),
        ("BpreShuffle_32x128", (32, 128), (1, 32, 32)),
        ("BpreShuffle_64x256", (64, 256), (70, 96, 288)),
        ("BpreShuffle_96x384", (96, 384), (100, 416, 512)),
        ("BpreShuffle_256x256", (256, 256), (257, 256, 320)),
        ("BpreShuffle_128x512", (128, 512), (130, 512, 96)),
        ("noBpreShuffle_256x256", (256, 256), (30, 256, 352)),
    ],
)
def test_nothing_is_named_on_a_correct_run(asked, kernels_dir, name, tile, size):
    host = Host(kernels_dir, name, tile, preshuffled=not name.startswith("no"))
    operands = Operands(*size)
    code, found = asked(host, operands, host.run(operands))
    assert (code, found["verdict"], found["findings"], found["trouble"]) == (0, "right", [], [])


@pytest.mark.sweep
def test_every_kernel_right_and_with_scales_in_rows(asked, kernels_dir):
    paths = sorted((kernels_dir / "gfx950/f4gemm").glob("f4gemm_*.co"))
    assert len(paths) == 35
    for path in paths:
        name = path.stem.removeprefix("f4gemm_bf16_per1x32Fp4_")
        rows, columns = (int(part) for part in name.rpartition("_")[2].split("x"))
        host = Host(kernels_dir, name, (rows, columns), preshuffled=not name.startswith("no"))
        operands = Operands(rows + 13, 1024, 352)
        KEPT.clear()
        code, found = asked(host, operands, host.run(operands))
        assert (code, found["findings"]) == (0, []), name
        output = host.run(operands, images={"ScaleA": row_major(operands.scale_a, rows=host.rows)})
        assert first(asked(host, operands, output))["name"] == "scales row-major (A)", name
