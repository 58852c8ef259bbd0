"""Which M, N and K a kernel computes right: found by running it on more and more round sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.contract.trials import problem_text
from argpack.contract.values import Limit
from argpack.errors import InputError
from argpack.families.family import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from argpack.contract.trials import Trials

ROWS = 33  # one more than a tile of scales
STEP = 256  # of K
_POWERS = tuple(1 << i for i in range(11))
# 2^-127, 1.0 and NaN: what is found in practice, and what shows in any output that it touches.
_PADS = {"k_multiple": 0x00, "k_multiple_pad_7f": 0x7F, "k_multiple_pad_ff": 0xFF}
_SCALE_BLOCK = 32  # elements of K that share a scale: K cannot be finer


def n_multiple(trials: Trials) -> Limit:
    """What N must be a multiple of: below, outputs are wrong or stores run over into the next row."""
    tile = trials.variant.tile_n
    return _least(
        trials,
        sorted({*_POWERS, tile}),
        lambda step: _around(tile, step),
        lambda n: Problem(m=ROWS, n=n, k=STEP),
    )


def m_multiple(trials: Trials, n: int) -> Limit:
    """What M must be a multiple of."""
    tile = trials.variant.tile_m
    return _least(
        trials,
        sorted({*_POWERS, tile}),
        lambda step: _around(tile, step),
        lambda m: Problem(m=m, n=n, k=STEP),
    )


def k_multiples(trials: Trials, n: int) -> dict[str, Limit]:
    """What K must be a multiple of, for each byte that may pad the scales' columns.

    Two rows at least: what lies behind a row's end is then the next row, and no zero.
    """
    return {
        name: _least(
            trials,
            [step for step in _POWERS if step >= _SCALE_BLOCK],
            lambda step: (step, 3 * step, 9 * step),
            lambda k: Problem(m=ROWS, n=n, k=k),
            pad=pad,
        )
        for name, pad in _PADS.items()
    }


def _around(tile: int, step: int) -> tuple[int, ...]:
    """Multiples of `step`: small ones, and those below and above a tile."""
    return tuple(
        dict.fromkeys((step, 3 * step, (tile // step + 1) * step, max((tile - 1) // step, 1) * step))
    )


def _least(
    trials: Trials,
    steps: Iterable[int],
    sizes: Callable[[int], Iterable[int]],
    problem: Callable[[int], Problem],
    *,
    pad: int = 0,
) -> Limit:
    """The least of `steps` for which all its `sizes` are computed right, and what the one before it did."""
    why = ""
    done: list[str] = []
    for step in steps:
        wrong = ""
        done = []
        for size in sizes(step):
            case = problem(size)
            wrong = trials.run(case, pad=pad).wrong()
            done.append(problem_text(case))
            if wrong:
                why = f"{done[-1]}: {wrong}"
                break
        if not wrong:
            return Limit(step, tuple(done), why)
    raise InputError(f"{trials.variant.name}: no size tried is computed right, {why}")
