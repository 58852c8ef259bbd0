"""Which workgroup computes which tile of D: most f4gemm kernels renumber the grid, so that neighbours share operands.

Read in the prologues of the 35 kernels and held against what they write. Tiles and workgroups are (x, y): x counts
along the columns of D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.family import Problem

_WIDTH = 32  # tiles of a panel along a row of D
_HEIGHT = 8  # rows of tiles that two kernels take together
_GROUPED = {(192, 256), (224, 256)}
_AS_NUMBERED = {(128, 512)}


def workgroup_of(variant: Variant, problem: Problem, tile: tuple[int, int]) -> tuple[int, int]:
    """The workgroup of a grid over all of D that computes a tile."""
    size = (variant.tile_m, variant.tile_n)
    across, down = -(-problem.n // variant.tile_n), -(-problem.m // variant.tile_m)
    if size in _AS_NUMBERED or not variant.preshuffled:
        return tile
    if size in _GROUPED:
        number = _in_groups(
            tile, across, problem.m // (_HEIGHT * variant.tile_m), problem.n // variant.tile_n
        )
    else:
        number = _in_panels(tile, across, down)
    return number % across, number // across


def _in_panels(tile: tuple[int, int], across: int, down: int) -> int:
    """Panels of 32 columns of tiles one after the other, each row by row; the last one may be narrower."""
    x, y = tile
    panel = x // _WIDTH
    width = min(_WIDTH, across - panel * _WIDTH)
    return panel * _WIDTH * down + y * width + x % _WIDTH


def _in_groups(tile: tuple[int, int], across: int, groups: int, whole: int) -> int:
    """Blocks of 8 x 32 whole tiles, row by row of blocks; then what stands right of them, then the last rows.

    `groups` of 8 rows of tiles lie in D, `whole` tiles in a row of it.
    """
    x, y = tile
    blocks, rows = whole // _WIDTH, groups * _HEIGHT
    left = blocks * _WIDTH
    if y >= rows:
        return y * across + x
    if x < left:
        block = y // _HEIGHT * blocks + x // _WIDTH
        return block * _WIDTH * _HEIGHT + y % _HEIGHT * _WIDTH + x % _WIDTH
    return rows * left + y * (across - left) + x - left
