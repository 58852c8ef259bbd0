"""AITER's GEMM kernels on int8 and fp8 operands."""

from argpack.families.declare import DEAD, UNREAD, declare, extent, pointer, scalar, stride
from argpack.families.family import Extra, Family

I8GEMM = declare(
    name="aiter_i8gemm",
    title="AITER i8gemm: int8 GEMM, scales per token, bf16 output",
    source=(
        "AITER csrc/py_itfs_cu/asm_gemm_a8w8.cu, struct KernelArgs, revisions 905aa32c and e4048607; 17 "
        "kernels"
    ),
    slot=16,
    fields=(
        pointer("ptr_c", "C"),
        pointer("ptr_a", "A"),
        pointer("ptr_b", "B"),
        pointer("ptr_sa", "SA"),
        pointer("ptr_sb", "SB"),
        pointer("ptr_bias", "BIAS"),
        extent("m", "rows", "M"),
        extent("n", "columns", "N", "Ndim"),
        extent("k", "elements", "K"),
        stride("lda", "bytes", "PA", doc="Int8 elements with their padding."),
        stride("ldb", "bytes", "PB", doc="Int8 elements with their padding."),
        stride("ldc", "bytes", "PC", doc="N*2."),
        scalar("ks", "count", "KS"),
    ),
    names=("I8gemm_*", "gemm_kernel_func"),
    launch="workgroup 256 x 1 x 1 work-items; grid x=(N/tile_n)*splitK, y=ceil(M/tile_m), z=1",
    segments=(208, 256),
    extras=(
        Extra(0xD0, "-:ptr"),
        Extra(0xD8, "-:-"),
        Extra(0xDC, "-:-"),
        Extra(0xE0, "-:ptr"),
        Extra(0xE8, "-:-"),
        Extra(0xEC, "-:-"),
        Extra(0xF0, "-:ptr"),
        Extra(0xF8, "-:-"),
        Extra(0xFC, "-:-"),
    ),
    notes=(
        (
            "B is preshuffled: (32, 16) for the kernels of 2025, (16, 16) for the files of the same names in "
            "2026."
        ),
        "One gfx942 kernel, 112x256, declares three more pointers that it never loads.",
    ),
)

FLATMM_A8W8_BLOCKSCALE = declare(
    name="aiter_flatmm_a8w8_blockscale",
    title="AITER flatmm_a8w8_blockscale: fp8 GEMM with block scales (flatmm), compiled",
    source=(
        "AITER csrc/py_itfs_cu/asm_flatmm_a8w8_blockscale.cu, struct KernelArgs, revision 905aa32c; 1 kernel"
    ),
    slot=0,
    fields=(
        pointer("a_ptr", "a_ptr"),
        pointer("b_ptr", "b_ptr"),
        pointer("c_ptr", "c_ptr", use=UNREAD),
        pointer("sa_ptr", "sa_ptr"),
        pointer("sb_ptr", "sb_ptr"),
        pointer("d_ptr", "d_ptr", use=UNREAD),
        pointer("d_f16_ptr", "d_f16_ptr"),
        pointer("dbg_int_ptr", "dbg_int_ptr", use=UNREAD),
        pointer("dbg_fp8_ptr", "dbg_fp8_ptr", use=UNREAD),
        pointer("dbg_f16_ptr", "dbg_f16_ptr", use=UNREAD),
        pointer("dbg_fp32_ptr", "dbg_fp32_ptr", use=UNREAD),
        extent("hidden_size", "elements", "hidden_size", of="i32", doc="K."),
        extent("intermediate_size", "columns", "intermediate_size", of="i32", doc="N."),
        extent("num_tokens", "rows", "num_tokens", of="i32", doc="M."),
        extent("num_experts", "", "num_experts", of="i32", use=DEAD),
        extent("topk", "", "topk", of="i32", use=UNREAD),
        stride("stride_token", "", "stride_token", of="i32", use=UNREAD),
    ),
    names=("flatmm_uk_*",),
    launch="workgroup 256 x 1 x 1 work-items; grid x=ceil(N/256), y=ceil(M/128), z=1",
    segments=(112,),
    notes=(
        "Made by a compiler, without slots. Output goes through d_f16_ptr; c_ptr and d_ptr are null.",
        "Scales: sa [K/128, M], sb [K/128, N/128].",
    ),
)

F8_BLOCK_SCALE_MI350 = declare(
    name="aiter_f8_block_scale_mi350",
    title="AITER f8_block_scale_mi350: fp8 GEMM with block scales, gfx950",
    source=(
        "AITER csrc/py_itfs_cu/asm_mi350_a8w8_blockscale.cu, struct KernelArgs, revision 905aa32c; 4 kernels"
    ),
    slot=16,
    fields=(
        pointer("ptr_C", "O"),
        pointer("ptr_X", "X"),
        pointer("ptr_W", "G"),
        pointer("ptr_XC", "Xc", use=UNREAD),
        pointer("ptr_XQ", "XQ"),
        pointer("ptr_WQ", "GQ"),
        pointer("ptr_tmp0", "SMQ", use=UNREAD),
        pointer("ptr_tmp1", "STP", use=UNREAD),
        pointer("ptr_tmp2", "SEP", use=UNREAD),
        extent("K", "elements", "dim"),
        extent("N", "columns", "hdim"),
        extent("M", "rows", "batch"),
        extent("eprt_cnt", "", "eprt", use=DEAD),
        stride("Xs", "bytes", "Xs"),
        stride("Ws", "bytes", "GUs"),
        stride("Cs", "bytes", "Os"),
        scalar("tmp0", "", "eGUs", use=UNREAD),
        scalar("tmp1", "", "eGUQs", use=UNREAD),
        scalar("tmp2", "", "eSMQs", use=UNREAD),
        scalar("tmp3", "", "topk", use=UNREAD),
        scalar("splitk", "log2", "splitk"),
        scalar("activation", "enum", "activation", use=DEAD),
        pointer("ptr_tmp3", "SW:i32", use=UNREAD),
    ),
    names=("f8_block_scale_mi350_*",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid x=ceil(N/256), y=ceil(M/TileM) (TileM 32 if M<=32 else 128), "
        "z=1"
    ),
    segments=(368,),
    notes=(
        "The metadata has the names of fmoe_2stages.",
        "The x64 and x96 kernels are launched by no host code.",
    ),
)

FP8GEMM_BLOCKSCALE = declare(
    name="aiter_fp8gemm_blockscale",
    title="AITER fp8gemm_blockscale: fp8 GEMM with block scales, weights preshuffled",
    source=(
        "AITER csrc/py_itfs_cu/asm_a8w8_blockscale_bpreshuffle.cu, struct KernelArgs, revision e4048607; 12 "
        "kernels"
    ),
    slot=16,
    fields=(
        pointer("ptr_C", "C"),
        pointer("ptr_A", "A"),
        pointer("ptr_B", "B"),
        pointer("ptr_a_scale", "SA"),
        pointer("ptr_b_scale", "SB"),
        pointer("ptr_bias", "BIAS"),
        extent("m", "rows", "M:fp32"),
        extent("n", "columns", "Ndim:fp32"),
        extent("k", "elements", "K:fp32"),
        stride("lda", "elements", "PA:fp32"),
        stride("ldb", "elements", "PB:fp32"),
        stride("ldc", "bytes", "PC:fp32", doc="N*2."),
        scalar("ks", "count", "KS:fp32"),
        scalar("scale_m", "rows", "scale_m:fp32", use=DEAD),
        scalar("scale_n", "blocks", "scale_n:fp32", use=DEAD, doc="Ceil(N/128)."),
        scalar("scale_k", "blocks", "scale_k:fp32", doc="Ceil(K/128)."),
    ),
    names=("fp8gemm_bf16_blockscale_*",),
    launch="workgroup 256 x 1 x 1 work-items; grid x=(N/tile_n)*splitK, y=ceil(M/tile_m), z=1",
    segments=(256,),
    notes=("The metadata types every value fp32; the host writes unsigned integers.",),
)

FAMILIES: tuple[Family, ...] = (I8GEMM, FLATMM_A8W8_BLOCKSCALE, F8_BLOCK_SCALE_MI350, FP8GEMM_BLOCKSCALE)
