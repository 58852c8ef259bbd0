"""Builds an f4gemm launch with random operands, and the judge of its result. It knows no backend."""

from __future__ import annotations

import functools
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from argpack.errors import InputError, RefusedError
from argpack.families.aiter_f4gemm import limits, regions
from argpack.families.aiter_f4gemm.arguments import extents, field_values
from argpack.families.aiter_f4gemm.buffers import Output, input_buffers, output_buffer
from argpack.families.aiter_f4gemm.cross_check import cross_check
from argpack.families.aiter_f4gemm.geometry import K_STEP, SCALE_BLOCK, SCALE_COLUMNS, k_slices, round_up
from argpack.families.aiter_f4gemm.judge import SENTINEL, Expectation, Sample, judge
from argpack.families.aiter_f4gemm.launches import Plan, assemble
from argpack.families.aiter_f4gemm.names import parse
from argpack.families.aiter_f4gemm.operands import RandomRows
from argpack.families.aiter_f4gemm.placement import Placement, b_layout, misplacements
from argpack.families.aiter_f4gemm.recorded import expected_output
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.aiter_f4gemm.usage import brief_of, usage
from argpack.families.family import Problem, Workload
from argpack.families.overrides import contradictions
from argpack.families.sampling import sample_tiles, wrapping_tiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.sampling import Tiles

__all__ = [
    "Placement",
    "default_problem",
    "expected_output",
    "extents",
    "field_values",
    "prepare",
    "refusals",
    "tile",
]

_NOTHING: Mapping[str, int | float] = MappingProxyType({})
_CONTRACT = Placement()


def default_problem(kernel_name: str) -> Problem:
    """256 x 256 x 1024, or the next N that the kernel can compute."""
    return Problem(m=256, n=round_up(256, limits.n_multiple(parse(kernel_name))), k=1024)


def tile(kernel_name: str) -> tuple[int, int]:
    """Rows and columns of D that a workgroup computes."""
    variant = parse(kernel_name)
    return variant.tile_m, variant.tile_n


def refusals(kernel_name: str, problem: Problem) -> tuple[str, ...]:
    """Why the kernel is known to compute the problem wrongly; InputError where there is no such problem."""
    limits.check_problem(problem)
    return limits.refusals(parse(kernel_name), problem)


def prepare(
    code_object: CodeObject,
    kernel: Kernel,
    problem: Problem,
    *,
    force: bool = False,
    placement: Placement = _CONTRACT,
    overrides: Mapping[str, int | float] = _NOTHING,
    zero_output: bool = True,
    sample: int | None = None,
) -> Workload:
    """A launch of `kernel` on random operands of `problem`, placed as the kernel wants them.

    `placement`, `overrides` (field values set by hand, over those that the problem needs) and `zero_output`
    (D before a launch that splits K) build other situations. `sample` is how many tiles of D at random to compute,
    beside corners and edges; None for all. What is known to go wrong raises RefusedError,
    unless `force`: then the workload names what it overrode. Raises InputError for what cannot be built at
    all.
    """
    variant = parse(kernel.name)
    limits.check_problem(problem)
    cross_check(kernel)
    slices = k_slices(variant, problem)
    # It adds to D where it is told to split, even where a single slice is left.
    accumulates = brief_of(variant.name).adds(problem.log2_k_split)
    if not zero_output and not accumulates:
        raise InputError(
            f"{kernel.name}: only a launch that splits K has its output zeroed, and this one does not"
        )
    row_stride = problem.n
    if problem.n % limits.n_multiple(variant):
        # Stores beyond N would race with those of the next row, and a lucky order would hide them: give them room.
        row_stride = round_up(problem.n, variant.tile_n)
    reasons = [
        *limits.refusals(variant, problem),
        *misplacements(variant, problem, placement),
        *contradictions(
            SCHEMA, {**field_values(problem), "stride_C0": row_stride}, overrides, usage(variant.name)
        ),
    ]
    if not zero_output:
        reasons.append(f"D is not zeroed, and {_adding(slices)} to what is there")
    if reasons and not force:
        raise RefusedError(f"{kernel.name}: {'; '.join(reasons)} (--force runs it anyway)")
    scale_a_rows, scale_b_rows = limits.scale_rows(variant)
    plan = Plan(
        variant=variant,
        problem=problem,
        slices=slices,
        d_rows=round_up(problem.m, limits.output_rows(variant)),
        d_row_stride=row_stride,
        scale_a_rows=scale_a_rows,
        scale_b_rows=scale_b_rows,
        placement=placement,
        overrides=overrides,
    )
    if sample is not None:
        plan = replace(plan, tiles=_sampled(plan, sample))
    operands = RandomRows(problem)
    zeroed = accumulates and zero_output
    output = Output(problem.m, problem.n, plan.d_rows, plan.d_row_stride, zeroed=zeroed)
    expected = Expectation(
        problem,
        operands,
        output,
        slices,
        padding_kept=not limits.writes_whole_tiles(variant),
        sample=None if plan.tiles is None else Sample(plan.tiles, (variant.tile_m, variant.tile_n)),
    )
    buffers = (output_buffer(plan, output), *input_buffers(plan, operands))
    return Workload(
        launch=assemble(code_object, kernel, plan, buffers),
        judge=functools.partial(judge, expected),
        notes=(*_notes(plan, zeroed=zeroed), *_other_code(code_object, variant)),
        overridden=tuple(reasons),
        output=regions.output(plan),
        spill=regions.spill(plan),
        padding=tuple(regions.padding(plan)),
    )


def _sampled(plan: Plan, count: int) -> Tiles:
    """Tiles to compute, among them those where an offset into D or an operand passes the end of 32 bits."""
    problem, variant = plan.problem, plan.variant
    of_k = (problem.k // 2, round_up(problem.k // SCALE_BLOCK, SCALE_COLUMNS))
    of_m = (2 * plan.d_row_stride, *of_k)
    rows = set().union(*(wrapping_tiles(problem.m, size, variant.tile_m) for size in of_m))
    columns = set().union(*(wrapping_tiles(problem.n, size, variant.tile_n) for size in of_k))
    return sample_tiles(plan.grid, count, seed=problem.seed, rows=rows, columns=columns)


def _notes(plan: Plan, *, zeroed: bool) -> tuple[str, ...]:
    problem, variant, placement = plan.problem, plan.variant, plan.placement
    columns = problem.k // SCALE_BLOCK
    padded = round_up(columns, SCALE_COLUMNS)
    notes = [
        f"A: {problem.m} x {problem.k} fp4, row by row",
        f"B: {problem.n} x {problem.k} fp4, {placement.b_layout or b_layout(variant)}",
    ]
    for operand, layout, rows, multiple in (
        ("A", placement.scale_a_layout, problem.m, plan.scale_a_rows),
        ("B", placement.scale_b_layout, problem.n, plan.scale_b_rows),
    ):
        text = f"scales of {operand}: {rows} x {columns} e8m0, {layout}"
        padded_rows = round_up(rows, multiple)
        if (rows, columns) != (padded_rows, padded):
            text += f", padded to {padded_rows} x {padded} with 0x{placement.scale_pad:02x}"
        notes.append(text)
    if variant.splits_k and problem.log2_k_split:
        step = plan.slices[0][1]
        notes.append(
            f"K is cut in {len(plan.slices)} of {step}, that is {problem.k} >> {problem.log2_k_split} rounded up to "
            f"{K_STEP}: the grid's z is {len(plan.slices)}"
        )
    filling = f"filled with NaN (0x{SENTINEL:04x}), so that what is not written shows"
    if zeroed:
        filling = f"zeroed, {_adding(plan.slices)} to it in any order"
    room = ""
    if (plan.d_rows, plan.d_row_stride) != (problem.m, problem.n):
        room = f" in {plan.d_rows} x {plan.d_row_stride} allocated"
    notes.append(f"D: {problem.m} x {problem.n} bf16{room}, {filling}")
    if limits.writes_whole_tiles(variant):
        notes.append(f"this kernel writes D to the end of its last {limits.output_rows(variant)} rows")
    if past := limits.over_reads(variant):
        notes.append(f"this kernel was seen to read {', '.join(past)}")
    return tuple(notes)


def _adding(slices: tuple[tuple[int, int], ...]) -> str:
    return "1 slice of K adds" if len(slices) == 1 else f"{len(slices)} slices of K add"


def _other_code(code_object: CodeObject, variant: Variant) -> tuple[str, ...]:
    measured = brief_of(variant.name).code_object
    if code_object.sha256.startswith(measured):
        return ()
    note = f"limits were measured on another code object of this name (sha256 {measured}...)"
    return (f"{note}: `argpack contract` measures this one",)
