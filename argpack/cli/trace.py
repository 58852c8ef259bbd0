"""Watch a kernel run: which arguments matter, which bytes it reads and writes, whether its waits and barriers suffice.

The kernel runs on the emulator, on random operands. Then each argument and each padding is changed in turn, to see what
depends on it. KERNEL is a file, a name or a unique part of one. Exit codes: 0 clean, 1 something is wrong, 2 could not
check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from argpack.cli.checking import Check
    from argpack.launch import Launch
    from argpack.trace.findings import Finding
    from argpack.trace.trace import Trace

# Problems of this many times the work of the default one are large: their arguments are changed in the default one.
_LARGE = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack trace`."""
    from argpack.cli import problem, situation

    parser.add_argument("kernel", metavar="KERNEL", help="a .co file, a kernel's name or a unique part of it")
    problem.add_arguments(parser, required=False)
    situation.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", metavar="FILE", help="also write a page with pictures and the code")
    parser.set_defaults(backend="emulator", repeat=None, workgroups=None)


def run(args: argparse.Namespace) -> int:
    """0 clean, 1 wrong; ArgpackError where it cannot be traced."""
    from argpack.cli import output, report, trace_json, trace_report
    from argpack.cli.checking import prepare_check
    from argpack.cli.progress import Progress
    from argpack.families.loading import enough_memory
    from argpack.kernels import resolve
    from argpack.output_files import check_new, write_file
    from argpack.trace.findings import Severity, findings
    from argpack.trace.trace import trace

    if args.html:
        check_new(args.html, force=args.force)
    check = prepare_check(resolve(args.kernel, root=args.kernels), args)
    if not args.json:
        print(report.header(check, colour=output.colour()), end="", flush=True)
    with enough_memory(check.problem):
        traced = trace(
            check.workload,
            check.family.schema,
            smaller=lambda: _default_launch(check),
            large=_is_large(check),
            showing=Progress,
        )
    found = findings(traced)
    if args.html:
        write_file(_page(check, traced, found).encode(), args.html, force=args.force)
    if args.json:
        print(report.json_text(trace_json.as_json(check, traced, found)), end="")
    else:
        print(trace_report.text(check, traced, found, colour=output.colour()), end="")
    return int(any(finding.severity is Severity.WRONG for finding in found))


def _page(check: Check, traced: Trace, found: Sequence[Finding]) -> str:
    from argpack.cli import report, trace_report
    from argpack.trace.page import to_html

    problem, launch = check.problem, traced.observed.launch
    facts = [
        ("family", check.family.title),
        ("file", f"{check.path.name} ({check.code_object.target})"),
        ("problem", report.problem_text(problem)),
        ("grid", f"{report.times(launch.grid)} workgroups of {report.times(launch.block)} work-items"),
        *(("memory" if i == 0 else "", note) for i, note in enumerate(check.workload.notes)),
        *(("forced" if i == 0 else "", text) for i, text in enumerate(check.workload.overridden)),
    ]
    return to_html(
        traced,
        found,
        check.family.schema,
        facts=facts,
        row_counts=(problem.m, problem.n, problem.k),
        elsewhere=trace_report.perturbed_problem(check, traced),
    )


def _is_large(check: Check) -> bool:
    from argpack.families.loading import load_workloads

    default = load_workloads(check.family).default_problem(check.kernel.name)
    problem = check.problem
    return problem.m * problem.n * problem.k > _LARGE * default.m * default.n * default.k


def _default_launch(check: Check) -> Launch:
    """The kernel's default problem, with the factors and the split of the one that is traced."""
    from argpack.families.loading import load_workloads
    from argpack.values import changed

    workloads = load_workloads(check.family)
    problem = changed(
        workloads.default_problem(check.kernel.name),
        alpha=check.problem.alpha,
        beta=check.problem.beta,
        log2_k_split=check.problem.log2_k_split,
    )
    return workloads.prepare(check.code_object, check.kernel, problem, force=True).launch
