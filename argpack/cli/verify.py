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
    from argpack.cli import problem, situation

    parser.add_argument(
        "kernel", metavar="KERNEL", help="a .co file, a kernel's name or part of it, or a pattern"
    )
    problem.add_arguments(parser, required=False)
    parser.add_argument("--backend", choices=("auto", "emulator", "hip"), default="auto", help="where to run")
    parser.add_argument(
        "--repeat", type=_count, metavar="N", help="also time N launches in a row (on a GPU): TFLOP/s"
    )
    parser.add_argument(
        "--workgroups",
        type=problem.sample,
        metavar="all|sample[:N]",
        help="sample: run corners, edges and N tiles of D at random (default 16), whatever the size (emulator)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    situation.add_arguments(parser)


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
