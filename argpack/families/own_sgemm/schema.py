"""The argument buffer of argpack_sgemm: 13 fields without gaps, 68 bytes. Its source is argpack/kernels/own/sgemm.s."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.family import Usage
from argpack.schema import Field, KernargSchema, Role

if TYPE_CHECKING:
    from collections.abc import Mapping

KERNEL = "argpack_sgemm"


def _pointer(name: str, doc: str) -> Field:
    return Field(name, "ptr", "", Role.POINTER, doc)


def _u32(name: str, unit: str, role: Role, doc: str) -> Field:
    return Field(name, "u32", unit, role, doc)


SCHEMA = KernargSchema(
    "own_sgemm",
    (
        _pointer("ptr_D", "Output, f32, M rows of stride_D elements."),
        _pointer("ptr_C", "Added to the product, f32, M rows; read only where beta is not 0."),
        _pointer("ptr_A", "Left factor, f32, M rows of stride_A elements."),
        _pointer("ptr_B", "Right factor, f32, K rows of stride_B elements."),
        Field("alpha", "f32", "", Role.SCALAR, "Factor of A·B."),
        Field("beta", "f32", "", Role.SCALAR, "Factor of C."),
        _u32("M", "rows", Role.EXTENT, "Rows of A, C and D."),
        _u32("N", "columns", Role.EXTENT, "Columns of B, C and D."),
        _u32("K", "elements", Role.EXTENT, "Columns of A, rows of B."),
        _u32("stride_D", "f32 elements", Role.STRIDE, "D's row stride."),
        _u32("stride_C", "f32 elements", Role.STRIDE, "C's row stride; read only where beta is not 0."),
        _u32("stride_A", "f32 elements", Role.STRIDE, "A's row stride."),
        _u32("stride_B", "f32 elements", Role.STRIDE, "B's row stride."),
    ),
    "Arguments of argpack_sgemm, D = alpha·A·B + beta·C, all matrices row by row.",
)
_USAGE = MappingProxyType({field.name: Usage.LIVE for field in SCHEMA.fields})


def usage(kernel_name: str) -> Mapping[str, Usage]:
    """Every field is live. Raises InputError for a kernel that is not argpack_sgemm (or the family's own name)."""
    if kernel_name.removesuffix(".kd") not in {KERNEL, SCHEMA.name}:
        raise InputError(f"{kernel_name}: expected {KERNEL}")
    return _USAGE
