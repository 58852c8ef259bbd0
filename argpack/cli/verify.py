"""Run a kernel on random operands and hold its output against an independent float64 reference.

KERNEL is a file, a name or a unique part of one; a pattern with * or ? runs every kernel that it matches.
What is known to go wrong (a size that the kernel cannot do, a wrong layout) is refused; --force runs it, and
the verdict shows what happens. Exit codes: 0 pass, 1 fail, 2 could not check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import ArgpackError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from argpack.cli.checking import Outcome, Unchecked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack verify`."""
    from argpack.cli import problem

    parser.add_argument(
        "kernel", metavar="KERNEL", help="a .co file, a kernel's name or part of it, or a pattern"
    )
    problem.add_arguments(parser, required=False)
    parser.add_argument("--seed", type=int, help="chooses the operands (default 0)")
    parser.add_argument("--backend", choices=("auto", "emulator", "hip"), default="auto", help="where to run")
    parser.add_argument(
        "--repeat", type=_count, metavar="N", help="also time N launches in a row (on a GPU): TFLOP/s"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--force", action="store_true", help="run what is known to go wrong")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")
    wrong = parser.add_argument_group("wrong situations", "what a mistake looks like; most need --force")
    wrong.add_argument("--scale-pad", type=_byte, metavar="BYTE", help="what pads the scales (f4gemm: 0x00)")
    wrong.add_argument("--scale-layout", metavar="NAME", help="how the scales lie (f4gemm: scale_32x8)")
    wrong.add_argument("--b-layout", metavar="NAME", help="how B lies (f4gemm: weight_16x16 or row_major)")
    wrong.add_argument("--exchange-scales", action="store_true", help="pass the scales of A as those of B")
    wrong.add_argument("--no-zero", action="store_true", help="do not zero the output before splitting K")


def run(args: argparse.Namespace) -> int:
    """Check one kernel or all that a pattern matches; 0 all pass, 1 one fails, 2 one could not be checked."""
    from argpack.kernels import matching, resolve

    if any(sign in args.kernel for sign in "*?["):
        return _many(matching(args.kernel, root=args.kernels), args)
    return _one(resolve(args.kernel, root=args.kernels), args)


def _one(path: Path, args: argparse.Namespace) -> int:
    from argpack.cli import output, report
    from argpack.cli.checking import prepare_check, run_check
    from argpack.cli.progress import Progress

    colour = output.colour()
    check = prepare_check(path, args)
    if not args.json:
        print(report.header(check, colour=colour), end="", flush=True)
    with Progress("workgroups") as progress:
        done = run_check(check, progress)
    print(
        report.json_text(report.as_json(done)) if args.json else report.outcome(done, colour=colour), end=""
    )
    return int(not done.verdict.passed)


def _many(paths: Sequence[Path], args: argparse.Namespace) -> int:
    from argpack.cli import output, report
    from argpack.cli.checking import Unchecked, prepare_check, run_check
    from argpack.cli.progress import Progress

    results: list[Outcome | Unchecked] = []
    with Progress("kernels") as progress:
        for number, path in enumerate(paths):
            progress(number, len(paths))
            try:
                results.append(run_check(prepare_check(path, args), None))
            except ArgpackError as error:
                results.append(Unchecked(path, str(error)))
    if args.json:
        print(
            report.json_text({"pattern": args.kernel, "results": [report.as_json(r) for r in results]}),
            end="",
        )
    else:
        print(report.table(results, colour=output.colour()), end="")
    return max((result.exit_code for result in results), default=2)


def _count(text: str) -> int:
    import argparse

    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"expected 1 to 1000000, found {text}")
    return int(text)


def _byte(text: str) -> int:
    return int(text, 0)
