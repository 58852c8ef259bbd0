"""AITER's mixture of experts: both GEMMs in one kernel, and the first of two stages."""

from argpack.families.declare import DEAD, declare, extent, pointer, scalar, stride
from argpack.families.family import Extra, Family

FMOE = declare(
    name="aiter_fmoe",
    title="AITER fmoe: fused mixture of experts, both GEMMs in one kernel",
    source=(
        "AITER csrc/py_itfs_cu/asm_fmoe.cu, struct KernelArgs, revisions 905aa32c and e4048607; 1746 kernels"
    ),
    slot=16,
    fields=(
        pointer("ptr_O", "O", "R"),
        pointer("ptr_X", "X"),
        pointer("ptr_GU", "G"),
        pointer("ptr_XC", "U"),
        pointer("ptr_D", "D"),
        pointer("ptr_XQ", "XQ"),
        pointer("ptr_GUQ", "GQ"),
        pointer("ptr_DQ", "DQ"),
        pointer("ptr_SMQ", "SMQ", "GsmQ"),
        pointer("ptr_STP", "STP"),
        pointer("ptr_SW", "SW"),
        pointer("ptr_SEP", "SEP"),
        extent("dim", "elements", "dim", "dim_len:-"),
        extent("inter_dim", "elements", "hdim", "hidden_len:-"),
        extent("token_cnt", "rows", "batch", "token_cnt:-"),
        extent("eprt_cnt", "count", "eprt", "eprt_cnt:-"),
        stride("Xs", "bytes", "Xs", "stride_X:-"),
        stride("GUs", "bytes", "GUs", "stride_GU:-"),
        stride("Ds", "bytes", "Ds", "stride_D:-"),
        stride("Os", "bytes", "Os", "stride_R:-"),
        stride("eGUs", "bytes", "eGUs", "stride_expert_GU:-"),
        stride("eDs", "bytes", "eDs", "stride_expert_D:-"),
        stride("eGUQs", "bytes", "eGUQs", "stride_expert_GUQ:-"),
        stride("eDQs", "bytes", "eDQs", "stride_expert_DQ:-"),
        stride("eSMQs", "bytes", "eSMQs", "stride_expert_GsmQ:-"),
        extent("topk", "count", "topk", "topk:-"),
        scalar("total_tgs", "workgroups", "total_tgs", "_s_total_tgs", "_pad_total_tgs:-", "_s_total_tgs:-"),
        scalar("ps_deno", "workgroups", "ps_deno", "_s_deno_tgs", "_pad_ps_deno:-", "_s_deno_tgs:-"),
    ),
    names=("fmoe_*",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid sub_GU=tile n. persistent (num_persistent_tgs!=0 and "
        "total_tgs>0): x=num_persistent_tgs (=tg_num_perCU*CUs), y=z=1; else x=ceil(inter_dim/sub_GU), "
        "y=len(sorted_expert_ids), z=1; the *_a16 (smoothquant-in-kernel) entry points swap x and y; flat "
        "kernels (flat_mode 1): x=ceil(inter_dim/sub_GU), y=topk, z=token_cnt"
    ),
    segments=(416, 436, 448, 480),
    extras=(Extra(0x1C0, "a2:ptr"), Extra(0x1D0, "a2q:ptr")),
    notes=(
        "ptr_XC, U in the metadata, is num_valid_ids and no weight.",
        "eGUQs and eDQs are the scales' stride(0) in bytes; eSMQs is always inter_dim*4.",
        (
            "4-bit weights: GUs and Ds are halved and inter_dim counts packed elements (8 in a u32 of int4, "
            "2 in a byte of fp4)."
        ),
        "eGUs is doubled where w1 has 2*inter_dim rows (g1u1).",
        "Kernels that declare 416 bytes have no total_tgs and no ps_deno.",
    ),
)

FMOE_2STAGES = declare(
    name="aiter_fmoe_2stages",
    title="AITER fmoe_2stages: mixture of experts, first of two stages",
    source=(
        "AITER csrc/py_itfs_cu/asm_moe_2stage.cu, struct KernelArgs, revisions 905aa32c and e4048607; 368 "
        "kernels"
    ),
    slot=16,
    fields=(
        pointer("ptr_O", "O"),
        pointer("ptr_X", "X"),
        pointer("ptr_GU", "G"),
        pointer("ptr_XC", "Xc"),
        pointer("ptr_XQ", "XQ"),
        pointer("ptr_GUQ", "GQ"),
        pointer("ptr_SMQ", "SMQ", use=DEAD),
        pointer("ptr_STP", "STP"),
        pointer("ptr_SEP", "SEP"),
        extent("dim", "elements", "dim"),
        extent("hidden_dim", "elements", "hdim", doc="Inter_dim."),
        extent("token_cnt", "rows", "batch"),
        extent("eprt_cnt", "count", "eprt", use=DEAD),
        stride("Xs", "bytes", "Xs"),
        stride("GUs", "bytes", "GUs"),
        stride("Os", "bytes", "Os"),
        stride("eGUs", "bytes", "eGUs"),
        stride("eGUQs", "bytes", "eGUQs"),
        stride("eSMQs", "bytes", "eSMQs", use=DEAD),
        extent("topk", "count", "topk", use=DEAD),
        scalar("splitk", "log2", "splitk"),
        scalar("activation", "enum", "activation"),
        pointer("ptr_SW", "SW:i32"),
    ),
    names=("fmoe_stage1_*",),
    launch=(
        "workgroup 256 x 1 x 1 work-items; grid x=ceil(inter_dim/tile_n), y=len(sorted_expert_ids), "
        "z=1<<splitk"
    ),
    segments=(368, 400),
    extras=(Extra(0x170, "total_tgs:i32"), Extra(0x180, "ps_deno:i32")),
    notes=(
        "ptr_SMQ is never set; every kernel loads it and none uses it.",
        "splitk is a power of two; w1_scale and a1_scale are float32.",
    ),
)

FAMILIES: tuple[Family, ...] = (FMOE, FMOE_2STAGES)
