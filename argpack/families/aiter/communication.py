"""AITER's reductions over the GPUs of one host."""

from argpack.families.declare import declare, extent, pointer, scalar, stride
from argpack.families.family import Family

ALL_REDUCE = declare(
    name="aiter_all_reduce",
    title="AITER all_reduce: all-reduce over the GPUs of a host",
    source="AITER csrc/py_itfs_cu/asm_communication.cu, struct KernelArgs, revision 905aa32c; 1 kernel",
    slot=16,
    fields=(
        pointer("ptr_gpu0_data", "GPU_DATA_ADDR"),
        pointer("ptr_gpu0_sig", "GPU_0_SIG"),
        pointer("ptr_gpu1_sig", "GPU_1_SIG"),
        pointer("ptr_gpu2_sig", "GPU_2_SIG"),
        pointer("ptr_gpu3_sig", "GPU_3_SIG"),
        pointer("ptr_gpu4_sig", "GPU_4_SIG"),
        pointer("ptr_gpu5_sig", "GPU_5_SIG"),
        pointer("ptr_gpu6_sig", "GPU_6_SIG"),
        pointer("ptr_gpu7_sig", "GPU_7_SIG"),
        scalar("gpuId", "rank", "GPU_ID"),
        stride("stride_gpu", "bytes", "STRIDE_GPU"),
        stride("stride_tg", "bytes", "STRIDE_TG"),
        stride("stride_wave", "bytes", "STRIDE_WV"),
        scalar("loopcnt", "count", "LOOP_CNT", doc="10."),
    ),
    names=("allreduce_kernel_func",),
    launch="workgroup 256 x 1 x 1 work-items; grid x=64, y=z=1",
    segments=(224,),
    notes=("ptr_gpu0_data is a table of the GPUs' addresses, not data.",),
)

ALLREDUCE_RMSNORM = declare(
    name="aiter_allreduce_rmsnorm",
    title="AITER allreduce_rmsnorm: all-reduce with RMS or layer normalisation",
    source="AITER csrc/py_itfs_cu/asm_communication.cu, struct KernelArgs, revision 905aa32c; 3 kernels",
    slot=16,
    fields=(
        pointer("ptr_gpu0_data", "GPU_DATA_ADDR"),
        pointer("ptr_gpu0_sig", "GPU_0_SIG"),
        pointer("ptr_gpu1_sig", "GPU_1_SIG"),
        pointer("ptr_gpu2_sig", "GPU_2_SIG"),
        pointer("ptr_gpu3_sig", "GPU_3_SIG"),
        pointer("ptr_gpu4_sig", "GPU_4_SIG"),
        pointer("ptr_gpu5_sig", "GPU_5_SIG"),
        pointer("ptr_gpu6_sig", "GPU_6_SIG"),
        pointer("ptr_gpu7_sig", "GPU_7_SIG"),
        pointer("ptr_resi_in", "RESI_IN"),
        pointer("ptr_weight_in", "WEIGHT_IN"),
        pointer("ptr_bias_in", "BIAS_IN"),
        pointer("ptr_xscale", "XSCALE_IN"),
        scalar("gpuId", "rank", "GPU_ID"),
        stride("stride_gpu", "bytes", "STRIDE_GPU"),
        extent("N", "columns", "N"),
        scalar("epsilon", "", "EPSILON", of="f32"),
        scalar("tgs", "workgroups", "TGS"),
        scalar("loopcnt", "count", "LOOP_CNT", doc="0."),
    ),
    names=("allreduce_rmsnorm_*", "allreduce_layernorm_*"),
    launch="workgroup 256 x 1 x 1 work-items; grid x=M/world_size, y=z=1",
    segments=(304,),
    notes=(
        "ptr_gpu0_data is a table of 32 addresses: input, output, residual output and y scale of eight GPUs.",
    ),
)

FAMILIES: tuple[Family, ...] = (ALL_REDUCE, ALLREDUCE_RMSNORM)
