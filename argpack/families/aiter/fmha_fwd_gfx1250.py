"""AITER's attention forward kernels for gfx1250."""

from argpack.families.declare import declare, extent, pointer, scalar, stride
from argpack.families.family import Family

FMHA_FWD_BF16_GFX1250 = declare(
    name="aiter_fmha_fwd_bf16_gfx1250",
    title="AITER fmha_fwd_bf16_gfx1250: attention forward with sink, bf16, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_fmha_fwd_with_sink.cu, struct KernelArgs, revision e4048607; 4 kernels",
    slot=0,
    fields=(
        pointer("d_addr"),
        pointer("q_addr"),
        pointer("k_addr"),
        pointer("v_addr"),
        pointer("lse_addr"),
        scalar("scalar", "", of="f32"),
        extent("q_seq_len", "", of="i32"),
        stride("q_seqs", "bytes", of="i32"),
        stride("q_ts", "bytes", of="i32", doc="128*q_seqs."),
        stride("q_hs", "bytes", of="i32"),
        stride("q_bas", "bytes", of="i32"),
        scalar("gqa", "", of="i32"),
        stride("k_seqs", "", of="i32"),
        stride("k_hs", "", of="i32"),
        stride("k_bas", "", of="i32"),
        scalar("opt", "", of="i32"),
        scalar("lse", "", of="i32"),
        extent("kv_seq_len", "", of="i32"),
        extent("q_head_num", "", of="i32"),
        stride("v_seqs", "", of="i32"),
        stride("v_hs", "", of="i32"),
        stride("v_bas", "", of="i32"),
        stride("d_seqs", "", of="i32"),
        stride("d_hs", "", of="i32"),
        stride("d_bas", "", of="i32"),
        stride("lse_hs", "bytes", of="i32", doc="Seqlen*4."),
        pointer("sink_addr"),
    ),
    names=("fmha_bf16_*",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid x=q_heads, y=ceil(ceil(seqlen_q/128)/2), z=batch (x/y "
        "swapped, remap bit)"
    ),
    segments=(132,),
    notes=("opt is always 7; sink_addr at 0x7c is aligned to 4 bytes.",),
)

FMHA_FWD_BF16_VARLEN_GFX1250 = declare(
    name="aiter_fmha_fwd_bf16_varlen_gfx1250",
    title="AITER fmha_fwd_bf16_varlen_gfx1250: attention forward with sink, variable length, gfx1250",
    source=(
        "AITER csrc/py_itfs_cu/asm_fmha_fwd_with_sink_varlen.cu, struct FmhaFwdVarlenKernelArgs, revision "
        "e4048607; 4 kernels"
    ),
    slot=0,
    fields=(
        pointer("d_addr"),
        pointer("q_addr"),
        pointer("k_addr"),
        pointer("v_addr"),
        pointer("lse_addr"),
        pointer("qseq_addr"),
        pointer("kseq_addr"),
        scalar("scalar", "", of="f32"),
        scalar("gqa", "", of="i32"),
        extent("q_head_num", "", of="i32"),
        scalar("opt", "", of="i32", doc="7."),
        scalar("lse", "", of="i32"),
        extent("max_q_len", "", of="i32"),
        pointer("sink_addr"),
    ),
    names=("fmha_bf16_*_varlen",),
    launch="workgroup 128 x 1 x 1 work-items; grid x=q_heads, y=ceil(ceil(max_seqlen_q/128)/2), z=batch",
    segments=(88,),
    notes=("No strides: rows are [token, head, dim] without gaps.",),
)

FMHA_FWD_MXFP8_GFX1250 = declare(
    name="aiter_fmha_fwd_mxfp8_gfx1250",
    title="AITER fmha_fwd_mxfp8_gfx1250: attention forward, MXFP8, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_fmha_fwd_mxfp8.cu, struct KernelArgs, revision e4048607; 2 kernels",
    slot=0,
    fields=(
        pointer("ptr_O", "D"),
        pointer("ptr_Q", "Q"),
        pointer("ptr_K", "K"),
        pointer("ptr_V", "V"),
        pointer("ptr_LSE", "LSE"),
        scalar("scalar", "", "scalar:f32", of="f32"),
        extent("q_seq_len", "", "seq_len", of="i32"),
        stride("stride_q_seq", "bytes", "Seqs", of="i32"),
        stride("stride_q_head", "", "Hs", of="i32"),
        stride("stride_q_batch", "", "BAs", of="i32"),
        scalar("gqa", "", "gqa", of="i32"),
        stride("stride_k_seq", "", "Seqs", of="i32"),
        stride("stride_k_head", "", "Hs", of="i32"),
        stride("stride_k_batch", "", "BAs", of="i32"),
        extent("kv_seq_len", "", "KV_seq_len", of="i32"),
        extent("q_head_num", "", "head_num", of="i32"),
        stride("stride_v_seq", "", "Seqs", of="i32"),
        stride("stride_v_head", "", "Hs", of="i32"),
        stride("stride_v_batch", "", "BAs", of="i32"),
        pointer("ptr_QScale", "Q_scale"),
        pointer("ptr_KScale", "K_scale"),
        pointer("ptr_VScale", "V_scale"),
        stride("stride_q_tg", "bytes", "Ts", of="i32", doc="256*stride_q_seq."),
        scalar("opt", "", "opt", of="i32"),
        scalar("lse", "", "LSE", of="i32"),
        stride("stride_o_seq", "", "Seqs", of="i32"),
        stride("stride_o_head", "", "Hs", of="i32"),
        stride("stride_o_batch", "", "BAs", of="i32"),
        stride("stride_lse_head", "bytes", "LSE_Hs", of="i32"),
    ),
    names=("MXFP8_FMHA_FWD_*",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid x=ceil(ceil(seqlen_q/256)/(2 if causal else 1)), y=q_heads, "
        "z=batch"
    ),
    segments=(148,),
    notes=("The metadata gives Seqs, Hs, BAs and LSE to several arguments each.",),
)

FAMILIES: tuple[Family, ...] = (FMHA_FWD_BF16_GFX1250, FMHA_FWD_BF16_VARLEN_GFX1250, FMHA_FWD_MXFP8_GFX1250)
