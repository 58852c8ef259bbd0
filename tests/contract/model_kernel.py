"""A kernel that is a few lines of numpy, with whatever limits a test gives it, in place of launches of a real one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argpack.contract.trials import Trial
from argpack.families.aiter_f4gemm.judge import SENTINEL
from argpack.families.aiter_f4gemm.names import Variant
from argpack.families.aiter_f4gemm.operands import random_operands
from argpack.numerics import bf16_to_float32, float64_to_bf16, mxfp4_gemm_reference


def up(length, multiple):
    return -(-length // multiple) * multiple


@dataclass
class Model:
    """Stores of `n_step` columns and `m_step` rows each; wrong numbers where K is no multiple of `k_step`, or of
    `padded_k_step` with a pad that is not 0.
    """

    tile: tuple[int, int] = (64, 96)
    n_step: int = 32
    m_step: int = 1
    k_step: int = 32
    padded_k_step: int = 256
    alpha: bool = False
    beta: bool = False
    splits: bool = False
    adds: str = "never"
    past_end: object = None  # a function of the problem and the rows of both scales
    row_pad_matters: bool = False
    uses_what_is_behind: bool = False

    def __post_init__(self):
        self.variant = Variant("model", *self.tile, preshuffled=True, splits_k=False, applies_alpha=False)
        self.ran = []

    def run(
        self,
        problem,
        *,
        slices=None,
        before=SENTINEL,
        pad=0,
        scale_a_rows=32,
        scale_b_rows=32,
        dense=False,
        behind=0,
    ):
        self.ran.append(problem)
        slices = slices or ((0, problem.k),)
        operands = random_operands(problem)
        bits = np.full(
            (up(problem.m, self.tile[0]), up(problem.n, self.tile[1]) + self.tile[1]), before, np.uint16
        )
        rows, columns = up(problem.m, self.m_step), up(problem.n, self.n_step)
        split = self.splits and problem.log2_k_split > 0
        add = self.adds == "always" or (self.adds == "when_split" and split)
        step = up(problem.k >> problem.log2_k_split, 256) if split else problem.k
        for start in range(0, len(slices) * step if split else step, step):
            stop = min(start + step, problem.k)
            product = self._product(problem, operands, start, stop, pad)
            held = bits[: problem.m, : problem.n]
            if add:
                product += bf16_to_float32(held)
            held[...] = float64_to_bf16(product)
        beside = np.zeros_like(bits, bool)
        beside[:rows, :columns] = True
        beside[: problem.m, : problem.n] = False
        bits[beside] = 0x3F80
        if behind and self.uses_what_is_behind:
            bits[0, 0] = 0x7FC0
        past = self.past_end(problem, scale_a_rows, scale_b_rows) if self.past_end else {}
        return Trial(
            problem=problem,
            slices=slices,
            operands=operands,
            before=before,
            bits=bits,
            errors=(),
            past_end={name: size for name, size in past.items() if size > 0},
        )

    def _product(self, problem, operands, start, stop, pad):
        values = mxfp4_gemm_reference(
            operands.a_codes[:, start // 2 : stop // 2],
            operands.a_scales[:, start // 32 : stop // 32],
            operands.b_codes[:, start // 2 : stop // 2],
            operands.b_scales[:, start // 32 : stop // 32],
            alpha=problem.alpha if self.alpha else 1.0,
        ).values.copy()
        if self.beta and operands.c is not None:
            values += problem.beta * bf16_to_float32(operands.c)
        if problem.k % (self.padded_k_step if pad else self.k_step) or (pad and self.row_pad_matters):
            values += 1e6
        return values
