"""The comparison of a large MXFP4 product without float64: a float32 product proves nearly all outputs right or wrong.

It decides as `mxfp4_gemm_reference` and `compare` do; the few outputs that it cannot prove go to float64, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.numerics.bfloat16 import bf16_to_float32
from argpack.numerics.compare import dot, ordinal, row_blocks
from argpack.numerics.e8m0 import decode_e8m0
from argpack.numerics.fp4 import FP4_VALUES
from argpack.numerics.reference import SCALE_BLOCK, gamma, mxfp4_elements, split_growth
from argpack.numerics.tally import Tally, Wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Block = NDArray[np.float32]
    Places = NDArray[np.intp]
    Slices = Sequence[tuple[int, int]]

_CHUNKS = (64, 512)  # elements of K in one float32 matrix product, at least and at most
_LOWER = 64  # elements of K that the lower bound of sum |a·b| looks at
_EXACT = 1 << 12  # outputs computed one by one in float64 at most; more are faster all together
# Exponents of scales, and sizes of products and sums, for which neither they nor their squares leave float32.
_EXPONENT = 40
_LARGEST, _SMALLEST = 2.0**48, 2.0**-48
_NAN = 0x7F80  # exponent bits of NaN and infinity
# One item of eight bytes for each byte of packed codes: two float32, low nibble first.
_PAIRS = np.stack([FP4_VALUES[np.arange(256) & 15], FP4_VALUES[np.arange(256) >> 4]], axis=1)
_PAIR_ITEMS = np.ascontiguousarray(_PAIRS, np.float32).view(np.float64)[:, 0].copy()


@dataclass(frozen=True, slots=True, eq=False)
class Mxfp4:
    """Rows of one operand: packed codes, uint8 (rows, K/2), low nibble first, and E8M0 scales, uint8 (rows, K/32)."""

    codes: NDArray[np.uint8]
    scales: NDArray[np.uint8]


def screen(
    bits: NDArray[np.uint16],
    a: Mxfp4,
    b: Mxfp4,
    *,
    alpha: float,
    k_slices: Slices,
    origin: tuple[int, int] = (0, 0),
) -> Tally | None:
    """Tally bfloat16 `bits`, (rows of A, rows of B), of alpha · A · Bᵀ; `origin` is their place in the whole output.

    None where float64 is needed for all of them: extreme or NaN scales, K not in whole scale blocks, or too much left
    unproven.

    Let v be the product computed here in float32, P the exact one and S = sum |a·b|. Then |v - P| <= e·S, where e is
    the gamma of one chunk of K, the sum of the chunks and alpha; it is never more than the gamma of the tolerance
    T = gamma·S + ulp(|P| + gamma·S)/2 (see `Reference`). Hence three proofs about an output d:

    - d = v rounded to nearest: right, for |d - P| <= ulp(v)/2 + e·S <= T. All but some in a thousand are.
    - |d - v| <= ulp(v)/2 + (gamma - e)·s: right, where s <= S sums |a·b| over a few elements of K.
    - |d - v| > (gamma + e)·h + 2^-8·(|v| + (gamma + e)·h): wrong, where h = ‖a‖·‖b‖ >= S (Cauchy-Schwarz).

    With several slices of K, growth·sum |P_s| takes the place of the half ulp, and |d - v| <= growth·sum |v_s| is
    right. So an output is right here if and only if it is in float64. `bit_equal`, `max_ulp` and the norms are
    measured from v, whose roundings put about one output in 100,000 on the other side of a bfloat16.
    """
    k = 2 * a.codes.shape[1]
    scale = float(np.float32(alpha))
    if any(edge % SCALE_BLOCK for part in k_slices for edge in part) or not _moderate(a, b, k, scale):
        return None
    product = _product(a, b, k_slices, scale)
    proofs = _Proofs.of(product, k_slices, scale)
    tally = Tally(elements=bits.size, roundings=frozenset())
    wrong: list[Places] = []
    unproven: list[Places] = []
    with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity in the output
        for rows in row_blocks(bits.shape):
            settled = _settle(tally, bits, product, proofs, rows)
            for kept, places in zip((wrong, unproven), settled, strict=True):
                kept.append(places + rows.start * bits.shape[1])
    rest = np.concatenate(unproven)
    if tally.zero_passes or rest.size > _EXACT:
        return None

    def exact(flat: Places) -> tuple[Block, NDArray[np.float64], NDArray[np.float64]]:
        places = np.divmod(flat, bits.shape[1])
        operands = ((a.codes, a.scales), (b.codes, b.scales))
        return bf16_to_float32(bits[places]), *mxfp4_elements(
            *operands, places, alpha=alpha, k_slices=k_slices
        )

    found, value, tolerance = exact(rest)
    wrong.append(rest[~(np.abs(found - value) <= tolerance)])
    failed = np.sort(np.concatenate(wrong))
    if failed.size:
        at = bf16_to_float32(bits.reshape(-1)[failed])
        tally.wrong, tally.non_finite = failed.size, int((~np.isfinite(at)).sum())
        row, column = divmod(int(failed[0]), bits.shape[1])
        _, expected, _ = exact(failed[:1])
        tally.saw_wrong(Wrong(origin[0] + row, origin[1] + column, float(expected[0]), float(at[0])))
    return tally


def _moderate(a: Mxfp4, b: Mxfp4, k: int, scale: float) -> bool:
    """Whether float32 holds all products exactly and no sum comes near its limits."""
    lows = [int(operand.scales.min()) - 127 for operand in (a, b)]
    highs = [int(operand.scales.max()) - 127 for operand in (a, b)]
    if min(lows) < -_EXPONENT or max(highs) > _EXPONENT or scale == 0:
        return False
    largest = 36 * 2.0 ** sum(highs) * k * max(1.0, abs(scale))
    return largest <= _LARGEST and 0.25 * 2.0 ** sum(lows) * min(1.0, abs(scale)) >= _SMALLEST


@dataclass(frozen=True, slots=True, eq=False)
class _Product:
    """alpha · A · Bᵀ in float32, (rows, columns), the sum of |partial| of several slices, and what bounds sum |a·b|.

    `some` are the magnitudes of a few elements of each row of A and of B, `norms` bounds of their Euclidean norms
    from above, and `error` is e: |values - exact| <= error · |alpha| · sum |a·b|, for each slice.
    """

    values: Block
    absolute: Block | None
    some: tuple[Block, Block]
    norms: tuple[Block, Block]
    error: float


def _product(a: Mxfp4, b: Mxfp4, slices: Slices, scale: float) -> _Product:
    longest = max(stop - start for start, stop in slices)
    low, high = _CHUNKS
    step = min(high, max(low, longest // 8 // SCALE_BLOCK * SCALE_BLOCK))
    shape = (len(a.codes), len(b.codes))
    rooms = tuple(np.empty(rows * step // 2) for rows in shape)
    total, room = np.empty(shape, np.float32), np.empty(shape, np.float32)
    partial = np.empty(shape if len(slices) > 1 else 0, np.float32)
    absolute = np.zeros(shape, np.float32) if len(slices) > 1 else None
    sums = tuple(np.zeros(rows, np.float32) for rows in shape)
    some: list[Block] = []
    for start, stop in slices:
        target = total if start == 0 else partial
        for at in range(start, stop, step):
            chunks = [_dequantise(o, at, min(at + step, stop), r) for o, r in zip((a, b), rooms, strict=True)]
            np.matmul(chunks[0], chunks[1].T, out=target if at == start else room)
            if at > start:
                target += room
            for chunk, squares in zip(chunks, sums, strict=True):
                np.add(squares, np.einsum("ij,ij->i", chunk, chunk), out=squares)
            some = some or [np.abs(chunk[:, :_LOWER]) for chunk in chunks]
        if absolute is not None:
            absolute += np.abs(target, out=room)
        if start:
            total += partial
    total *= np.float32(scale)
    if absolute is not None:
        absolute *= np.float32(abs(scale))
    # Its own roundings, as many as K at most, make a norm no more than this too small.
    norms = [np.sqrt(squares) * np.float32(1 + gamma(2 * a.codes.shape[1])) for squares in sums]
    roundings = min(step, longest) - 1 + -(-longest // step)
    return _Product(total, absolute, (some[0], some[1]), (norms[0], norms[1]), gamma(roundings))


def _dequantise(operand: Mxfp4, start: int, stop: int, room: NDArray[np.float64]) -> Block:
    """Elements `start` to `stop` of K of all rows, float32, in `room`."""
    codes = operand.codes[:, start // 2 : stop // 2]
    items = room[: codes.size].reshape(codes.shape)
    np.take(_PAIR_ITEMS, codes, out=items, mode="clip")
    values = items.view(np.float32)
    blocks = values.reshape(len(codes), -1, SCALE_BLOCK)
    blocks *= decode_e8m0(operand.scales[:, start // SCALE_BLOCK : stop // SCALE_BLOCK])[:, :, None]
    return values


@dataclass(frozen=True, slots=True)
class _Proofs:
    """The factors of the proofs in `screen`: gamma - e and gamma + e, times |alpha|; `relative` is 2^-8 or the growth.

    `split` is the growth again where K has several slices, with room for the roundings of their sum. `flush` is what
    the tolerance grants to subnormals.
    """

    slack: float
    reach: float
    relative: float
    split: float | None
    flush: float

    @classmethod
    def of(cls, product: _Product, slices: Slices, scale: float) -> _Proofs:
        roundings = max(stop - start for start, stop in slices) + 1
        growth = split_growth(len(slices))
        # A thousandth aside for the roundings of the proofs themselves.
        return cls(
            slack=0.999 * (gamma(roundings) - product.error) * abs(scale),
            reach=1.001 * (gamma(roundings) + product.error) * abs(scale),
            relative=1.001 * (growth if len(slices) > 1 else 2.0**-8),
            split=growth - len(slices) * 2.0**-22 if len(slices) > 1 else None,
            flush=roundings * len(slices) * 2.0**-126 * max(1.0, abs(scale)),
        )


def _settle(
    tally: Tally, bits: NDArray[np.uint16], product: _Product, proofs: _Proofs, rows: slice
) -> tuple[Places, Places]:
    """Tally some rows. Gives the flat places within them of outputs proven wrong, and of those not proven."""
    found_bits, value = bits[rows].reshape(-1), product.values[rows].reshape(-1)
    found, rounded = bf16_to_float32(found_bits), _nearest(value)
    size = np.abs(value) if product.absolute is None else product.absolute[rows].reshape(-1)
    differs = np.flatnonzero(rounded != found_bits)
    tally.bit_equal += value.size - differs.size
    _add_norms(tally, found, value)
    _add_distance(tally, found_bits[differs], rounded[differs])
    if tally.zero_passes:
        reach = proofs.reach * float(product.norms[0][rows].max()) * float(product.norms[1].max())
        zero_is_wrong = np.abs(value) > reach + proofs.relative * (size + reach) + proofs.flush
        tally.zero_passes = not zero_is_wrong.any()
    wrong, unproven = _prove(
        differs, rows.start, found[differs], value[differs], size[differs], product, proofs
    )
    return differs[wrong], differs[unproven]


def _prove(
    places: Places,
    first_row: int,
    found: Block,
    value: Block,
    size: Block,
    product: _Product,
    proofs: _Proofs,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of outputs, at flat `places` from `first_row` on, that are wrong, and of those that may be right or wrong.

    `size` is |value|, or the sum of |partial|.
    """
    row, column = np.divmod(places, product.values.shape[1])
    row += first_row
    gap = np.abs(found - value)
    reach = np.float32(proofs.reach) * (product.norms[0][row] * product.norms[1][column])
    wrong = ~(gap <= reach + np.float32(proofs.relative) * (size + reach) + np.float32(proofs.flush))
    if proofs.split is not None:
        return wrong, ~wrong & ~(gap <= np.float32(proofs.split) * size)
    half_ulp = (value.view(np.uint32) & np.uint32(0x7F80_0000)).view(np.float32) * np.float32(2.0**-8)
    excess = gap * np.float32(1 + 2.0**-22) - half_ulp
    near = np.flatnonzero(~wrong & (excess > 0))
    least = np.einsum("ij,ij->i", product.some[0][row[near]], product.some[1][column[near]])
    unproven = np.zeros(len(places), np.bool_)
    unproven[near[excess[near] > np.float32(proofs.slack) * least]] = True
    return wrong, unproven


def _nearest(values: Block) -> NDArray[np.uint16]:
    """bfloat16 bits of finite float32 values, to nearest even."""
    bits = values.view(np.uint32)
    rounded = (bits >> np.uint32(16)) & np.uint32(1)
    rounded += bits
    rounded += np.uint32(0x7FFF)
    rounded >>= np.uint32(16)
    return rounded.astype(np.uint16)


def _add_norms(tally: Tally, found: Block, value: Block) -> None:
    finite = np.isfinite(found)
    if not finite.all():
        found, value = found[finite], value[finite]
    error = found - value
    tally.error_square += dot(error, error)
    tally.reference_square += dot(value, value)
    tally.actual_square += dot(found, found)
    tally.cross += dot(found, value)


def _add_distance(tally: Tally, found: NDArray[np.uint16], expected: NDArray[np.uint16]) -> None:
    finite = (found & np.uint16(_NAN)) != _NAN
    if finite.any():
        distance = np.abs(ordinal(found[finite]) - ordinal(expected[finite]))
        tally.max_ulp = max(tally.max_ulp, int(distance.max()))
