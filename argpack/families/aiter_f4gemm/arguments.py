"""How a problem becomes the argument buffer of an f4gemm kernel: field values, and values set by hand over
them.

Addresses are not known here: pointers are null until a backend places the buffers that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.families.aiter_f4gemm.geometry import round_up
from argpack.families.aiter_f4gemm.limits import SCALE_BLOCK, SCALE_COLUMNS
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.family import Usage
from argpack.schema import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.families.family import Problem
    from argpack.schema import Field

POINTERS = {
    "ptr_D": "D",
    "ptr_C": "C",
    "ptr_A": "A",
    "ptr_B": "B",
    "ptr_ScaleA": "ScaleA",
    "ptr_ScaleB": "ScaleB",
}


def field_values(problem: Problem) -> dict[str, int | float]:
    """A value of every field for dense operands; strides that no kernel reads are 0, as are pointers.

    D's row stride is `stride_C0`, in bf16 elements. Strides of A and B count fp4 elements, those of the
    scales bytes, padding included.
    """
    scale_columns = round_up(problem.k // SCALE_BLOCK, SCALE_COLUMNS)
    values: dict[str, int | float] = {field.name: 0 for field in SCHEMA.fields}
    values.update(
        alpha=problem.alpha,
        beta=problem.beta,
        stride_C0=problem.n,
        stride_A0=problem.k,
        stride_B0=problem.k,
        M=problem.m,
        N=problem.n,
        K=problem.k,
        stride_ScaleA0=scale_columns,
        stride_ScaleB0=scale_columns,
        log2_k_split=problem.log2_k_split,
    )
    return values


def contradictions(
    values: Mapping[str, int | float], overrides: Mapping[str, int | float], usage: Mapping[str, Usage]
) -> tuple[str, ...]:
    """What is wrong with fields set by hand, a sentence each: live ones that differ from what the problem
    needs.

    Fields that the kernel ignores may hold anything. Raises InputError for a name the schema does not have.
    """
    found = []
    for name, value in overrides.items():
        field = SCHEMA.slot(name).field
        if field is None or usage[name] is not Usage.LIVE:
            continue
        if field.role is Role.POINTER:
            found.append(f"{name} is set to {value:#x}, not to where {POINTERS[name]} is")
        elif value != values[name]:
            needed = values[name]
            found.append(
                f"{name} is set to {value}, this problem needs {needed}{_likely(field, value, needed)}"
            )
    return tuple(found)


def _likely(field: Field, value: float, needed: float) -> str:
    if field.role is Role.STRIDE and value in {needed * 2, needed / 2}:
        return f" {field.unit}: the wrong unit?"
    return f" {field.unit}" if field.unit else ""
