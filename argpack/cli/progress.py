"""A progress bar on a terminal, shown only where something lasts. Nothing appears elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from types import TracebackType

_QUIET_SECONDS = 1.0
_EVERY_SECONDS = 0.1
_WIDTH = 30


class Progress:
    """A context manager to call with (done, total); its end wipes the line. `stream` is else standard error."""

    def __init__(self, noun: str, stream: TextIO | None = None) -> None:
        self._noun = noun
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar anew where it is time to."""
        now = time.monotonic()
        if (
            not self._stream.isatty()
            or now - self._started < _QUIET_SECONDS
            or (now - self._shown_at < _EVERY_SECONDS and done < total)
        ):
            return
        self._shown_at = now
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        text = f"[{bar}] {done} of {total} {self._noun}, {now - self._started:.0f} s"
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0
