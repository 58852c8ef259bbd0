"""What comparisons of parts of an output add up to, and the verdict on their sum.

It compares nothing itself: `compare` and `screen` fill a tally for each part, in any order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from argpack.numerics.bfloat16 import Rounding

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison found. Passed means: `wrong` is 0.

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


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong output: its place in the whole output, the value expected there and the one found."""

    row: int
    column: int
    expected: float
    found: float


@dataclass(slots=True)
class Tally:
    """Sums over some outputs. `first` is the first wrong one in row-major order.

    `zero_passes`: the tolerance admits 0 for each. `roundings`: those that explain all of them.
    """

    elements: int = 0
    bit_equal: int = 0
    wrong: int = 0
    non_finite: int = 0
    max_ulp: int = 0
    expected_nan: int = 0
    error_square: float = 0.0
    reference_square: float = 0.0
    actual_square: float = 0.0
    cross: float = 0.0
    first: Wrong | None = None
    zero_passes: bool = True
    roundings: frozenset[Rounding] = field(default=frozenset({Rounding.TOWARD_ZERO, Rounding.AWAY}))

    def add(self, other: Tally) -> None:
        """Count the outputs of `other`, too."""
        for name in (
            "elements",
            "bit_equal",
            "wrong",
            "non_finite",
            "expected_nan",
            "error_square",
            "reference_square",
            "actual_square",
            "cross",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.max_ulp = max(self.max_ulp, other.max_ulp)
        self.zero_passes = self.zero_passes and other.zero_passes
        self.roundings &= other.roundings
        if other.first is not None:
            self.saw_wrong(other.first)

    def saw_wrong(self, wrong: Wrong) -> None:
        """Keep it if it is the first so far; `wrong` and `non_finite` are counted by the caller."""
        if self.first is None or (wrong.row, wrong.column) < (self.first.row, self.first.column):
            self.first = wrong


def total(tallies: Iterable[Tally]) -> Tally:
    """The tally of all outputs together."""
    found = Tally()
    for tally in tallies:
        found.add(tally)
    return found


def verdict_of(tally: Tally) -> Verdict:
    """The verdict on the outputs that were tallied."""
    first = tally.first
    reason = ""
    if first is not None:
        what = "beyond tolerance"
        if tally.non_finite == tally.wrong:
            what = "NaN or infinite"
        elif tally.non_finite:
            what = f"wrong, {tally.non_finite} of them NaN or infinite"
        reason = (
            f"{tally.wrong} of {tally.elements} outputs are {what}, first at row {first.row}, column {first.column}:"
            f" expected {first.expected:.9g}, found {first.found:.9g}"
        )
    return Verdict(
        passed=tally.wrong == 0,
        elements=tally.elements,
        bit_equal=tally.bit_equal,
        max_ulp=tally.max_ulp,
        norm_error=_norm_error(tally),
        wrong=tally.wrong,
        non_finite=tally.non_finite,
        first_bad=None if first is None else (first.row, first.column),
        expected=None if first is None else first.expected,
        found=None if first is None else first.found,
        reason=reason,
        hint=_hint(tally),
    )


def _norm_error(tally: Tally) -> float:
    if not tally.reference_square:
        return float("inf") if tally.error_square else 0.0
    return math.sqrt(tally.error_square / tally.reference_square)


def _hint(tally: Tally) -> str:
    if tally.expected_nan == tally.elements:
        return "every expected value is NaN: this comparison shows nothing else"
    if tally.wrong:
        if not tally.actual_square and tally.reference_square and not tally.non_finite:
            return "all outputs are zero"
        factor = _uniform_factor(tally)
        if factor is not None:
            return f"outputs are {factor:g}× the reference everywhere{_cause(factor)}"
    if tally.bit_equal < tally.elements:
        for rounding in (Rounding.TOWARD_ZERO, Rounding.AWAY):
            if rounding in tally.roundings:
                return f"every output equals the reference rounded {rounding}, not to nearest even"
    if not tally.wrong and tally.zero_passes:
        return "the tolerance exceeds every reference value: an output of zeros would pass too"
    return ""


def _uniform_factor(tally: Tally) -> float | None:
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
