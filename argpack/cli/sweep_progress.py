"""How far a sweep is: a bar with an estimate on a terminal, a line a result elsewhere. It has no subcommand."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

from argpack.cli.sweep_report import result_text
from argpack.hexdump.table import counted
from argpack.sweep import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from argpack.sweep import Plan, Result, Unit

_WIDTH = 30
_ALARMING = (Answer.FAILED, Answer.NOT_CHECKED)


class SweepProgress:
    """A context manager to call with each unit of `left` and its result. `stream` is else standard error.

    A terminal shows failures as they come, above the bar.
    """

    def __init__(self, plan: Plan, left: Sequence[Unit], stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._total = len(plan.units)
        self._done = len(plan.units) - len(left)
        self._failed = 0
        self._work = sum(unit.work for unit in left)
        self._worked = 0
        self._width = 0
        self._started = time.monotonic()
        kept = f", {self._done} of them in the ledger" if self._done else ""
        refused = sum(bool(unit.refusal) for unit in left)
        refusing = f", {refused} refused" if refused else ""
        kernels = counted(len(plan.kernels), "kernel")
        print(f"{kernels}, {counted(self._total, 'problem')}{kept}{refusing}", file=self._stream, flush=True)

    def __call__(self, unit: Unit, result: Result) -> None:
        """Count one result."""
        self._done += 1
        self._worked += unit.work
        self._failed += result.verdict is Answer.FAILED
        if self._stream.isatty():
            if result.verdict in _ALARMING:
                self._wipe()
                self._stream.write(f"{result_text(result)}\n")
            self._draw()
        elif result.verdict is not Answer.REFUSED:  # those were counted above
            took = f", {result.seconds:.2f} s"
            self._stream.write(f"{self._done} of {self._total}: {result_text(result)}{took}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        if self._work and self._stream.isatty():
            self._draw()
            self._stream.flush()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wipe()
        self._stream.flush()

    def _draw(self) -> None:
        elapsed = time.monotonic() - self._started
        filled = _WIDTH * self._worked // max(self._work, 1)
        text = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self._done} of {self._total}"
        text += f", {self._failed} failed" if self._failed else ""
        text += f", {duration(elapsed)}"
        if 0 < self._worked < self._work:
            text += f", about {duration(elapsed * (self._work - self._worked) / self._worked)} left"
        self._stream.write("\r" + text.ljust(self._width))
        self._width = len(text)

    def _wipe(self) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._width = 0


def duration(seconds: float) -> str:
    """`34 s`, `12 min`, `3 h 20 min`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
