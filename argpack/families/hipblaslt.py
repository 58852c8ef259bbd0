"""What hipBLASLt passes to its custom MXFP4 kernels: AITER's f4gemm kernels launched its own way, and the wave kernels.

hipBLASLt is column-major and the kernels are row-major: it exchanges A with B and M with N. Read in its
rocroller/custom_kernels.cpp; usage of the f4gemm kernels was measured on AITER's files, which these are built from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.families import patterns
from argpack.families.aiter_f4gemm import FAMILY as AITER_F4GEMM
from argpack.families.aiter_f4gemm.schema import SCHEMA as AITER
from argpack.families.aiter_f4gemm.usage import usage as f4gemm_usage
from argpack.families.declare import declare, extent, pointer, stride
from argpack.families.family import Family, Usage
from argpack.schema import KernargSchema
from argpack.values import changed

if TYPE_CHECKING:
    from collections.abc import Mapping

F4GEMM_NAMES = ("f4gemm_bf16_per1x32Fp4_*_ntA", "f4gemm_bf16_per1x32Fp4_*_ntB")

_DOC = {
    "ptr_D": "Output, bf16: hipBLASLt's D, its columns the kernel's rows.",
    "ptr_C": "Always null.",
    "ptr_A": "hipBLASLt's B: packed fp4, n rows of stride_A0 elements.",
    "ptr_B": "hipBLASLt's A: packed fp4, m rows of stride_B0 elements, in 16x16 tiles for BpreShuffle.",
    "beta": "hipBLASLt refuses any but 0.",
    "stride_C0": "hipBLASLt's column stride of C: D's row stride, in elements.",
    "stride_A0": "hipBLASLt's column stride of B, in elements.",
    "stride_B0": "hipBLASLt's column stride of A, in elements.",
    "M": "hipBLASLt's n.",
    "N": "hipBLASLt's m.",
    "ptr_ScaleA": "Scales of hipBLASLt's B, in tiles of 32x8.",
    "ptr_ScaleB": "Scales of hipBLASLt's A, in tiles of 32x8.",
    "stride_ScaleA0": "K/32, not rounded up to 8.",
    "stride_ScaleB0": "K/32, not rounded up to 8.",
    "log2_k_split": "Always 0.",
}
_ZERO = {name for name, use in f4gemm_usage(AITER.name).items() if use is Usage.UNREAD}

F4GEMM_SCHEMA = KernargSchema(
    "hipblaslt_f4gemm",
    tuple(
        changed(
            field, doc=_DOC.get(field.name, "Always 0, never loaded." if field.name in _ZERO else field.doc)
        )
        for field in AITER.fields
    ),
    "Arguments of AITER's f4gemm kernels as hipBLASLt passes them: A and B, M and N exchanged.",
)


def f4gemm_matches(kernel_name: str) -> bool:
    """Whether hipBLASLt alone has the kernel. Those without `_ntA` or `_ntB` have the names of AITER's."""
    return patterns.weight(patterns.plain(kernel_name), F4GEMM_NAMES) > 0


def f4gemm_use(_kernel_name: str) -> Mapping[str, Usage]:
    """The strictest use over AITER's 35 kernels."""
    return f4gemm_usage(AITER.name)


F4GEMM = Family(
    name=F4GEMM_SCHEMA.name,
    title="hipBLASLt's launch of AITER's f4gemm kernels: MXFP4 GEMM, bf16 output, gfx950",
    schema=F4GEMM_SCHEMA,
    matches=f4gemm_matches,
    usage=f4gemm_use,
    cross_check=AITER_F4GEMM.cross_check,
    launch_rule=(
        "workgroup 256 x 1 x 1 work-items; grid in work-items (hipExtModuleLaunchKernel): "
        "x=256*ceil(m/tile_n), y=ceil(n/tile_m), z=1, m and n hipBLASLt's"
    ),
    segments=(368, 384),
    metadata_names=AITER_F4GEMM.metadata_names,
    notes=(
        "Pads and strides that AITER leaves unset are zero here.",
        "m and n are multiples of 32, k of the tile's depth.",
    ),
)

WAVE_MXFP4 = declare(
    name="hipblaslt_wave_mxfp4",
    title="hipBLASLt wave_mxfp4: MXFP4 GEMM, bf16 output, gfx950",
    source="hipBLASLt rocroller/custom_kernels.cpp, struct WaveGemmKernelArgs",
    slot=0,
    fields=(
        pointer("ptr_a", doc="hipBLASLt's B: packed fp4, m rows."),
        pointer("ptr_a_scale", doc="Scales of hipBLASLt's B."),
        pointer("ptr_b", doc="hipBLASLt's A: packed fp4, n rows, preshuffled."),
        pointer("ptr_b_scale", doc="Scales of hipBLASLt's A."),
        pointer("ptr_c", doc="Output, bf16: hipBLASLt's D."),
        extent("m", "rows", of="u64", doc="hipBLASLt's n."),
        extent("n", "columns", of="u64", doc="hipBLASLt's m."),
        extent("k", "fp4 elements", of="u64"),
        stride("stride_a_dim0", "bytes", of="u64", doc="Half of hipBLASLt's column stride of B."),
        stride("stride_a_scale_dim0", "bytes", of="u64", doc="k/32."),
        stride("stride_b_dim0", "bytes", of="u64", doc="Half of hipBLASLt's column stride of A."),
        stride("stride_b_scale_dim0", "bytes", of="u64", doc="k/32."),
        stride(
            "stride_c_dim0", "bf16 elements", of="u64", doc="hipBLASLt's column stride of C, not multiplied."
        ),
    ),
    names=("wave_mxfp4_*",),
    launch=(
        "workgroup of the kernel, 128 x 2 x 1 for 256x192x256; grid x=ceil(n/tile_n), y=ceil(m/tile_m), z=1, "
        "m, n and the tile hipBLASLt's"
    ),
    segments=(104,),
    notes=(
        "Older static kernels, with the problem in their name, declare 80 bytes: 5 pointers and 10 values.",
    ),
)

FAMILIES: tuple[Family, ...] = (F4GEMM, WAVE_MXFP4)
