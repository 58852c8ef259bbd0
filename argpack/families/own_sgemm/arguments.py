"""How a problem becomes the argument buffer of argpack_sgemm: field values, pointers null. No numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argpack.families.family import Problem


def field_values(problem: Problem) -> dict[str, int | float]:
    """A value of every field for dense operands, pointers null. Strides count f32 elements."""
    return {
        "ptr_D": 0,
        "ptr_C": 0,
        "ptr_A": 0,
        "ptr_B": 0,
        "alpha": problem.alpha,
        "beta": problem.beta,
        "M": problem.m,
        "N": problem.n,
        "K": problem.k,
        "stride_D": problem.n,
        "stride_C": problem.n,
        "stride_A": problem.k,
        "stride_B": problem.n,
    }
