"""What must stand in the padding columns of the scales: found by launches whose K ends inside a tile of the layout.

Takes layouts as found and random operands; it looks at outputs only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.numerics import compare, mxfp4_gemm_reference
from argpack.numerics.reference import SCALE_BLOCK
from argpack.probe.subject import SCALE_A, SCALE_B, A, B
from argpack.values import changed
from scale_layout import apply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from argpack.families import Problem
    from argpack.probe.subject import Subject
    from scale_layout import Layout

# 2^-127, 1.0 and NaN: what is found in practice, and what shows in any output that it touches.
PAD_VALUES = (0x00, 0x7F, 0xFF)
_ROWS = 64
_SCALES = (120, 135)


def padded_problem(problem: Problem) -> Problem:
    """One scale block of K more than `problem`, and few rows."""
    return changed(problem, m=min(problem.m, _ROWS), k=problem.k + SCALE_BLOCK)


def right_pad_values(
    problem: Problem, layouts: Mapping[str, Layout], subject_for: Callable[[Problem], Subject]
) -> tuple[int, ...]:
    """Those of `PAD_VALUES` with which `padded_problem(problem)` is computed right, for both scales at once."""
    ragged = padded_problem(problem)
    subject = subject_for(ragged)
    rng = np.random.default_rng(0)
    logical = {
        name: rng.integers(0, 256, (rows, ragged.k // 2), np.uint8)
        for name, rows in ((A, ragged.m), (B, ragged.n))
    }
    logical |= {
        name: rng.integers(*_SCALES, (rows, ragged.k // SCALE_BLOCK), np.uint8)
        for name, rows in ((SCALE_A, ragged.m), (SCALE_B, ragged.n))
    }
    reference = mxfp4_gemm_reference(logical[A], logical[SCALE_A], logical[B], logical[SCALE_B])
    right = []
    for value in PAD_VALUES:
        images = {
            name: _filled(apply(layouts[name], data, pad_value=value), subject.sizes[name], value)
            for name, data in logical.items()
        }
        if compare(subject.output(**images), reference, dtype="bfloat16").passed:
            right.append(value)
    return tuple(right)


def _filled(image: NDArray[np.uint8], size: int, value: int) -> NDArray[np.uint8]:
    whole = np.full(size, value, np.uint8)
    whole[: image.size] = image
    return whole
