"""AITER's multi-head latent attention for gfx1250."""

from argpack.families.declare import DEAD, declare, extent, pointer, scalar, stride
from argpack.families.family import Family

MLA_GFX1250_SLOTS = declare(
    name="aiter_mla_gfx1250_slots",
    title="AITER mla_gfx1250_slots: multi-head latent attention, gfx1250, 16-byte slots",
    source="AITER csrc/py_itfs_cu/asm_mla.cu, struct MlaGfx1250KernelArgs, revision e4048607; 1 kernel",
    slot=16,
    fields=(
        pointer("ptr_R", "R", use=DEAD),
        pointer("ptr_LSE", "LSE", use=DEAD),
        pointer("ptr_Q", "Q", use=DEAD),
        pointer("ptr_KV", "KV", use=DEAD),
        pointer("ptr_LTP", "LTP", use=DEAD),
        pointer("ptr_LTD", "LTD", use=DEAD),
        pointer("ptr_LTL", "LTL", use=DEAD),
        scalar("scalar", "", "scalar", of="f32", use=DEAD),
        extent("q_seq_lens", "rows", "q_seq_lens", use=DEAD, doc="Gqa*max_seqlen_q."),
        scalar("passes", "count", "passes", use=DEAD),
        stride("stride_Q", "bytes", "total_kv", use=DEAD),
        stride("stride_page", "bytes", "stride_page", use=DEAD),
        scalar("log2_page", "log2", "log2_page", use=DEAD),
        pointer("ptr_QTP", "QTP", use=DEAD),
        pointer("ptr_STP", "STP", use=DEAD),
        scalar("out_16_nosplit", "", "out_16_nosplit", use=DEAD),
        pointer("ptr_QROPE", "QROPE", use=DEAD),
        pointer("ptr_KVROPE", "KVROPE", use=DEAD),
    ),
    names=("mla_a8w8_*",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid x=ceil(msq*gqa/(gqa*msq))=1, y=batch, z=2*kv_split (gqa 128)"
    ),
    segments=(288,),
    notes=(
        (
            "ptr_QROPE and ptr_KVROPE carry the scales of Q and KV; stride_Q is where the metadata says "
            "total_kv."
        ),
    ),
)

MLA_GFX1250 = declare(
    name="aiter_mla_gfx1250",
    title="AITER mla_gfx1250: multi-head latent attention, gfx1250, packed and preloaded",
    source=(
        "AITER csrc/py_itfs_cu/asm_mla.cu, struct MlaGfx1250PackedKernelArgs, revision e4048607; 9 kernels"
    ),
    slot=0,
    fields=(
        pointer("ptr_R", "R"),
        pointer("ptr_LSE", "LSE"),
        pointer("ptr_Q", "Q"),
        pointer("ptr_KV", "KV"),
        pointer("ptr_LTP", "LTP"),
        pointer("ptr_LTD", "LTD"),
        pointer("ptr_LTL", "LTL"),
        pointer("ptr_QTP", "QTP"),
        pointer("ptr_QSCALE", "descale_q"),
        pointer("ptr_KVSCALE", "descale_k"),
        pointer("ptr_VALID_SPLIT_COUNT", "valid_split_count"),
        scalar("out_16_nosplit", "", "out_16_nosplit"),
        scalar("scalar", "", "scalar", of="f32"),
        extent("q_seq_lens", "rows", "q_seq_lens"),
        scalar("passes", "count", "passes"),
        stride("stride_page", "bytes", "stride_Page"),
        scalar("log2_page", "log2", "log2_page"),
        stride("stride_Q", "bytes", "stride_Q"),
        scalar("use_valid_split_count_reduce", "", "use_valid_split_count_reduce"),
    ),
    names=("mla_a8w8_*",),
    launch="workgroup 128 x 1 x 1 work-items; grid x=1, y=batch, z=kv_split",
    segments=(120,),
    notes=("All 120 bytes are preloaded into SGPRs.",),
)

MLA_V4_GFX1250 = declare(
    name="aiter_mla_v4_gfx1250",
    title="AITER mla_v4_gfx1250: multi-head latent attention v4, gfx1250, packed and preloaded",
    source="AITER csrc/py_itfs_cu/asm_mla_v4.cu, struct MlaV4KernelArgsPreload, revision e4048607; 2 kernels",
    slot=0,
    fields=(
        pointer("ptr_R", "ptr_R"),
        pointer("ptr_Q", "ptr_Q"),
        pointer("ptr_KV", "ptr_KV"),
        pointer("ptr_LTP", "ptr_LTP"),
        pointer("ptr_LTL", "ptr_LTL"),
        pointer("ptr_QTP", "ptr_QTP"),
        pointer("ptr_QROPE", "ptr_QROPE"),
        pointer("ptr_KVROPE", "ptr_KVROPE"),
        scalar("scalar_f", "", "scalar_f:f32", of="f32"),
        scalar("s_gqa_ratio", "rows", "s_gqa_ratio:u32", doc="Gqa*max_seqlen_q."),
        extent("s_kv_split", "", "s_kv_split:u32"),
        extent("s_total_kv", "rows", "s_total_kv:u32"),
        scalar("out_16_nosplit", "flag", "out_16_nosplit:u32"),
        pointer("ptr_LSE", "ptr_LSE"),
        pointer("ptr_LTD", "ptr_LTD"),
        pointer("ptr_valid_split", "ptr_valid_split"),
        scalar("s_use_valid_split", "", "s_use_valid_split:u32"),
        pointer("ptr_sink", "ptr_sink"),
    ),
    names=("mla_a8w8_*_sparse",),
    launch=(
        "workgroup 128 x 1 x 1 work-items; grid x=ceil(gqa*msq/min(64,gqa*msq)), y=num_seqs, z=num_kv_splits"
    ),
    segments=(120,),
    notes=("28 dwords are preloaded; pointers at 0x54, 0x5c and 0x64 are aligned to 4 bytes.",),
)

FAMILIES: tuple[Family, ...] = (MLA_GFX1250_SLOTS, MLA_GFX1250, MLA_V4_GFX1250)
