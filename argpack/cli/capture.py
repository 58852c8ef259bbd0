"""Record every kernel launch of a program: argument buffers, geometry, code objects; read it with show, diff, replay.

The program runs as it would without, and its exit code is this command's. Separate it by --:
argpack capture -o run.capture -- python train.py. docs/capture.md says what is recorded and what cannot be seen.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from argpack.capture import Capture

_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack capture`."""
    parser.add_argument(
        "--buffers", action="store_true", help="also record the memory that arguments point into (slow)"
    )
    parser.add_argument(
        "--kernel", metavar="PATTERN", help="only kernels with this in their name, or that fit its * and ?"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file (default: PROGRAM.PID.capture)")
    parser.add_argument("command", metavar="CMD", nargs="+", help="the program and its arguments, after --")


def run(args: argparse.Namespace) -> int:
    """The program's exit code; a signal that ended it ends this process too."""
    from argpack.capture import read
    from argpack.capture.run import run as run_program

    path = Path(args.output or f"{Path(args.command[0]).name}.{os.getpid()}.capture")
    code = run_program(args.command, path, kernel=args.kernel, buffers=args.buffers)
    print(*_summary(read(path)), sep="\n", file=sys.stderr, flush=True)
    if code < 0:
        _end_by(signal.Signals(-code))
    return code


def _summary(capture: Capture) -> list[str]:
    launches = capture.launches
    kernels = {(launch.kernel, launch.code) for launch in launches}
    if capture.processes:
        what = f"{_count(len(launches), 'launch', 'es')} of {_count(len(kernels), 'kernel')}"
        line = f"{what} by {_count(len(capture.processes), 'process', 'es')}"
    else:
        line = "no call of the HIP runtime was seen (a statically linked program, or one without HIP?)"
    lines = [f"argpack: {line}: {capture.source}"]
    told = [*capture.notes, *capture.problems, *(remark for launch in launches for remark in launch.remarks)]
    different = list(dict.fromkeys(told))
    lines += [f"argpack: {text}" for text in different[:_SHOWN]]
    if len(different) > _SHOWN:
        lines.append(f"argpack: and {len(different) - _SHOWN} remarks more")
    return lines


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def _end_by(number: signal.Signals) -> None:
    """End as the program did, so that a shell sees the same; without a second core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
