"""`argpack layout infer` on files: from a pair, from an image alone, and what cannot be told."""

import json

import numpy as np
import pytest
from layout_case import SCALES

from scale_layout import apply, layout_named


def test_infer_from_a_pair(layout):
    code, out, _ = layout("infer", "s.bin", "--logical", "s.npy")
    assert (code, out) == (
        0,
        (
            "s.bin: 3584 bytes, s.npy: 48 x 52\n"
            "  bits     r4 c2 r0 r1 r2 r3 c0 c1\n"
            "           of the offset in the first 32 x 8, lowest first; r0 is the lowest bit of the row\n"
            "  pattern  (mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2\n"
            "  offset   (r//32)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + (r%32)//16\n"
            "  padded   R = 64, C = 56\n"
            "  layout   scale_32x8, used by aiter_e8m0_shuffle_gfx950, aiter_e8m0_shuffle_2025_05,"
            " hipblaslt_blk32_ue8m0_32_8_ext, aiter_scale_a16w4, triton_cdna4_scale, ck_mx_gfx950\n"
        ),
    )
    code, out, _ = layout("infer", "s.bin", "--logical", "s.npy", "--json")
    found = json.loads(out)
    assert (code, found["layouts"][0]["name"], found["bits"][:2]) == (0, "scale_32x8", ["r4", "c2"])
    assert found["solved"]["columns_padded"] == 56


def test_infer_names_the_mistake_of_a_pair_in_no_layout(layout):
    r, c = np.indices(SCALES.shape)
    image = np.zeros(64 * 56, np.uint8)
    image[r // 32 * 32 * 52 + c // 8 * 256 + c % 4 * 64 + r % 16 * 4 + c % 8 // 4 * 2 + r % 32 // 16] = SCALES
    image.tofile("b2.bin")
    code, out, _ = layout("infer", "b2.bin", "--logical", "s.npy")
    words = "scale_32x8: written with column count 52 where 56 is needed"
    assert (code, out.splitlines()[-1]) == (1, f"  mistake  {words}")
    code, out, _ = layout("infer", "b2.bin", "--logical", "s.npy", "--json")
    assert (code, json.loads(out)["mistakes"]) == (1, [words])


def test_infer_of_weights_shuffled_twice_is_no_new_pattern(layout):
    weights = np.random.default_rng(4).integers(0, 256, (48, 96), dtype=np.uint8)
    np.save("w.npy", weights)
    once = apply(layout_named("weight_16x16"), weights, pad_value=None).reshape(weights.shape)
    apply(layout_named("weight_16x16"), once, pad_value=None).tofile("w.bin")
    code, out, _ = layout("infer", "w.bin", "--logical", "w.npy")
    assert code == 1
    assert "  mistake  weight_16x16 was applied twice" in out.splitlines()
    assert "new" not in out


def test_infer_of_a_layout_that_has_no_bits(layout):
    apply(layout_named("scale_48x8_quartile"), SCALES, pad_value=0).tofile("q.bin")
    code, out, _ = layout("infer", "q.bin", "--logical", "s.npy")
    assert (code, out.splitlines()[1:3]) == (
        0,
        [
            "  layout   scale_48x8_quartile, used by wave_quartile_48",
            "  pattern  (mo m4 m12) (ko k8) -> mo ko k8 m12 m4",
        ],
    )


@pytest.mark.parametrize(
    ("logical", "pattern", "code", "line"),
    [
        (
            (32, 4),
            "(mo m32) (ko k4) -> mo ko m32 k4",
            1,
            "  layout   ambiguous, one of 4: row_major, scale_32x4, scale_16x4,",
        ),
        (
            (32, 4),
            "(mo m32) (ko k4) -> mo ko m32 k4",
            1,
            "           all of them are the same bytes at this shape: a larger",
        ),
        (
            (64, 64),
            "(mo m8) (ko k2) -> ko mo k2 m8",
            0,
            "  layout   none that is declared: the pattern above is new",
        ),
    ],
)
def test_infer_of_what_is_ambiguous_or_new(layout, logical, pattern, code, line):
    array = np.random.default_rng(1).integers(0, 256, logical, dtype=np.uint8)
    np.save("a.npy", array)
    assert layout("apply", "--layout", pattern, "a.npy", "-o", "a.bin")[0] == 0
    found, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert found == code
    assert any(one.startswith(line) for one in out.splitlines()), out


def test_infer_of_values_that_repeat_of_swizzles_and_of_nothing(layout):
    few = np.zeros((64, 8), np.uint8)
    few[:, 0] = 1
    np.save("a.npy", few)
    apply(layout_named("scale_32x8"), few, pad_value=None).tofile("a.bin")
    code, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert code == 1
    assert "of them cannot be told from these bytes\n" in out
    assert "           the values repeat too much: a larger or more varied array tells them apart\n" in out
    array = np.random.default_rng(1).integers(0, 256, (16, 16), dtype=np.uint8)
    np.save("a.npy", array)
    r, c = np.indices((16, 16))
    array[r, c ^ (r % 4) * 4].tofile("a.bin")
    code, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert (code, out.splitlines()[-1]) == (
        1,
        "  layout   no pattern of this notation: bits are combined by exclusive or",
    )
    np.random.default_rng(2).permutation(array.reshape(-1)).tofile("a.bin")
    code, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert (code, out.splitlines()[-1][:16]) == (1, "  layout   none:")


def test_infer_from_an_image_alone_is_ambiguous_where_it_must_be(layout):
    np.random.default_rng(0).integers(0, 255, 1024, dtype=np.uint8).tofile("x.bin")
    code, out, _ = layout("infer", "x.bin", "--shape", "128x8")
    assert code == 1
    lines = out.splitlines()
    assert lines[1] == (
        "  ambiguous: rows and columns explain no more than chance in any order: these bytes cannot tell"
    )
    assert lines[2].startswith("  candidates, 16 of the size: ")
    for name in ("row_major", "scale_32x8", "scale_128x4"):
        assert name in lines[2]
    assert lines[-1] == "    and 8 more"


def test_infer_from_an_image_alone_finds_scales_of_a_kind(layout):
    rng = np.random.default_rng(0)
    scales = (np.arange(384)[:, None] // 4 + rng.integers(0, 8, 64) + rng.integers(0, 3, (384, 64))).astype(
        np.uint8
    )
    apply(layout_named("scale_128x4"), scales, pad_value=None).tofile("x.bin")
    code, out, _ = layout("infer", "x.bin", "--shape", "384x64")
    assert code == 0
    assert out.splitlines()[1].startswith("  likely   scale_128x4: ")
    code, out, _ = layout("infer", "x.bin", "--shape", "384x64", "--json")
    assert (code, json.loads(out)["layout"]) == (0, "scale_128x4")


def test_infer_of_padding_narrows_to_the_layouts_whose_pad_bytes_are_equal(layout):
    code, out, _ = layout("infer", "s.bin", "--shape", "48x52")
    assert code == 1
    lines = out.splitlines()
    assert lines[2] == "  candidates, 2 of the size: scale_32x8_k_split, scale_32x8"
    assert all(line.endswith("  1088 pad bytes, all 0x7f") for line in lines[4:])


def test_infer_of_a_kernel_is_passed_on(layout, monkeypatch):
    monkeypatch.setattr("argpack.cli.layout_infer.run", lambda args: 0 if args.kernel == "f4.co" else 3)
    assert layout("infer", "f4.co", "-m", "64")[0] == 0
    assert layout("infer", "f4gemm_256")[0] == 3
