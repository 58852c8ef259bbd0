"""AITER's bf16 GEMM: the form of 2025 and that of 2026, which has a bias and a semaphore more."""

from argpack.families.declare import DEAD, UNREAD, declare, extent, pointer, scalar, stride
from argpack.families.family import Family

BF16GEMM = declare(
    name="aiter_bf16gemm",
    title="AITER bf16gemm: bf16 GEMM, float32 output",
    source="AITER csrc/py_itfs_cu/asm_gemm_a16w16.cu, struct KernelArgs, revision 905aa32c; 8 kernels",
    slot=16,
    fields=(
        pointer("ptr_D", "D"),
        pointer("ptr_C", "C", use=DEAD),
        pointer("ptr_A", "A"),
        pointer("ptr_B", "B"),
        scalar("alpha", "", "alpha", of="f32", use=DEAD),
        scalar("beta", "", "beta", of="f32", use=DEAD),
        stride("stride_D0", "bytes", "strideD0", use=UNREAD),
        stride("stride_D1", "", "strideD1", use=UNREAD),
        stride("stride_C0", "bytes", "strideC0"),
        stride("stride_C1", "", "strideC1", use=UNREAD),
        stride("stride_A0", "bytes", "strideA0"),
        stride("stride_A1", "", "strideA1", use=UNREAD),
        stride("stride_B0", "bytes", "strideB0"),
        stride("stride_B1", "", "strideB1", use=UNREAD),
        extent("M", "rows", "Mdim"),
        extent("N", "columns", "Ndim"),
        extent("K", "elements", "Kdim"),
        scalar("splitk", "count", "splitk", pad=8),
    ),
    names=("bf16gemm_*",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid x=ceil(N/tileN), y=ceil(M/tileM), z=splitk (1 if not split); "
        "out.zero_() first when split > 1; out is float32"
    ),
    segments=(288,),
    notes=(
        "Strides are bytes, unlike f4gemm's: K*2 for A and B, N*4 for C.",
        "alpha, beta and ptr_C are loaded and never used.",
        "The host zeroes D before it splits K.",
    ),
)

BF16GEMM_2026 = declare(
    name="aiter_bf16gemm_2026",
    title="AITER bf16gemm: bf16 GEMM with bias and semaphore",
    source="AITER csrc/py_itfs_cu/asm_gemm_a16w16.cu, struct KernelArgs, revision e4048607; 46 kernels",
    slot=16,
    fields=(
        pointer("ptr_D", "D"),
        pointer("ptr_C", "C", use=DEAD),
        pointer("ptr_A", "A"),
        pointer("ptr_B", "B"),
        scalar("alpha", "", "alpha", of="f32", use=DEAD),
        scalar("beta", "", "beta", of="f32", use=DEAD),
        stride("stride_D0", "bytes", "strideD0", use=UNREAD),
        stride("stride_D1", "", "strideD1", use=UNREAD),
        stride("stride_C0", "bytes", "strideC0"),
        stride("stride_C1", "", "strideC1", use=UNREAD),
        stride("stride_A0", "bytes", "strideA0"),
        stride("stride_A1", "", "strideA1", use=UNREAD),
        stride("stride_B0", "bytes", "strideB0"),
        stride("stride_B1", "", "strideB1", use=UNREAD),
        extent("M", "rows", "Mdim"),
        extent("N", "columns", "Ndim"),
        extent("K", "elements", "Kdim"),
        scalar("splitk", "count", "splitk"),
        scalar("is_out_b16", "flag", "is_out_b16"),
        pointer("ptr_Bias", "Bias"),
        scalar("add_bias", "flag", "add_bias"),
        pointer("ptr_semaphore", "ptr_semaphore"),
    ),
    names=("bf16gemm_*",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid x=ceil(N/tileN), y=ceil(M/tileM), z=split; gdx*gdy<=1024 "
        "when split"
    ),
    segments=(336, 352),
    notes=(
        "The struct is zeroed first; stride_D0 and stride_C0 are both N times the bytes of an output.",
        "Kernels that declare 336 bytes have no ptr_semaphore.",
    ),
)

FAMILIES: tuple[Family, ...] = (BF16GEMM, BF16GEMM_2026)
