"""The fast reordering of axes against numpy's plain transpose, over every kind of plan that it makes."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale_layout import apply, layout_named
from scale_layout.permute import permute


def plain(source: np.ndarray, extents: list[int], order: list[int]) -> np.ndarray:
    return np.ascontiguousarray(source.reshape(extents).transpose(order)).reshape(-1)


@given(st.data())
def test_any_order_of_any_axes_equals_numpys(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.sampled_from([1, 2, 2, 3, 4, 6, 8, 16]), min_size=1, max_size=6))
    order = data.draw(st.permutations(range(len(extents))))
    source = np.random.default_rng(len(extents)).integers(0, 256, extents, dtype=np.uint8)
    chunk_bytes = data.draw(st.sampled_from([16, 256, 1 << 20]))
    assert np.array_equal(
        permute(source, extents, order, chunk_bytes=chunk_bytes), plain(source, extents, order)
    )


@pytest.mark.parametrize(
    ("extents", "order"),
    [
        ([8, 2, 16, 4, 2, 4], [0, 3, 5, 2, 4, 1]),  # dword lanes swapped
        ([8, 4, 12, 16], [0, 3, 2, 1]),  # likewise, both bits from one axis
        ([8, 16, 4, 48], [0, 2, 1, 3]),  # items of 16 bytes
        ([8, 16, 4, 6], [0, 2, 1, 3]),  # items of 2 bytes
        ([8, 16, 4, 3], [0, 2, 1, 3]),  # single bytes
        ([8, 2, 12, 8], [0, 3, 2, 1]),  # the high lane from the same axis, not next to the dword
        ([8, 2, 6, 5, 2, 4], [0, 3, 5, 2, 4, 1]),  # the high lane is the bit above the dword; ragged chunks
        ([2, 2, 6, 5, 4], [2, 3, 4, 1, 0]),  # likewise, two planes
        ([8, 4, 2, 2], [0, 2, 1, 3]),  # a bit that is low on both sides: not swapped
        ([4, 3, 3], [2, 1, 0]),  # nothing that a lane could be taken from
    ],
)
def test_each_kind_of_plan(extents: list[int], order: list[int]) -> None:
    source = np.random.default_rng(0).integers(0, 256, extents, dtype=np.uint8)
    for chunk_bytes in (64, 1 << 20):
        assert np.array_equal(
            permute(source, extents, order, chunk_bytes=chunk_bytes), plain(source, extents, order)
        )


def test_rows_that_lie_apart_are_read_where_they_lie() -> None:
    wide = np.random.default_rng(0).integers(0, 256, (64, 96), dtype=np.uint8)
    part = wide[::2, 32:64]
    extents, order = [2, 16, 2, 16], [0, 2, 1, 3]
    assert np.array_equal(permute(part, extents, order), plain(part.copy(), extents, order))
    odd = wide[:, :35]
    assert np.array_equal(permute(odd, [64, 35], [1, 0]), plain(odd.copy(), [64, 35], [1, 0]))


@pytest.mark.parametrize(("rows", "copies"), [(32768, 1), (32768 - 31, 2)])
def test_nothing_of_the_image_is_allocated_twice_but_for_padding(rows: int, copies: int) -> None:
    logical = np.ones((rows, 1024), np.uint8)
    tracemalloc.start()
    try:
        apply(layout_named("scale_32x8"), logical, pad_value=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < copies * (32 << 20) + (11 << 20)  # scratch of 2.5 MiB on up to four threads
