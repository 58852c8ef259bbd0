"""Builds an f4gemm launch with random operands, and the judge of its result. It knows no backend."""

from __future__ import annotations

import functools
import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError, RefusedError
from argpack.families.aiter_f4gemm import limits
from argpack.families.aiter_f4gemm.arguments import POINTERS, field_values
from argpack.families.aiter_f4gemm.cross_check import cross_check
from argpack.families.aiter_f4gemm.geometry import BLOCK, grid, k_slices, round_up
from argpack.families.aiter_f4gemm.judge import SENTINEL, Expectation, judge
from argpack.families.aiter_f4gemm.names import parse
from argpack.families.aiter_f4gemm.operands import random_operands
from argpack.families.aiter_f4gemm.placement import Placement, b_layout, misplacements
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.aiter_f4gemm.usage import usage
from argpack.families.family import Problem, Workload
from argpack.families.overrides import contradictions
from argpack.launch import Buffer, Launch, Relocation
from scale_layout import apply, layout_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.aiter_f4gemm.operands import Operands

__all__ = ["Placement", "default_problem", "field_values", "prepare", "refusals", "tile"]

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
) -> Workload:
    """A launch of `kernel` on random operands of `problem`, placed as the kernel wants them.

    `placement`, `overrides` (field values set by hand, over those that the problem needs) and `zero_output`
    (D before a launch that splits K) build other situations. What is known to go wrong raises RefusedError,
    unless `force`: then the workload names what it overrode. Raises InputError for what cannot be built at
    all.
    """
    variant = parse(kernel.name)
    limits.check_problem(problem)
    cross_check(kernel)
    slices = k_slices(variant, problem)
    accumulates = len(slices) > 1
    if not zero_output and not accumulates:
        raise InputError(
            f"{kernel.name}: only a launch that splits K has its output zeroed, and this one does not"
        )
    values = field_values(problem)
    row_stride = problem.n
    if problem.n % limits.n_multiple(variant):
        # Stores beyond N would race with those of the next row, and a lucky order would hide them: give them room.
        row_stride = values["stride_C0"] = round_up(problem.n, variant.tile_n)
    reasons = [
        *limits.refusals(variant, problem),
        *misplacements(variant, problem, placement),
        *contradictions(SCHEMA, values, overrides, usage(variant.name)),
    ]
    if not zero_output:
        reasons.append(f"D is not zeroed, and {len(slices)} slices of K add to what is there")
    if reasons and not force:
        raise RefusedError(f"{kernel.name}: {'; '.join(reasons)} (--force runs it anyway)")
    operands = random_operands(problem)
    rows = round_up(problem.m, limits.SCALE_ROWS if variant.preshuffled else limits.PLAIN_ROWS)
    expected = Expectation(
        problem=problem,
        operands=operands,
        slices=slices,
        rows=rows,
        row_stride=row_stride,
        padding_kept=variant.preshuffled,
        accumulates=accumulates and zero_output,
    )
    buffers = (_output(expected), *_inputs(variant, operands, placement))
    launch = Launch(
        code_object=code_object,
        kernel=kernel,
        arguments=SCHEMA.pack({**values, **overrides}),
        relocations=_relocations(buffers, overrides, exchange_scales=placement.exchange_scales),
        buffers=buffers,
        grid=grid(variant, problem),
        block=BLOCK,
    )
    return Workload(
        launch=launch,
        judge=functools.partial(judge, expected),
        notes=_notes(variant, expected, placement),
        overridden=tuple(reasons),
    )


def _output(expected: Expectation) -> Buffer:
    bits = np.full((expected.rows, expected.row_stride), SENTINEL, np.uint16)
    if expected.accumulates:
        bits[: expected.problem.m, : expected.problem.n] = 0
    return Buffer("D", bits.view(np.uint8).reshape(-1), initialised=expected.accumulates)


def _inputs(variant: Variant, operands: Operands, placement: Placement) -> tuple[Buffer, ...]:
    b = apply(layout_named(placement.b_layout or b_layout(variant)), operands.b_codes, pad_value=0)
    rows_a = limits.SCALE_ROWS if variant.preshuffled else limits.PLAIN_ROWS
    scale_a = _scale_image(placement.scale_a_layout, operands.a_scales, placement.scale_pad, rows_a)
    scale_b = _scale_image(
        placement.scale_b_layout, operands.b_scales, placement.scale_pad, limits.SCALE_ROWS
    )
    buffers = [
        Buffer("A", operands.a_codes.reshape(-1)),
        Buffer("B", b),
        Buffer("ScaleA", scale_a),
        Buffer("ScaleB", scale_b),
    ]
    if operands.c is not None:
        buffers.append(Buffer("C", operands.c.view(np.uint8).reshape(-1)))
    return tuple(buffers)


def _scale_image(name: str, scales: NDArray[np.uint8], pad: int, row_multiple: int) -> NDArray[np.uint8]:
    """Padded as the kernel wants it in every layout, so that a wrong one differs in its order alone."""
    layout = layout_named(name)
    rows, columns = layout.tile
    return apply(
        layout,
        scales,
        pad_value=pad,
        row_multiple=math.lcm(rows, row_multiple),
        col_multiple=math.lcm(columns, limits.SCALE_COLUMNS),
    )


def _relocations(
    buffers: tuple[Buffer, ...], overrides: Mapping[str, int | float], *, exchange_scales: bool
) -> tuple[Relocation, ...]:
    """A pointer set by hand keeps its value; C's is null where there is no C."""
    target = dict(POINTERS)
    if exchange_scales:
        target["ptr_ScaleA"], target["ptr_ScaleB"] = target["ptr_ScaleB"], target["ptr_ScaleA"]
    present = {buffer.name for buffer in buffers}
    return tuple(
        Relocation(SCHEMA.offset(field), buffer)
        for field, buffer in target.items()
        if buffer in present and field not in overrides
    )


def _notes(variant: Variant, expected: Expectation, placement: Placement) -> tuple[str, ...]:
    problem = expected.problem
    columns = problem.k // limits.SCALE_BLOCK
    padded = round_up(columns, limits.SCALE_COLUMNS)
    rows_a = round_up(problem.m, limits.SCALE_ROWS if variant.preshuffled else limits.PLAIN_ROWS)
    rows_b = round_up(problem.n, limits.SCALE_ROWS)
    notes = [
        f"A: {problem.m} x {problem.k} fp4, row by row",
        f"B: {problem.n} x {problem.k} fp4, {placement.b_layout or b_layout(variant)}",
    ]
    for operand, layout, rows, padded_rows in (
        ("A", placement.scale_a_layout, problem.m, rows_a),
        ("B", placement.scale_b_layout, problem.n, rows_b),
    ):
        text = f"scales of {operand}: {rows} x {columns} e8m0, {layout}"
        if (rows, columns) != (padded_rows, padded):
            text += f", padded to {padded_rows} x {padded} with 0x{placement.scale_pad:02x}"
        notes.append(text)
    filling = f"filled with NaN (0x{SENTINEL:04x}), so that what is not written shows"
    if expected.accumulates:
        filling = f"zeroed, {len(expected.slices)} slices of K add to it in any order"
    room = ""
    if (expected.rows, expected.row_stride) != (problem.m, problem.n):
        room = f" in {expected.rows} x {expected.row_stride} allocated"
    notes.append(f"D: {problem.m} x {problem.n} bf16{room}, {filling}")
    if not variant.preshuffled:
        notes.append(
            "this kernel writes whole tiles of D and reads past the end of B, by up to "
            f"{limits.PLAIN_B_OVERREAD} bytes"
        )
    return tuple(notes)
