"""AITER's MXFP4 GEMM kernels for gfx950 (f4gemm): D = alpha·A·Bᵀ, bf16 out, one E8M0 scale per 32 elements
of K.
"""

from argpack.families.aiter_f4gemm.cross_check import METADATA_NAMES, cross_check
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
    launch_rule=(
        "workgroup 256 x 1 x 1 work-items; grid x=ceil(N/tile_n), y=ceil(M/tile_m), z=1, where K is split "
        "z=ceil(K/slice) with slices of K >> log2_k_split rounded up to 256"
    ),
    segments=(368, 384),
    metadata_names={
        field: (f"{name}:{'ptr' if field.startswith('ptr') else 'i32'}",)
        for name, field in METADATA_NAMES.items()
    },
)

__all__ = ["FAMILY"]
