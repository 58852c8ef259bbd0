"""What was found for one kernel and one shape, as a value that a ledger, a table and another process can hold."""

from __future__ import annotations

import enum
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from argpack.errors import InputError


class Answer(enum.StrEnum):
    """`REFUSED`: the kernel is known not to compute this shape. `NOT_CHECKED`: it could not be found out."""

    PASSED = "pass"
    FAILED = "fail"
    REFUSED = "refused"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Result:
    """`m`, `n`, `k` count elements; `seconds` are those of preparing, running and judging.

    The others are what `argpack verify` prints: `workgroups` were run of `workgroups_of_grid`, `outputs` compared, and
    so on. They are None where nothing was run. `findings` counts reads that a device would not notice.
    """

    kernel: str
    m: int
    n: int
    k: int
    verdict: Answer
    reason: str = ""
    workgroups: int | None = None
    workgroups_of_grid: int | None = None
    outputs: int | None = None
    bit_equal: int | None = None
    max_ulp: int | None = None
    norm_error: float | None = None
    wrong: int | None = None
    non_finite: int | None = None
    findings: int | None = None
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, int, int, int]:
        """What a sweep has one result of: kernel, M, N, K."""
        return self.kernel, self.m, self.n, self.k


COLUMNS = tuple(field.name for field in fields(Result))
_COUNTS = frozenset(
    {
        "m",
        "n",
        "k",
        "workgroups",
        "workgroups_of_grid",
        "outputs",
        "bit_equal",
        "max_ulp",
        "wrong",
        "non_finite",
        "findings",
    }
)
_FLOATS = frozenset({"norm_error", "seconds"})
_ALWAYS = frozenset({"kernel", "m", "n", "k", "verdict", "reason", "seconds"})


def as_json(result: Result) -> dict[str, Any]:
    """The result as plain values by name; NaN and infinity, which JSON lacks, as text."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in asdict(result).items()
    }


def from_json(found: object) -> Result:
    """The inverse of `as_json`. Raises InputError for anything else."""
    if not isinstance(found, dict) or set(found) != set(COLUMNS):
        raise InputError(f"expected an object of {', '.join(COLUMNS)}")
    values = {name: _value(name, value) for name, value in found.items()}
    return Result(**values)


def _value(name: str, value: object) -> Any:
    if value is None and name not in _ALWAYS:
        return None
    if name in _COUNTS and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if name in _FLOATS and isinstance(value, float):
        return value
    if isinstance(value, str):
        if name in _FLOATS and value in {"nan", "inf", "-inf"}:
            return float(value)
        if name == "verdict" and value in set(Answer):
            return Answer(value)
        if name in {"kernel", "reason"}:
            return value
    raise InputError(f"{name}: no value of a result: {value!r}")
