"""Mistakes with the grid: counted in work-items, rounded down, exchanged, taken from another kernel's tile."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np

from argpack.explain.fields import one_value
from argpack.explain.hypothesis import Hypothesis
from argpack.explain.situation import with_grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from argpack.explain.situation import Situation
    from argpack.families import Problem

    Grid = tuple[int, int, int]


def hypotheses(
    problem: Problem,
    grid: Grid,
    block: Grid,
    tile: tuple[int, int],
    other_tiles: Iterable[tuple[int, int]],
    workgroup_of: Callable[[tuple[int, int]], tuple[int, int]],
) -> Iterator[Hypothesis]:
    """`grid` is the right one, in workgroups; `tile` and `other_tiles`, of the family's other kernels, are (rows,
    columns). `workgroup_of` says which workgroup of that grid computes a tile, both (x, y): kernels renumber them.
    """
    x, y, z = grid
    rows, columns = tile

    @functools.cache
    def numbers() -> NDArray[np.int64]:
        return np.array([[workgroup_of((column, row)) for column in range(x)] for row in range(y)], np.int64)

    def made(name: str, count: Grid, what: str, fix: str) -> Hypothesis:
        return Hypothesis(
            name=name,
            what=what,
            fix=fix,
            build=_launching(count),
            local=False,
            screen=lambda output: _leaves_out(output, np.asarray((numbers() < count[:2]).all(axis=2)), tile),
        )

    needs = f"{x} x {y} x {z} workgroups (HIP's blocks)"
    yield made(
        "last tile left out",
        (problem.n // columns, problem.m // rows, z),
        f"the grid is rounded down: the tiles of {rows} x {columns} at the edges of {problem.m} x {problem.n} are "
        "left out",
        f"divide up: {needs}",
    )
    for name, cut in (
        ("last row of tiles left out", (x, problem.m // rows, z)),
        ("last column of tiles left out", (problem.n // columns, y, z)),
    ):
        yield made(name, cut, "the grid is rounded down in one direction", f"divide up: {needs}")
    threads = block[0], block[1], block[2]
    fewer = tuple(-(-count // size) for count, size in zip(grid, threads, strict=True))
    yield made(
        "workgroups passed where work-items are counted",
        (fewer[0], fewer[1], fewer[2]),
        f"{x} x {y} x {z} was passed to a function that counts work-items (hipExtModuleLaunchKernel): of a block of "
        f"{block[0]} x {block[1]} x {block[2]} that is {fewer[0]} x {fewer[1]} x {fewer[2]} workgroups",
        f"pass {x * block[0]} x {y * block[1]} x {z * block[2]} there, or call hipModuleLaunchKernel with blocks",
    )
    yield made(
        "grid given in threads",
        (x * block[0], y * block[1], z * block[2]),
        f"the grid counts work-items, {x * block[0]} x {y * block[1]} x {z * block[2]}; hipModuleLaunchKernel takes "
        "blocks",
        f"launch {needs}",
    )
    yield made("grid x and y exchanged", (y, x, z), "x and y of the grid are exchanged", f"launch {needs}")
    for other in _distinct(problem, other_tiles, z):
        count, (other_rows, other_columns) = other
        yield made(
            f"grid of a {other_rows}x{other_columns} tile",
            count,
            f"the grid is that of a kernel with tiles of {other_rows} x {other_columns}, this one has tiles of "
            f"{rows} x {columns}",
            f"launch {needs}, or the kernel that the grid is for",
        )


def split_hypotheses(log2_k_split: int, grid: Grid, slices: int) -> Iterator[Hypothesis]:
    """For a launch that cuts K into `slices`."""
    x, y, _ = grid
    fix = f"launch {x} x {y} x {slices} workgroups"
    yield Hypothesis(
        name="grid z is 2^log2_k_split",
        what=f"the grid has {1 << log2_k_split} workgroups along z, 2^log2_k_split; slices are rounded up to 256 "
        f"elements of K, which leaves {slices}",
        fix=fix,
        build=_launching((x, y, 1 << log2_k_split)),
    )
    yield Hypothesis(
        name="grid z is 1",
        what=f"K is cut into {slices} slices, and only the first is launched",
        fix=fix,
        build=_launching((x, y, 1)),
    )


def not_zeroed() -> Hypothesis:
    """A launch that adds to D found there what an earlier one left."""
    return Hypothesis(
        name="D not zeroed before split-K",
        what="D held the result of an earlier launch, and the slices of K were added to it",
        fix="zero all M rows of D, stride included, before every launch that splits K",
        build=lambda right: dataclasses.replace(right, launches=2),
    )


def _distinct(
    problem: Problem, tiles: Iterable[tuple[int, int]], z: int
) -> Iterator[tuple[Grid, tuple[int, int]]]:
    seen: set[Grid] = set()
    for rows, columns in tiles:
        count = -(-problem.n // columns), -(-problem.m // rows), z
        if count not in seen:
            seen.add(count)
            yield count, (rows, columns)


def _leaves_out(
    output: NDArray[np.unsignedinteger], reached: NDArray[np.bool_], tile: tuple[int, int]
) -> bool:
    """Whether tiles are not `reached`, (rows, columns) of tiles, and their outputs can be what D held before.

    A grid that reaches all writes all outputs as they should be, and then behind D.
    """
    if reached.all():
        return False
    whole = reached.repeat(tile[0], axis=0).repeat(tile[1], axis=1)
    return one_value(output[~whole[: output.shape[0], : output.shape[1]]])


def _launching(grid: Grid) -> Callable[[Situation], Situation | None]:
    return lambda right: with_grid(right, grid) if min(grid) > 0 else None
