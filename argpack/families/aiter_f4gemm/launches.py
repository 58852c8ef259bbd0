"""Puts an f4gemm launch together from a plan: buffers filled and placed, arguments packed. It knows no limits.

Everything that a kernel may want otherwise (paddings, slices, what D holds) is in the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from argpack.families.aiter_f4gemm.arguments import POINTERS, field_values
from argpack.families.aiter_f4gemm.buffers import input_buffers
from argpack.families.aiter_f4gemm.geometry import BLOCK
from argpack.families.aiter_f4gemm.order import workgroup_of
from argpack.families.aiter_f4gemm.placement import Placement
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.sampling import workgroups_of
from argpack.launch import Buffer, Launch, Relocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.aiter_f4gemm.operands import OperandRows
    from argpack.families.family import Problem
    from argpack.families.sampling import Tiles
    from argpack.launch import MadeBuffer

_CONTRACT = Placement()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Sizes and contents that the problem alone does not say.

    `slices` are (start, stop) in elements of K for each workgroup along z. D has `d_rows` rows that are `d_row_stride`
    bf16 elements apart. Scales are padded to multiples of `scale_a_rows` and `scale_b_rows` rows. `overrides` are
    fields set by hand. `tiles` (x, y) of D are computed, None for all.
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
    tiles: Tiles | None = None

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroups along x (columns of D), y (rows of D) and z (slices of K)."""
        variant, problem = self.variant, self.problem
        return -(-problem.n // variant.tile_n), -(-problem.m // variant.tile_m), len(self.slices)


def build(
    code_object: CodeObject,
    kernel: Kernel,
    plan: Plan,
    operands: OperandRows,
    *,
    output: NDArray[np.uint16],
    initialised: bool,
) -> Launch:
    """The launch. `output` are the bf16 bits that D holds before it, (d_rows, d_row_stride); `initialised` says whether
    the host wrote them.
    """
    d = Buffer("D", output.view(np.uint8).reshape(-1), initialised=initialised)
    return assemble(code_object, kernel, plan, (d, *input_buffers(plan, operands)))


def assemble(
    code_object: CodeObject, kernel: Kernel, plan: Plan, buffers: tuple[Buffer | MadeBuffer, ...]
) -> Launch:
    """The launch with these buffers; those of C, D and the operands are told by their names."""
    values = {**field_values(plan.problem), "stride_C0": plan.d_row_stride, **plan.overrides}
    return Launch(
        code_object=code_object,
        kernel=kernel,
        arguments=SCHEMA.pack(values),
        relocations=_relocations(buffers, plan),
        buffers=buffers,
        grid=plan.grid,
        block=BLOCK,
        workgroups=None if plan.tiles is None else _workgroups(plan, plan.tiles),
    )


def _workgroups(plan: Plan, tiles: Tiles) -> tuple[tuple[int, int, int], ...]:
    """The workgroups that compute these tiles of D, all slices of each."""
    return workgroups_of(tuple(workgroup_of(plan.variant, plan.problem, tile) for tile in tiles), plan.grid)


def _relocations(buffers: tuple[Buffer | MadeBuffer, ...], plan: Plan) -> tuple[Relocation, ...]:
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
