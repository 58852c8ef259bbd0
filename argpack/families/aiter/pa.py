"""AITER's paged attention: three generations for gfx942 and gfx950, one for gfx1250."""

from argpack.families.declare import DEAD, declare, extent, pointer, scalar, stride
from argpack.families.family import Family

PA = declare(
    name="aiter_pa",
    title="AITER pa: paged attention decode",
    source="AITER csrc/py_itfs_cu/asm_pa.cu, struct KernelArgs, revision 905aa32c; 87 kernels",
    slot=16,
    fields=(
        pointer("ptr_O", "O"),
        pointer("ptr_Q", "Q"),
        pointer("ptr_K", "K"),
        pointer("ptr_V", "V"),
        pointer("ptr_BT", "BT"),
        pointer("ptr_CL", "CL"),
        pointer("ptr_KQ", "KQ"),
        pointer("ptr_VQ", "VQ"),
        scalar("sclg2e", "", "sclg", of="f32", doc="Log2(e)/sqrt(head_size)."),
        stride("mblk", "elements", "mblk", doc="Block_tables.stride(0)."),
        extent("kv_nheads", "count", "batch"),
        stride("Qs", "bytes", "Qs"),
        stride("Bs", "bytes", "Bs", doc="Per KV block."),
        stride("KVs", "bytes", "KVs", doc="Per KV head."),
        scalar("GQA", "ratio", "GQA"),
        pointer("ptr_QTP", "QTP"),
    ),
    names=("pa_*",),
    launch="workgroup 256 x 1 x 1 work-items; grid x=num_kv_heads, y=batch, z=1",
    segments=(224, 240, 256),
    notes=(
        "The softmax scale is log2(e)/sqrt(head_size).",
        "K lies as [blocks, kv_heads, head/x, block, x], V as [blocks, kv_heads, block/X, head, X].",
        "One struct serves kernels with 224 bytes (no GQA), 240 (GQA) and 256 (GQA and QTP).",
    ),
)

PA_2026 = declare(
    name="aiter_pa_2026",
    title="AITER pa: paged attention decode with mtp",
    source="AITER csrc/py_itfs_cu/asm_pa.cu, struct KernelArgs, revision e4048607; 87 kernels",
    slot=16,
    fields=(
        pointer("ptr_O", "O"),
        pointer("ptr_Q", "Q"),
        pointer("ptr_K", "K"),
        pointer("ptr_V", "V"),
        pointer("ptr_BT", "BT"),
        pointer("ptr_CL", "CL"),
        pointer("ptr_KQ", "KQ"),
        pointer("ptr_VQ", "VQ"),
        scalar("sclg2e", "", "sclg", of="f32"),
        stride("mblk", "elements", "mblk"),
        extent("kv_nheads", "", "batch"),
        stride("Qs", "bytes", "Qs"),
        stride("Bs", "bytes", "Bs"),
        stride("KVs", "bytes", "KVs"),
        scalar("mtp", "", "mtp", doc="Max_qlen-1."),
        scalar("GQA", "", "GQA"),
        pointer("ptr_QTP", "QTP"),
    ),
    names=("pa_*",),
    launch="workgroup 256 x 1 x 1 work-items; grid x=num_kv_heads, y=batch, z=1",
    segments=(224, 240, 256, 272),
    notes=(
        "mtp came before GQA: GQA moved from 0xe0 to 0xf0, ptr_QTP from 0xf0 to 0x100.",
        (
            "The pa_* files at the root of gfx942 still have GQA at 0xe0 and are launched by no host code of "
            "that revision."
        ),
    ),
)

PA_PS = declare(
    name="aiter_pa_ps",
    title="AITER pa_ps: paged attention decode, persistent",
    source="AITER csrc/py_itfs_cu/asm_pa.cu, struct PsKernelArgs, revision e4048607; 31 kernels",
    slot=16,
    fields=(
        pointer("ptr_O", "O"),
        pointer("ptr_Q", "Q"),
        pointer("ptr_K", "K"),
        pointer("ptr_V", "V"),
        pointer("ptr_KVIndices", "KVIndices"),
        pointer("ptr_CL", "CL"),
        pointer("ptr_KQ", "KQ"),
        pointer("ptr_VQ", "VQ"),
        scalar("sclg2e", "", "sclg", of="f32", doc="Softmax_scale argument is ignored."),
        extent("kv_nheads", "", "batch"),
        stride("Qs", "bytes", "Qs"),
        stride("Bs", "bytes", "Bs"),
        stride("KVs", "bytes", "KVs"),
        scalar("mtp", "", "mtp"),
        scalar("GQA", "", "GQA"),
        pointer("ptr_QOPtr", "QOPtr", use=DEAD),
        pointer("ptr_KVPtr", "KVPtr"),
        pointer("ptr_WorkPtr", "WorkPtr"),
        pointer("ptr_WorkInfo", "WorkInfo"),
        pointer("ptr_SplitO", "SplitO"),
        pointer("ptr_SplitLSE", "SplitLSE"),
        stride("stride_scale_blk", "bytes", "stride_Scale_blk"),
        stride("stride_scale_page", "bytes", "stride_Scale_page"),
    ),
    names=("PA_A16W8_*",),
    launch="workgroup 256 x 1 x 1 work-items; grid ps: x=CUs, y=1; else x=num_kv_heads, y=batch",
    segments=(336, 352, 368),
    notes=(
        (
            "One gfx942 kernel, pertokenFp8 qlen1 msk1, still has mblk at 0x90: its later arguments are a "
            "slot further on."
        ),
    ),
)

PA_DECODE_BF16_GFX1250 = declare(
    name="aiter_pa_decode_bf16_gfx1250",
    title="AITER pa_decode_bf16_gfx1250: paged attention decode, bf16, gfx1250",
    source="AITER csrc/py_itfs_cu/asm_pa_decode_bf16.cu, struct KernelArgs, revision e4048607; 1 kernel",
    slot=0,
    fields=(
        pointer("ptr_Q"),
        pointer("ptr_K"),
        pointer("ptr_V"),
        pointer("ptr_KVIndices"),
        pointer("ptr_CL"),
        pointer("ptr_KVIndptr"),
        pointer("ptr_WorkPtr"),
        pointer("ptr_WorkInfo"),
        extent("kv_nheads", ""),
        stride("Qs", "bytes", doc="Per MTP layer."),
        stride("Bs", "bytes", doc="Per K page."),
        stride("KVs", "bytes", doc="Per K head."),
        scalar("mtp", "count"),
        scalar("softmax_scale", "", of="f32"),
        scalar("GQA", "ratio", pad=28),
        pointer("ptr_O"),
        pointer("ptr_SplitO"),
        pointer("ptr_SplitLSE"),
        pointer("ptr_Sink"),
        pointer("ptr_QScale"),
        pointer("ptr_KScale"),
        pointer("ptr_VScale"),
    ),
    names=("pa_decode_bf16_*",),
    launch="workgroup 128 x 1 x 1 work-items; grid x=len(work_indptr)-1, y=z=1",
    segments=(176,),
    notes=("30 dwords are preloaded, the rest is loaded. The pads are natural alignment.",),
)

FAMILIES: tuple[Family, ...] = (PA, PA_2026, PA_PS, PA_DECODE_BF16_GFX1250)
