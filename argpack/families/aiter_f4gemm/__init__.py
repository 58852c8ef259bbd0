"""AITER's MXFP4 GEMM kernels for gfx950 (f4gemm): D = alpha·A·Bᵀ, bf16 out, one E8M0 scale per 32 elements
of K.
"""

from argpack.families.aiter_f4gemm.cross_check import cross_check
from argpack.families.aiter_f4gemm.names import matches
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.aiter_f4gemm.usage import usage
from argpack.families.family import Family

FAMILY = Family(
    name="aiter_f4gemm",
    title="AITER f4gemm: MXFP4 GEMM, bf16 output, gfx950",
    schema=SCHEMA,
    matches=matches,
    usage=usage,
    cross_check=cross_check,
    workload="argpack.families.aiter_f4gemm.workload",
)

__all__ = ["FAMILY"]
