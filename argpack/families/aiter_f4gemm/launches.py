"""Puts an f4gemm launch together from a plan: buffers filled and placed, arguments packed. It knows no limits.

Everything that a kernel may want otherwise (paddings, slices, what D holds) is in the plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.aiter_f4gemm.arguments import POINTERS, field_values
from argpack.families.aiter_f4gemm.geometry import BLOCK, SCALE_COLUMNS
from argpack.families.aiter_f4gemm.placement import Placement, b_layout
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.launch import Buffer, Launch, Relocation
from scale_layout import apply, layout_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.aiter_f4gemm.operands import Operands
    from argpack.families.family import Problem

_CONTRACT = Placement()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Sizes and contents that the problem alone does not say.

    `slices` are (start, stop) in elements of K for each workgroup along z. D has `d_rows` rows that are `d_row_stride`
    bf16 elements apart. Scales are padded to multiples of `scale_a_rows` and `scale_b_rows` rows. `overrides` are
    fields set by hand.
    """

    variant: Variant
    problem: Problem
    slices: tuple[tuple[int, int], ...]
    d_rows: int
    d_row_stride: int
    scale_a_rows: int
    scale_b_rows: int
    placement: Placement = _CONTRACT
    overrides: Mapping[str, int | float] = field(default_factory=dict)


def build(
    code_object: CodeObject,
    kernel: Kernel,
    plan: Plan,
    operands: Operands,
    *,
    output: NDArray[np.uint16],
    initialised: bool,
) -> Launch:
    """The launch. `output` are the bf16 bits that D holds before it, (d_rows, d_row_stride); `initialised` says whether
    the host wrote them.
    """
    problem, variant = plan.problem, plan.variant
    buffers = (
        Buffer("D", output.view(np.uint8).reshape(-1), initialised=initialised),
        *_inputs(plan, operands),
    )
    values = {**field_values(problem), "stride_C0": plan.d_row_stride, **plan.overrides}
    x, y = -(-problem.n // variant.tile_n), -(-problem.m // variant.tile_m)
    return Launch(
        code_object=code_object,
        kernel=kernel,
        arguments=SCHEMA.pack(values),
        relocations=_relocations(buffers, plan),
        buffers=buffers,
        grid=(x, y, len(plan.slices)),
        block=BLOCK,
    )


def _inputs(plan: Plan, operands: Operands) -> tuple[Buffer, ...]:
    placement = plan.placement
    b = apply(layout_named(placement.b_layout or b_layout(plan.variant)), operands.b_codes, pad_value=0)
    scale_a = scale_image(placement.scale_a_layout, operands.a_scales, placement.scale_pad, plan.scale_a_rows)
    scale_b = scale_image(placement.scale_b_layout, operands.b_scales, placement.scale_pad, plan.scale_b_rows)
    buffers = [
        Buffer("A", operands.a_codes.reshape(-1)),
        Buffer("B", b),
        Buffer("ScaleA", scale_a),
        Buffer("ScaleB", scale_b),
    ]
    if operands.c is not None:
        buffers.append(Buffer("C", operands.c.view(np.uint8).reshape(-1)))
    return tuple(buffers)


def scale_image(name: str, scales: NDArray[np.uint8], pad: int, row_multiple: int) -> NDArray[np.uint8]:
    """Padded as the kernel wants it in every layout, so that a wrong one differs in its order alone."""
    layout = layout_named(name)
    rows, columns = layout.tile
    return apply(
        layout,
        scales,
        pad_value=pad,
        row_multiple=math.lcm(rows, row_multiple),
        col_multiple=math.lcm(columns, SCALE_COLUMNS),
    )


def _relocations(buffers: tuple[Buffer, ...], plan: Plan) -> tuple[Relocation, ...]:
    """A pointer set by hand keeps its value; C's is null where there is no C."""
    target = dict(POINTERS)
    if plan.placement.exchange_scales:
        target["ptr_ScaleA"], target["ptr_ScaleB"] = target["ptr_ScaleB"], target["ptr_ScaleA"]
    present = {buffer.name for buffer in buffers}
    return tuple(
        Relocation(SCHEMA.offset(name), buffer)
        for name, buffer in target.items()
        if buffer in present and name not in plan.overrides
    )
