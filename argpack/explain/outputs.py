"""Outputs held against each other bit by bit: what a hypothesis predicts, and what was found. It runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from argpack.numerics import bf16_to_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[np.unsignedinteger]
    Mask = NDArray[np.bool_]

# Sums in another order round some bf16 outputs to the neighbour, and nothing else: this much of an output may differ.
_NEARLY_EQUAL = 0.97
_NEARLY_NORM = 2e-3
# Each slice of K that is added to D rounds the outputs once more, in an order that no device promises.
_SLICE_NORM = 4e-3
# Fewer outputs than these, or all of one value, agree by chance.
_TELLING_OUTPUTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How outputs are stored. An element that still has the bits `sentinel`, a NaN no kernel makes, was not written."""

    dtype: Literal["bfloat16", "float32"]
    sentinel: int

    @property
    def bits(self) -> np.dtype[np.unsignedinteger]:
        """The type of an element's bits."""
        return np.dtype(np.uint16 if self.dtype == "bfloat16" else np.uint32)

    def values(self, bits: Bits) -> NDArray[np.float32]:
        """The numbers behind bits."""
        if self.dtype == "bfloat16":
            return bf16_to_float32(bits.astype(np.uint16, copy=False))
        return np.ascontiguousarray(bits).view(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """What a launch makes of D: bits, (rows, columns) of M x N. Two masks say where that is not known.

    `unwritten` outputs hold what was there before, `undetermined` ones depend on memory behind a buffer. `over_reads`
    says that the launch reads there, `stray` counts elements of D that it writes outside M x N, `error` is a memory
    fault that ended it.
    """

    bits: Bits
    unwritten: Mask
    undetermined: Mask
    over_reads: bool = False
    stray: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A found output held against a prediction. `equal` of `compared` outputs have the same bits (NaN equals NaN).

    `left` outputs were not written and are all one value in what was found (`filling`, None where there are none);
    `unknown` ones depend on memory that nobody knows. `norm` is the relative distance of the rest. `exact` means all
    that is known agrees, `near` all but single roundings. `telling` is False where so few or so equal values agree
    that it says little.
    """

    compared: int
    equal: int
    left: int
    filling: float | None
    unknown: int
    norm: float
    exact: bool
    near: bool
    telling: bool

    @property
    def holds(self) -> bool:
        """Whether the prediction is what was found, roundings aside."""
        return self.exact or self.near


def match(form: Form, found: Bits, predicted: Prediction, *, slices: int = 1) -> Match:
    """Compare. `slices` of K that are added to D in no fixed order make `near` more lenient."""
    known = ~(predicted.unwritten | predicted.undetermined)
    ours, theirs = found[known], predicted.bits[known]
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = form.values(ours).astype(np.float64), form.values(theirs).astype(np.float64)
        equal = (ours == theirs) | (a == b) | (np.isnan(a) & np.isnan(b))
        norm = _norm(a, b)
    rest = found[predicted.unwritten]
    one_value = bool(rest.size == 0 or (rest == rest[0]).all())
    count = int(equal.sum())
    exact = one_value and count == equal.size > 0
    limit = _NEARLY_NORM if slices == 1 else _SLICE_NORM * slices
    share = _NEARLY_EQUAL if slices == 1 else 0.0
    # More slices round more often: the order decides which outputs; how far they are apart stays small.
    near = one_value and not exact and equal.size > 0 and count >= share * equal.size and norm <= limit
    return Match(
        compared=int(equal.size),
        equal=count,
        left=int(rest.size),
        filling=float(form.values(rest[:1])[0]) if rest.size and one_value else None,
        unknown=int(predicted.undetermined.sum()),
        norm=norm,
        exact=exact,
        near=near,
        telling=equal.size >= _TELLING_OUTPUTS
        and not (theirs == theirs[0]).all()
        and bool(np.isfinite(b).any()),
    )


def _norm(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """‖a - b‖ / ‖b‖ where both are finite; infinite where one alone is."""
    both = np.isfinite(a) & np.isfinite(b)
    if (np.isfinite(a) != np.isfinite(b)).any():
        return float("inf")
    size = float(np.sqrt((b[both] ** 2).sum()))
    apart = float(np.sqrt(((a[both] - b[both]) ** 2).sum()))
    return apart / size if size else (float("inf") if apart else 0.0)
