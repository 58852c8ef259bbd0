"""From what a user has to what went wrong: the launch as it was made is run, and where it does not explain the output,
hypotheses about it are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import UnavailableError
from argpack.explain.clues import Clue, clues, looks
from argpack.explain.given import inside, parts_given, situation_of, without_addresses
from argpack.explain.hypothesis import Hypothesis
from argpack.explain.outputs import Match, match
from argpack.explain.search import Excluded, Found, search
from argpack.families.extents import beyond
from argpack.hexdump.table import counted
from argpack.numerics import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from argpack.explain.given import Given
    from argpack.explain.outputs import Bits, Prediction
    from argpack.explain.scene import Runner, Scene
    from argpack.explain.situation import Situation
    from argpack.families import Problem
    from argpack.families.extents import Extent
    from argpack.numerics import Verdict

# Multiply-adds: beyond this a launch takes minutes on the emulator, and there would be dozens of them.
_LARGEST = 1 << 37
_LARGEST_GRID = 1024  # times the right one
_SMALLER = "launch it in parts, or take another kernel; `argpack verify --workgroups sample` runs some of it"
_UNEXPLAINED = "no known mistake explains"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A cause. `confirmed` says that a launch with it gives the output; `match` says how closely, where it was run."""

    name: str
    what: str
    evidence: str
    fix: str
    confirmed: bool
    match: Match | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Whether the output is right; if not, causes, best first, and what was excluded.

    `verdict` holds the output, the user's or that of the launch as given, against the reference; it is None where
    nothing was run. `trouble` says what else is wrong with it: NaN, writes outside M x N, a memory fault.
    """

    verdict: Verdict | None
    trouble: tuple[str, ...]
    findings: tuple[Finding, ...]
    excluded: tuple[Excluded, ...]
    untestable: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Nothing wrong was found."""
        return not self.findings and not self.trouble and (self.verdict is None or self.verdict.passed)


def explain(
    runner: Runner, given: Given, *, progress: Callable[[int, int], None] | None = None
) -> Explanation:
    """Find the cause. Raises UnavailableError for a problem too large to run of which the files tell nothing."""
    scene = runner.scene
    actual = situation_of(scene, given)
    hints = clues(scene, given, actual)
    if reason := _not_launched(scene, actual.grid):
        return _unrun(scene, hints, reason)
    predicted = runner.predict(actual)
    output = predicted.bits if given.output is None else inside(scene, given.output)
    faulted = given.output is None and predicted.error
    verdict = None if faulted else _compare(scene, output)
    trouble = _trouble(scene, output, given, predicted, verdict)
    notes = [note for hint in hints for note in hint.notes]
    notes += looks(scene, given)
    if given.arguments is not None and without_addresses(scene, given.arguments):
        notes.append(f"{given.arguments.source}: all pointers are null: taken to point where they should")
    if verdict is not None and verdict.passed and not trouble:
        return _right(runner, hints, verdict, given, notes)
    result = _Result(runner, actual, output, given)
    if given.output is None:
        findings = result.of_files(hints, "the launch as given")
        if not findings or any(_UNEXPLAINED in hint.what for hint in hints):
            findings += result.searched(scene.right, frozenset(), progress)
    else:
        findings = result.of_output(hints, predicted, progress)
        findings += _never_written(output, predicted.bits)
    return Explanation(
        verdict=verdict,
        trouble=tuple(trouble),
        findings=tuple(findings),
        excluded=tuple(result.excluded),
        untestable=tuple(scene.untestable),
        notes=tuple(dict.fromkeys([*notes, *result.notes])),
    )


def _never_written(output: Bits, right: Bits) -> Iterator[Finding]:
    """An output of one value only, where the launch gives many: memory as it was cleared or filled."""
    values = np.unique(output)
    if values.size == 1 and (many := np.unique(right).size) > 1:
        yield Finding(
            name="nothing was written",
            what=f"all {output.size} outputs hold the same bits, {int(values[0]):#x}: D as it was cleared or filled",
            evidence=f"the launch as given writes {many} different values",
            fix="check what loading the module, the launch and the wait after it returned, and that this buffer is D",
            confirmed=False,
        )


def of_sizes(problem: Problem, limits: Sequence[str], extents: Sequence[Extent]) -> Explanation | None:
    """What sizes alone tell of a problem that is too large to be run; None for one that can be run.

    `limits` are reasons why the kernel cannot compute it. Raises UnavailableError where nothing is known against it.
    """
    size = problem.m * problem.n * problem.k
    if size <= _LARGEST:
        return None
    evidence = f"computed from the sizes, not run: {size:.1e} multiply-adds are too many here"
    findings = [
        Finding(name="known limit", what=text, evidence=evidence, fix=_SMALLER, confirmed=True)
        for text in limits
    ]
    findings += [
        Finding(
            name="an extent of more than 32 bits",
            what=text,
            evidence=f"{evidence}; an index or offset of 32 bits overflows there, in the kernel or in its host",
            fix=_SMALLER,
            confirmed=False,
        )
        for text in beyond(extents)
    ]
    if not findings:
        raise UnavailableError(
            f"M={problem.m} N={problem.n} K={problem.k}: {size:.1e} multiply-adds are too many to run here, and "
            "nothing is known against these sizes; `argpack verify --workgroups sample` runs some of it"
        )
    return Explanation(
        verdict=None, trouble=(), findings=tuple(findings), excluded=(), untestable=(), notes=()
    )


class _Result:
    """Findings about one output, and what was excluded on the way."""

    __slots__ = ("actual", "excluded", "given", "notes", "output", "runner", "scene")

    def __init__(self, runner: Runner, actual: Situation, output: Bits, given: Given) -> None:
        self.runner, self.scene = runner, runner.scene
        self.actual, self.output, self.given = actual, output, given
        self.excluded: list[Excluded] = []
        self.notes: list[str] = []

    def of_files(self, hints: Sequence[Clue], subject: str, held: Match | None = None) -> list[Finding]:
        """What is wrong in the files, each tried alone; then what is known of the kernel."""
        effects = [_effect(self.scene, self.runner.predict(hint.alone)) for hint in hints]
        agreement = "" if held is None else f"{_agreement(held, f'that of {subject}')}; "
        findings = []
        for hint, effect in zip(hints, effects, strict=True):
            if effect:
                evidence = f"{agreement}alone it makes {effect}"
            elif any(effects) or len(hints) == 1:
                self.notes.append(f"{hint.what}: harmless here, alone it changes no output beyond tolerance")
                continue
            else:
                evidence = f"{agreement}alone it is harmless, together with the others it is not"
            findings.append(
                Finding(
                    name=hint.name,
                    what=hint.what,
                    evidence=evidence,
                    fix=hint.fix,
                    confirmed=True,
                    match=held,
                )
            )
        for name, reason in self.scene.limits:
            evidence = f"{agreement}known from measurements of the kernel"
            fix = "take a kernel that can, or another size"
            findings.append(
                Finding(name=name, what=reason, evidence=evidence, fix=fix, confirmed=True, match=held)
            )
        return findings

    def of_output(
        self, hints: Sequence[Clue], predicted: Prediction, progress: Callable[[int, int], None] | None
    ) -> list[Finding]:
        """The cause behind an output that was found."""
        held = _match(self.scene, self.output, predicted)
        if not held.holds and predicted.over_reads:
            held = _match(self.scene, self.output, self.runner.settled(self.actual, predicted))
        if held.holds:
            findings = self.of_files(hints, "the kernel with these files", held)
            if findings:
                return findings
            self.notes.append(
                "the launch that this problem needs gives this very output: the kernel cannot do better"
            )
            return []
        known = parts_given(self.scene, self.given)
        findings = self.searched(self.actual, known, progress)
        if findings and hints:
            return findings + self.of_files(hints, "the launch as given")
        if not findings and known:
            findings = self.searched(self.scene.right, frozenset(), progress)
            if findings:
                self.notes.append("the files given are not those of the launch that made this output")
        return [*findings] if findings else self._unconfirmed(hints)

    def searched(
        self,
        base: Situation,
        known: frozenset[str],
        progress: Callable[[int, int], None] | None,
    ) -> list[Finding]:
        """Hypotheses that give the output."""
        result = search(self.runner, base, self.output, given=known, progress=progress)
        self.excluded = list(result.excluded)
        if len(result.found) > 1:
            self.notes.append(
                f"{len(result.found)} causes give this output; files of what was placed or passed would tell"
            )
        whose = "your" if self.given.output is not None else "this"
        # Any bytes behind a buffer would do: where memory that is known explains all, that is no cause but a suspect.
        whole = any(one.match.unknown == 0 for one in result.found)
        return [_finding(one, whose, confirmed=not (whole and one.match.unknown)) for one in result.found]

    def _unconfirmed(self, hints: Sequence[Clue]) -> list[Finding]:
        """What is wrong in the files although the kernel makes another output of them."""
        return [
            Finding(
                name=hint.name,
                what=hint.what,
                evidence="the launch with these files gives another output than yours",
                fix=hint.fix,
                confirmed=False,
            )
            for hint in hints
        ]


def _finding(one: Found, whose: str, *, confirmed: bool) -> Finding:
    hypothesis = one.hypothesis
    subject = (
        "the right one, changed like that"
        if not isinstance(hypothesis, Hypothesis)
        else "that of such a launch"
    )
    evidence = _agreement(one.match, subject, whose=whose)
    if isinstance(hypothesis, Hypothesis) and hypothesis.evidence and one.situation is not None:
        evidence = f"{hypothesis.evidence(one.situation)}; {evidence}"
    if one.also:
        evidence += f"; the same launch: {'; '.join(one.also)}"
    return Finding(
        name=hypothesis.name,
        what=hypothesis.what,
        evidence=evidence,
        fix=hypothesis.fix,
        confirmed=confirmed,
        match=one.match,
    )


def _agreement(held: Match, subject: str, *, whose: str = "your") -> str:
    outputs = (
        f"all {held.compared} outputs" if not (held.left or held.unknown) else f"{held.compared} outputs"
    )
    if held.exact:
        text = f"{whose} output equals {subject}, 0 ulp in {outputs}"
    else:
        text = (
            f"{whose} output is {subject} but for the order of sums: {held.equal} of {held.compared} outputs equal, "
            f"norm of the rest {held.norm:.1e}"
        )
    if held.left:
        text += f"; {held.left} outputs are not written and are all {held.filling:g}"
    if held.unknown:
        text += f"; {held.unknown} depend on memory behind the buffers"
    if not held.telling:
        text += "; so few or so equal values agree by chance, too"
    return text


def _right(
    runner: Runner, hints: Sequence[Clue], verdict: Verdict, given: Given, notes: list[str]
) -> Explanation:
    """A right output; the files may be wrong all the same."""
    findings = []
    for hint in hints:
        effect = _effect(runner.scene, runner.predict(hint.alone))
        if not effect or given.output is None:
            notes.append(f"{hint.what}: harmless here, alone it changes no output beyond tolerance")
            continue
        evidence = f"alone it makes {effect}; your output is right, it was made otherwise"
        findings.append(
            Finding(name=hint.name, what=hint.what, evidence=evidence, fix=hint.fix, confirmed=False)
        )
    notes += [reason for _, reason in runner.scene.limits]
    if verdict.hint:
        notes.append(verdict.hint)
    return Explanation(
        verdict=verdict,
        trouble=(),
        findings=tuple(findings),
        excluded=(),
        untestable=tuple(runner.scene.untestable),
        notes=tuple(notes),
    )


def _not_launched(scene: Scene, grid: tuple[int, int, int]) -> str:
    """Why a grid is not run at all, empty where it can be."""
    for axis, blocks, items in zip("xyz", grid, scene.block, strict=True):
        if blocks * items >= 1 << 32:
            return f"{axis}: {blocks} blocks of {items} work-items are {blocks * items}, a launch has fewer than 2^32"
    if math.prod(grid) > _LARGEST_GRID * math.prod(scene.right.grid):
        return f"not run: {math.prod(grid)} workgroups are too many here"
    return ""


def _unrun(scene: Scene, hints: Sequence[Clue], reason: str) -> Explanation:
    """A launch that is not made: what the files tell."""
    findings = [
        Finding(name=hint.name, what=hint.what, evidence=reason, fix=hint.fix, confirmed=True)
        for hint in hints
    ]
    return Explanation(
        verdict=None,
        trouble=(),
        findings=tuple(findings),
        excluded=(),
        untestable=tuple(scene.untestable),
        notes=(),
    )


def _effect(scene: Scene, alone: Prediction) -> str:
    """What a launch does wrong, in words; empty where it does not."""
    if alone.error:
        return f"the launch end in a {alone.error}"
    verdict = _compare(scene, alone.bits)
    parts = [] if verdict.passed else [f"{verdict.wrong} of {verdict.elements} outputs wrong"]
    if alone.stray:
        parts.append(f"{alone.stray} writes outside M x N")
    return " and ".join(parts)


def _trouble(
    scene: Scene, output: Bits, given: Given, predicted: Prediction, verdict: Verdict | None
) -> list[str]:
    if verdict is None:
        return [predicted.error]
    found = []
    values = scene.form.values(output)
    odd = ~np.isfinite(values) & np.isfinite(scene.reference.values)
    if given.output is None:
        odd &= ~predicted.unwritten
    if odd.any() and verdict.non_finite != verdict.wrong:
        row, column = (int(index) for index in np.argwhere(odd)[0])
        found.append(f"{int(odd.sum())} outputs are NaN or infinite, the first at row {row}, column {column}")
    if given.output is None:
        if predicted.unwritten.any():
            found.append(f"{int(predicted.unwritten.sum())} of {output.size} outputs are never written")
        if predicted.stray:
            found.append(f"{counted(predicted.stray, 'element')} of D outside M x N written")
    elif stray := _outside(scene, given):
        found.append(stray)
    return found


def _outside(scene: Scene, given: Given) -> str:
    """Elements of the user's D behind M x N that are not as the others there: something wrote them."""
    memory = given.output
    if memory is None or scene.writes_whole_tiles or memory.shape == (scene.problem.m, scene.problem.n):
        return ""
    mask = np.ones(memory.shape, np.bool_)
    mask[: scene.problem.m, : scene.problem.n] = False
    before = given.before if given.before is not None and given.before.shape == memory.shape else None
    poison = memory[mask][-1:] if before is None else before[mask]
    places = np.argwhere(mask)[memory[mask] != poison]
    if not len(places):
        return ""
    row, column = (int(index) for index in places[0])
    return (
        f"{counted(len(places), 'element')} of D outside {scene.problem.m} x {scene.problem.n} written, the first at "
        f"row {row}, column {column}"
    )


def _match(scene: Scene, output: Bits, predicted: Prediction) -> Match:
    return match(scene.form, output, predicted, slices=scene.slices)


def _compare(scene: Scene, output: Bits) -> Verdict:
    if scene.form.dtype == "bfloat16":
        return compare(output.astype(np.uint16, copy=False), scene.reference, dtype="bfloat16")
    return compare(np.ascontiguousarray(output).view(np.float32), scene.reference, dtype="float32")
