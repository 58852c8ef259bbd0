"""What fails a verdict beside the numbers: outputs never written, writes elsewhere, memory errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.numerics import Verdict


def with_failures(verdict: Verdict, failures: Sequence[str], errors: Sequence[str]) -> Verdict:
    """The verdict, failed where there is any of `failures` or `errors` (of memory): its reason names them.

    Errors come first, the first of them with a count of the others: the numbers follow from them.
    """
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    reasons = [error + more for error in errors[:1]] + [verdict.reason, *failures]
    passed = verdict.passed and not failures and not errors
    return replace(verdict, passed=passed, reason="; ".join(filter(None, reasons)))
