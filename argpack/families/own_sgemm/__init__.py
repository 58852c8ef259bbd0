"""argpack's own small kernel for gfx950, D = alpha·A·B + beta·C in float32: what a family of the simplest kind is."""

from argpack.families.family import Family
from argpack.families.own_sgemm.cross_check import cross_check
from argpack.families.own_sgemm.schema import KERNEL, SCHEMA, usage

FAMILY = Family(
    name=SCHEMA.name,
    title="argpack's own sgemm: float32 GEMM, row-major, gfx950",
    schema=SCHEMA,
    matches=lambda kernel_name: kernel_name.removesuffix(".kd") == KERNEL,
    usage=usage,
    cross_check=cross_check,
    workload="argpack.families.own_sgemm.workload",
)

__all__ = ["FAMILY"]
