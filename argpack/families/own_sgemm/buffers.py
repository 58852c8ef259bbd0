"""The device buffers of an argpack_sgemm launch: dense float32 matrices, and an output where a write shows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.own_sgemm.operands import random_elements, shape
from argpack.families.sampling import block_ranges, joined, spans
from argpack.launch import MadeBuffer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.families.family import Problem
    from argpack.families.sampling import Tiles

BLOCK = (16, 16, 1)  # work-items, one an element of D
# A signalling NaN: arithmetic never makes it, so an element that still holds it was not written.
SENTINEL = 0x7FA5_A5A5


def buffers_of(problem: Problem, tiles: Tiles | None) -> tuple[MadeBuffer, ...]:
    """D, A, B, and C where the problem has a beta. `tiles` (x, y) of D are computed, None for all."""
    size = 4 * problem.m * problem.n
    blocks = [] if tiles is None else [tile_of(problem, tile) for tile in tiles]
    of_d = None if tiles is None else joined([block_ranges(*block, problem.n, 4) for block in blocks])
    found = [MadeBuffer("D", size, _unwritten, 4, of_d, initialised=False)]
    for name in ("A", "B", "C") if problem.beta != 0 else ("A", "B"):
        rows, columns = shape(problem, name)
        needed = of_d
        if tiles is not None and name == "A":
            bands = spans({y for _, y in tiles}, BLOCK[1], rows)
            needed = np.array(bands, np.int64) * (4 * columns)
        elif tiles is not None and name == "B":
            bands = spans({x for x, _ in tiles}, BLOCK[0], columns)
            needed = joined([block_ranges((0, rows), band, columns, 4) for band in bands])
        found.append(MadeBuffer(name, 4 * rows * columns, partial(_elements, problem, name), 4, needed))
    return tuple(found)


def tile_of(problem: Problem, tile: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Rows and columns, start and stop each, of tile (x, y) of D."""
    return spans({tile[1]}, BLOCK[1], problem.m)[0], spans({tile[0]}, BLOCK[0], problem.n)[0]


def _elements(problem: Problem, name: str, start: int, stop: int) -> NDArray[np.uint8]:
    return random_elements(problem, name, start // 4, stop // 4).view(np.uint8)


def _unwritten(start: int, stop: int) -> NDArray[np.uint8]:
    return np.full((stop - start) // 4, SENTINEL, np.uint32).view(np.uint8)
