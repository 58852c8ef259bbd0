"""Run a HIP program on the emulator: its HIP runtime is replaced, the program is not changed.

Everything behind `--` is the program and its arguments; its exit code becomes that of this command. What the
emulated runtime refuses is told on stderr, a line each.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack hip`."""
    import argparse

    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the program and its arguments"
    )


def run(args: argparse.Namespace) -> int:
    """Become the program; returns only where it cannot be started."""
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise InputError("expected a program behind --, as in `argpack hip -- ./my_program`")
    program = shutil.which(command[0])
    if program is None:
        raise InputError(f"{command[0]}: expected a program, found none of that name")
    os.environ.update(environment())
    try:
        os.execv(program, command)
    except OSError as error:
        raise InputError(f"{program}: cannot be started: {error.strerror}") from error


def environment() -> dict[str, str]:
    """Variables under which programs find the emulated runtime. Raises UnavailableError where it cannot be built."""
    import importlib.util

    missing = [name for name in ("tinygrad", "threadpoolctl") if importlib.util.find_spec(name) is None]
    if missing:
        raise UnavailableError(f"the emulator needs {', '.join(missing)}: pip install 'argpack[emulator]'")
    from argpack.hip_runtime.build import build

    rocm = build()
    others = os.environ.get("LD_LIBRARY_PATH")
    paths = [str(rocm / "lib"), *([others] if others else [])]
    # hip-python looks into ROCM_PATH, everybody else where the loader looks.
    return {"LD_LIBRARY_PATH": ":".join(paths), "ROCM_PATH": str(rocm)}
