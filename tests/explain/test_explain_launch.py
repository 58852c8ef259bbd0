"""Each mistake with arguments, grid and D is made by hand, launched, and named first from the output alone."""

import numpy as np
import pytest
from launched import Operands

from argpack.numerics import Rounding, float64_to_bf16


def first(answer):
    """Exit code 1 and a confirmed cause: the first one."""
    code, found = answer
    assert code == 1
    assert found["verdict"] == "explained"
    assert found["findings"][0]["confirmed"]
    return found["findings"][0]


def exact(answer):
    cause = first(answer)
    assert cause["exact"]
    return cause["name"]


@pytest.fixture(scope="module")
def wide():
    """Several tiles in both directions, M and N far apart."""
    return Operands(80, 256, 256)


class TestFields:
    @pytest.mark.parametrize("name", ["stride_A0", "stride_B0"])
    def test_a_stride_in_bytes(self, asked, small, wide, name):
        answer = asked(small, wide, small.run(wide, fields={name: 128}))
        assert exact(answer) == f"{name} in bytes"
        assert (
            "counts bytes, the kernel takes fp4 elements: it is half of what it should be"
            in first(answer)["what"]
        )

    @pytest.mark.parametrize("name", ["stride_A0", "stride_B0", "stride_ScaleA0", "stride_ScaleB0"])
    def test_a_stride_twice_too_large(self, asked, small, wide, name):
        right = 8 if "Scale" in name else 256
        answer = asked(small, wide, small.run(wide, fields={name: 2 * right}))
        assert exact(answer) == f"{name} doubled"

    def test_the_stride_of_d_in_bytes(self, asked, small, wide):
        output = small.run(wide, fields={"stride_C0": 512}, room=256)
        assert not output[1::2].any()
        answer = asked(small, wide, output)
        assert exact(answer) == "stride_C0 in bytes"
        assert "10240 outputs are not written and are all 0" in first(answer)["evidence"]

    def test_a3_the_stride_of_d_in_the_slot_that_nobody_reads(self, asked, small, wide):
        output = small.run(wide, fields={"stride_C0": 0, "stride_D0": 256})
        answer = asked(small, wide, output)
        assert exact(answer) == "stride_C0 left zero"
        assert "takes D's row stride from there and never reads stride_D0" in first(answer)["what"]

    def test_b6_the_stride_of_padded_rows(self, asked, small):
        operands = Operands(40, 160, 288)
        output = small.run(operands, fields={"stride_A0": 384})
        assert first(asked(small, operands, output))["name"] == "stride_A0 of rows padded to 128"
        output = small.run(operands, fields={"stride_C0": 256}, room=64)
        assert exact(asked(small, operands, output)) == "stride_C0 of rows padded to 128"

    def test_m_and_n_exchanged(self, asked, small, wide):
        output = small.run(wide, fields={"M": 256, "N": 80, "stride_C0": 80}, room=256)
        assert exact(asked(small, wide, output)) == "M and N exchanged, D's stride with them"

    def test_m_and_n_exchanged_alone(self, asked, small, wide):
        output = small.run(wide, fields={"M": 256, "N": 80}, room=512)
        assert exact(asked(small, wide, output)) == "M and N exchanged"

    def test_alpha_was_not_passed_on(self, asked, large):
        operands = Operands(16, 256, 256)
        cause = first(asked(large, operands, large.run(operands, fields={"alpha": 1.0}), "--alpha", "0.375"))
        assert cause["name"] == "alpha ignored"
        assert cause["what"] == "alpha is not applied: 0.375 was meant, the output is that of 1"

    def test_a_kernel_that_ignores_alpha(self, asked, small, wide):
        cause = first(asked(small, wide, small.run(wide, fields={"alpha": 0.375}), "--alpha", "0.375"))
        assert cause["name"] == "alpha ignored"
        assert cause["what"] == "this kernel reads alpha and ignores it, found 0.375"

    def test_alpha_as_an_integer_is_next_to_zero(self, asked, large):
        operands = Operands(16, 256, 256)
        tiny = float(np.array([1], np.uint32).view(np.float32)[0])
        code, found = asked(large, operands, large.run(operands, fields={"alpha": tiny}))
        assert code == 1
        assert found["findings"][0]["name"] == "alpha zero"
        assert "is the integer 1 where a float32 belongs" in found["findings"][0]["what"]


class TestGrid:
    def test_a13_the_last_tile_is_left_out(self, asked, small):
        operands = Operands(80, 288, 256)
        answer = asked(small, operands, small.run(operands, grid=(2, 2, 1)))
        assert exact(answer) == "last tile left out"
        assert "the tiles of 32 x 128 at the edges of 80 x 288 are left out" in first(answer)["what"]
        assert first(answer)["fix"] == "divide up: 3 x 3 x 1 workgroups (HIP's blocks)"

    def test_only_rows_are_left_out(self, asked, small, wide):
        assert exact(asked(small, wide, small.run(wide, grid=(2, 2, 1)))) == "last tile left out"

    def test_a13_blocks_where_threads_are_counted(self, asked, small):
        operands = Operands(40, 512, 256)
        answer = asked(small, operands, small.run(operands, grid=(1, 2, 1)))
        assert exact(answer) == "workgroups passed where work-items are counted"
        assert "hipExtModuleLaunchKernel" in first(answer)["what"]

    def test_x_and_y_exchanged(self, asked, small):
        operands = Operands(64, 512, 256)
        assert (
            exact(asked(small, operands, small.run(operands, grid=(2, 4, 1), room=256)))
            == "grid x and y exchanged"
        )

    def test_the_grid_of_another_kernels_tile(self, asked, small):
        operands = Operands(80, 640, 256)
        answer = asked(small, operands, small.run(operands, grid=(2, 1, 1)))
        assert exact(answer) == "grid of a 96x384 tile"
        assert first(answer)["what"].endswith("tiles of 96 x 384, this one has tiles of 32 x 128")

    def test_a_kernel_that_renumbers_its_workgroups(self, asked, small):
        """34 tiles in a row are more than the 32 that this kernel takes together: a row less leaves other tiles out."""
        operands = Operands(64, 34 * 128, 256)
        output = small.run(operands, grid=(34, 1, 1))
        assert not output[:32, 32 * 128 :].any()
        assert output[32:, : 32 * 128].any()
        assert exact(asked(small, operands, output)) == "grid of a 64x128 tile"

    def test_what_was_in_d_before_is_known(self, asked, small, wide, tmp_path):
        before = np.random.default_rng(5).integers(0, 1 << 14, (80, 256), np.uint16)
        np.save(tmp_path / "before.npy", before)
        output = small.run(wide, grid=(2, 2, 1), before=before)
        answer = asked(small, wide, output, "--before", tmp_path / "before.npy")
        assert exact(answer) == "last tile left out"


class TestSplit:
    @pytest.fixture
    def split(self):
        """Cut in 2^2, a slice has 160 elements of K, rounded up to 256: three slices."""
        return Operands(48, 256, 640)

    def test_a12_d_holds_the_last_result(self, asked, large, split):
        once = large.run(split, fields={"log2_k_split": 2}, grid=(1, 1, 3))
        twice = large.run(split, fields={"log2_k_split": 2}, grid=(1, 1, 3), before=once)
        cause = first(asked(large, split, twice, "--log2-k-split", "2"))
        assert cause["name"] == "D not zeroed before split-K"

    def test_a12_d_before_is_given(self, asked, large, split, tmp_path):
        before = np.full((48, 256), 0x47C0, np.uint16)
        np.save(tmp_path / "before.npy", before)
        output = large.run(split, fields={"log2_k_split": 2}, grid=(1, 1, 3), before=before)
        answer = asked(large, split, output, "--log2-k-split", "2", "--before", tmp_path / "before.npy")
        assert exact(answer) == "D not zeroed before split-K"
        assert "D holds 12288 values other than 0 before the launch, and 3 slices" in first(answer)["what"]

    def test_a12_grid_z_is_a_power_of_two(self, asked, large, split):
        output = large.run(split, fields={"log2_k_split": 2}, grid=(1, 1, 4))
        answer = asked(large, split, output, "--log2-k-split", "2")
        assert exact(answer) == "grid z is 2^log2_k_split"
        assert "which leaves 3" in first(answer)["what"]

    def test_only_one_slice_is_launched(self, asked, large, split):
        output = large.run(split, fields={"log2_k_split": 2}, grid=(1, 1, 1))
        assert exact(asked(large, split, output, "--log2-k-split", "2")) == "grid z is 1"

    def test_a_correct_split_in_another_order(self, asked, large, split):
        code, found = asked(
            large, split, sliced(split, np.zeros((48, 256), np.uint16)), "--log2-k-split", "2"
        )
        assert (code, found["verdict"]) == (0, "right")

    def test_a12_on_a_device_that_adds_slices_in_another_order(self, asked, large, split):
        once = sliced(split, np.zeros((48, 256), np.uint16))
        code, found = asked(large, split, sliced(split, once), "--log2-k-split", "2")
        assert code == 1
        cause = found["findings"][0]
        assert (cause["name"], cause["exact"]) == ("D not zeroed before split-K", False)
        assert "but for the order of sums" in cause["evidence"]


class TestNumbers:
    @pytest.mark.parametrize("factor", [2.0, 0.5])
    def test_e3_fnuz_taken_for_ocp(self, asked, small, wide, factor):
        values = (small.run(wide).astype(np.uint32) << 16).view(np.float32) * np.float32(factor)
        answer = asked(small, wide, values)
        assert exact(answer) == f"uniform factor {factor:g}"
        assert "fnuz" in first(answer)["what"]

    def test_e7_truncation_is_named(self, asked, small):
        operands = exact_operands()
        values = product(operands)
        assert exact(asked(small, operands, float64_to_bf16(values, rounding=Rounding.TOWARD_ZERO))) == (
            "rounded toward zero (truncation)"
        )

    def test_e7_ties_away_from_zero_are_named(self, asked, small):
        operands = exact_operands()
        output = float64_to_bf16(product(operands), rounding=Rounding.AWAY)
        code, found = asked(small, operands, output)
        assert code == 0
        assert found["notes"] == [
            "every output equals the reference rounded nearest, ties away from zero, not to nearest even"
        ]

    def test_e5_nan_is_counted_with_its_first_place(self, explain, asked, small, wide, tmp_path):
        output = small.run(wide)
        output[5, 7] = output[9, 1] = 0x7FC0
        output[2, 2] ^= 0x4000
        code, found = asked(small, wide, output)
        assert (code, found["verdict"], found["findings"]) == (1, "unexplained", [])
        assert found["trouble"] == ["2 outputs are NaN or infinite, the first at row 5, column 7"]
        assert found["output"]["wrong"] == 3
        code, out, _ = explain(small.path, *wide.options(tmp_path), "--output", tmp_path / "d.npy")
        assert code == 1
        assert "wrong, and none of " in out
        assert " hypotheses gives this output" in out

    def test_e8_writes_outside_m_x_n_are_reported(self, asked, small, wide):
        memory = np.full((96, 272), 0x7FA5, np.uint16)
        memory[:80, :256] = small.run(wide)
        code, found = asked(small, wide, memory)
        assert (code, found["verdict"]) == (0, "right")
        memory[3, 260:262] = 0
        code, found = asked(small, wide, memory)
        assert code == 1
        assert found["trouble"] == [
            "2 elements of D outside 80 x 256 written, the first at row 3, column 260"
        ]


def sliced(operands, before):
    """What slices of 256 elements of K add to D, the last one first."""
    total = before
    for start in (512, 256, 0):
        values = (total.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        part = float64_to_bf16(product(operands, slice(start, start + 256)))
        added = (part.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        total = float64_to_bf16(values + added)
    return total


def exact_operands():
    """Products of which float32 loses nothing, and many of them halfway between two bf16."""
    operands = Operands(32, 128, 256)
    operands.scale_a[:], operands.scale_b[:] = 127, 127
    operands.scale_a[::2], operands.scale_b[::3] = 128, 126
    return operands


def product(operands, part=slice(None)):
    """A·Bᵀ over a part of K, by a table of the 16 codes."""
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])

    def values(codes, scales):
        pairs = np.stack([codes & 15, codes >> 4], axis=-1).reshape(len(codes), -1)
        return table[pairs] * np.repeat(2.0 ** (scales.astype(float) - 127), 32, axis=1)

    a, b = values(operands.a, operands.scale_a), values(operands.b, operands.scale_b)
    return a[:, part] @ b[:, part].T
