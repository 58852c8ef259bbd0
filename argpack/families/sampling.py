"""Which tiles of a large grid stand for all of them: corners, edges and some at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

# Of the streams of a seed, one that no operand uses.
_STREAM = 1 << 16
Tiles = tuple[tuple[int, int], ...]


def sample_tiles(
    grid: tuple[int, int, int],
    count: int,
    *,
    seed: int,
    rows: Collection[int] = (),
    columns: Collection[int] = (),
) -> Tiles:
    """Tiles (x, y) of a grid, row by row: the four corners, one inside the last row and one inside the last column
    (where tiles may be ragged), one in each of `rows` and `columns`, and `count` others at random; all where there are
    no more.

    Raises InputError for a negative count.
    """
    if count < 0:
        raise InputError(f"sample: expected 0 or more workgroups at random, found {count}")
    x, y, _ = grid
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,)))
    chosen = {(column, row) for column in (0, x - 1) for row in (0, y - 1)}
    if x > 2:
        chosen.add((int(rng.integers(1, x - 1)), y - 1))
    if y > 2:
        chosen.add((x - 1, int(rng.integers(1, y - 1))))
    chosen |= {(int(rng.integers(x)), row) for row in sorted(rows)}
    chosen |= {(column, int(rng.integers(y))) for column in sorted(columns)}
    wanted = min(len(chosen) + count, x * y)
    for number in rng.choice(x * y, wanted, replace=False).tolist():
        if len(chosen) < wanted:
            chosen.add((number % x, number // x))
    return tuple(sorted(chosen, key=lambda tile: tile[::-1]))


def wrapping_tiles(rows: int, row_bytes: int, tile: int) -> set[int]:
    """Tiles of so many rows each in which an offset into a matrix, or what is left of it, passes the end of 32 bits.

    These are where 2^31 and 2^32 bytes, or elements of half a byte to two bytes, end, from the first byte on and from
    the last one back.
    """
    size = rows * row_bytes
    limits = [1 << bits for bits in range(30, 34) if 1 << bits < size]
    return {place // row_bytes // tile for limit in limits for place in (limit, size - limit)}


def workgroups_of(columns: Tiles, grid: tuple[int, int, int]) -> tuple[tuple[int, int, int], ...]:
    """All workgroups (x, y, z) of these (x, y)."""
    return tuple((x, y, z) for x, y in columns for z in range(grid[2]))


def spans(indices: set[int], size: int, length: int) -> list[tuple[int, int]]:
    """Start and stop of these tiles along one axis of `length`, each `size` long but the last; ascending."""
    return [(index * size, min((index + 1) * size, length)) for index in sorted(indices)]


def block_ranges(rows: tuple[int, int], columns: tuple[int, int], width: int, item: int) -> NDArray[np.int64]:
    """Byte ranges, int64 (rows, 2), of a block of a row-major array: `width` items of `item` bytes to a row."""
    starts = (np.arange(*rows, dtype=np.int64) * width + columns[0]) * item
    return np.stack([starts, starts + (columns[1] - columns[0]) * item], axis=1)


def joined(ranges: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Several byte ranges as one array; none give an empty one."""
    return np.concatenate([np.empty((0, 2), np.int64), *ranges])
