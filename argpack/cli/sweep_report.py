"""What `sweep` prints at its end: a line a kernel, then failures in full; JSON; the exit code. It has no subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.hexdump.table import Line, Table, Tone, counted, text_line
from argpack.sweep import Answer
from argpack.sweep.results import as_json as result_as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.hexdump.table import Document
    from argpack.sweep import Plan, Result

_EXIT_CODES = {Answer.PASSED: 0, Answer.REFUSED: 0, Answer.FAILED: 1, Answer.NOT_CHECKED: 2}
_WORDS = {
    Answer.PASSED: "passed",
    Answer.FAILED: "failed",
    Answer.REFUSED: "refused",
    Answer.NOT_CHECKED: "not checked",
}


def document(results: Sequence[Result]) -> Document:
    """The table of kernels, each failure, each that could not be checked, what is refused, the sums."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.kernel, []).append(result)
    heading = ("kernel", "shapes", *Answer, "max ulp", "norm error", "seconds")
    found: Document = [Table([Line(heading, Tone.STRONG), *(_row(*group) for group in groups.items())])]
    for verdict in (Answer.FAILED, Answer.NOT_CHECKED):
        found += [text_line(result_text(r), Tone.ALARM) for r in results if r.verdict is verdict]
    for kernel, group in groups.items():
        refused = [result for result in group if result.verdict is Answer.REFUSED]
        if refused:
            first = f"{_size(refused[0])}: {refused[0].reason}"
            which = f"{counted(len(refused), 'shape')}, first {first}" if len(refused) > 1 else first
            found.append(text_line(f"{kernel}: refused {which}", Tone.FAINT))
    tones = (Tone.GOOD, Tone.ALARM, Tone.ALARM)
    return [*found, text_line(_sums(results, len(groups)), tones[exit_code(results)])]


def as_json(plan: Plan, results: Sequence[Result]) -> dict[str, Any]:
    """What was swept, and every result."""
    return {**plan.header, "counts": _counts(results), "results": [result_as_json(r) for r in results]}


def exit_code(results: Sequence[Result]) -> int:
    """0 all pass or are refused, 1 one fails, 2 one was not checked, or none was because all are refused."""
    if all(result.verdict is Answer.REFUSED for result in results):
        return 2
    return max(_EXIT_CODES[result.verdict] for result in results)


def result_text(result: Result) -> str:
    """`f4gemm.co M=1 N=2 K=3: FAIL: 4 of 5 outputs are beyond tolerance`."""
    word = "FAIL" if result.verdict is Answer.FAILED else result.verdict
    return f"{result.kernel} {_size(result)}: {word}{f': {result.reason}' if result.reason else ''}"


def _size(result: Result) -> str:
    return f"M={result.m} N={result.n} K={result.k}"


def _row(kernel: str, group: Sequence[Result]) -> Line:
    counts = _counts(group)
    run = [result for result in group if result.outputs is not None]
    worst = max((result.norm_error or 0.0 for result in run), default=None)
    cells = (
        kernel,
        str(len(group)),
        *(str(counts[verdict] or "") for verdict in Answer),
        str(max((result.max_ulp or 0 for result in run), default="")),
        "" if worst is None else f"{worst:.2e}",
        f"{sum(result.seconds for result in run):.2f}",
    )
    return Line(cells, Tone.ALARM if counts[Answer.FAILED] or counts[Answer.NOT_CHECKED] else Tone.PLAIN)


def _counts(results: Sequence[Result]) -> dict[str, int]:
    return {verdict: sum(result.verdict is verdict for result in results) for verdict in Answer}


def _sums(results: Sequence[Result], kernels: int) -> str:
    counts = _counts(results)
    parts = [f"{counts[verdict]} {_WORDS[verdict]}" for verdict in Answer if counts[verdict]]
    sampled = sum(result.workgroups != result.workgroups_of_grid for result in results)
    more = f"; {sampled} by a sample of their workgroups" if sampled else ""
    shapes = counted(len({(result.m, result.n, result.k) for result in results}), "shape")
    return f"{counted(kernels, 'kernel')}, {shapes}: {', '.join(parts)}{more}"
