"""Layouts solved from a pair of arrays: every declared one, ones that nobody declared, and what cannot be told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.errors import InputError
from scale_layout import LAYOUTS, Layout, apply, layout_named, layout_of_pattern, offset
from scale_layout.bits import solve_bits
from scale_layout.infer import infer
from scale_layout.rank import rank

by_name = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
SCALES = [layout for layout in LAYOUTS if layout.tensor in {"scales", "any"}]


def numbered(rows: int, cols: int, *, low: int = 0, high: int = 256) -> np.ndarray:
    return np.random.default_rng(rows * 1000 + cols).integers(low, high, (rows, cols), dtype=np.uint8)


@by_name
def test_every_layout_of_whole_tiles_is_found(layout: Layout) -> None:
    logical = numbered(layout.tile[0] * 4, layout.tile[1] * 16)
    found = infer(logical, apply(layout, logical, pad_value=None), LAYOUTS)
    assert [fit.layout.name for fit in found.fits] == [layout.name]
    assert not found.undecided
    if layout.name == "scale_48x8_quartile":  # 48 rows are no power of two
        assert found.solved is None
        return
    rows, cols = logical.shape
    r, c = np.indices(logical.shape)
    places = offset(found.solved.layout, r, c, rows_padded=rows, cols_padded=cols)
    assert np.array_equal(places, offset(layout, r, c, rows_padded=rows, cols_padded=cols))


@by_name
def test_every_layout_is_found_where_it_pads(layout: Layout) -> None:
    rows = layout.tile[0] * (3 if not layout.axes.rows.extendable else 2) + 5 * layout.axes.rows.extendable
    logical = numbered(rows, layout.tile[1] * 5 - min(3, layout.tile[1] - 1))
    found = infer(logical, apply(layout, logical, pad_value=0x7F), LAYOUTS)
    assert layout.name in [fit.layout.name for fit in found.fits]
    assert len(found.fits) == 1 or found.same_bytes


def test_the_bits_of_scale_32x8() -> None:
    logical = numbered(64, 16)
    found = infer(logical, apply(layout_named("scale_32x8"), logical, pad_value=None), ())
    assert found.bits == ("r4", "c2", "r0", "r1", "r2", "r3", "c0", "c1", "c3", "r5")
    assert found.block == (64, 16)
    assert found.solved.layout.pattern == "(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2"
    assert found.fits == ()


def test_a_ragged_pair_is_solved_on_its_first_tile_and_continued() -> None:
    logical = numbered(71, 53)
    found = infer(logical, apply(layout_named("scale_32x8"), logical, pad_value=0), ())
    assert found.block == (32, 8)
    assert found.solved.layout.pattern == "(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2"
    assert (found.solved.rows, found.solved.cols) == (96, 56)


@settings(max_examples=40)
@given(st.permutations(range(10)), st.integers(0, 2**32))
def test_any_permutation_of_bits_is_solved_without_knowing_it(order: list[int], seed: int) -> None:
    logical = np.random.default_rng(seed).integers(0, 256, 1024, dtype=np.uint8)
    index = np.arange(1024)
    places = sum((index >> bit & 1) << place for place, bit in enumerate(order))
    image = np.empty_like(logical)
    image[places] = logical
    assert solve_bits(logical, image) == tuple((1 << bit,) for bit in order)


def test_bits_that_look_alike_alone_are_told_apart_in_pairs() -> None:
    # b0 shows only where b4 is 0, and there only together with b2; b1 shows nowhere.
    b0, b1, b2, b3, b4 = ((np.arange(32) >> bit) & 1 for bit in range(5))
    logical = (np.where(b4, 2 + b2, b0 ^ b2) + 4 * b3 + 0 * b1).astype(np.uint8)
    order = (3, 1, 4, 0, 2)
    places = sum((np.arange(32) >> bit & 1) << place for place, bit in enumerate(order))
    image = np.empty_like(logical)
    image[places] = logical
    assert solve_bits(logical, image) == tuple((1 << bit,) for bit in order)


def test_a_swizzle_of_exclusive_ors_is_solved_as_bits_not_as_a_pattern() -> None:
    logical = numbered(16, 16)
    r, c = np.indices((16, 16))
    image = np.empty(256, np.uint8)
    image[(r * 16 + (c ^ (r % 4) * 4)).reshape(-1)] = logical.reshape(-1)
    found = infer(logical, image, LAYOUTS)
    assert found.bits == ("c0", "c1", "c2^r0", "c3^r1", "r0", "r1", "r2", "r3")
    assert (found.solved, found.fits) == (None, ())


def test_one_tile_does_not_tell_layouts_apart_that_start_alike() -> None:
    logical = numbered(32, 4)
    found = infer(logical, apply(layout_named("scale_32x4"), logical, pad_value=None), SCALES)
    assert {fit.layout.name for fit in found.fits} >= {"scale_32x4", "scale_k4_panels"}
    assert found.same_bytes


def test_few_values_leave_bits_undecided() -> None:
    logical = np.zeros((64, 8), np.uint8)
    logical[:, 0] = 1  # rows are alike: no bit of the row can be told from another
    found = infer(logical, apply(layout_named("scale_32x8"), logical, pad_value=None), SCALES)
    assert found.undecided[0] == "bit 0: r0 or r1 or r2 or r3 or r4 or r5"
    assert found.solved is None
    assert {"scale_32x8", "scale_32x8_gate_up"} <= {fit.layout.name for fit in found.fits}
    assert not found.same_bytes


def test_random_bytes_are_no_layout() -> None:
    found = infer(numbered(32, 8), numbered(8, 32).reshape(-1), LAYOUTS)
    assert (found.fits, found.bits, found.solved) == ((), (), None)
    assert not found.same_bytes


def test_a_large_pair_is_solved() -> None:
    logical = numbered(2048, 1024, low=110, high=140)
    found = infer(logical, apply(layout_named("scale_32x8"), logical, pad_value=None), SCALES)
    assert [fit.layout.name for fit in found.fits] == ["scale_32x8"]
    assert found.solved.layout.pattern == "(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2"


def test_a_layout_that_nobody_declared_is_named_by_its_pattern() -> None:
    layout = layout_of_pattern("(mo ma2 mb2 m4) (ko k8) -> ko mo mb2 k8 ma2 m4")
    logical = numbered(64, 64)
    found = infer(logical, apply(layout, logical, pad_value=None), LAYOUTS)
    assert found.fits == ()
    assert found.solved.layout.pattern == layout.pattern


@pytest.mark.parametrize(
    ("logical", "image", "message"),
    [
        (
            np.full((4, 4), 127, np.uint8),
            np.zeros(16, np.uint8),
            "all 16 logical bytes are 0x7f: equal values look the same",
        ),
        (
            np.zeros(16, np.uint8),
            np.zeros(16, np.uint8),
            r"expected a uint8 array of shape \(rows, cols\), found uint8 \(16,\)",
        ),
        (b"x", np.zeros(16, np.uint8), "found bytes"),
        (numbered(4, 4), np.zeros(8, np.uint8), "expected an image of at least 16 bytes, found 8"),
    ],
)
def test_pairs_that_tell_nothing_are_refused(logical: np.ndarray, image: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        infer(logical, image, LAYOUTS)


# From an image alone


def test_size_alone_is_ambiguous() -> None:
    for name in ("row_major", "scale_32x8", "scale_128x4"):
        found = rank(apply(layout_named(name), numbered(128, 8), pad_value=None), (128, 8), SCALES)
        assert found.answer is None
        assert {"row_major", "scale_32x8", "scale_128x4"} <= {one.layout.name for one in found.equal}
        assert found.reason.endswith("these bytes cannot tell")


@pytest.mark.parametrize(
    "name", ["row_major", "scale_32x4", "scale_128x4", "scale_48x8_quartile", "scale_64x4_k_outer"]
)
def test_scales_whose_rows_and_columns_are_of_a_kind_tell_their_order(name: str) -> None:
    rng = np.random.default_rng(0)
    logical = (
        rng.integers(100, 120, (384, 1)) + rng.integers(0, 8, 64) + rng.integers(0, 3, (384, 64))
    ).astype(np.uint8)
    layouts = [
        layout_named(one)
        for one in ("row_major", "scale_32x4", "scale_128x4", "scale_48x8_quartile", "scale_64x4_k_outer")
    ]
    found = rank(apply(layout_named(name), logical, pad_value=None), (384, 64), layouts)
    assert found.answer.layout.name == name
    assert found.answer.explained > 0.9
    assert found.candidates[1].explained < 0.7


def test_orders_that_keep_rows_whole_are_told_apart_by_neighbours_only() -> None:
    rng = np.random.default_rng(0)
    rows = rng.permutation(256).reshape(256, 1) // 2
    layouts = [layout_named("scale_32x8"), layout_named("scale_128x8_permute_n")]
    mixed = (rows + rng.integers(0, 4, (256, 32))).astype(np.uint8)
    found = rank(apply(layouts[0], mixed, pad_value=None), (256, 32), layouts)
    assert found.answer is None
    assert found.reason == "2 orders explain the bytes equally well"
    smooth = (np.sort(rows, axis=0) + rng.integers(0, 2, (256, 32))).astype(np.uint8)
    found = rank(apply(layouts[0], smooth, pad_value=None), (256, 32), layouts)
    assert found.answer.layout is layouts[0]
    assert found.reason == "only here do neighbours in rows and columns differ by so little"


def test_equal_pad_bytes_are_evidence() -> None:
    image = apply(layout_named("scale_32x8"), numbered(48, 52), pad_value=0x7F)
    found = rank(
        image, (48, 52), [layout_named("row_major"), layout_named("scale_32x8"), layout_named("scale_32x4")]
    )
    assert found.answer.layout.name == "scale_32x8"
    assert found.reason == "only here are all 1088 pad bytes equal (0x7f)"
    assert (found.answer.rows, found.answer.cols) == (64, 56)


def test_one_layout_of_the_size_is_the_answer() -> None:
    image = apply(layout_named("scale_48x8_quartile"), numbered(47, 8), pad_value=0)
    found = rank(image, (47, 8), [layout_named("scale_48x8_quartile"), layout_named("scale_32x8")])
    assert (found.answer.layout.name, found.reason) == (
        "scale_48x8_quartile",
        "it is the only layout of this size",
    )


def test_images_that_tell_nothing_are_refused() -> None:
    with pytest.raises(
        InputError, match="all 256 bytes are 0x7f: equal values look the same in every layout"
    ):
        rank(np.full(256, 127, np.uint8), (32, 8), SCALES)
    with pytest.raises(InputError, match="no layout holds 32 x 8 bytes in 255"):
        rank(np.arange(255, dtype=np.uint8), (32, 8), SCALES)
