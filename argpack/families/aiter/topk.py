"""AITER's top-k kernels."""

from argpack.families.declare import DEAD, UNREAD, declare, extent, pointer, scalar, stride
from argpack.families.family import Family

TOPKSOFTMAX = declare(
    name="aiter_topksoftmax",
    title="AITER topksoftmax: top-k softmax of gating logits",
    source=(
        "AITER csrc/py_itfs_cu/asm_topksoftmax.cu, struct KernelArgs, revisions 905aa32c and e4048607; 48 "
        "kernels"
    ),
    slot=16,
    fields=(
        pointer("ptr_T", "T"),
        pointer("ptr_W", "W"),
        pointer("ptr_A", "A"),
        extent("batch", "rows", "batch"),
        extent("expert", "count", "expert"),
        extent("topk", "count", "topk", use=DEAD),
        scalar("renormalize", "flag", "renormalize"),
        stride("out_stride", "bytes", "out_stride", doc="Stride(0)*4."),
    ),
    names=("topksoftmax_*",),
    launch="workgroup 256 x 1 x 1 work-items; grid x=ceil(tokens/subm)",
    segments=(128,),
    notes=("ptr_T are indices out, ptr_W weights out, ptr_A gating in; topk is loaded without effect.",),
)

TOPK_PER_ROW_DECODE = declare(
    name="aiter_topk_per_row_decode",
    title="AITER topk_per_row_decode: top-k indices per row, decode, compiled",
    source=(
        "AITER csrc/py_itfs_cu/asm_topk_per_row_decode.cu, struct TopKDecodeKernelArgs, revision e4048607; 1 "
        "kernel"
    ),
    slot=0,
    fields=(
        pointer("ptr_logits"),
        pointer("ptr_seqLens"),
        pointer("ptr_outIndices"),
        stride("stride0", "elements", of="i32"),
        stride("stride1", "elements", of="i32"),
        extent("next_n", "", of="i32"),
    ),
    names=("_ZN5aiter10DecodeTopK*",),
    launch="workgroup 1024 x 1 x 1 work-items; grid x=numRows",
    segments=(36,),
    notes=("Made by a compiler; all arguments are preloaded.",),
)

TOPK_PER_ROW_PREFILL = declare(
    name="aiter_topk_per_row_prefill",
    title="AITER topk_per_row_prefill: top-k indices per row, prefill, compiled",
    source=(
        "AITER csrc/py_itfs_cu/asm_topk_per_row_prefill.cu, struct TopKPrefillKernelArgs, revision e4048607; "
        "1 kernel"
    ),
    slot=0,
    fields=(
        pointer("ptr_workspace"),
        pointer("ptr_logits"),
        pointer("ptr_rowStarts"),
        pointer("ptr_rowEnds"),
        pointer("ptr_indices"),
        pointer("ptr_values", use=UNREAD),
        stride("stride0", "elements", of="i32"),
        stride("stride1", "elements", of="i32"),
    ),
    names=("_ZN5aiter11PrefillTopK*",),
    launch="workgroup 1024 x 1 x 1 work-items; grid x=numRows",
    segments=(56,),
    notes=("Made by a compiler; ptr_values is never loaded.",),
)

FAMILIES: tuple[Family, ...] = (TOPKSOFTMAX, TOPK_PER_ROW_DECODE, TOPK_PER_ROW_PREFILL)
