"""Tries hypotheses, one launch each, until all are either what was found or refuted by it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import UnavailableError
from argpack.explain.hypothesis import Hypothesis, Numbers
from argpack.explain.outputs import Prediction, match
from argpack.explain.situation import parts_changed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from argpack.explain.outputs import Bits, Match
    from argpack.explain.scene import Runner
    from argpack.explain.situation import Situation

# A launch of fewer workgroups than this is run whole at once: a tile of it alone saves little.
_WORTH_A_TILE = 4
# Outputs that depend on memory nobody knows are looked for only where this share of the rest agrees.
_PROMISING = 1 / 8
# A prediction that is near must be nearer than the right output by this factor.
_CLOSER = 4
# A grid this many times larger than the right one ends in a memory fault or repeats outputs: it is not run.
_LARGER_GRID = 4


class Why(enum.StrEnum):
    """Why a hypothesis is not a cause."""

    OUTPUT = "its output is another"
    FAULT = "its launch ends in a memory fault"
    IMPOSSIBLE = "this problem cannot have it"
    NO_CHANGE = "it makes no difference to this problem"
    UNTOUCHED = "the outputs that it leaves alone, or writes twice, are not like that"
    GIVEN = "the files given say otherwise"
    TOO_LARGE = "its launch is too large to be run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A hypothesis that is not the cause. `equal` of `compared` outputs would be as found, where it was run."""

    name: str
    what: str
    why: Why
    equal: int = 0
    compared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hypothesis whose launch gives what was found. `also` are others that give the same launch."""

    hypothesis: Hypothesis | Numbers
    match: Match
    situation: Situation | None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What was found, best first, and all that was excluded, in the order of trial."""

    found: tuple[Found, ...]
    excluded: tuple[Excluded, ...]


def search(
    runner: Runner,
    base: Situation,
    output: Bits,
    *,
    given: frozenset[str] = frozenset(),
    hypotheses: Sequence[Hypothesis | Numbers] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Search:
    """Hypotheses about `base` that give `output`, bits (M, N). `given` are parts of the launch that are known as they
    are: a hypothesis that changes one of them is excluded without a run.
    """
    tried = list(runner.scene.hypotheses if hypotheses is None else hypotheses)
    plain = runner.predict(base)
    start = match(runner.scene.form, output, plain, slices=runner.scene.slices)
    # Screens ask whether outputs that were not written are all the same: so they must have been before.
    alike = base.before is None or bool((base.before == base.before.flat[0]).all())
    found: list[Found] = []
    excluded: list[Excluded] = []
    seen: dict[bytes, int | None] = {base.digest: None}
    for number, hypothesis in enumerate(tried):
        if progress is not None:
            progress(number, len(tried))
        if isinstance(hypothesis, Numbers):
            _numbers(runner, base, output, hypothesis, found, excluded)
            continue
        situation = hypothesis.build(base)
        if situation is None:
            excluded.append(_excluded(hypothesis, Why.IMPOSSIBLE))
            continue
        if situation.digest in seen and seen[situation.digest] is None:
            excluded.append(_excluded(hypothesis, Why.NO_CHANGE))
            continue
        if situation.digest in seen:
            place = seen[situation.digest] or 0
            old = found[place]
            found[place] = Found(
                hypothesis=old.hypothesis,
                match=old.match,
                situation=old.situation,
                also=(*old.also, hypothesis.what),
            )
            continue
        if parts_changed(base, situation) & given:
            excluded.append(_excluded(hypothesis, Why.GIVEN))
            continue
        if alike and hypothesis.screen is not None and not hypothesis.screen(output):
            excluded.append(_excluded(hypothesis, Why.UNTOUCHED))
            continue
        try:
            result = _try(runner, situation, output, start, local=hypothesis.local)
        except UnavailableError:
            excluded.append(_excluded(hypothesis, Why.TOO_LARGE))
            continue
        if isinstance(result, Excluded):
            excluded.append(_excluded(hypothesis, result.why, result.equal, result.compared))
        else:
            seen[situation.digest] = len(found)
            found.append(Found(hypothesis=hypothesis, match=result, situation=situation))
    return Search(found=tuple(sorted(found, key=_doubt)), excluded=tuple(excluded))


def _doubt(one: Found) -> tuple[bool, bool, int, int]:
    """The less of an output is explained, the later."""
    held = one.match
    return not held.telling, not held.exact, held.unknown, held.left


def _try(
    runner: Runner, situation: Situation, output: Bits, start: Match, *, local: bool
) -> Match | Excluded:
    scene = runner.scene
    if np.prod(situation.grid) > _LARGER_GRID * np.prod(scene.right.grid):
        return Excluded(name="", what="", why=Why.TOO_LARGE)
    if local and np.prod(situation.grid[:2]) >= _WORTH_A_TILE:
        corner = (1, 1, situation.grid[2])
        first = _held(runner, situation, output, corner, tile=scene.tile)
        if isinstance(first, Excluded) or not first.holds:
            return _refuted(first)
    whole = _held(runner, situation, output, situation.grid, tile=output.shape)
    if isinstance(whole, Excluded) or not whole.holds:
        return _refuted(whole)
    # What changes nearly nothing is nearly right, too, wherever the output is.
    return whole if whole.exact or whole.norm * _CLOSER < start.norm else _refuted(whole)


def _held(
    runner: Runner,
    situation: Situation,
    output: Bits,
    grid: tuple[int, int, int],
    *,
    tile: tuple[int, ...],
) -> Match | Excluded:
    scene = runner.scene
    predicted = runner.predict(situation, grid=grid)
    if predicted.error:
        return Excluded(name="", what="", why=Why.FAULT)
    part = slice(0, tile[0]), slice(0, tile[1])
    result = match(scene.form, output[part], _part(predicted, part), slices=scene.slices)
    if not result.holds and predicted.over_reads and result.equal >= _PROMISING * max(result.compared, 1):
        settled = runner.settled(situation, predicted, grid=grid)
        result = match(scene.form, output[part], _part(settled, part), slices=scene.slices)
    return result


def _part(predicted: Prediction, part: tuple[slice, slice]) -> Prediction:
    return Prediction(
        bits=predicted.bits[part],
        unwritten=predicted.unwritten[part],
        undetermined=predicted.undetermined[part],
    )


def _refuted(result: Match | Excluded) -> Excluded:
    if isinstance(result, Excluded):
        return result
    return Excluded(name="", what="", why=Why.OUTPUT, equal=result.equal, compared=result.compared)


def _excluded(hypothesis: Hypothesis, why: Why, equal: int = 0, compared: int = 0) -> Excluded:
    return Excluded(name=hypothesis.name, what=hypothesis.what, why=why, equal=equal, compared=compared)


def _numbers(
    runner: Runner,
    base: Situation,
    output: Bits,
    hypothesis: Numbers,
    found: list[Found],
    excluded: list[Excluded],
) -> None:
    scene = runner.scene
    right = runner.predict(base)
    nothing = np.zeros(output.shape, np.bool_)
    predicted = Prediction(bits=hypothesis.change(right.bits), unwritten=nothing, undetermined=nothing)
    result = match(scene.form, output, predicted, slices=scene.slices)
    enough = result.equal >= hypothesis.share * result.compared and result.norm < 1e-2
    if (hypothesis.share == 1 and result.holds) or (hypothesis.share < 1 and enough):
        found.append(Found(hypothesis=hypothesis, match=result, situation=None))
    else:
        excluded.append(
            Excluded(
                name=hypothesis.name,
                what=hypothesis.what,
                why=Why.OUTPUT,
                equal=result.equal,
                compared=result.compared,
            )
        )
