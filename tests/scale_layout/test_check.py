"""Public mistakes with scale and weight layouts, and the words in which each is told.

Rows not padded (rocm-libraries P12232), the writer's column count (aiter P2900), pad values (Primus-Turbo P383),
shuffled twice (sglang P28963), 32x16 for 16x16 (aiter I671), A and B exchanged (CUDALibrarySamples I248).
"""

import numpy as np
import pytest

from argpack.errors import InputError
from scale_layout import (
    LAYOUTS,
    Layout,
    Tensor,
    apply,
    invert,
    layout_named,
    layout_of_pattern,
    nibble_order_named,
    offset,
    pack_nibbles,
    unpack_nibbles,
)
from scale_layout.diagnose import Diagnosis, check_image
from scale_layout.mistakes import explanations_by

SCALE = layout_named("scale_32x8")
WEIGHT = layout_named("weight_16x16")


def numbered(rows: int, cols: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(100, 140, (rows, cols), dtype=np.uint8)


def found(layout: Layout, image: np.ndarray, logical: np.ndarray, **more: object) -> Diagnosis:
    return check_image(layout, image, logical, layouts=LAYOUTS, **more)


def wrong(layout: Layout, image: np.ndarray, logical: np.ndarray, **more: object) -> tuple[str, ...]:
    diagnosis = found(layout, image, logical, **more)
    assert not diagnosis.right
    return diagnosis.sentences


S = numbered(48, 52)  # K = 1664: 52 columns, padded to 56
S8 = numbered(48, 8)  # K = 256
W = numbered(32, 64)


def test_a_right_image() -> None:
    diagnosis = found(SCALE, apply(SCALE, S, pad_value=0x7F), S, pad_value=0x7F)
    assert diagnosis.right
    assert diagnosis.sentences == (
        "scale_32x8: all 2496 bytes lie where they must",
        "48 rows pad to 64 and 52 columns pad to 56: 1088 pad bytes, all 0x7f",
    )
    assert diagnosis.notes == ()


def test_a_right_image_without_padding() -> None:
    assert found(WEIGHT, apply(WEIGHT, W, pad_value=None), W).sentences == (
        "weight_16x16: all 2048 bytes lie where they must",
    )


def test_b1_rows_not_padded_to_32() -> None:
    size, reason = wrong(SCALE, apply(SCALE, S8, pad_value=0)[:384], S8)
    assert size == "48 rows pad to 64: expected 512 bytes, found 384, the size without padding"
    assert reason == (
        "rows were not padded: what fits lies where it must, but 64 of 384 bytes,"
        " from row 32 on, belong beyond the end"
    )


def test_b1_the_other_projects_padding() -> None:
    assert wrong(SCALE, apply(SCALE, S8, pad_value=0, row_multiple=256), S8) == (
        "48 rows pad to 64: expected 512 bytes, found 2048, as if rows were padded to 256 (row_multiple)",
        "the first 512 bytes lie where they must",
    )


def test_padding_that_is_only_cut_off() -> None:
    rows_of_weights = numbered(17, 64)
    image = apply(layout_named("weight_32x16"), rows_of_weights, pad_value=0)
    last = int(np.flatnonzero(image)[-1])
    assert wrong(layout_named("weight_32x16"), image[: last + 1], rows_of_weights)[-1] == (
        "rows were not padded: all bytes lie where they must, but padding that is read lies beyond the end"
    )


def written_with(count: int, size: int) -> np.ndarray:
    """What a writer leaves that takes `count` for the padded number of columns."""
    r, c = np.indices(S.shape)
    image = np.zeros(size, np.uint8)
    places = (
        (r // 32) * 32 * count + (c // 8) * 256 + (c % 4) * 64 + (r % 16) * 4 + c % 8 // 4 * 2 + r % 32 // 16
    )
    image[places] = S
    return image


def test_b2_written_with_the_unpadded_column_count() -> None:
    assert wrong(SCALE, written_with(52, 64 * 56), S) == ("written with column count 52 where 56 is needed",)


def test_b2_written_with_too_large_a_column_count() -> None:
    assert wrong(SCALE, written_with(64, 64 * 64), S) == (
        "48 rows pad to 64 and 52 columns pad to 56: expected 3584 bytes, found 4096",
        "written with column count 64 where 56 is needed",
    )


def test_a_wrong_row_count_where_the_formula_has_rows() -> None:
    panels = layout_of_pattern("(mo m8) (ko k4) -> ko mo m8 k4")
    logical = numbered(12, 8)
    r, c = np.indices(logical.shape)
    image = np.zeros(128, np.uint8)
    image[c // 4 * 4 * 12 + r * 4 + c % 4] = logical
    assert "written with row count 12 where 16 is needed" in " ".join(wrong(panels, image, logical))


def test_b3_pad_value() -> None:
    assert wrong(SCALE, apply(SCALE, S, pad_value=0x7F), S, pad_value=0) == (
        "scale_32x8: all 2496 bytes lie where they must",
        "48 rows pad to 64 and 52 columns pad to 56: 1088 pad bytes, all not 0x00: found 0x7f",
    )
    image = apply(SCALE, numbered(32, 4), pad_value=0)
    image[2] = 9
    assert "1 of them not 0x00: found 0x00, 0x09" in wrong(SCALE, image, numbered(32, 4), pad_value=0)[1]


def test_b3_a_pad_byte_0xff_is_nan() -> None:
    diagnosis = found(SCALE, apply(SCALE, S, pad_value=0xFF), S)
    assert diagnosis.right
    assert diagnosis.notes == ("a pad byte 0xff is NaN as an E8M0 scale, and NaN times a padded 0 is NaN",)


def test_an_image_in_no_layout_is_explained_without_being_told_which_was_meant() -> None:
    def explained(image: np.ndarray, logical: np.ndarray) -> list[str]:
        return list(explanations_by(LAYOUTS, image, logical))

    assert explained(written_with(52, 64 * 56), S) == [
        "scale_32x8: written with column count 52 where 56 is needed"
    ]
    scales = apply(SCALE, S, pad_value=0).reshape(64, 56)
    assert explained(apply(SCALE, scales, pad_value=0), S) == ["scale_32x8 was applied twice"]
    stale = S.copy()
    stale[:, 51] = 1
    assert explained(apply(SCALE, stale, pad_value=0), S) == [
        "scale_32x8: column 51, the last, was not written: all before lies where it must"
    ]
    assert explained(numbered(64, 56, seed=2).reshape(-1), S) == []


def test_uninitialised_padding_is_shown_briefly() -> None:
    image = apply(SCALE, S, pad_value=0)
    r, c = np.indices((64, 56))
    outside = (r >= 48) | (c >= 52)
    image[offset(SCALE, r, c, cols_padded=56)[outside]] = np.arange(outside.sum()) % 7
    assert found(SCALE, image, S).sentences[1].endswith("1088 pad bytes, 0x00, 0x01, 0x02, 0x03, …")


def test_b5_a_tail_column_that_was_never_written() -> None:
    scales = numbered(48, 11)  # N = 1296 in blocks of 128: the eleventh holds 16 only
    stale = scales.copy()
    stale[:, 10] = 0xCD
    assert wrong(SCALE, apply(SCALE, stale, pad_value=0), scales) == (
        "column 10, the last, was not written: all before lies where it must",
    )
    stale = S.copy()
    stale[40:] = 0
    assert wrong(SCALE, apply(SCALE, stale, pad_value=0), S) == (
        "rows 40 to 47, the last, were not written: all before lies where it must",
    )


def test_b5_more_than_half_that_is_wrong_is_not_called_unwritten() -> None:
    stale = S.copy()
    stale[:, 20:] = 0
    assert "no known mistake explains the others" in wrong(SCALE, apply(SCALE, stale, pad_value=0), S)[0]


def test_b6_addressed_with_the_unpadded_k() -> None:
    scales = numbered(64, 90)  # K = 2880 where 3072 is allocated
    r, c = np.indices(scales.shape)
    image = np.zeros(64 * 96, np.uint8)
    image[r // 32 * 32 * 90 + c // 8 * 256 + c % 4 * 64 + r % 16 * 4 + c % 8 // 4 * 2 + r % 32 // 16] = scales
    assert wrong(SCALE, image, scales) == ("written with column count 90 where 96 is needed",)


def test_b6_addressed_with_the_unpadded_n() -> None:
    panels = layout_named("weight_16x32_k_major")
    weights = numbered(40, 64)
    r, c = np.indices(weights.shape)
    image = np.zeros(48 * 64, np.uint8)
    image[c // 32 * 32 * 40 + r // 16 * 512 + c % 32 // 16 * 256 + r % 16 * 16 + c % 16] = weights
    assert "written with row count 40 where 48 is needed" in wrong(panels, image, weights)


def test_b7_a_and_b_exchanged() -> None:
    other = numbered(48, 52, seed=1)
    assert wrong(SCALE, apply(SCALE, other, pad_value=0), S, other=other) == (
        "this is the image of the other operand: A and B were exchanged",
    )


def test_b10_the_layout_of_another_backend() -> None:
    assert wrong(SCALE, apply(layout_named("nvidia_128x4"), S, pad_value=0), S) == (
        "48 rows pad to 64 and 52 columns pad to 56: expected 3584 bytes, found 6656",
        "scale_128x4 was applied instead of scale_32x8",
    )


def test_32x4_instead_of_32x8() -> None:
    assert wrong(SCALE, apply(layout_named("scale_32x4"), S, pad_value=0, col_multiple=8), S) == (
        "scale_32x4 was applied instead of scale_32x8: it is for waves of 32 lanes, scale_32x8 for waves of 64",
    )


def test_scales_not_shuffled() -> None:
    assert wrong(SCALE, S.reshape(-1).copy(), S) == (
        "48 rows pad to 64 and 52 columns pad to 56: expected 3584 bytes, found 2496, the size without padding",
        "scale_32x8 was not applied: these are the rows one after the other",
    )


def test_scales_padded_and_not_shuffled() -> None:
    padded = np.zeros((64, 56), np.uint8)
    padded[:48, :52] = S
    assert wrong(SCALE, padded.reshape(-1), S) == (
        "scale_32x8 was not applied: these are the rows one after the other, padded to 56 bytes",
    )


def test_g1_32x16_instead_of_16x16() -> None:
    assert wrong(WEIGHT, apply(layout_named("weight_32x16"), W, pad_value=None), W) == (
        "weight_32x16 was applied instead of weight_16x16",
    )


def test_g2_gate_and_up_interleaved() -> None:
    image = apply(layout_named("weight_16x16_gate_up_rows"), W, pad_value=None)
    assert wrong(WEIGHT, image, W) == ("weight_16x16_gate_up_rows was applied instead of weight_16x16",)


def test_g2_weights_not_shuffled() -> None:
    assert wrong(WEIGHT, W.reshape(-1).copy(), W) == (
        "weight_16x16 was not applied: these are the rows one after the other",
    )


def test_g2_weights_shuffled_for_a_kernel_that_wants_them_row_by_row() -> None:
    weights = numbered(64, 64)
    assert wrong(layout_named("row_major"), apply(WEIGHT, weights, pad_value=None), weights) == (
        "weight_16x16 was applied instead of row_major",
    )


def test_g3_shuffled_twice() -> None:
    weights = numbered(64, 128)
    once = apply(WEIGHT, weights, pad_value=None).reshape(weights.shape)
    assert wrong(WEIGHT, apply(WEIGHT, once, pad_value=None), weights) == ("weight_16x16 was applied twice",)
    scales = apply(SCALE, S, pad_value=0).reshape(64, 56)
    assert wrong(SCALE, apply(SCALE, scales, pad_value=0), S) == ("scale_32x8 was applied twice",)


def test_g3_invert_in_place_of_apply() -> None:
    weights = numbered(64, 128)
    image = invert(WEIGHT, weights.reshape(-1), rows=64, cols=128).reshape(-1)
    assert wrong(WEIGHT, image, weights) == (
        "weight_16x16 was undone where it should have been applied (invert in place of apply)",
    )


def test_g4_a_helper_for_32_lanes_and_one_for_64() -> None:
    # A lane keeps all of K that its wave's tile of 16 x 128 bytes gives it: 32 bytes with 64 lanes, 64 with 32.
    wide, narrow = (
        Layout(name=f"lanes_{wave}", tensor=Tensor.WEIGHTS, pattern=pattern, unit="byte", doc="x", wave=wave)
        for wave, pattern in (
            (64, "(no n16) (ko k4 k32) -> no ko k4 n16 k32"),
            (32, "(no n16) (ko k2 k64) -> no ko k2 n16 k64"),
        )
    )
    weights = numbered(32, 256)
    diagnosis = check_image(wide, apply(narrow, weights, pad_value=None), weights, layouts=[narrow])
    assert diagnosis.sentences == (
        "lanes_32 was applied instead of lanes_64: it is for waves of 32 lanes, lanes_64 for waves of 64",
    )


def test_rows_and_columns_exchanged() -> None:
    square = numbered(64, 64)
    assert wrong(SCALE, apply(SCALE, np.ascontiguousarray(square.T), pad_value=None), square) == (
        "this is the image of the transpose: rows and columns were exchanged",
    )


def test_nibbles_exchanged() -> None:
    image = apply(WEIGHT, (W << np.uint8(4)) | (W >> np.uint8(4)), pad_value=None)
    (words,) = wrong(WEIGHT, image, W)
    assert words == (
        "the two nibbles of each byte were exchanged: nibbles are in the order high_first where mx is meant: "
        "byte i: code 2i high, 2i+1 low"
    )


def test_b9_nibbles_in_the_order_of_another_project() -> None:
    codes = unpack_nibbles(nibble_order_named("mx"), W)
    image = apply(WEIGHT, pack_nibbles(nibble_order_named("ggml_q4"), codes), pad_value=None)
    (words,) = wrong(WEIGHT, image, W)
    assert words == (
        "nibbles are in the order ggml_q4 where mx is meant: blocks of 32: byte j holds code j low, j+16 high"
        " (GGML Q4_0, MXFP4)"
    )
    narrow = numbered(32, 8)  # 16 codes are no whole block of 32: that order cannot be meant
    assert (
        "no known mistake" in wrong(layout_named("row_major"), numbered(32, 8, seed=1).reshape(-1), narrow)[0]
    )


def test_several_mistakes_that_give_the_same_bytes_are_all_named() -> None:
    narrow = numbered(32, 64)  # 16x16 on two tiles of rows and four of columns: twice is its inverse
    once = apply(WEIGHT, narrow, pad_value=None).reshape(narrow.shape)
    assert wrong(WEIGHT, invert(WEIGHT, narrow.reshape(-1), rows=32, cols=64).reshape(-1), narrow) == (
        "either weight_16x16 was applied twice",
        "or weight_16x16 was undone where it should have been applied (invert in place of apply)",
    )
    assert not np.array_equal(once, narrow)


def test_single_wrong_bytes_are_located() -> None:
    image = apply(SCALE, S, pad_value=0)
    image[77] ^= 1
    (sentence,) = wrong(SCALE, image, S)
    assert sentence == (
        "the order is right, but 1 of 2496 bytes are not the logical array's; the first is row 19, column 1,"
        f" at offset 77: expected {S[19, 1]:#04x}, found {S[19, 1] ^ 1:#04x}"
    )


def test_bytes_of_something_else() -> None:
    (sentence,) = wrong(SCALE, numbered(64, 56, seed=2).reshape(-1), S)
    assert sentence.endswith("bytes lie where scale_32x8 puts them, and no known mistake explains the others")


def test_an_array_too_small_to_tell_layouts_apart_is_noted() -> None:
    one_panel = numbered(32, 4)
    diagnosis = found(
        layout_named("scale_32x4"), apply(layout_named("scale_32x4"), one_panel, pad_value=None), one_panel
    )
    assert diagnosis.right
    assert diagnosis.notes[0].startswith("row_major, scale_16x4, scale_k4_panels would be the same bytes")


def test_an_empty_image_holds_nothing() -> None:
    size, reason = wrong(SCALE, np.zeros(0, np.uint8), S)
    assert size == "48 rows pad to 64 and 52 columns pad to 56: expected 3584 bytes, found 0"
    assert reason.startswith("0 of 2496 bytes lie where scale_32x8 puts them")


def test_e6_equal_scales_prove_nothing() -> None:
    ones = np.full((32, 8), 127, np.uint8)
    with pytest.raises(
        InputError, match="all 256 logical bytes are 0x7f: equal values look the same in every layout"
    ):
        found(SCALE, ones.reshape(-1), ones)


def test_b8_scales_that_are_no_whole_tiles_are_refused_or_padded_never_out_of_range() -> None:
    image = apply(layout_named("scale_32x4"), numbered(33, 9), pad_value=0)
    assert image.size == 64 * 12


def test_b11_a_partial_block_of_k_has_a_scale_column_of_its_own() -> None:
    # K = 136: the fifth column covers 8 elements, and its three neighbours pad the tile.
    scales = numbered(32, 5)
    image = apply(SCALE, scales, pad_value=0)
    assert image.size == 256
    assert (
        found(SCALE, image, scales, pad_value=0).sentences[1] == "5 columns pad to 8: 96 pad bytes, all 0x00"
    )
