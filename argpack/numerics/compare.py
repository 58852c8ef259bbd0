"""An output held against a `Reference`, element by element.

It decides nothing about how the output was made. NaN never passes unless NaN is what was expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from argpack.errors import InputError
from argpack.numerics.bfloat16 import BF16_OVERFLOW, Rounding, bf16_to_float32, float64_to_bf16
from argpack.numerics.tally import Tally, Verdict, Wrong, verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from argpack.numerics.reference import Reference

    Output = Literal["bfloat16", "float32"]
    Bits = NDArray[np.unsignedinteger[Any]]

CHUNK = 1 << 15  # elements: a chunk and its temporaries stay in the second-level cache


def compare(
    actual: NDArray[np.uint16] | NDArray[np.float32], reference: Reference, *, dtype: Output
) -> Verdict:
    """Hold `actual`, (M, N), against `reference`: uint16 bits for "bfloat16", float32 for "float32".

    Raises InputError for a wrong type or shape and for an output without elements, which proves nothing.
    """
    return verdict_of(tally_output(actual, reference, dtype=dtype))


def tally_output(
    actual: NDArray[np.uint16] | NDArray[np.float32],
    reference: Reference,
    *,
    dtype: Output,
    origin: tuple[int, int] = (0, 0),
) -> Tally:
    """The same for a part of an output, whose first element is at row and column `origin` of the whole.

    Raises InputError as `compare` does.
    """
    if dtype not in _FORMATS:
        raise InputError(f"compare: dtype: expected 'bfloat16' or 'float32', found {dtype!r}")
    kind = _FORMATS[dtype]
    if not isinstance(actual, np.ndarray) or actual.dtype != kind.array:
        found = actual.dtype if isinstance(actual, np.ndarray) else type(actual).__name__
        raise InputError(f"compare: {dtype} output: expected an array of {kind.array}, found {found}")
    if actual.shape != reference.values.shape or actual.ndim != 2:
        raise InputError(f"compare: output: expected shape {reference.values.shape}, found {actual.shape}")
    if not actual.size:
        raise InputError(f"compare: an output of shape {actual.shape} has no elements to check")
    bits: Bits = actual.view(f"u{actual.dtype.itemsize}")
    tally = Tally(elements=actual.size)
    with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN in the output, huge norms
        for rows in row_blocks(bits.shape):
            place = (origin[0] + rows.start, origin[1])
            _add(tally, kind, _Block(place, bits[rows], reference.values[rows], reference.tolerance[rows]))
    return tally


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Slices of rows of about `CHUNK` elements each."""
    rows = max(1, CHUNK // shape[1])
    for start in range(0, shape[0], rows):
        yield slice(start, min(start + rows, shape[0]))


@dataclass(frozen=True, slots=True)
class _Format:
    """An output type: that of the array handed in, bits to values, values rounded to bits, where infinity
    starts."""

    array: np.dtype[Any]
    values: Callable[[Bits], NDArray[np.float32]]
    rounded: Callable[[NDArray[np.float64]], Bits]
    overflow: float


def _bf16_values(bits: Bits) -> NDArray[np.float32]:
    return bf16_to_float32(bits.astype(np.uint16, copy=False))


def _float32_values(bits: Bits) -> NDArray[np.float32]:
    return bits.view(np.float32)


def _float32_rounded(values: NDArray[np.float64]) -> Bits:
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(np.float32).view(np.uint32)


_FORMATS = {
    "bfloat16": _Format(np.dtype(np.uint16), _bf16_values, float64_to_bf16, BF16_OVERFLOW),
    "float32": _Format(np.dtype(np.float32), _float32_values, _float32_rounded, 2.0**128 - 2.0**103),
}


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of output and reference; `place` is the row and column of the first element."""

    place: tuple[int, int]
    bits: Bits
    values: NDArray[np.float64]
    tolerance: NDArray[np.float64]


def _add(tally: Tally, kind: _Format, block: _Block) -> None:
    rounded = kind.rounded(block.values)
    differs = np.flatnonzero((block.bits != rounded).reshape(-1))
    tally.bit_equal += rounded.size - differs.size
    wide = kind.values(block.bits).astype(np.float64)
    both_finite = np.isfinite(wide) & np.isfinite(kind.values(rounded)) & np.isfinite(block.values)
    if both_finite.all():
        _add_norms(tally, wide.reshape(-1), block.values.reshape(-1))
    else:
        _add_norms(tally, wide[both_finite], block.values[both_finite])
        tally.expected_nan += int(np.isnan(block.values).sum())
    if tally.zero_passes:
        tally.zero_passes = bool((np.abs(block.values) <= block.tolerance).all())
    if tally.roundings:
        tally.roundings &= _explaining(block)
    if differs.size:
        _add_differing(tally, kind, block, differs, rounded.reshape(-1)[differs])


def _explaining(block: _Block) -> frozenset[Rounding]:
    """The roundings other than to nearest even that give exactly these outputs."""
    if block.bits.dtype != np.uint16:
        return frozenset()
    return frozenset(
        rounding
        for rounding in (Rounding.TOWARD_ZERO, Rounding.AWAY)
        if np.array_equal(block.bits, float64_to_bf16(block.values, rounding=rounding))
    )


def _add_norms(tally: Tally, wide: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    error = wide - values
    tally.error_square += dot(error, error)
    tally.reference_square += dot(values, values)
    tally.actual_square += dot(wide, wide)
    tally.cross += dot(wide, values)


def dot(a: NDArray[np.floating[Any]], b: NDArray[np.floating[Any]]) -> float:
    """The sum of the products of two vectors."""
    # Not BLAS: it would wake threads for each chunk, which takes longer than the sum, and seconds on a busy machine.
    return float(np.einsum("i,i->", a, b))


def _add_differing(
    tally: Tally, kind: _Format, block: _Block, differs: NDArray[np.intp], expected: Bits
) -> None:
    """Outputs at flat positions `differs` are not the rounded reference: all that can be wrong are among
    them."""
    bits = block.bits.reshape(-1)[differs]
    found = kind.values(bits).astype(np.float64)
    value, allowed = block.values.reshape(-1)[differs], block.tolerance.reshape(-1)[differs]
    finite = np.isfinite(found)
    right = np.abs(found - value) <= allowed
    overflows = np.abs(value) + allowed >= kind.overflow
    right[~finite] = False
    right |= np.isinf(found) & (np.signbit(found) == np.signbit(value)) & overflows
    right |= np.isnan(found) & np.isnan(value)
    wrong = ~right
    tally.wrong += int(wrong.sum())
    tally.non_finite += int((wrong & ~finite).sum())
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        row, column = divmod(int(differs[first]), block.bits.shape[1])
        place = (block.place[0] + row, block.place[1] + column)
        tally.saw_wrong(Wrong(*place, float(value[first]), float(found[first])))
    comparable = finite & np.isfinite(kind.values(expected))
    if comparable.any():
        distance = np.abs(ordinal(bits[comparable]) - ordinal(expected[comparable]))
        tally.max_ulp = max(tally.max_ulp, int(distance.max()))


def ordinal(bits: Bits) -> NDArray[np.int64]:
    """Position on the line of numbers of that type: neighbours differ by 1, both zeros are 0."""
    sign = 1 << (8 * bits.dtype.itemsize - 1)
    wide = bits.astype(np.int64)
    return np.where(wide & sign, -(wide & (sign - 1)), wide)
