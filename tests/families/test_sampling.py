"""Samples of a grid, and which workgroup computes which tile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.families import Problem
from argpack.families.aiter_f4gemm.names import Variant
from argpack.families.aiter_f4gemm.order import workgroup_of
from argpack.families.random_bytes import random_bytes
from argpack.families.sampling import block_ranges, sample_tiles, spans, workgroups_of


def test_corners_edges_and_some_at_random():
    tiles = sample_tiles((416, 128, 4), 16, seed=0)
    assert len(set(tiles)) == len(tiles) == 22
    assert {(0, 0), (415, 0), (0, 127), (415, 127)} <= set(tiles)
    assert any(y == 127 and 0 < x < 415 for x, y in tiles)
    assert any(x == 415 and 0 < y < 127 for x, y in tiles)
    assert tiles == sample_tiles((416, 128, 4), 16, seed=0)
    assert tiles != sample_tiles((416, 128, 4), 16, seed=1)


@pytest.mark.parametrize(("grid", "count"), [((1, 1, 1), 1), ((1, 3, 1), 3), ((2, 2, 1), 4), ((3, 3, 1), 9)])
def test_a_small_grid_is_taken_whole(grid, count):
    assert len(sample_tiles(grid, 16, seed=0)) == count == grid[0] * grid[1]


def test_none_at_random_leaves_corners_and_edges():
    assert len(sample_tiles((100, 100, 1), 0, seed=0)) == 6
    assert sample_tiles((9, 1, 1), 0, seed=0)[0] == (0, 0)
    with pytest.raises(InputError, match="expected 0 or more workgroups at random, found -1"):
        sample_tiles((9, 9, 1), -1, seed=0)


def test_a_grid_of_billions_is_sampled_as_well():
    tiles = sample_tiles((1 << 30, 1 << 20, 1), 100, seed=3)
    assert len(tiles) == 106


def test_all_slices_of_a_tile_are_run():
    assert workgroups_of(((1, 2), (0, 3)), (5, 5, 2)) == ((1, 2, 0), (1, 2, 1), (0, 3, 0), (0, 3, 1))


def test_ranges_of_a_block():
    assert block_ranges((1, 3), (4, 6), 10, 2).tolist() == [[28, 32], [48, 52]]
    assert spans({2, 0}, 32, 70) == [(0, 32), (64, 70)]


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 1 << 80), st.integers(0, 9))
def test_bytes_made_alone_are_those_of_the_whole(start, length, seed, stream):
    whole = random_bytes(seed, stream, 0, 600)
    assert np.array_equal(random_bytes(seed, stream, start, start + length), whole[start : start + length])


def test_bytes_far_out_cost_no_more_and_differ_by_stream_and_seed():
    far = 1 << 50
    assert np.array_equal(random_bytes(1, 0, far - 5, far + 40)[5:], random_bytes(1, 0, far, far + 40))
    streams = [
        random_bytes(seed, stream, far, far + 64).tobytes() for seed in (0, 1, 1 << 64) for stream in (0, 1)
    ]
    assert len(set(streams)) == 6


def test_bytes_are_uniform():
    counts = np.bincount(random_bytes(0, 0, 0, 1 << 20), minlength=256)
    assert 3500 < counts.min() < counts.max() < 4700


VARIANTS = [
    Variant("f4gemm", tile_m=m, tile_n=n, preshuffled=shuffled, splits_k=False, applies_alpha=False)
    for m, n, shuffled in ((32, 128, True), (192, 256, True), (128, 512, True), (256, 256, False))
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("grid", [(1, 1), (31, 9), (32, 8), (33, 17), (64, 24), (100, 25), (70, 3)])
@pytest.mark.parametrize("rest", [0, 5])
def test_every_tile_has_its_own_workgroup(variant, grid, rest):
    x, y = grid
    problem = Problem(m=y * variant.tile_m - rest, n=x * variant.tile_n - rest, k=256)
    found = {workgroup_of(variant, problem, (i, j)) for i in range(x) for j in range(y)}
    assert found == {(i, j) for i in range(x) for j in range(y)}
