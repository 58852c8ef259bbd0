"""The command line: one module per subcommand, imported only when that subcommand runs.

A subcommand module has `add_arguments(parser)` and `run(args) -> int`; its docstring is its help. Exit codes: 0 same
or pass, 1 differs or fail, 2 could not check.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import TYPE_CHECKING

from argpack import __version__
from argpack.errors import ArgpackError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "verify": "run a kernel on a problem and say whether its numbers are right",
    "show": "decode an argument buffer field by field",
    "diff": "compare two argument buffers field by field",
    "inspect": "what a code object says of itself",
    "pack": "pack the argument buffer that a problem needs",
    "kernels": "fetch and list the code objects of AITER",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code: 0 same or pass, 1 differs or fail, 2 could not check."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = next((a for a in arguments if not a.startswith("-")), None)
    parser = argparse.ArgumentParser(prog="argpack", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--version", action="version", version=f"argpack {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    module = None
    for command, text in COMMANDS.items():
        sub = commands.add_parser(command, help=text)
        if command == name:
            module = importlib.import_module(f"argpack.cli.{command}")
            sub.description = (module.__doc__ or text).strip()
            sub.formatter_class = argparse.RawDescriptionHelpFormatter
            module.add_arguments(sub)
    try:
        args = parser.parse_args(arguments)
        return int(module.run(args)) if module else 2
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
