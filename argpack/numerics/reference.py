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
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Block = NDArray[np.float64]
    Slices = Sequence[tuple[int, int]]
    Fill = Callable[[Block, int, int], None]
    Finish = Callable[[tuple[slice, slice], Block, Block, Block], None]

SCALE_BLOCK = 32  # elements of K that share one E8M0 byte
_U32 = 2.0**-24  # largest relative error of one float32 rounding to nearest
_U16 = 2.0**-8  # of one bfloat16 rounding to nearest
_FLUSH = 2.0**-126  # largest absolute error of flushing a float32 subnormal
_BLOCK_ELEMENTS = 1 << 22  # of one dequantised operand: 32 MiB of float64
_BLOCK_ROWS = 1024
_CHUNK_ELEMENTS = 1 << 15

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
    k_slices: Slices | None = None,
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
    bound = _Bound.of(alpha, slices)
    values = np.empty((m, n))
    tolerance = np.empty((m, n))

    def finish(where: tuple[slice, slice], total: Block, magnitude: Block, partials: Block) -> None:
        values[where], tolerance[where] = bound.apply(total, magnitude, partials)

    fills = (_dequantiser(a_codes, a_scales), _dequantiser(b_codes, b_scales))
    _blocked_gemm((m, n, k), *fills, slices, finish)
    return Reference(values, tolerance)


def mxfp4_elements(
    a: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    b: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    places: tuple[NDArray[np.intp], NDArray[np.intp]],
    *,
    alpha: float,
    k_slices: Slices,
) -> tuple[Block, Block]:
    """Value and tolerance, float64 (n,) each, of single elements of `mxfp4_gemm_reference`.

    `a` and `b` are codes and scales as there, `places` rows and columns, (n,) each.
    """
    k = a[0].shape[1] * 2
    bound = _Bound.of(alpha, k_slices)
    found = np.empty((2, len(places[0])))
    step = max(1, _BLOCK_ELEMENTS // 4 // k)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for start, stop in _spans(len(places[0]), step):
            products, right = np.empty((2, stop - start, k))
            for out, (codes, scales), place in zip((products, right), (a, b), places, strict=True):
                rows = place[start:stop]
                _dequantiser(codes[rows], scales[rows])(out, 0, stop - start)
            products *= right
            partials = [products[:, begin:end].sum(axis=1) for begin, end in k_slices]
            total, absolute = _sum_slices(partials)
            found[:, start:stop] = bound.apply(total, np.abs(products).sum(axis=1), absolute)
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class _Bound:
    """The tolerance of a bfloat16 output as `Reference` derives it; `steps` are float32 roundings of a slice."""

    scale: float
    steps: int
    slices: int

    @classmethod
    def of(cls, alpha: float, slices: Slices) -> _Bound:
        return cls(float(np.float32(alpha)), max(stop - start for start, stop in slices) + 1, len(slices))

    def apply(self, total: Block, magnitude: Block, partials: Block) -> tuple[Block, Block]:
        """Value and tolerance for a sum, its sum |a·b| and its sum of |partial|; overwrites all three."""
        flush = self.steps * self.slices * _FLUSH * max(1.0, abs(self.scale))
        total *= self.scale
        magnitude *= abs(self.scale) * gamma(self.steps)
        partials *= abs(self.scale)
        partials += magnitude
        if self.slices == 1:
            return total, magnitude + bf16_ulp(partials) * 0.5 + flush
        return total, magnitude + split_growth(self.slices) * partials + flush


def split_growth(slices: int) -> float:
    """How much `slices` bfloat16 roundings, one for each slice of K, can change a sum of partials."""
    return float((1 + _U16) ** slices - 1)


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
    growth = gamma(k + 3)
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
        tolerance[where] = magnitude * growth + flush

    _blocked_gemm((m, n, k), _copier(a), _copier(b), [(0, k)], finish)
    return Reference(values, tolerance)


def gamma(roundings: int) -> float:
    """Largest relative error of that many float32 roundings, n·2^-24 / (1 - n·2^-24). Raises InputError without one."""
    if roundings * _U32 >= 0.5:
        raise InputError(f"reference: {roundings} float32 roundings in one sum: no useful error bound exists")
    return roundings * _U32 / (1 - roundings * _U32)


class _Operand:
    """Room for some rows of one operand: float64 `values`, float32 `magnitudes` = |values| · 2^-exponent of
    the row.

    One exponent for each row keeps every magnitude at 1 or below, so that no row overflows float32.
    """

    __slots__ = ("exponents", "magnitudes", "values")

    def __init__(self, rows: int, k: int) -> None:
        self.values = np.empty((rows, k))
        self.magnitudes = np.empty((rows, k), np.float32)
        self.exponents = np.empty(rows, np.int32)

    def load(self, fill: Fill, start: int, stop: int) -> tuple[Block, NDArray[np.float32], NDArray[np.int32]]:
        """Rows `start` to `stop` of an operand: values, magnitudes, exponents, as views of this room."""
        for chunk in _chunks(stop - start, self.values.shape[1]):
            values = self.values[chunk]
            fill(values, start + chunk.start, start + chunk.stop)
            magnitudes = np.abs(values)
            exponents = np.frexp(magnitudes.max(axis=1))[1]
            factors = np.ldexp(1.0, -exponents)[:, None]
            np.multiply(magnitudes, factors, out=self.magnitudes[chunk], casting="same_kind")
            self.exponents[chunk] = exponents
        count = stop - start
        return self.values[:count], self.magnitudes[:count], self.exponents[:count]


def _blocked_gemm(
    shape: tuple[int, int, int], a_fill: Fill, b_fill: Fill, slices: Slices, finish: Finish
) -> None:
    """Call `finish(where, sum, sum of |a·b|, sum over slices of |partial|)` for some rows of the output at a
    time.

    The three arrays are float64 and may be overwritten. Room is allocated once: fresh pages cost more than
    the work.
    """
    m, n, k = shape
    rows = max(16, min(_BLOCK_ROWS, _BLOCK_ELEMENTS // k))
    room_a, room_b = _Operand(min(rows, m), k), _Operand(min(rows, n), k)
    outputs = min(rows, m) * min(rows, n)
    partial_room = [np.empty(outputs) for _ in slices]
    magnitude_room = np.empty(outputs, np.float32)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for start_b, stop_b in _spans(n, rows):
            b, b_magnitudes, b_exponents = room_b.load(b_fill, start_b, stop_b)
            for start_a, stop_a in _spans(m, rows):
                a, a_magnitudes, a_exponents = room_a.load(a_fill, start_a, stop_a)
                block = (stop_a - start_a, stop_b - start_b)
                used = block[0] * block[1]
                partials = [room[:used].reshape(block) for room in partial_room]
                for (start, stop), partial in zip(slices, partials, strict=True):
                    np.matmul(a[:, start:stop], b[:, start:stop].T, out=partial)
                magnitudes = magnitude_room[:used].reshape(block)
                np.matmul(a_magnitudes, b_magnitudes.T, out=magnitudes)
                for chunk in _chunks(*block):
                    magnitude = magnitudes[chunk].astype(np.float64)
                    # Roundings of this very matmul and its operands, and products that underflowed in it.
                    magnitude *= 1 + 2 * gamma(k + 4)
                    magnitude += k * _FLUSH
                    np.ldexp(magnitude, a_exponents[chunk, None], out=magnitude)
                    np.ldexp(magnitude, b_exponents[None, :], out=magnitude)
                    total, absolute = _sum_slices([partial[chunk] for partial in partials])
                    where = (slice(start_a + chunk.start, start_a + chunk.stop), slice(start_b, stop_b))
                    finish(where, total, magnitude, absolute)


def _sum_slices(partials: Sequence[Block]) -> tuple[Block, Block]:
    total = partials[0].copy()
    absolute = np.abs(total)
    for partial in partials[1:]:
        total += partial
        absolute += np.abs(partial)
    return total, absolute


def _spans(length: int, step: int) -> Iterator[tuple[int, int]]:
    for start in range(0, length, step):
        yield start, min(start + step, length)


def _chunks(rows: int, cols: int) -> Iterator[slice]:
    """Slices of rows small enough that a chunk and its temporaries stay in the cache."""
    for start, stop in _spans(rows, max(1, _CHUNK_ELEMENTS // cols)):
        yield slice(start, stop)


def _dequantiser(codes: NDArray[np.uint8], scales: NDArray[np.uint8]) -> Fill:
    whole = codes.shape[1] * 2 // SCALE_BLOCK * SCALE_BLOCK

    def fill(out: Block, start: int, stop: int) -> None:
        np.take(_PAIRS, codes[start:stop], axis=0, out=out.reshape(stop - start, -1, 2), mode="clip")
        factors = decode_e8m0_float64(scales[start:stop])
        blocks = out[:, :whole].reshape(stop - start, -1, SCALE_BLOCK)  # a view: only the last axis is split
        blocks *= factors[:, : whole // SCALE_BLOCK, None]
        out[:, whole:] *= factors[:, -1:]

    return fill


def _copier(operand: NDArray[np.float32]) -> Fill:
    def fill(out: Block, start: int, stop: int) -> None:
        out[...] = operand[start:stop]

    return fill


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


def _check_slices(slices: Slices, k: int) -> None:
    at = 0
    for start, stop in slices:
        if start != at or stop <= start:
            raise InputError(f"reference: k_slices: expected a slice from {at}, found ({start}, {stop})")
        at = stop
    if at != k:
        raise InputError(f"reference: k_slices: expected slices up to K={k}, found {at}")
