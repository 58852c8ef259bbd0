"""What M, N and K of a GEMM ask of the arguments of a family, by family name: no numpy, no kernel is looked at.

Families that argpack can launch give every value; of the others only what their host code computes from the sizes
alone is known. What is not said stays open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from argpack.families.family import Problem

Values = dict[str, int | float]


class Rule(NamedTuple):
    """`sizes` names the fields that hold m, n and k of a `Problem`; `values` gives field values for dense operands.

    `values` gets the problem and the names of the kernels, which may decide the output type; fields that it leaves out
    are open. `whose` says whose m and n these are where they are not the kernel's.
    """

    sizes: Mapping[str, str]
    values: Callable[[Problem, Sequence[str]], Mapping[str, int | float]]
    whose: str = ""


def rule_of(family_name: str) -> Rule | None:
    """The rule of a family; None where argpack knows none, as for all that is no GEMM."""
    return _RULES.get(family_name)


_UPPER = {"m": "M", "n": "N", "k": "K"}
_LOWER = {"m": "m", "n": "n", "k": "k"}
# hipBLASLt is column-major, the kernels are row-major: its D of m rows is the kernel's D of m columns.
_EXCHANGED = {"m": "N", "n": "M", "k": "K"}
_EXCHANGED_LOWER = {"m": "n", "n": "m", "k": "k"}


def _f4gemm(problem: Problem, _kernels: Sequence[str]) -> Values:
    from argpack.families.aiter_f4gemm.arguments import field_values

    return field_values(problem)


def _own_sgemm(problem: Problem, _kernels: Sequence[str]) -> Values:
    from argpack.families.own_sgemm.arguments import field_values

    return field_values(problem)


def _hipblaslt_f4gemm(problem: Problem, _kernels: Sequence[str]) -> Values:
    """Strides are those of hipBLASLt's columns; scale strides are K/32, not rounded up (custom_kernels.cpp)."""
    scale = problem.k // 32
    return {
        "alpha": problem.alpha, "beta": problem.beta, "stride_C0": problem.m, "stride_A0": problem.k,
        "stride_B0": problem.k, "M": problem.n, "N": problem.m, "K": problem.k, "stride_ScaleA0": scale,
        "stride_ScaleB0": scale, "log2_k_split": 0,
    }  # fmt: skip


def _wave_mxfp4(problem: Problem, _kernels: Sequence[str]) -> Values:
    half, scale = problem.k // 2, problem.k // 32
    return {
        "m": problem.n, "n": problem.m, "k": problem.k, "stride_a_dim0": half, "stride_a_scale_dim0": scale,
        "stride_b_dim0": half, "stride_b_scale_dim0": scale, "stride_c_dim0": problem.m,
    }  # fmt: skip


def _sizes(problem: Problem) -> Values:
    return {"M": problem.m, "N": problem.n, "K": problem.k}


def _bf16gemm(problem: Problem, _kernels: Sequence[str]) -> Values:
    strides = {"stride_C0": 4 * problem.n, "stride_A0": 2 * problem.k, "stride_B0": 2 * problem.k}
    return {**_sizes(problem), **strides}


def _bf16gemm_2026(problem: Problem, _kernels: Sequence[str]) -> Values:
    """The output type, and with it its stride, is another argument."""
    return {**_sizes(problem), "stride_A0": 2 * problem.k, "stride_B0": 2 * problem.k}


def _gemm_8bit(problem: Problem, _kernels: Sequence[str]) -> Values:
    strides = {"lda": problem.k, "ldb": problem.k, "ldc": 2 * problem.n}
    return {"m": problem.m, "n": problem.n, "k": problem.k, **strides}


def _fp8gemm_blockscale(problem: Problem, kernels: Sequence[str]) -> Values:
    """Scales of A are one for each row and 128 of K, of B one for 128 by 128."""
    return {
        **_gemm_8bit(problem, kernels),
        "scale_m": problem.m,
        "scale_n": -(-problem.n // 128),
        "scale_k": -(-problem.k // 128),
    }


def _f4gemm_gfx1250(block: int) -> Callable[[Problem, Sequence[str]], Values]:
    """All strides are bytes; `block` is the elements of K that share a scale."""

    def values(problem: Problem, kernels: Sequence[str]) -> Values:
        half, scale = problem.k // 2, problem.k // block
        strides = {"strideA0": half, "strideB0": half, "ScaleA_stride0": scale, "ScaleB_stride0": scale}
        outputs = {_output_bytes(name, problem.n) for name in kernels}
        output = outputs.pop() if len(outputs) == 1 else None
        return {**_sizes(problem), **strides, **({} if output is None else {"strideD0": output})}

    return values


def _output_bytes(kernel: str, columns: int) -> int | None:
    """Bytes of a row of D, from the output type in the kernel's name: `f4gemm_bf16_…`."""
    for output, half_bytes in (("bf16", 4), ("fp8", 2), ("fp4", 1)):
        if f"f4gemm_{output}_" in kernel:
            return columns * half_bytes // 2
    return None


def _mxfp8fp4gemm_gfx1250(problem: Problem, kernels: Sequence[str]) -> Values:
    """B is fp4 or fp8, as the kernel's name says: `f8gemm_bf16_mxfp8fp4_…`."""
    scale = problem.k // 32
    strides = {"stride_C": 2 * problem.n, "stride_A": problem.k, "ScaleA_K": scale, "ScaleB_K": scale}
    values = {**_sizes(problem), **strides, "batch_size": 1}
    packed = {"mxfp8fp4" in name for name in kernels if "mxfp8fp" in name}
    return {**values, "stride_B": problem.k // (2 if packed.pop() else 1)} if len(packed) == 1 else values


_RULES: Mapping[str, Rule] = {
    "aiter_f4gemm": Rule(_UPPER, _f4gemm),
    "own_sgemm": Rule(_UPPER, _own_sgemm),
    "hipblaslt_f4gemm": Rule(_EXCHANGED, _hipblaslt_f4gemm, "hipBLASLt's"),
    "hipblaslt_wave_mxfp4": Rule(_EXCHANGED_LOWER, _wave_mxfp4, "hipBLASLt's"),
    "aiter_bf16gemm": Rule(_UPPER, _bf16gemm),
    "aiter_bf16gemm_2026": Rule(_UPPER, _bf16gemm_2026),
    "aiter_i8gemm": Rule(_LOWER, _gemm_8bit),
    "aiter_fp8gemm_blockscale": Rule(_LOWER, _fp8gemm_blockscale),
    "aiter_f4gemm_gfx1250_mxfp4": Rule(_UPPER, _f4gemm_gfx1250(32)),
    "aiter_f4gemm_gfx1250_mxfp4_fp8": Rule(_UPPER, _f4gemm_gfx1250(32)),
    "aiter_f4gemm_gfx1250_nvfp4": Rule(_UPPER, _f4gemm_gfx1250(16)),
    "aiter_f4gemm_gfx1250_nvfp4_fp8": Rule(_UPPER, _f4gemm_gfx1250(16)),
    "aiter_mxfp8fp4gemm_gfx1250": Rule(_UPPER, _mxfp8fp4gemm_gfx1250),
}
