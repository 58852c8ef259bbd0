"""AITER's multi-head latent attention for gfx942 and gfx950: decode, prefill and v4."""

from argpack.families.declare import DEAD, UNREAD, declare, extent, pointer, scalar, stride
from argpack.families.family import Family

MLA = declare(
    name="aiter_mla",
    title="AITER mla: multi-head latent attention, decode and prefill",
    source="AITER csrc/py_itfs_cu/asm_mla.cu, struct KernelArgs, revision 905aa32c; 36 kernels",
    slot=16,
    fields=(
        pointer("ptr_R", "O", "ptr_R"),
        pointer("ptr_LSE", "Q", "ptr_LSE"),
        pointer("ptr_Q", "K", "ptr_Q"),
        pointer("ptr_KV", "V", "ptr_KV"),
        pointer("ptr_LTP", "BT", "ptr_LTP"),
        pointer("ptr_LTD", "CL", "ptr_LTD"),
        pointer("ptr_LTL", "KQ", "ptr_LTL", use=DEAD),
        scalar("scalar", "", "sclg", "scalar", of="f32", doc="Softmax scale."),
        extent("s_MQA", "rows", "mblk", "s_MQA", doc="Gqa*max_seqlen_q; prefill: gqa."),
        extent("s_kv_split", "count", "batch", "s_kv_split"),
        stride(
            "s_Q_Bs",
            "bytes",
            "Qs",
            "s_Q_Bs",
            doc="Stride(0)*itemsize*max_seqlen_q; prefill without *max_seqlen_q.",
        ),
        stride("s_Bs", "bytes", "Bs", "s_Bs", doc="Per page."),
        scalar("s_log2_plen", "log2", "Cs", "s_log2_plen", doc="Of the page size."),
        pointer("ptr_QTP", "QT", "ptr_QTP"),
        pointer("ptr_STP", "ST", "ptr_STP"),
        pointer("ptr_RP", "RP", "ptr_RP"),
        pointer("ptr_QSCALE", "DQ", "ptr_DQ"),
        pointer("ptr_KVSCALE", "DK", "ptr_DK"),
        scalar("out_16_nosplit", "", "out16", doc="Kv_split."),
    ),
    names=("mla_*",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid persistent: x=len(work_indptr)-1, y=z=1; else "
        "x=ceil(max_seqlen_q*gqa/sub_Q) (sub_Q 16 for the qh16 qlen1 bf16 kernel, else 128), y=batch, "
        "z=kv_split"
    ),
    segments=(208, 224, 240, 256, 288, 320),
    notes=(
        (
            "The metadata has the names of the paged attention kernel: Q for ptr_LSE, K for ptr_Q, BT for "
            "ptr_LTP."
        ),
        "ptr_QSCALE and ptr_KVSCALE are set for fp8 alone: both for a8w8, ptr_KVSCALE for a16w8.",
        "s_Q_Bs is stride(0)*itemsize*max_seqlen_q for decode, without max_seqlen_q for prefill.",
        "prefill leaves ptr_STP, ptr_RP and out_16_nosplit unset.",
    ),
)

MLA_2026 = declare(
    name="aiter_mla_2026",
    title="AITER mla: multi-head latent attention, decode and prefill, context parallel",
    source="AITER csrc/py_itfs_cu/asm_mla.cu, struct KernelArgs, revision e4048607; 104 kernels",
    slot=16,
    fields=(
        pointer("ptr_R", "ptr_R", "O", "R"),
        pointer("ptr_LSE", "ptr_LSE", "Q", "LSE"),
        pointer("ptr_Q", "ptr_Q", "K", "Q"),
        pointer("ptr_KV", "ptr_KV", "V", "CKV"),
        pointer("ptr_LTP", "ptr_LTP", "BT", "LTP"),
        pointer("ptr_LTD", "ptr_LTD", "CL", "LTD"),
        pointer("ptr_LTL", "ptr_LTL", "KQ", "LTL"),
        scalar("scalar", "", "scalar", "sclg", "scalar:-", of="f32"),
        extent(
            "s_MQA",
            "rows",
            "s_MQA",
            "mblk",
            "MQA",
            "MQA:-",
            doc="Overwritten with plain gqa_ratio for several gfx950 persistent kernels.",
        ),
        extent("s_kv_split", "count", "s_kv_split", "batch", "kv_split", "kv_split:-"),
        stride("s_Q_Bs", "bytes", "s_Q_Bs", "Qs", "Q_Bs", "Q_Bs:-"),
        stride("s_Bs", "bytes", "s_Bs", "Bs", "Bs:-", doc="Per page."),
        scalar("s_log2_plen", "log2", "s_log2_plen", "Cs", "log2_plen", "log2_plen:-"),
        pointer("ptr_QTP", "ptr_QTP", "QT", "QTP"),
        pointer("ptr_STP", "ptr_STP", "ST", "STP"),
        pointer("ptr_RP", "ptr_RP", "RP"),
        pointer("ptr_QSCALE", "ptr_DQ", "DQ", "DSQ"),
        pointer("ptr_KVSCALE", "ptr_DK", "DK", "DSK"),
        scalar(
            "out_16_nosplit",
            "",
            "out16",
            "out16:-",
            "out_16_nosplit:ptr",
            "out_16_nosplit",
            doc="Persistent: kv_split, else whether kv_split is 1.",
        ),
        pointer("ptr_LSEP", "LSEP", "lse_p_store", "final_lse"),
        pointer("ptr_GKVTP", "g_kv_indptr"),
        scalar("s_cp_world_size", "count", "cp_world_size"),
        scalar("s_cp_rank", "index", "cp_rank"),
    ),
    names=("mla_*",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid persistent: x=len(work_indptr)-1; else "
        "x=ceil(max_seqlen_q*gqa/sub_Q), y=batch, z=kv_split"
    ),
    segments=(208, 224, 240, 256, 288, 304, 320, 352, 384),
    notes=(
        "Decode zeroes the struct first; prefill leaves everything after ptr_QTP unset.",
        "Four kernels declare one block of 320 bytes and no arguments.",
    ),
)

MLA_PREFILL_PS = declare(
    name="aiter_mla_prefill_ps",
    title="AITER mla_prefill_ps: multi-head latent attention, persistent prefill",
    source="AITER csrc/py_itfs_cu/asm_mla.cu, struct PsKernelArgs, revision e4048607; 2 kernels",
    slot=16,
    fields=(
        pointer("ptr_Q", "ptr_Q"),
        pointer("ptr_K", "ptr_K"),
        pointer("ptr_V", "ptr_V"),
        pointer("ptr_O", "ptr_O"),
        pointer("ptr_PartialO", "ptr_PartialO"),
        pointer("ptr_PartialLSE", "ptr_PartialLSE"),
        pointer("ptr_WorkIndptr", "ptr_WorkIndptr"),
        pointer("ptr_WorkInfo", "ptr_WorkInfo"),
        pointer("ptr_QOIndptr", "ptr_QOIndptr"),
        pointer("ptr_KVIndptr", "ptr_KVIndptr"),
        pointer("ptr_KVPageIndices", "ptr_KVPageIndices"),
        pointer("ptr_QScale", "ptr_QScale"),
        pointer("ptr_KScale", "ptr_KScale"),
        pointer("ptr_VScale", "ptr_VScale"),
        scalar("scalar", "", "scalar", of="f32"),
        scalar("num_q_tokens", "rows", "num_q_tokens"),
        scalar("num_head_q", "count", "num_head_q"),
        scalar("num_page", "count", "num_page"),
        scalar("num_used_page", "count", "num_used_page"),
    ),
    names=("mla_pfl_qh192*",),
    launch="workgroup 512 x 1 x 1 work-items; grid x=len(work_indptr)-1, y=z=1",
    segments=(304,),
)

MLA_V4 = declare(
    name="aiter_mla_v4",
    title="AITER mla_v4: multi-head latent attention v4, gfx950",
    source="AITER csrc/py_itfs_cu/asm_mla_v4.cu, struct MlaV4KernelArgsLegacy, revision e4048607; 1 kernel",
    slot=16,
    fields=(
        pointer("ptr_R", "O"),
        pointer("ptr_LSE", "Q"),
        pointer("ptr_Q", "K"),
        pointer("ptr_KV", "V"),
        pointer("ptr_LTP", "BT"),
        pointer("ptr_LTD", "CL"),
        pointer("ptr_LTL", "KQ", use=UNREAD),
        scalar("scalar_f", "", "sclg", of="f32", doc="1/sqrt(512) always."),
        scalar("s_gqa_ratio", "", "mblk", doc="The GQA ratio, not multiplied by max_seqlen_q."),
        extent("s_kv_split", "count", "batch"),
        extent("s_total_kv", "rows", "Qs", use=UNREAD, doc="Left 0."),
        stride("s_stride_page", "bytes", "Bs", use=UNREAD, doc="Left 0."),
        scalar("s_log2_page", "log2", "Cs", use=DEAD),
        pointer("ptr_QTP", "QT"),
        pointer("ptr_STP", "ST"),
        scalar("out_16_nosplit", "", "RP:ptr", doc="Num_kv_splits==1."),
        pointer("ptr_QROPE", "DQ"),
        pointer("ptr_KVROPE", "DK"),
        pointer("ptr_sink", "out16:i32"),
        pointer("ptr_valid_split", "VALID_SPLIT"),
        scalar("s_use_valid_split", "flag", "use_valid_split"),
    ),
    names=("mla_*_nm",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid x=ceil(gqa*msq/min(64,gqa*msq)), y=num_seqs, z=num_kv_splits"
    ),
    segments=(336,),
    notes=(
        "s_total_kv and s_stride_page are left 0 and never loaded on gfx950.",
        "An older host struct of 304 bytes lacks s_total_kv and s_stride_page.",
    ),
)

FAMILIES: tuple[Family, ...] = (MLA, MLA_2026, MLA_PREFILL_PS, MLA_V4)
