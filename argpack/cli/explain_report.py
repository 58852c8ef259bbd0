"""What `explain` prints: facts, causes with evidence and fix, what was excluded; the same as JSON. No subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.cli.report import problem_text, verdict_values
from argpack.hexdump.table import Tone, counted, paint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.explain import Explanation, Finding
    from argpack.families import Problem

Lines = list[tuple[str, Tone]]
_WIDTH = 10


class Facts(NamedTuple):
    """What was asked: `choice` says why this backend, `assumed` what was taken for files that were not given.

    `yours` says that the output is the user's, not that of the launch as given.
    """

    kernel: str
    problem: Problem
    choice: str
    assumed: tuple[str, ...]
    yours: bool


def lines(facts: Facts, explanation: Explanation, *, verbose: bool) -> Lines:
    """Lines in a tone."""
    printed: Lines = [
        (_row("kernel", facts.kernel), Tone.STRONG),
        (_row("problem", problem_text(facts.problem)), Tone.PLAIN),
        (_row("backend", facts.choice), Tone.PLAIN),
    ]
    printed += [(_row("assumed", text), Tone.PLAIN) for text in facts.assumed]
    printed += _verdict(facts, explanation)
    for number, finding in enumerate(explanation.findings, 1):
        printed += _finding(number, finding)
    if explanation.excluded and not any(one.confirmed for one in explanation.findings):
        printed.append((_unexplained(explanation), Tone.ALARM))
    printed += [(_row("note", text), Tone.PLAIN) for text in explanation.notes]
    printed += [(_row("untested", text), Tone.PLAIN) for text in explanation.untestable]
    printed += _excluded(explanation, verbose=verbose)
    return printed


def painted(printed: Lines, *, colour: bool) -> str:
    """Text, a newline after each line."""
    return "".join(paint(text, tone, colour=colour) + "\n" for text, tone in printed)


def as_json(facts: Facts, explanation: Explanation) -> dict[str, object]:
    """The explanation as plain values; NaN and infinity, which JSON lacks, as text."""
    problem = facts.problem
    confirmed = any(one.confirmed for one in explanation.findings)
    return {
        "kernel": facts.kernel,
        "m": problem.m,
        "n": problem.n,
        "k": problem.k,
        "verdict": "right" if explanation.right else "explained" if confirmed else "unexplained",
        "output": None if explanation.verdict is None else verdict_values(explanation.verdict),
        "trouble": list(explanation.trouble),
        "findings": [
            {
                "name": one.name,
                "what": one.what,
                "evidence": one.evidence,
                "fix": one.fix,
                "confirmed": one.confirmed,
                "exact": bool(one.match and one.match.exact),
            }
            for one in explanation.findings
        ],
        "excluded": [
            {
                "name": one.name,
                "what": one.what,
                "why": str(one.why),
                "equal": one.equal,
                "compared": one.compared,
            }
            for one in explanation.excluded
        ],
        "untestable": list(explanation.untestable),
        "assumed": list(facts.assumed),
        "notes": list(explanation.notes),
    }


def _row(label: str, text: str) -> str:
    return f"{label:<{_WIDTH}}{text}"


def _verdict(facts: Facts, explanation: Explanation) -> Iterator[tuple[str, Tone]]:
    verdict = explanation.verdict
    whose = "your output" if facts.yours else "the launch as given"
    if explanation.right and verdict is not None:
        equal = f"{verdict.bit_equal} of {verdict.elements} outputs are bit-equal, none is beyond tolerance"
        yield f"RIGHT     {whose}: {equal}", Tone.GOOD
        return
    if verdict is None and explanation.trouble:
        yield f"WRONG     {whose}: {'; '.join(explanation.trouble)}", Tone.ALARM
        return
    if verdict is None:
        yield "WRONG     by what files and sizes say", Tone.ALARM
        return
    reasons = [verdict.reason] if verdict.reason else []
    if verdict.passed and not explanation.trouble:
        yield f"RIGHT     {whose}; its files are not", Tone.ALARM
        return
    yield f"WRONG     {whose}: {'; '.join([*reasons, *explanation.trouble])}", Tone.ALARM


def _finding(number: int, finding: Finding) -> Iterator[tuple[str, Tone]]:
    likely = "cause" if finding.confirmed else "suspect"
    yield "", Tone.PLAIN
    yield f"{likely} {number}: {finding.name}", Tone.STRONG
    yield _row("", finding.what), Tone.PLAIN
    yield _row("evidence", finding.evidence), Tone.PLAIN
    yield _row("fix", finding.fix), Tone.PLAIN


def _unexplained(explanation: Explanation) -> str:
    tried = len(explanation.excluded)
    return f"\nwrong, and none of {counted(tried, 'hypothesis').replace('hypothesiss', 'hypotheses')} gives this output"


def _excluded(explanation: Explanation, *, verbose: bool) -> Iterator[tuple[str, Tone]]:
    excluded = explanation.excluded
    if not excluded:
        return
    if not verbose:
        others = "other hypotheses are" if explanation.findings else "hypotheses are"
        yield f"\n{len(excluded)} {others} excluded (-v lists them)", Tone.FAINT
        return
    yield f"\nexcluded, {len(excluded)} hypotheses:", Tone.PLAIN
    width = max(len(one.name) for one in excluded)
    for one in excluded:
        counts = f", {one.equal} of {one.compared} outputs are equal" if one.compared else ""
        yield f"  {one.name:<{width}}  {one.why}{counts}", Tone.FAINT
