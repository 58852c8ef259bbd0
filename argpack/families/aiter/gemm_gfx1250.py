"""AITER's GEMM kernels for gfx1250: MXFP4 and NVFP4 with bf16 or fp8 output, MXFP8 by MXFP4."""

from argpack.families.declare import declare, extent, pointer, scalar, stride
from argpack.families.family import Family

MXFP8FP4GEMM_GFX1250 = declare(
    name="aiter_mxfp8fp4gemm_gfx1250",
    title="AITER mxfp8fp4gemm_gfx1250: MXFP8 by MXFP4 or MXFP8 GEMM, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_mxfp8fp4gemm.cu, struct KernelArgs, revision e4048607; 4 kernels",
    slot=0,
    fields=(
        pointer("ptr_D"),
        pointer("ptr_A"),
        pointer("ptr_B"),
        pointer("ptr_ScaleA"),
        pointer("ptr_ScaleB"),
        stride("stride_C", "bytes"),
        stride("stride_A", "bytes"),
        stride("stride_B", "bytes", doc="K, or K/2 for fp4."),
        stride("ScaleA_K", "bytes", doc="K/32."),
        stride("ScaleB_K", "bytes", doc="K/32."),
        extent("M", "rows"),
        extent("N", "columns"),
        extent("K", "elements"),
        extent("batch_size", "", doc="1."),
    ),
    names=("f8gemm_bf16_mxfp8fp*",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid persistent: x=(256/(cx*cy))*cx, y=cy, z=1 (4x4: 64x4; 4x1: "
        "256x1); clusters of 4x4 (256x256 tile) or 4x1 (64x512 tile); also in metadata .cluster_dims"
    ),
    segments=(76,),
    notes=("Arguments are preloaded; 256x256 kernels never see batch_size.",),
)

F4GEMM_GFX1250_MXFP4 = declare(
    name="aiter_f4gemm_gfx1250_mxfp4",
    title="AITER f4gemm: MXFP4 GEMM, bf16 or fp4 output, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_f4gemm.cu, struct KernelArgs, revision e4048607; 5 kernels",
    slot=0,
    fields=(
        pointer("ptr_D"),
        pointer("ptr_A"),
        pointer("ptr_B"),
        pointer("ptr_ScaleA"),
        pointer("ptr_ScaleB"),
        stride("strideD0", "bytes", doc="Bf16 2N, fp8 N, fp4 N/2."),
        stride("strideA0", "bytes", doc="K/2."),
        stride("strideB0", "bytes", doc="K/2."),
        stride("ScaleA_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        stride("ScaleB_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        extent("M", "rows"),
        extent("N", "columns"),
        extent("K", "fp4 elements"),
        scalar("log2_grid_x", "log2", "-", "-:-", "-:f32"),
        scalar("log2_grid_y", "log2", "-", "-:-", "-:f32"),
    ),
    names=("f4gemm_bf16_mxfp4_*", "f4gemm_fp4_mxfp4_*"),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid persistent: 256 workgroups = 16 clusters of 4x4 -> cluster "
        "grid 4x4 -> x=16, y=16, z=1 (gridX=256/(cx*cy)/4, gridY=4); cluster dims from csv; needs "
        "N%(256*cx)==0, M%(256*cy)==0; clusters of 4 x 4 x 1"
    ),
    segments=(80,),
    notes=(
        "All strides are bytes; those of gfx950's f4gemm are elements. All arguments are preloaded.",
        "N is a multiple of 1024 and M too: 256 for each of 4 x 4 workgroups of a cluster.",
    ),
)

F4GEMM_GFX1250_MXFP4_FP8 = declare(
    name="aiter_f4gemm_gfx1250_mxfp4_fp8",
    title="AITER f4gemm: MXFP4 GEMM, fp8 output with scales, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_f4gemm.cu, struct KernelArgs, revision e4048607; 5 kernels",
    slot=0,
    fields=(
        pointer("ptr_D"),
        pointer("ptr_A"),
        pointer("ptr_B"),
        pointer("ptr_ScaleA"),
        pointer("ptr_ScaleB"),
        stride("strideD0", "bytes", doc="Bf16 2N, fp8 N, fp4 N/2."),
        stride("strideA0", "bytes", doc="K/2."),
        stride("strideB0", "bytes", doc="K/2."),
        stride("ScaleA_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        stride("ScaleB_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        extent("M", "rows"),
        extent("N", "columns"),
        extent("K", "fp4 elements"),
        scalar("log2_grid_x", "log2", "-", "-:-", "-:f32"),
        scalar("log2_grid_y", "log2", "-", "-:-", "-:f32"),
        pointer("ptr_ScaleD", "-"),
    ),
    names=("f4gemm_fp8_mxfp4_*",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid persistent: 256 workgroups = 16 clusters of 4x4 -> cluster "
        "grid 4x4 -> x=16, y=16, z=1 (gridX=256/(cx*cy)/4, gridY=4); cluster dims from csv; needs "
        "N%(256*cx)==0, M%(256*cy)==0; clusters of 4 x 4 x 1"
    ),
    segments=(88,),
    notes=(
        "All strides are bytes; those of gfx950's f4gemm are elements. All arguments are preloaded.",
        "N is a multiple of 1024 and M too: 256 for each of 4 x 4 workgroups of a cluster.",
    ),
)

F4GEMM_GFX1250_NVFP4 = declare(
    name="aiter_f4gemm_gfx1250_nvfp4",
    title="AITER f4gemm: NVFP4 GEMM, bf16 output, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_f4gemm.cu, struct KernelArgs, revision e4048607; 5 kernels",
    slot=0,
    fields=(
        pointer("ptr_D"),
        pointer("ptr_A"),
        pointer("ptr_B"),
        pointer("ptr_ScaleA"),
        pointer("ptr_ScaleB"),
        stride("strideD0", "bytes", doc="Bf16 2N, fp8 N, fp4 N/2."),
        stride("strideA0", "bytes", doc="K/2."),
        stride("strideB0", "bytes", doc="K/2."),
        stride("ScaleA_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        stride("ScaleB_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        extent("M", "rows"),
        extent("N", "columns"),
        extent("K", "fp4 elements"),
        scalar("GlobalScaleA", "", "-:f32", "-", "-:-", of="f32", doc="Global scale of A."),
        scalar("GlobalScaleB", "", "-:f32", "-", "-:-", of="f32", doc="Global scale of B."),
        scalar("log2_grid_x", "log2", "-", "-:-", "-:f32"),
        scalar("log2_grid_y", "log2", "-", "-:-", "-:f32"),
    ),
    names=("f4gemm_bf16_nvfp4_*",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid persistent: 256 workgroups = 16 clusters of 4x4 -> cluster "
        "grid 4x4 -> x=16, y=16, z=1 (gridX=256/(cx*cy)/4, gridY=4); cluster dims from csv; needs "
        "N%(256*cx)==0, M%(256*cy)==0; clusters of 4 x 4 x 1"
    ),
    segments=(88,),
    notes=(
        "All strides are bytes; those of gfx950's f4gemm are elements. All arguments are preloaded.",
        "N is a multiple of 1024 and M too: 256 for each of 4 x 4 workgroups of a cluster.",
    ),
)

F4GEMM_GFX1250_NVFP4_FP8 = declare(
    name="aiter_f4gemm_gfx1250_nvfp4_fp8",
    title="AITER f4gemm: NVFP4 GEMM, fp8 output with scales, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_f4gemm.cu, struct KernelArgs, revision e4048607; 5 kernels",
    slot=0,
    fields=(
        pointer("ptr_D"),
        pointer("ptr_A"),
        pointer("ptr_B"),
        pointer("ptr_ScaleA"),
        pointer("ptr_ScaleB"),
        stride("strideD0", "bytes", doc="Bf16 2N, fp8 N, fp4 N/2."),
        stride("strideA0", "bytes", doc="K/2."),
        stride("strideB0", "bytes", doc="K/2."),
        stride("ScaleA_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        stride("ScaleB_stride0", "bytes", doc="K/32 mx, K/16 nv."),
        extent("M", "rows"),
        extent("N", "columns"),
        extent("K", "fp4 elements"),
        scalar("GlobalScaleA", "", "-:f32", "-", "-:-", of="f32", doc="Global scale of A."),
        scalar("GlobalScaleB", "", "-:f32", "-", "-:-", of="f32", doc="Global scale of B."),
        scalar("log2_grid_x", "log2", "-", "-:-", "-:f32"),
        scalar("log2_grid_y", "log2", "-", "-:-", "-:f32"),
        pointer("ptr_ScaleD", "-"),
    ),
    names=("f4gemm_fp8_nvfp4_*",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid persistent: 256 workgroups = 16 clusters of 4x4 -> cluster "
        "grid 4x4 -> x=16, y=16, z=1 (gridX=256/(cx*cy)/4, gridY=4); cluster dims from csv; needs "
        "N%(256*cx)==0, M%(256*cy)==0; clusters of 4 x 4 x 1"
    ),
    segments=(96,),
    notes=(
        "All strides are bytes; those of gfx950's f4gemm are elements. All arguments are preloaded.",
        "N is a multiple of 1024 and M too: 256 for each of 4 x 4 workgroups of a cluster.",
    ),
)

FAMILIES: tuple[Family, ...] = (
    MXFP8FP4GEMM_GFX1250,
    F4GEMM_GFX1250_MXFP4,
    F4GEMM_GFX1250_MXFP4_FP8,
    F4GEMM_GFX1250_NVFP4,
    F4GEMM_GFX1250_NVFP4_FP8,
)
