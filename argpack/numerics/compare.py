"""The verdict: an output held against a `Reference`, element by element and as a whole.

It decides nothing about how the output was made. NaN never passes unless NaN is what was expected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from argpack.errors import InputError
from argpack.numerics.bfloat16 import BF16_OVERFLOW, Rounding, bf16_to_float32, float64_to_bf16

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from argpack.numerics.reference import Reference

    Output = Literal["bfloat16", "float32"]
    Bits = NDArray[np.unsignedinteger[Any]]

_CHUNK = 1 << 15  # elements: a chunk and its temporaries stay in the second-level cache


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `compare` found. Passed means: `wrong` is 0.

    `bit_equal` counts outputs equal to the reference rounded once (nearest even) to the output type;
    `max_ulp` is the largest distance from that, in numbers of the output type, among outputs where both are
    finite. `norm_error` is ‖D - reference‖ / ‖reference‖ (Frobenius) over elements where both are finite.
    `wrong` counts outputs beyond their tolerance, unexpectedly NaN or infinite, or not NaN where NaN is
    expected; `non_finite` those of them that are NaN or infinite. `first_bad` is the (row, column) of the
    first wrong output in row-major order, `expected` and `found` its values. `reason` is one sentence if
    failed, else empty. `hint`, where not empty, names a likely cause, or says what the comparison could not
    show.
    """

    passed: bool
    elements: int
    bit_equal: int
    max_ulp: int
    norm_error: float
    wrong: int
    non_finite: int
    first_bad: tuple[int, int] | None
    expected: float | None
    found: float | None
    reason: str
    hint: str


def compare(
    actual: NDArray[np.uint16] | NDArray[np.float32], reference: Reference, *, dtype: Output
) -> Verdict:
    """Hold `actual`, (M, N), against `reference`: uint16 bits for "bfloat16", float32 for "float32".

    Raises InputError for a wrong type or shape and for an output without elements, which proves nothing.
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
    tally = _Tally()
    with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN in the output, huge norms
        for rows in _row_blocks(bits.shape):
            block = _Block(rows.start, bits[rows], reference.values[rows], reference.tolerance[rows])
            _add(tally, kind, block)
    return _verdict(tally, kind, bits, reference)


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


class _Tally:
    """Running sums over blocks of rows."""

    __slots__ = (
        "actual_square",
        "bit_equal",
        "cross",
        "error_square",
        "expected_nan",
        "first_bad",
        "max_ulp",
        "non_finite",
        "reference_square",
        "wrong",
        "zero_passes",
    )

    def __init__(self) -> None:
        self.bit_equal = self.wrong = self.non_finite = self.max_ulp = self.expected_nan = 0
        self.error_square = self.reference_square = self.actual_square = self.cross = 0.0
        self.first_bad: tuple[int, int] | None = None
        self.zero_passes = True


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of output and reference, from `first_row` on."""

    first_row: int
    bits: Bits
    values: NDArray[np.float64]
    tolerance: NDArray[np.float64]


def _row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(1, _CHUNK // shape[1])
    for start in range(0, shape[0], rows):
        yield slice(start, min(start + rows, shape[0]))


def _add(tally: _Tally, kind: _Format, block: _Block) -> None:
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
    if differs.size:
        _add_differing(tally, kind, block, differs, rounded.reshape(-1)[differs])


def _add_norms(tally: _Tally, wide: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    error = wide - values
    tally.error_square += _dot(error, error)
    tally.reference_square += _dot(values, values)
    tally.actual_square += _dot(wide, wide)
    tally.cross += _dot(wide, values)


def _dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    # Not BLAS: it would wake threads for each chunk, which takes longer than the sum, and seconds on a busy machine.
    return float(np.einsum("i,i->", a, b))


def _add_differing(
    tally: _Tally, kind: _Format, block: _Block, differs: NDArray[np.intp], expected: Bits
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
    if tally.first_bad is None and wrong.any():
        row, column = divmod(int(differs[np.flatnonzero(wrong)[0]]), block.bits.shape[1])
        tally.first_bad = (block.first_row + row, column)
    comparable = finite & np.isfinite(kind.values(expected))
    if comparable.any():
        distance = np.abs(ordinal(bits[comparable]) - ordinal(expected[comparable]))
        tally.max_ulp = max(tally.max_ulp, int(distance.max()))


def _verdict(tally: _Tally, kind: _Format, bits: Bits, reference: Reference) -> Verdict:
    expected = found = None
    reason = ""
    if tally.first_bad is not None:
        row, column = tally.first_bad
        expected = float(reference.values[row, column])
        found = float(kind.values(bits[row, column : column + 1])[0])
        what = "beyond tolerance"
        if tally.non_finite == tally.wrong:
            what = "NaN or infinite"
        elif tally.non_finite:
            what = f"wrong, {tally.non_finite} of them NaN or infinite"
        reason = (
            f"{tally.wrong} of {bits.size} outputs are {what}, first at row {row}, column {column}:"
            f" expected {expected:.9g}, found {found:.9g}"
        )
    return Verdict(
        passed=tally.wrong == 0,
        elements=bits.size,
        bit_equal=tally.bit_equal,
        max_ulp=tally.max_ulp,
        norm_error=_norm_error(tally),
        wrong=tally.wrong,
        non_finite=tally.non_finite,
        first_bad=tally.first_bad,
        expected=expected,
        found=found,
        reason=reason,
        hint=_hint(tally, bits, reference),
    )


def _norm_error(tally: _Tally) -> float:
    if not tally.reference_square:
        return float("inf") if tally.error_square else 0.0
    return math.sqrt(tally.error_square / tally.reference_square)


def _hint(tally: _Tally, bits: Bits, reference: Reference) -> str:
    if tally.expected_nan == bits.size:
        return "every expected value is NaN: this comparison shows nothing else"
    if tally.wrong:
        if not tally.actual_square and tally.reference_square and not tally.non_finite:
            return "all outputs are zero"
        factor = _uniform_factor(tally)
        if factor is not None:
            return f"outputs are {factor:g}× the reference everywhere{_cause(factor)}"
    if bits.dtype == np.uint16 and tally.bit_equal < bits.size:
        for rounding in (Rounding.TOWARD_ZERO, Rounding.AWAY):
            if _matches(bits, reference, rounding):
                return f"every output equals the reference rounded {rounding}, not to nearest even"
    if not tally.wrong and tally.zero_passes:
        return "the tolerance exceeds every reference value: an output of zeros would pass too"
    return ""


def _uniform_factor(tally: _Tally) -> float | None:
    """The factor f for which D = f·reference within about 1 %, unless it is 1."""
    if not tally.reference_square or not tally.actual_square:
        return None
    factor = tally.cross / tally.reference_square
    rest = tally.actual_square - factor * tally.cross
    if rest > 1e-4 * tally.actual_square or abs(factor - 1) < 0.05:
        return None
    return float(f"{factor:.3g}")


def _cause(factor: float) -> str:
    if factor in {0.25, 0.5, 2.0, 4.0}:
        return ": alpha, a scale read one step off, or float8 fnuz taken for OCP?"
    return ": alpha?"


def _matches(bits: Bits, reference: Reference, rounding: Rounding) -> bool:
    return all(
        np.array_equal(bits[rows], float64_to_bf16(reference.values[rows], rounding=rounding))
        for rows in _row_blocks(bits.shape)
    )


def ordinal(bits: Bits) -> NDArray[np.int64]:
    """Position on the line of numbers of that type: neighbours differ by 1, both zeros are 0."""
    sign = 1 << (8 * bits.dtype.itemsize - 1)
    wide = bits.astype(np.int64)
    return np.where(wide & sign, -(wide & (sign - 1)), wide)
