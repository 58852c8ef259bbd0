"""Builds an argpack_sgemm launch with random operands, and the judge of its result. It knows no backend."""

from __future__ import annotations

import functools
import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError, RefusedError
from argpack.families.extents import Extent
from argpack.families.family import Problem, Region, Workload
from argpack.families.overrides import contradictions
from argpack.families.own_sgemm.arguments import field_values
from argpack.families.own_sgemm.buffers import BLOCK, SENTINEL, buffers_of
from argpack.families.own_sgemm.cross_check import cross_check
from argpack.families.own_sgemm.judge import judge
from argpack.families.own_sgemm.recorded import expected_output
from argpack.families.own_sgemm.schema import SCHEMA, usage
from argpack.families.sampling import sample_tiles, workgroups_of, wrapping_tiles
from argpack.launch import Launch, Relocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.sampling import Tiles

__all__ = ["default_problem", "expected_output", "extents", "field_values", "prepare", "refusals", "tile"]

_NOTHING: Mapping[str, int | float] = MappingProxyType({})


def default_problem(kernel_name: str) -> Problem:
    """128 x 64 x 256, C added."""
    usage(kernel_name)
    return Problem(m=128, n=64, k=256, beta=1.0)


def tile(kernel_name: str) -> tuple[int, int]:
    """Rows and columns of D that a workgroup computes."""
    usage(kernel_name)
    return BLOCK[1], BLOCK[0]


def extents(problem: Problem) -> tuple[Extent, ...]:
    """The matrices of a launch, dense, 4 bytes an element."""
    sizes = {"A": problem.m * problem.k, "B": problem.k * problem.n, "D": problem.m * problem.n}
    return tuple(Extent(name, size, 4 * size) for name, size in sizes.items())


def refusals(kernel_name: str, problem: Problem) -> tuple[str, ...]:
    """None: the kernel computes every problem that there is. Raises InputError where there is no such problem."""
    usage(kernel_name)
    for name, value in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
        if not 1 <= value < 1 << 32:
            raise InputError(f"{name}: expected 1 to {(1 << 32) - 1}, found {value}")
    for name, factor in (("alpha", problem.alpha), ("beta", problem.beta)):
        if not math.isfinite(factor):
            raise InputError(f"{name}: expected a finite number, found {factor}")
    if problem.seed < 0:
        raise InputError(f"seed: expected 0 or more, found {problem.seed}")
    if problem.log2_k_split:
        raise InputError(f"log2_k_split: {SCHEMA.name} has no such argument, found {problem.log2_k_split}")
    return ()


def prepare(
    code_object: CodeObject,
    kernel: Kernel,
    problem: Problem,
    *,
    force: bool = False,
    overrides: Mapping[str, int | float] = _NOTHING,
    sample: int | None = None,
) -> Workload:
    """A launch of argpack_sgemm on random operands of `problem`.

    `overrides` are field values set by hand; those known to be wrong raise RefusedError, unless `force`: then the
    workload names them. `sample` is how many tiles of D at random to compute, beside corners and edges; None for all.
    Raises InputError for what cannot be built at all.
    """
    refusals(kernel.name, problem)
    cross_check(kernel)
    values = field_values(problem)
    reasons = contradictions(SCHEMA, values, overrides, usage(kernel.name))
    if reasons and not force:
        raise RefusedError(f"{kernel.name}: {'; '.join(reasons)} (--force runs it anyway)")
    grid = (-(-problem.n // BLOCK[0]), -(-problem.m // BLOCK[1]), 1)
    tiles = None if sample is None else _sampled(problem, grid, sample)
    buffers = buffers_of(problem, tiles)
    launch = Launch(
        code_object=code_object,
        kernel=kernel,
        arguments=SCHEMA.pack({**values, **overrides}),
        relocations=tuple(
            Relocation(SCHEMA.offset(f"ptr_{buffer.name}"), buffer.name)
            for buffer in buffers
            if f"ptr_{buffer.name}" not in overrides
        ),
        buffers=buffers,
        grid=grid,
        block=BLOCK,
        workgroups=None if tiles is None else workgroups_of(tiles, grid),
    )
    return Workload(
        launch=launch,
        judge=functools.partial(judge, problem, tiles),
        notes=_notes(problem),
        overridden=reasons,
        output=Region(
            buffer="D",
            name="the M x N elements of D",
            mask=lambda: np.ones(4 * problem.m * problem.n, np.bool_),
            item=4,
        ),
    )


def _sampled(problem: Problem, grid: tuple[int, int, int], count: int) -> Tiles:
    """Tiles to compute, among them those where an offset into D, C or A passes the end of 32 bits."""
    rows = set().union(*(wrapping_tiles(problem.m, 4 * width, BLOCK[1]) for width in (problem.n, problem.k)))
    return sample_tiles(grid, count, seed=problem.seed, rows=rows)


def _notes(problem: Problem) -> tuple[str, ...]:
    m, n, k = problem.m, problem.n, problem.k
    notes = [f"A: {m} x {k} f32, row by row", f"B: {k} x {n} f32, row by row"]
    if problem.beta != 0:
        notes.append(f"C: {m} x {n} f32, row by row")
    notes.append(f"D: {m} x {n} f32, filled with NaN (0x{SENTINEL:08x}), so that what is not written shows")
    return tuple(notes)
