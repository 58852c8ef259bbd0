"""Reference GEMMs in float64, each with a tolerance per element that is derived, not tuned.

Knows no kernel, no emulator and no memory layout: operands are logical, row by row along K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.numerics.bfloat16 import bf16_ulp
from argpack.numerics.e8m0 import decode_e8m0_float64
from argpack.numerics.fp4 import FP4_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Rows = Callable[[int, int], NDArray[np.float64]]

SCALE_BLOCK = 32  # elements of K that share one E8M0 byte
_U32 = 2.0**-24  # largest relative error of one float32 rounding to nearest
_U16 = 2.0**-8  # of one bfloat16 rounding to nearest
_FLUSH = 2.0**-126  # largest absolute error of flushing a float32 subnormal
_BLOCK_ELEMENTS = 1 << 23  # of one dequantised operand: 64 MiB of float64
_BLOCK_ROWS = 2048

# Two values for each byte of packed codes, low nibble first.
_PAIRS = np.stack([FP4_VALUES[np.arange(256) & 15], FP4_VALUES[np.arange(256) >> 4]], axis=1).astype(
    np.float64
)


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """`values` and `tolerance`, float64 (M, N): a correct output differs from the value by at most the
    tolerance.

    The bound, for outputs accumulated in float32 in any order (Higham, Accuracy and Stability, ch. 3 and 4):
    n float32 roundings on the way of each product to the sum give at most gamma·S, with S = sum |a·b| and
    gamma = n·2^-24 / (1 - n·2^-24). S comes from a float32 matmul of magnitudes, enlarged by its own error
    bound. MXFP4: products are exact (2 + 2 bits of mantissa and powers of two), so n = K additions + 1 for
    alpha. One rounding to bfloat16 follows: half an ulp at |value| + gamma·S. With z slices of K, D = bf16(D
    + bf16(partial)) in any order: each partial P_s meets at most z bfloat16 roundings, so ((1 + 2^-8)^z -
    1)·(sum |P_s| + gamma·S) takes the place of the half ulp. Flushed subnormals add 2^-126 for each of the n
    operations. A value is NaN where a scale is NaN; its tolerance means nothing. How an MFMA rounds inside is
    not documented: the bound assumes no worse than float32 to nearest.
    """

    values: NDArray[np.float64]
    tolerance: NDArray[np.float64]


def mxfp4_gemm_reference(
    a_codes: NDArray[np.uint8],
    a_scales: NDArray[np.uint8],
    b_codes: NDArray[np.uint8],
    b_scales: NDArray[np.uint8],
    *,
    alpha: float = 1.0,
    k_slices: Sequence[tuple[int, int]] | None = None,
) -> Reference:
    """alpha · A · Bᵀ for MXFP4 operands and a bfloat16 output.

    Codes are packed, uint8 (M, K/2) and (N, K/2), low nibble first; scales are E8M0, uint8 (M, ceil(K/32))
    and (N, ceil(K/32)), row-major and unpadded; the last block may be partial. `alpha` is taken as the
    float32 that the kernel is given. `k_slices` are the (start, stop) elements of K that each workgroup of a
    split-K launch sums; None means one slice. Raises InputError for shapes and slices that do not fit
    together.
    """
    m, k = _check_operand("A", a_codes, a_scales)
    n, k_b = _check_operand("B", b_codes, b_scales)
    if k_b != k:
        raise InputError(f"reference: A has K={k}, B has K={k_b}")
    slices = [(0, k)] if k_slices is None else list(k_slices)
    _check_slices(slices, k)
    scale = float(np.float32(alpha))
    steps = max(stop - start for start, stop in slices) + 1
    gamma = _gamma(steps)
    flush = steps * len(slices) * _FLUSH * max(1.0, abs(scale))
    growth = (1 + _U16) ** len(slices) - 1
    values = np.empty((m, n))
    tolerance = np.empty((m, n))

    def finish(where: tuple[slice, slice], total: Block, magnitude: Block, partials: Block) -> None:
        total *= scale
        magnitude *= abs(scale) * gamma
        partials *= abs(scale)
        partials += magnitude
        if len(slices) == 1:
            tolerance[where] = magnitude + bf16_ulp(partials) * 0.5 + flush
        else:
            tolerance[where] = magnitude + growth * partials + flush
        values[where] = total

    _blocked_gemm(
        m,
        n,
        k,
        _dequantiser(a_codes, a_scales),
        _dequantiser(b_codes, b_scales),
        slices=slices,
        finish=finish,
    )
    return Reference(values, tolerance)


def sgemm_reference(
    a: NDArray[np.float32],
    b: NDArray[np.float32],
    c: NDArray[np.float32] | None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> Reference:
    """alpha · A · Bᵀ + beta · C in float32: `a` (M, K), `b` (N, K), `c` (M, N) or None when beta is 0.

    Tolerance: n = K + 3 roundings (product, K additions with C's, alpha, beta), the last of which rounds the
    output. Raises InputError for shapes that do not fit together.
    """
    for name, operand in (("A", a), ("B", b), ("C", c)):
        if operand is not None and (operand.dtype != np.float32 or operand.ndim != 2 or not operand.size):
            raise InputError(
                f"reference: {name}: expected float32 (rows, K), found {operand.dtype} {operand.shape}"
            )
    (m, k), (n, k_b) = a.shape, b.shape
    if k != k_b:
        raise InputError(f"reference: A has K={k}, B has K={k_b}")
    if (c is None and beta != 0) or (c is not None and c.shape != (m, n)):
        raise InputError(f"reference: C: expected shape {(m, n)}, found {None if c is None else c.shape}")
    scale, scale_c = float(np.float32(alpha)), float(np.float32(beta))
    gamma = _gamma(k + 3)
    flush = (k + 3) * _FLUSH * max(1.0, abs(scale), abs(scale_c))
    values = np.empty((m, n))
    tolerance = np.empty((m, n))

    def finish(where: tuple[slice, slice], total: Block, magnitude: Block, _: Block) -> None:
        total *= scale
        magnitude *= abs(scale)
        if c is not None and scale_c != 0:
            added = c[where].astype(np.float64) * scale_c
            total += added
            magnitude += np.abs(added)
        values[where] = total
        tolerance[where] = magnitude * gamma + flush

    _blocked_gemm(
        m,
        n,
        k,
        lambda start, stop: a[start:stop].astype(np.float64),
        lambda start, stop: b[start:stop].astype(np.float64),
        slices=[(0, k)],
        finish=finish,
    )
    return Reference(values, tolerance)


def _blocked_gemm(
    m: int,
    n: int,
    k: int,
    a_rows: Rows,
    b_rows: Rows,
    *,
    slices: Sequence[tuple[int, int]],
    finish: Callable[[tuple[slice, slice], Block, Block, Block], None],
) -> None:
    """Call `finish(where, sum, sum of |a·b|, sum over slices of |partial|)` for each block of the output."""
    rows = max(16, min(_BLOCK_ROWS, _BLOCK_ELEMENTS // k))
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for start_b in range(0, n, rows):
            stop_b = min(start_b + rows, n)
            b = b_rows(start_b, stop_b)
            b_magnitude, b_exponent = _magnitudes(b)
            for start_a in range(0, m, rows):
                stop_a = min(start_a + rows, m)
                a = a_rows(start_a, stop_a)
                a_magnitude, a_exponent = _magnitudes(a)
                total, partials = _slice_sums(a, b, slices)
                magnitude = (a_magnitude @ b_magnitude.T).astype(np.float64)
                # Rounding of this very matmul and of its operands, and products that underflowed in it.
                magnitude *= 1 + 2 * _gamma(k + 4)
                magnitude += k * _FLUSH
                np.ldexp(magnitude, a_exponent[:, None], out=magnitude)
                np.ldexp(magnitude, b_exponent[None, :], out=magnitude)
                finish((slice(start_a, stop_a), slice(start_b, stop_b)), total, magnitude, partials)


def _slice_sums(a: Block, b: Block, slices: Sequence[tuple[int, int]]) -> tuple[Block, Block]:
    (start, stop), *others = slices
    total = a[:, start:stop] @ b[:, start:stop].T
    partials = np.abs(total)
    for start, stop in others:
        partial = a[:, start:stop] @ b[:, start:stop].T
        total += partial
        partials += np.abs(partial)
    return total, partials


def _magnitudes(operand: Block) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """float32 |operand| · 2^-exponent with one exponent for each row, so that no row overflows float32."""
    largest = np.maximum(operand.max(axis=1), -operand.min(axis=1))
    exponent = np.frexp(largest)[1].astype(np.int32)
    magnitude = np.multiply(operand, np.ldexp(1.0, -exponent)[:, None], dtype=np.float64).astype(np.float32)
    np.abs(magnitude, out=magnitude)
    return magnitude, exponent


def _dequantiser(codes: NDArray[np.uint8], scales: NDArray[np.uint8]) -> Rows:
    def rows(start: int, stop: int) -> NDArray[np.float64]:
        values = _PAIRS[codes[start:stop]].reshape(stop - start, -1)
        factors = decode_e8m0_float64(scales[start:stop])
        k = values.shape[1]
        whole = k - k % SCALE_BLOCK
        blocks = values[:, :whole].reshape(stop - start, -1, SCALE_BLOCK)
        blocks *= factors[:, : whole // SCALE_BLOCK, None]
        if whole < k:
            values[:, :whole] = blocks.reshape(stop - start, whole)
            values[:, whole:] *= factors[:, -1:]
        return values

    return rows


def _gamma(roundings: int) -> float:
    if roundings * _U32 >= 0.5:
        raise InputError(f"reference: {roundings} float32 roundings in one sum: no useful error bound exists")
    return roundings * _U32 / (1 - roundings * _U32)


def _check_operand(name: str, codes: NDArray[np.uint8], scales: NDArray[np.uint8]) -> tuple[int, int]:
    if codes.dtype != np.uint8 or codes.ndim != 2 or not codes.size:
        raise InputError(
            f"reference: {name} codes: expected uint8 (rows, K/2), found {codes.dtype} {codes.shape}"
        )
    rows, k = codes.shape[0], codes.shape[1] * 2
    blocks = -(-k // SCALE_BLOCK)
    if scales.dtype != np.uint8 or scales.shape != (rows, blocks):
        raise InputError(
            f"reference: {name} scales: expected uint8 {(rows, blocks)}, found {scales.dtype} {scales.shape}"
        )
    return rows, k


def _check_slices(slices: Sequence[tuple[int, int]], k: int) -> None:
    at = 0
    for start, stop in slices:
        if start != at or stop <= start:
            raise InputError(f"reference: k_slices: expected a slice from {at}, found ({start}, {stop})")
        at = stop
    if at != k:
        raise InputError(f"reference: k_slices: expected slices up to K={k}, found {at}")


if TYPE_CHECKING:
    Block = NDArray[np.float64]
