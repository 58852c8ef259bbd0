"""Number formats of MX GEMMs, a float64 reference with derived tolerances, and the verdict on an output."""

from argpack.numerics.bfloat16 import (
    Rounding,
    bf16_to_float32,
    bf16_ulp,
    float32_to_bf16,
    float64_to_bf16,
    ulp_distance,
)
from argpack.numerics.compare import compare
from argpack.numerics.e8m0 import decode_e8m0, decode_e8m0_float64, encode_e8m0
from argpack.numerics.fp4 import decode_fp4, encode_fp4, pack_fp4, unpack_fp4
from argpack.numerics.gemm import OutputPart, tally_mxfp4_gemm
from argpack.numerics.reference import Reference, mxfp4_gemm_reference, sgemm_reference
from argpack.numerics.screen import Mxfp4
from argpack.numerics.tally import Verdict, verdict_of

__all__ = [
    "Mxfp4",
    "OutputPart",
    "Reference",
    "Rounding",
    "Verdict",
    "bf16_to_float32",
    "bf16_ulp",
    "compare",
    "decode_e8m0",
    "decode_e8m0_float64",
    "decode_fp4",
    "encode_e8m0",
    "encode_fp4",
    "float32_to_bf16",
    "float64_to_bf16",
    "mxfp4_gemm_reference",
    "pack_fp4",
    "sgemm_reference",
    "tally_mxfp4_gemm",
    "ulp_distance",
    "unpack_fp4",
    "verdict_of",
]
