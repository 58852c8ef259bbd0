"""Launches of an f4gemm kernel that no contract decides on: room on all sides of D, any padding, any number of slices.

From the family come the arguments, the layouts of the operands and the tile that the kernel's name tells.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from argpack.contract.reach import Reach
from argpack.errors import UnsupportedError
from argpack.families.aiter_f4gemm.cross_check import cross_check
from argpack.families.aiter_f4gemm.geometry import SCALE_BLOCK, SCALE_ROWS, round_up
from argpack.families.aiter_f4gemm.judge import SENTINEL
from argpack.families.aiter_f4gemm.launches import Plan, build
from argpack.families.aiter_f4gemm.names import unmeasured
from argpack.families.aiter_f4gemm.operands import Operands, random_operands
from argpack.families.aiter_f4gemm.placement import Placement
from argpack.families.choice import family_of_kernel
from argpack.launch import Buffer
from argpack.launch.emulator_backend import EmulatorBackend
from argpack.numerics import Reference, bf16_to_float32, compare, mxfp4_gemm_reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families import Problem
    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.launch import Launch

_OPERANDS = ("A", "B", "ScaleA", "ScaleB")
_GARBAGE = 0xFF  # NaN as a scale, -6 twice as packed fp4
Slices = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """One launch that was run. `bits` is D behind it, bf16 (rows, row stride), with room behind M x N.

    `before` is what every element of D held; `errors` are of memory; `past_end` has bytes read behind buffers.
    """

    problem: Problem
    slices: Slices
    operands: Operands
    before: int
    bits: NDArray[np.uint16]
    errors: tuple[str, ...]
    past_end: Mapping[str, int] = field(default_factory=dict)

    @property
    def output(self) -> NDArray[np.uint16]:
        """The M x N elements of D."""
        return self.bits[: self.problem.m, : self.problem.n]

    @property
    def rows_written(self) -> int:
        """How many rows of D from the first were written."""
        rows = np.flatnonzero((self.bits != self.before).any(axis=1))
        return int(rows[-1]) + 1 if len(rows) else 0

    def wrong(self, *, slices: Slices | None = None, added: bool = False) -> str:
        """What is wrong with the launch, in words; empty where M x N is the product and nothing lies beside it.

        `slices` of K are summed (default: those launched); with `added` D is the product plus what it held before.
        """
        if self.errors:
            return self.errors[0]
        beside = int(np.count_nonzero(self.bits[: self.problem.m, self.problem.n :] != self.before))
        if beside:
            return f"{beside} elements behind column {self.problem.n} were written"
        verdict = compare(
            np.ascontiguousarray(self.output),
            self._reference(slices or self.slices, added=added),
            dtype="bfloat16",
        )
        return "" if verdict.passed else f"{verdict.wrong} of {verdict.elements} outputs are wrong"

    def _reference(self, slices: Slices, *, added: bool) -> Reference:
        product = self._product(slices)
        if not added:
            return product
        held = float(bf16_to_float32(np.array([self.before], np.uint16))[0])
        # Each slice rounds the sum so far to bf16, and a sum so far may be larger than the last one.
        terms = abs(held) + sum(np.abs(self._product((part,)).values) for part in slices)
        return Reference(product.values + held, product.tolerance + len(slices) * terms * 2.0**-8)

    def _product(self, slices: Slices) -> Reference:
        operands, start, stop = self.operands, slices[0][0], slices[-1][1]
        codes, scales = slice(start // 2, stop // 2), slice(start // SCALE_BLOCK, stop // SCALE_BLOCK)
        return mxfp4_gemm_reference(
            operands.a_codes[:, codes],
            operands.a_scales[:, scales],
            operands.b_codes[:, codes],
            operands.b_scales[:, scales],
            alpha=self.problem.alpha,
            k_slices=tuple((first - start, last - start) for first, last in slices),
        )


class Trials:
    """The launches of one kernel.

    Raises UnsupportedError for a kernel of another family, InputError where metadata and schema contradict.
    """

    def __init__(self, code_object: CodeObject, kernel: Kernel) -> None:
        family = family_of_kernel(kernel, code_object)
        if family is None or family.name != "aiter_f4gemm":
            known = "of no known family" if family is None else f"of {family.name}"
            raise UnsupportedError(
                f"{code_object.source}: {kernel.name}: {known}: contracts are measured of aiter_f4gemm only"
            )
        cross_check(kernel)
        self.variant: Variant = unmeasured(kernel.name)
        self._code_object, self._kernel = code_object, kernel
        self._reach = Reach()
        self._backend = EmulatorBackend(processes=1, observer=self._reach)
        self._operands = functools.lru_cache(maxsize=8)(random_operands)

    @property
    def backend(self) -> str:
        """What runs the launches, in words."""
        return self._backend.description

    def run(
        self,
        problem: Problem,
        *,
        slices: Slices | None = None,
        before: int = SENTINEL,
        pad: int = 0,
        scale_a_rows: int = SCALE_ROWS,
        scale_b_rows: int = SCALE_ROWS,
        dense: bool = False,
        behind: int = 0,
    ) -> Trial:
        """Run a problem: `slices` along z (default: one, all of K), D filled with bf16 bits `before`, scales padded
        with byte `pad` to multiples of so many rows. Rows of D have room behind N, unless `dense`. `behind` bytes
        follow each operand: large numbers, and NaN behind the scales.
        """
        slices = slices or ((0, problem.k),)
        plan = self._plan(problem, slices, pad=pad, rows=(scale_a_rows, scale_b_rows), dense=dense)
        operands = self._operands(problem)
        launch = self._launch(plan, operands, before)
        result = self._backend.run(_followed(launch, behind) if behind else launch)
        bits = result.buffers["D"].view(np.uint16).reshape(plan.d_rows, plan.d_row_stride)
        return Trial(
            problem=problem,
            slices=slices,
            operands=operands,
            before=before,
            bits=bits,
            errors=result.errors,
            past_end=dict(self._reach.past_end),
        )

    def launch(self, problem: Problem) -> Launch:
        """The launch of a problem in one slice, D filled with NaN."""
        plan = self._plan(problem, ((0, problem.k),))
        return self._launch(plan, self._operands(problem), SENTINEL)

    def _plan(
        self,
        problem: Problem,
        slices: Slices,
        *,
        pad: int = 0,
        rows: tuple[int, int] = (SCALE_ROWS, SCALE_ROWS),
        dense: bool = False,
    ) -> Plan:
        variant = self.variant
        # Whatever a workgroup writes beside N stays in its row.
        room = round_up(problem.n, variant.tile_n) + variant.tile_n
        return Plan(
            variant=variant,
            problem=problem,
            slices=slices,
            d_rows=round_up(problem.m, variant.tile_m),
            d_row_stride=problem.n if dense else room,
            scale_a_rows=rows[0],
            scale_b_rows=rows[1],
            placement=Placement(scale_pad=pad),
        )

    def _launch(self, plan: Plan, operands: Operands, before: int) -> Launch:
        output = np.full((plan.d_rows, plan.d_row_stride), before, np.uint16)
        return build(
            self._code_object, self._kernel, plan, operands, output=output, initialised=before != SENTINEL
        )


def _followed(launch: Launch, size: int) -> Launch:
    """The launch with `size` bytes behind each operand that would show in any output that used them."""
    garbage = np.full(size, _GARBAGE, np.uint8)
    buffers = tuple(
        Buffer(buffer.name, np.concatenate([buffer.data, garbage])) if buffer.name in _OPERANDS else buffer
        for buffer in launch.buffers
    )
    return replace(launch, buffers=buffers)


def problem_text(problem: Problem) -> str:
    """`M=33 N=256 K=512`, and what else is not as it usually is."""
    text = f"M={problem.m} N={problem.n} K={problem.k}"
    for name, value, usual in (
        ("alpha", problem.alpha, 1),
        ("beta", problem.beta, 0),
        ("log2_k_split", problem.log2_k_split, 0),
    ):
        if value != usual:
            text += f" {name}={value:g}"
    return text
