"""AITER's layer normalisation."""

from argpack.families.declare import DEAD, declare, extent, pointer, scalar
from argpack.families.family import Family

LAYERNORM = declare(
    name="aiter_layernorm",
    title="AITER layernorm: layer normalisation with residual and quantised output",
    source="AITER csrc/py_itfs_cu/asm_layernorm.cu, struct KernelArgs, revision 905aa32c; 2 kernels",
    slot=16,
    fields=(
        pointer("ptr_O", "OutBuffer"),
        pointer("ptr_In", "InBuffer"),
        pointer("ptr_Weight", "WeightBuffer"),
        pointer("ptr_Bias", "BiasBuffer"),
        scalar("epsilon", "", "epsilon", of="f32"),
        extent("M", "rows", "M", use=DEAD),
        extent("N", "columns", "N"),
        pointer("ptr_OutResidual", "OutResidualBuffer"),
        pointer("ptr_InResidual", "InResidualBuffer"),
        pointer("ptr_OutYScale", "OutYScaleBuffer"),
        pointer("ptr_XScale", "XScaleBuffer"),
    ),
    names=("layer_norm*",),
    launch="workgroup 256 x 1 x 1 work-items; grid x=ceil(M/2), y=z=1 (M even, N==8192)",
    segments=(176,),
    notes=("M is even and N 8192. Without quantisation ptr_OutYScale and ptr_XScale are unset.",),
)

FAMILIES: tuple[Family, ...] = (LAYERNORM,)
