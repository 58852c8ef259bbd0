"""The command line: one module per subcommand, imported only when that subcommand runs.

A subcommand module has `add_arguments(parser)` and `run(args) -> int`; its docstring is its help. Exit codes: 0 same
or pass, 1 differs or fail, 2 could not check.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import TYPE_CHECKING

from argpack import __version__
from argpack.errors import ArgpackError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "verify": "run a kernel on a problem and say whether its numbers are right",
    "sweep": "verify many kernels on many shapes",
    "contract": "measure the limits of a kernel that no documentation states",
    "trace": "watch a kernel run: arguments, memory, waits and barriers",
    "explain": "say why the output of a kernel is wrong",
    "show": "decode an argument buffer field by field",
    "diff": "compare two argument buffers field by field",
    "table": "decode a log of many argument buffers into columns",
    "inspect": "what a code object says of itself",
    "pack": "pack the argument buffer that a problem needs",
    "hip": "run a HIP program on the emulator",
    "kernels": "fetch and list the code objects of AITER",
    "schema": "derive, check, infer and compare schemas of arguments",
    "layout": "tiled layouts of scales and weights: list, show, apply, invert, convert, check, emit, infer",
    "emit": "a schema as C, C++, Python, Rust or TOML",
    "capture": "record the kernel launches of any program",
    "replay": "run a recorded launch again and compare what it wrote",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code: 0 same or pass, 1 differs or fail, 2 could not check."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        known = arguments and arguments[0] in COMMANDS
        return _run(arguments[0], arguments[1:]) if known else _overview(arguments)
    except ArgpackError as error:
        print(f"argpack: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 2
    except KeyboardInterrupt:
        print("argpack: interrupted", file=sys.stderr)
        return 2
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2


def _run(command: str, arguments: list[str]) -> int:
    """Import a subcommand, parse its arguments, run it."""
    module = importlib.import_module(f"argpack.cli.{command}")
    parser = argparse.ArgumentParser(
        prog=f"argpack {command}",
        description=(module.__doc__ or COMMANDS[command]).strip(),
        formatter_class=_formatter,
    )
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(arguments)))


def _overview(arguments: list[str]) -> int:
    """What is no known subcommand: help that lists them all, the version, or what is wrong."""
    summary = __doc__.splitlines()[0] if __doc__ else None
    parser = argparse.ArgumentParser(prog="argpack", description=summary)
    parser.add_argument("--version", action="version", version=f"argpack {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command, text in COMMANDS.items():
        commands.add_parser(command, help=text)
    parser.parse_args(arguments)
    return 2


def _formatter(prog: str) -> argparse.HelpFormatter:
    """As wide as the terminal. argparse makes one for every option and would import shutil to ask for the width."""
    try:
        columns = int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size().columns
    except (OSError, ValueError):
        columns = 80
    return argparse.RawDescriptionHelpFormatter(prog, width=columns - 2)
