"""Runs a program with the preload library and passes its signals and its end through."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import TYPE_CHECKING

from argpack.capture.library import library
from argpack.capture.writer import create
from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# What a terminal sends to the whole group reaches the program by itself; what is sent to us alone is handed on.
_IGNORED = (signal.SIGINT, signal.SIGQUIT)
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT, signal.SIGWINCH)


def environment(path: Path, *, kernel: str | None, buffers: bool) -> dict[str, str]:
    """Variables that make a program, and what it starts, record into an existing capture file."""
    preloaded = [str(library()), *os.environ.get("LD_PRELOAD", "").split()]
    return {
        **os.environ,
        "LD_PRELOAD": ":".join(preloaded),
        "ARGPACK_CAPTURE_FILE": str(path.resolve()),
        "ARGPACK_CAPTURE_KERNEL": pattern(kernel),
        "ARGPACK_CAPTURE_BUFFERS": "1" if buffers else "0",
    }


def pattern(kernel: str | None) -> str:
    """The shell pattern for a kernel's whole name: text without * ? [ is a part of it."""
    if not kernel or any(sign in kernel for sign in "*?["):
        return kernel or ""
    return f"*{kernel}*"


def run(command: Sequence[str], path: Path, *, kernel: str | None, buffers: bool) -> int:
    """Run the program; its exit code, or minus the signal that ended it. Makes the capture file.

    Raises InputError where the file exists or the program cannot be started, UnavailableError without a compiler.
    """
    variables = environment(path, kernel=kernel, buffers=buffers)
    create(path)
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []
    with _handing_on(children, early):
        try:
            children.append(subprocess.Popen(command, env=variables))
        except OSError as error:
            path.unlink()
            raise InputError(f"{command[0]}: cannot be started: {error.strerror}") from None
        for number in early:
            children[0].send_signal(number)
        return children[0].wait()


@contextlib.contextmanager
def _handing_on(children: list[subprocess.Popen[bytes]], early: list[int]) -> Iterator[None]:
    """Handlers, not SIG_IGN, which a program would inherit. Signals that come before the child is known are `early`."""

    def hand_on(number: int, _: object) -> None:
        # The program can run, and be told of, before Popen has returned.
        if not children:
            early.append(number)
        for child in children:
            child.send_signal(number)

    before = {}
    try:
        for number in _IGNORED:
            before[number] = signal.signal(number, lambda *_: None)
        for number in _FORWARDED:
            before[number] = signal.signal(number, hand_on)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
