"""Laws that hold for every layout at every shape, refusals, and the confusions that the names prevent."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.errors import InputError
from scale_layout import (
    LAYOUTS,
    Layout,
    Tensor,
    apply,
    convention_named,
    element,
    formula_text,
    image_schema,
    invert,
    layout_named,
    offset,
    padded_shape,
)

by_name = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
SCALE = layout_named("scale_32x8")
WEIGHT = layout_named("weight_16x16")


def numbered(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(rows * 1000 + cols).integers(0, 256, (rows, cols), dtype=np.uint8)


def whole_tiles(layout: Layout) -> bool:
    """Whether rows must be whole tiles because they are two parts, [gate | up]."""
    return not layout.axes.rows.extendable


@st.composite
def shapes(draw: st.DrawFn, layout: Layout) -> tuple[int, int, int, int]:
    """Rows, columns, and multiples to pad to."""
    tile_rows, tile_cols = layout.tile
    row_multiple = tile_rows * draw(st.integers(1, 2))
    col_multiple = tile_cols * draw(st.integers(1, 2))
    rows = draw(st.integers(1, tile_rows + 5))
    if whole_tiles(layout):
        rows = row_multiple * draw(st.integers(1, 2))
    return rows, draw(st.integers(1, tile_cols + 5)), row_multiple, col_multiple


@by_name
@settings(deadline=None)
@given(st.data())
def test_apply_invert_offset_formula_and_schema_agree(
    evaluate: Callable[..., np.ndarray], layout: Layout, data: st.DataObject
) -> None:
    rows, cols, row_multiple, col_multiple = data.draw(shapes(layout))
    multiples = {"row_multiple": row_multiple, "col_multiple": col_multiple}
    logical = numbered(rows, cols)
    image = apply(layout, logical, pad_value=0x5A, **multiples)
    padded = padded_shape(layout, rows, cols, **multiples)
    assert image.shape == (padded[0] * padded[1],)
    assert np.array_equal(invert(layout, image, rows=rows, cols=cols, **multiples), logical)

    r, c = np.indices((rows, cols))
    offsets = offset(layout, r, c, rows_padded=padded[0], cols_padded=padded[1])
    assert np.array_equal(image[offsets], logical)
    padding = np.ones(image.size, bool)
    padding[offsets] = False
    assert padding.sum() == image.size - logical.size  # no two elements share a byte
    assert (image[padding] == 0x5A).all()
    assert np.array_equal(evaluate(formula_text(layout), r, c, padded), offsets)

    # One element found through the construct schema: by names of axes, not by offset.
    i, j = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, cols - 1))
    indices = {}
    for group, length, index in ((layout.axes.rows, padded[0], i), (layout.axes.cols, padded[1], j)):
        names_of = [axis.name for axis in group.axes]
        indices.update(zip(names_of, np.unravel_index(index, group.extents(length)), strict=True))
    parsed = image_schema(layout, rows, cols, **multiples).parse(image.tobytes())
    for name in layout.axes.order:
        parsed = parsed[int(indices[name])]
    assert parsed == logical[i, j]


@by_name
def test_a_tile_is_whole_dwords_for_each_lane_of_the_wave(layout: Layout) -> None:
    if layout.wave:
        bytes_of_a_lane, rest = divmod(layout.tile[0] * layout.tile[1], layout.wave)
        assert (bytes_of_a_lane % 4, rest) == (0, 0)
        # a chip has waves of one size: gfx950 of 64, gfx1250 of 32
        assert not [name for name in layout.aliases if {64: "gfx1250", 32: "gfx950"}[layout.wave] in name]


def test_waves_of_the_layouts_that_are_made_for_one_size() -> None:
    assert {layout.name: layout.wave for layout in LAYOUTS if layout.wave} == {
        "scale_32x8": 64,
        "scale_32x8_gate_up": 64,
        "scale_32x8_mfma32": 64,
        "scale_128x8_permute_n": 64,
        "scale_32x8_plain": 32,
        "scale_32x4": 32,
        "scale_32x4_gate_up": 32,
    }
    with pytest.raises(InputError, match="layout 'x': wave: expected 32 or 64 lanes, found 16"):
        Layout(name="x", tensor=Tensor.ANY, pattern="m k -> m k", unit="byte", doc="x", wave=16)


@by_name
def test_every_layout_says_what_it_is(layout: Layout) -> None:
    assert layout.doc.endswith((".", "…"))
    assert len(layout.doc) < 110
    assert layout_named(layout.name) is layout
    for convention in layout.conventions:
        assert layout_named(convention.name) is layout
        assert convention_named(convention.name) is convention
        assert convention.checked.startswith(("run: ", "formula: "))
        assert convention.row_multiple % layout.tile[0] == 0
        assert convention.col_multiple % layout.tile[1] == 0
        assert convention.padding or convention.row_multiple == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("row_major", "r*C + c"),
        ("scale_32x8", "(r//32)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + (r%32)//16"),
        ("scale_32x4", "(r//32)*32*C + (c//4)*128 + (r%32)*4 + c%4"),
        ("scale_128x4", "(r//128)*128*C + (c//4)*512 + (r%32)*16 + ((r%128)//32)*4 + c%4"),
        ("scale_k4_panels", "(c//4)*4*R + r*4 + c%4"),
        ("scale_64x4_k_outer", "(r//64)*64*C + (c%4)*16*C + (r%16)*C + (c//4)*4 + (r%64)//16"),
        ("weight_16x16", "(r//16)*16*C + (c//16)*256 + (r%16)*16 + c%16"),
        ("weight_32x16", "(r//32)*32*C + (c//16)*512 + (r%32)*16 + c%16"),
        ("weight_16x32_k_major", "(c//32)*32*R + (r//16)*512 + ((c%32)//16)*256 + (r%16)*16 + c%16"),
        (
            "scale_32x8_gate_up",
            "((r%(R//2))//16)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + r//(R//2)",
        ),
    ],
)
def test_formula_text_reads_as_people_write_it(name: str, expected: str) -> None:
    assert formula_text(layout_named(name)) == expected


def test_an_axis_over_all_of_both_sides_gives_a_formula_in_whole_divisions(
    evaluate: Callable[..., np.ndarray],
) -> None:
    planes = Layout(name="planes", tensor=Tensor.ANY, pattern="m (ko k4) -> k4 m ko", unit="byte", doc="x")
    assert formula_text(planes) == "(c%4)*R*(C//4) + r*(C//4) + c//4"
    r, c = np.indices((3, 8))
    image = apply(planes, numbered(3, 8), pad_value=None)
    assert np.array_equal(image[evaluate(formula_text(planes), r, c, (3, 8))], numbered(3, 8))


def test_offsets_beyond_32_bits_are_exact() -> None:
    columns = 1 << 20
    row = 1 << 20
    expected = (row // 32) * 32 * columns + 2
    assert offset(SCALE, row, 4, cols_padded=columns) == expected
    arrays = offset(SCALE, np.array([row], np.int32), np.array([4], np.uint8), cols_padded=columns)
    assert arrays.dtype == np.int64
    assert arrays.tolist() == [expected]
    assert offset(SCALE, np.int32(row), 4, cols_padded=columns) == expected
    assert offset(SCALE, 10**30, 0, cols_padded=8) == 10**30 // 32 * 256 + 10**30 % 16 * 4 + 10**30 % 32 // 16


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: invert(SCALE, np.zeros(384, np.uint8), rows=48, cols=8),
            "scale_32x8: 48 rows pad to 64: expected 512 bytes, found 384, the size without padding",
        ),
        (
            lambda: invert(SCALE, np.zeros(2048, np.uint8), rows=48, cols=8),
            r"expected 512 bytes, found 2048, as if rows were padded to 256 \(row_multiple\)",
        ),
        (
            lambda: invert(SCALE, np.zeros(2, np.uint8), rows=48, cols=9),
            "48 rows pad to 64 and 9 columns pad to 16: expected 1024 bytes, found 2$",
        ),
        (
            lambda: invert(SCALE, np.zeros(255, np.uint8), rows=32, cols=8),
            "32 rows and 8 columns need no padding: expected 256 bytes, found 255",
        ),
        (
            lambda: invert(SCALE, np.zeros((16, 16), np.uint8), rows=32, cols=8),
            r"expected a flat uint8 image, found uint8 \(16, 16\)",
        ),
        (lambda: invert(SCALE, b"\0" * 256, rows=32, cols=8), "expected a flat uint8 image, found bytes"),
        (
            lambda: apply(SCALE, numbered(48, 8), pad_value=None),
            "scale_32x8: 48 rows pad to 64, and pad_value=None refuses to pad",
        ),
        (lambda: apply(SCALE, numbered(48, 8), pad_value=256), r"pad_value: expected 0\.\.255, found 256"),
        (
            lambda: apply(SCALE, np.zeros((32, 8)), pad_value=0),
            r"expected a uint8 array .* found float64 \(32, 8\)",
        ),
        (lambda: apply(SCALE, [[1]], pad_value=0), "expected a uint8 array .* found list"),
        (lambda: apply(SCALE, np.zeros((0, 8), np.uint8), pad_value=0), "at least one row .* found 0 x 8"),
        (
            lambda: padded_shape(SCALE, 32, 8, row_multiple=48),
            "row_multiple: expected a multiple of 32, found 48",
        ),
        (
            lambda: padded_shape(SCALE, 32, 8, col_multiple=4),
            "col_multiple: expected a multiple of 8, found 4",
        ),
        (
            lambda: padded_shape(SCALE, 32, 8, row_multiple=0),
            "row_multiple: expected a multiple of 32, found 0",
        ),
        (
            lambda: apply(layout_named("scale_32x8_gate_up"), numbered(48, 8), pad_value=0),
            "48 rows are 2 parts of whole tiles only for multiples of 32; pad each part before joining them",
        ),
        (lambda: offset(SCALE, 0, 0, cols_padded=12), "cols_padded: expected a multiple of 8, found 12"),
        (
            lambda: offset(SCALE, 0, 0, cols_padded=8, rows_padded=33),
            "rows_padded: expected a multiple of 32, found 33",
        ),
        (lambda: offset(SCALE, 0, 8, cols_padded=8), r"column: expected 0\.\.7, found 8"),
        (lambda: offset(SCALE, -1, 0, cols_padded=8), "row: expected 0, found -1"),
        (lambda: offset(SCALE, 32, 0, cols_padded=8, rows_padded=32), r"row: expected 0\.\.31, found 32"),
        (
            lambda: offset(SCALE, np.array([0, 40]), 0, cols_padded=8, rows_padded=32),
            r"row: expected 0\.\.31, found 40",
        ),
        (
            lambda: offset(SCALE, np.array([0.5]), 0, cols_padded=8),
            "row: expected whole numbers, found float64",
        ),
        (lambda: offset(SCALE, 0.5, 0, cols_padded=8), "row: expected whole numbers, found 0.5"),
        (
            lambda: offset(layout_named("scale_k4_panels"), 0, 0, cols_padded=8),
            "scale_k4_panels: the offset depends on rows_padded, which is not given",
        ),
        (lambda: layout_named("scale_32x9"), r"unknown layout 'scale_32x9'; did you mean scale_32x8"),
        (lambda: layout_named("?"), "unknown layout '\\?'; known are row_major, scale_32x8, "),
        (
            lambda: convention_named("aiter_e8m0_shuffle"),
            "unknown layout convention 'aiter_e8m0_shuffle'; did you mean aiter_e8m0_shuffle_",
        ),
    ],
)
def test_mistakes_are_refused_with_the_right_value(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("m k", r"expected `\(row axes\) \(column axes\) -> axes`"),
        ("(m) (k) -> (m k)", "expected `"),
        ("m (ko k4) k -> m k", "expected `"),
        ("m (ko k4) -> m ko", "expected the axes m ko k4 after ->, found m ko"),
        ("m (ko k4) -> m ko k4 k4", "expected the axes m ko k4 after ->"),
        ("m (ko ko) -> m ko", r"\(ko ko\): expected one axis without extent, found 2"),
        ("m (ka4 kb4) -> m ka4 kb4", "expected one axis without extent, found 0"),
        ("(m k4) (ko k4) -> m ko k4", "an axis is named twice"),
        ("m (ko k0) -> m ko k0", "axis 'k0': expected letters, then its extent or nothing"),
    ],
)
def test_patterns_that_mean_nothing_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Layout(name="x", tensor=Tensor.ANY, pattern=pattern, unit="byte", doc="x")


def test_a_layout_applied_leaves_its_input_alone() -> None:
    logical = numbered(4, 6)
    image = apply(layout_named("row_major"), logical, pad_value=None)
    image[:] = 0
    assert np.array_equal(logical, numbered(4, 6))
    back = invert(layout_named("row_major"), image, rows=4, cols=6)
    back[:] = 1
    assert not image.any()


def test_strided_input_is_read_as_it_is_indexed() -> None:
    wide = numbered(64, 32)
    part = wide[::2, 8:16]
    assert np.array_equal(apply(SCALE, part, pad_value=None), apply(SCALE, part.copy(), pad_value=None))


# What gets confused with what


def test_padding_rows_to_256_only_lengthens_the_image() -> None:
    logical = numbered(48, 52)
    short = apply(SCALE, logical, pad_value=0)
    long = apply(
        SCALE, logical, pad_value=0, row_multiple=convention_named("aiter_e8m0_shuffle_gfx950").row_multiple
    )
    assert (short.size, long.size) == (64 * 56, 256 * 56)
    assert np.array_equal(long[: short.size], short)
    assert not long[short.size :].any()


def test_k_1664_has_52_columns_padded_to_56_so_row_group_1_starts_at_1792() -> None:
    assert padded_shape(SCALE, 64, 52) == (64, 56)
    assert offset(SCALE, 32, 0, cols_padded=56) == 1792


def test_size_does_not_tell_layouts_apart() -> None:
    names = ("row_major", "scale_32x8", "scale_128x4")
    logical = numbered(128, 8)
    images = [apply(layout_named(name), logical, pad_value=None) for name in names]
    assert {image.size for image in images} == {1024}
    assert len({image.tobytes() for image in images}) == 3


def test_row_129_needs_256_rows_of_128x4() -> None:
    assert padded_shape(layout_named("nvidia_128x4"), 129, 8) == (256, 8)


def test_weight_16x16_and_32x16_differ_from_byte_256_on() -> None:
    places = np.arange(32 * 64)
    rows, other_rows = (
        element(layout, places, rows_padded=32, cols_padded=64)[0]
        for layout in (WEIGHT, layout_named("weight_32x16"))
    )
    assert int(np.flatnonzero(rows != other_rows)[0]) == 256
    assert offset(WEIGHT, 16, 0, cols_padded=64) == 1024
    assert offset(layout_named("weight_32x16"), 16, 0, cols_padded=64) == 256


def test_shuffling_twice_is_not_shuffling_once() -> None:
    once = apply(WEIGHT, numbered(32, 64), pad_value=None)
    assert not np.array_equal(apply(WEIGHT, once.reshape(32, 64), pad_value=None), once)


@pytest.mark.parametrize(
    "names",
    [
        ["aiter_e8m0_shuffle_gfx950", "hipblaslt_blk32_ue8m0_32_8_ext", "triton_cdna4_scale", "ck_mx_gfx950"],
        ["aiter_n32k4_gfx1250", "aiter_mxfp8fp4_scale_gfx1250", "flydsl_a8w4_wt32_k8"],
        ["nvidia_128x4", "triton_blackwell_scale", "triton_gfx1250_scale"],
        [
            "aiter_weight_16x16_1byte",
            "gfx1250_weight_16x16_byte",
            "aiter_weight_16x16_bf16",
            "aiter_weight_a16w4",
        ],
    ],
)
def test_names_of_one_layout(names: list[str]) -> None:
    assert len({id(layout_named(name)) for name in names}) == 1


@pytest.mark.parametrize("rows", [32, 96])
def test_32x4_equals_panels_of_4_columns_only_for_one_row_group_or_one_panel(rows: int) -> None:
    tiled, panels = layout_named("scale_32x4"), layout_named("scale_k4_panels")
    narrow, wide = numbered(rows, 4), numbered(rows, 8)
    assert np.array_equal(apply(tiled, narrow, pad_value=None), apply(panels, narrow, pad_value=None))
    same = np.array_equal(apply(tiled, wide, pad_value=None), apply(panels, wide, pad_value=None))
    assert same == (rows == 32)


def test_no_two_layouts_of_one_tensor_are_the_same_bytes() -> None:
    # 384 rows and 256 columns are whole tiles of every layout.
    for tensor in Tensor:
        images = {}
        for layout in (layout for layout in LAYOUTS if layout.tensor in {tensor, Tensor.ANY}):
            image = apply(layout, numbered(384, 256), pad_value=None).tobytes()
            assert images.setdefault(image, layout.name) == layout.name


def test_gate_and_up_rows_meet() -> None:
    # Row i of gate and row i of up, 32 rows apart in [gate | up], become neighbours.
    scales = layout_named("scale_32x8_gate_up")
    assert offset(scales, 5, 0, cols_padded=8, rows_padded=64) == 20
    assert offset(scales, 37, 0, cols_padded=8, rows_padded=64) == 21
    rows = layout_named("weight_16x16_gate_up_rows")
    interleaved = np.stack([numbered(64, 32)[:32], numbered(64, 32)[32:]], axis=1).reshape(64, 32)
    assert np.array_equal(
        apply(rows, numbered(64, 32), pad_value=None), apply(WEIGHT, interleaved, pad_value=None)
    )


@pytest.mark.parametrize(
    ("name", "padding"),
    [
        ("aiter_e8m0_shuffle_gfx950", "rows to 256, columns to 8, uninitialised"),
        ("hipblaslt_blk32_ue8m0_32_8_ext", "rows to 32, columns to 8, with 0x00"),
        ("aiter_scale_a16w4", "columns to 8, with 0x7f, rows must be multiples of 32"),
        ("hipblaslt_gfx1250_dimk_mx32", "columns to 4, with 0x00"),
        ("aiter_weight_16x16_1byte", "rows must be multiples of 16, columns must be multiples of 32"),
    ],
)
def test_paddings_in_words(name: str, padding: str) -> None:
    assert convention_named(name).padding == padding
