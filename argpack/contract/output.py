"""What a kernel does to D beside the product: alpha, beta, slices of K, adding to what is there, rows behind M."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.contract.sizes import ROWS, STEP
from argpack.contract.trials import problem_text
from argpack.contract.values import Limit
from argpack.errors import InputError
from argpack.families.aiter_f4gemm.geometry import round_up
from argpack.families.family import Problem
from argpack.values import changed

if TYPE_CHECKING:
    from argpack.contract.trials import Slices, Trials

_ZERO = 0x0000
_HELD = 0x4780  # 65536.0 in bf16: about what the products are
_ALPHA, _BETA = -0.3, 0.5
# K and log2_k_split, and the slices that they give, by hand: K >> log2 rounded up to 256.
_SPLITS: tuple[tuple[int, int, Slices], ...] = (
    (512, 1, ((0, 256), (256, 512))),
    (1664, 3, tuple((start, min(start + 256, 1664)) for start in range(0, 1664, 256))),
)


def factors(trials: Trials, n: int) -> dict[str, Limit]:
    """Whether alpha and beta are applied: right numbers, or the very bits of the launch without them."""
    plain = Problem(m=ROWS, n=n, k=STEP)
    without = trials.run(plain)
    scaled = trials.run(changed(plain, alpha=_ALPHA))
    added = trials.run(changed(plain, beta=_BETA))
    same = bool(np.array_equal(added.output, without.output))
    ignored = bool(np.array_equal(scaled.output, without.output))
    if not ignored and (wrong := scaled.wrong()):
        raise InputError(f"{trials.variant.name}: alpha {_ALPHA}: neither applied nor ignored, {wrong}")
    return {
        "applies_alpha": Limit(
            not ignored, (problem_text(scaled.problem),), "the bits are those of alpha 1" if ignored else ""
        ),
        "applies_beta": Limit(
            not same, (problem_text(added.problem),), "the bits are those of beta 0" if same else ""
        ),
    }


def splits_k(trials: Trials, n: int) -> Limit:
    """Whether one workgroup along z sums the first slice only, and several all of K, over a D of zeros."""
    k, log2, slices = _SPLITS[0]
    first = Problem(m=ROWS, n=n, k=k, log2_k_split=log2)
    alone = trials.run(first, before=_ZERO)
    if not alone.wrong():
        return Limit(False, (problem_text(first),), "a single workgroup along z sums all of K")
    if wrong := alone.wrong(slices=slices[:1]):
        raise InputError(f"{trials.variant.name}: {problem_text(first)}: neither split nor whole, {wrong}")
    done = []
    for k, log2, slices in _SPLITS:
        case = Problem(m=ROWS, n=n, k=k, log2_k_split=log2)
        if wrong := trials.run(case, slices=slices, before=_ZERO).wrong():
            raise InputError(f"{trials.variant.name}: {problem_text(case)} in {len(slices)} slices: {wrong}")
        done.append(f"{problem_text(case)}, z={len(slices)}")
    return Limit(True, tuple(done), "a single workgroup along z sums the first slice only")


def accumulates(trials: Trials, n: int, *, splits: bool) -> Limit:
    """When the result is added to what D holds: not split, split with a single slice left, split in two."""
    cases: list[tuple[Problem, Slices]] = [(Problem(m=ROWS, n=n, k=STEP), ((0, STEP),))]
    if splits:
        cases.append((Problem(m=ROWS, n=n, k=STEP, log2_k_split=1), ((0, STEP),)))
        cases.append((Problem(m=ROWS, n=n, k=512, log2_k_split=1), _SPLITS[0][2]))
    adds = []
    for case, slices in cases:
        trial = trials.run(case, slices=slices, before=_HELD)
        adds.append(not trial.wrong(added=True))
        if adds[-1] == (not trial.wrong()):
            raise InputError(f"{trials.variant.name}: {problem_text(case)}: D is neither kept nor replaced")
    if splits and adds[1] != adds[2]:
        raise InputError(f"{trials.variant.name}: one slice and two are written in different ways")
    value = "always" if adds[0] else "when_split" if any(adds) else "never"
    problems = tuple(f"{problem_text(case)}, z={len(slices)}" for case, slices in cases)
    return Limit(value, problems, "also where a single slice is left" if value == "when_split" else "")


def d_row_multiple(trials: Trials, n: int) -> Limit:
    """How far behind M rows are written: to a multiple of 1 (none), of 2, 4, ... or of the tile's rows."""
    tile = trials.variant.tile_m
    written = {}
    for m in (1, ROWS, tile + 1):
        case = Problem(m=m, n=n, k=STEP)
        written[m] = trials.run(case).rows_written, problem_text(case)
    for multiple in sorted({*(1 << i for i in range(10)), tile}):
        if all(rows <= round_up(m, multiple) for m, (rows, _) in written.items()):
            why = ", ".join(f"M={m}: {rows} rows" for m, (rows, _) in written.items() if rows > m)
            return Limit(multiple, tuple(text for _, text in written.values()), why)
    raise InputError(f"{trials.variant.name}: rows behind the last tile were written: {written}")
