"""Verify many kernels on many shapes, on all cores or on a cluster, and print one table of the results.

Each kernel of --kernels is run on each shape of --shapes, as `argpack verify` does, on the emulator. A shape that a
kernel is known not to compute is refused, with the reason; that is no failure. With --ledger each result is kept as
soon as it is there: after an interruption of any kind the same command goes on, and what could not be checked is
tried again. Exit codes: 0 all pass or are refused, 1 one fails, 2 one could not be checked or all are refused.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from argpack.sweep import Ledger, Plan, Result, Sampling, Unit

AUTO = "auto"
# Multiply-adds: one core emulates so many in a few seconds.
_WHOLE = 1 << 32
_MOST_PROCESSES = 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack sweep`."""
    parser.add_argument(
        "--kernels", metavar="PATTERN", required=True, help="as KERNEL of verify: a file, a name or a pattern"
    )
    parser.add_argument(
        "--shapes",
        metavar="FILE",
        required=True,
        help="lines of M N K or M,N,K; or aiter: the shapes of AITER's test of its FP4 GEMM",
    )
    parser.add_argument(
        "--workgroups",
        type=_sampling,
        metavar="auto|all|sample[:N]",
        default=AUTO,
        help="which to run: all; a sample, the corners, edges and N tiles of D at random (default 16); auto, the "
        "default, a sample where M x N x K is more than 2^32, else all",
    )
    parser.add_argument("--seed", type=_seed, default=0, help="chooses the operands (default 0)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-j", "--jobs", type=_jobs, metavar="N", help="check N at once, one core each (default: all cores)"
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="check on the cluster of this dask scheduler")
    parser.add_argument("--ledger", metavar="FILE", help="keep results here, and go on from those that are")
    parser.add_argument(
        "-o",
        "--output",
        metavar="TABLE",
        help="write a row a result to a .csv, .parquet, .arrow or .html file",
    )
    parser.add_argument("--force", action="store_true", help="overwrite TABLE")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Plan, check what is not in the ledger, print and write; 0, 1 or 2 as above, or ArgpackError."""
    from argpack.cli import output, sweep_report
    from argpack.sweep import Ledger, load_kernels, make_plan, read_shapes
    from argpack.sweep.table import check_path, write_table

    if args.output is not None:
        check_path(args.output, force=args.force)
    shapes = read_shapes(args.shapes)
    plan = make_plan(load_kernels(_paths(args.kernels)), shapes, seed=args.seed, sampling=args.workgroups)
    with contextlib.ExitStack() as stack:
        ledger = stack.enter_context(Ledger(args.ledger, plan)) if args.ledger is not None else None
        if ledger is not None and ledger.dropped:
            print(f"argpack: note: {ledger.dropped}", file=sys.stderr)
        try:
            results = _results(plan, ledger, args)
        except KeyboardInterrupt:
            kept = f"results are in {args.ledger}, the same command goes on" if ledger else "nothing is kept"
            print(f"argpack: interrupted: {kept}", file=sys.stderr)
            return 2
    title = f"argpack sweep --kernels {args.kernels} --shapes {args.shapes}"
    if args.json:
        output.print_json(sweep_report.as_json(plan, results))
    else:
        output.print_document(sweep_report.document(results), title, html=False)
    if args.output is not None:
        write_table(results, args.output, title=title, force=args.force)
    return sweep_report.exit_code(results)


def _paths(pattern: str) -> Sequence[Path]:
    from argpack.kernels import matching, resolve

    if any(sign in pattern for sign in "*?["):
        return matching(pattern, root=None)
    return [resolve(pattern, root=None)]


def _results(plan: Plan, ledger: Ledger | None, args: argparse.Namespace) -> list[Result]:
    """One result a unit, in the order of the plan."""
    from argpack.cli.sweep_progress import SweepProgress

    found = dict(ledger.results) if ledger else {}
    left = [unit for unit in plan.units if unit.key not in found]
    with SweepProgress(plan, left) as progress:
        for unit, result in _checked(plan, left, args):
            if ledger:
                ledger.append(result)
            found[unit.key] = result
            progress(unit, result)
    return [found[unit.key] for unit in plan.units]


def _checked(plan: Plan, left: Sequence[Unit], args: argparse.Namespace) -> Iterator[tuple[Unit, Result]]:
    """Refusals at once, then what has to be run."""
    from argpack.sweep.check import refused

    yield from ((unit, refused(unit)) for unit in left if unit.refusal)
    units = [unit for unit in left if not unit.refusal]
    kernels = {kernel.label: kernel for kernel in plan.kernels}
    if not units:
        return
    if args.scheduler is not None:
        from argpack.sweep.cluster import run_on_cluster

        yield from run_on_cluster(units, kernels, scheduler=args.scheduler)
    else:
        from argpack.sweep.pool import cores, run_here

        yield from run_here(units, kernels, processes=args.jobs or cores())


def _sampling(text: str) -> Sampling:
    from argpack.cli.problem import SAMPLE, sample
    from argpack.sweep import Sampling

    if text == AUTO:
        return Sampling(text, _WHOLE, SAMPLE)
    tiles = sample(text)
    return Sampling("all", None, 0) if tiles is None else Sampling(f"sample:{tiles}", 0, tiles)


def _seed(text: str) -> int:
    import argparse

    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected 0 or more, found {text}")
    return int(text)


def _jobs(text: str) -> int:
    import argparse

    if not text.isdecimal() or not 1 <= int(text) <= _MOST_PROCESSES:
        raise argparse.ArgumentTypeError(f"expected 1 to {_MOST_PROCESSES}, found {text}")
    return int(text)
