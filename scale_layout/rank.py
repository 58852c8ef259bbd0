"""What an image alone says of its layout: what its size allows, its padding, and how well rows and columns show.

Scales of one row, and of one block of K, are of a kind. In the right order row and column means explain much of what
the bytes vary; in a wrong order rows mix and explain less. Bytes without such a kind say nothing, and so does the size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from scale_layout.evidence import elements, padded_shapes, rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scale_layout.layout import Layout

_CLEAR = 8.0  # standard deviations that chance must be away to be ruled out


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A layout whose size fits. `explained` is the share of the variance that row and column means explain, 0..1,
    `roughness` the mean step, modulo 256, from an element to the next of its row and of its column.

    `pad_bytes` counts the padding; `pad_value` is its only value, None where it has several or there is none.
    """

    layout: Layout
    rows: int
    cols: int
    explained: float
    roughness: float
    pad_bytes: int
    pad_value: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates, best first. `answer` only where one is clearly ahead, else `equal` are those that it can be.

    `chance` is the share that row and column means explain of bytes in no order; `reason` says what decided.
    """

    candidates: tuple[Candidate, ...]
    answer: Candidate | None
    chance: float
    reason: str
    equal: tuple[Candidate, ...]


def rank(image: NDArray[np.uint8], shape: tuple[int, int], layouts: Sequence[Layout]) -> Ranking:
    """Known layouts that a flat uint8 `image` of a logical array of `shape` (rows, cols) can have.

    Raises InputError where the image's bytes are all equal, or no layout has this size.
    """
    rows, cols = shape
    if image.size and (image == image[0]).all():
        raise InputError(
            f"all {image.size} bytes are {image[0]:#04x}: equal values look the same in every layout"
        )
    found = []
    for layout in layouts:
        for padded in padded_shapes(layout, shape, image.size):
            found.append(_candidate(layout, image, shape, padded))
            break
    if not found:
        raise InputError(f"no layout holds {rows} x {cols} bytes in {image.size}")
    found.sort(key=lambda one: (not _clean(one), -one.explained))
    chance = min(1.0, (rows + cols - 2) / max(1, rows * cols - 1))
    spread = math.sqrt(2 * (rows + cols)) / (rows * cols)
    return _judged(tuple(found), chance, spread, rows * cols)


def _judged(found: tuple[Candidate, ...], chance: float, spread: float, size: int) -> Ranking:
    best = found[0]
    clean = [one for one in found if _clean(one)]
    answer, reason = None, ""
    left = (1 - best.explained) * (
        1 + 2 * _CLEAR / math.sqrt(size)
    )  # of the variance; its error falls with the size
    equal = [one for one in (clean or found) if 1 - one.explained <= left]
    smoothest = sorted(equal, key=lambda one: one.roughness)
    if len(found) == 1:
        answer, reason = best, "it is the only layout of this size"
    elif len(clean) == 1:
        answer, reason = best, f"only here are all {best.pad_bytes} pad bytes equal ({best.pad_value:#04x})"
    elif best.explained - chance < _CLEAR * spread:
        equal = clean or list(found)
        reason = "rows and columns explain no more than chance in any order: these bytes cannot tell"
    elif len(equal) == 1:
        answer, reason = best, "its rows and columns explain more of the bytes than any other order's"
    elif 2 * smoothest[0].roughness < smoothest[1].roughness:
        answer, reason = smoothest[0], "only here do neighbours in rows and columns differ by so little"
    else:
        reason = f"{len(equal)} orders explain the bytes equally well"
    return Ranking(candidates=found, answer=answer, chance=chance, reason=reason, equal=tuple(equal))


def _clean(one: Candidate) -> bool:
    """Whether the padding speaks for a layout: enough bytes, all equal."""
    return one.pad_bytes >= 8 and one.pad_value is not None


def _candidate(
    layout: Layout, image: NDArray[np.uint8], shape: tuple[int, int], padded: tuple[int, int]
) -> Candidate:
    rule = rule_of(layout, *padded)
    logical = np.empty(shape, np.uint8)
    free = np.ones(image.size, bool)
    for r, c in elements(shape):
        places = rule(r, c)
        logical[r, c] = image[places]
        free[places] = False
    pads = image[free]
    value = int(pads[0]) if pads.size and (pads == pads[0]).all() else None
    return Candidate(
        layout=layout,
        rows=padded[0],
        cols=padded[1],
        explained=_explained(logical),
        roughness=_roughness(logical),
        pad_bytes=int(pads.size),
        pad_value=value,
    )


def _explained(logical: NDArray[np.uint8]) -> float:
    """Share of the variance between row means and between column means."""
    values = logical.astype(np.float64)
    values -= values.mean()
    total = float((values * values).sum())
    if not total:
        return 0.0
    rows, cols = values.shape
    between = cols * float((values.mean(axis=1) ** 2).sum()) + rows * float((values.mean(axis=0) ** 2).sum())
    return float(between / total)


def _roughness(logical: NDArray[np.uint8]) -> float:
    steps = [np.diff(logical, axis=axis).view(np.int8) for axis in (0, 1)]
    count = sum(step.size for step in steps)
    return sum(float(np.abs(step.astype(np.int16)).sum()) for step in steps) / max(1, count)
