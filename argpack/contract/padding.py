"""How far a kernel reads: rows that scales must have, what must stand in them, bytes read past buffers' ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.contract.sizes import ROWS, STEP
from argpack.contract.trials import problem_text
from argpack.contract.values import Limit
from argpack.errors import InputError
from argpack.families.aiter_f4gemm.geometry import SCALE_BLOCK, SCALE_COLUMNS, SCALE_ROWS, k_slices, round_up
from argpack.families.aiter_f4gemm.judge import SENTINEL
from argpack.families.family import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.contract.trials import Slices, Trial, Trials

_OVER_READS = {
    "over_read_a": "A",
    "over_read_b": "B",
    "over_read_scale_a": "ScaleA",
    "over_read_scale_b": "ScaleB",
}
_SCALES = ("scale_a_rows", "scale_b_rows")
# K and log2_k_split: K ends inside the first step of a kernel, at its end, behind it, and after several.
_KS = ((32, 0), (96, 0), (256, 0), (256, 1), (288, 0), (288, 1), (512, 0), (512, 1), (1664, 0), (1664, 3))
_NAN = 0xFF


def scale_padding(trials: Trials, n: int) -> dict[str, Limit]:
    """Columns, and what padding rows hold; whole steps of K, so that there are no padding columns."""
    case = Problem(m=ROWS, n=n, k=STEP)
    wrong = trials.run(case, pad=_NAN).wrong()
    ragged = Problem(m=ROWS, n=n, k=STEP + 32)
    if found := trials.run(ragged).wrong():
        raise InputError(f"{trials.variant.name}: {problem_text(ragged)}: {found}")
    return {
        "scale_columns": Limit(SCALE_COLUMNS, (problem_text(ragged),), "a tile of scale_32x8 has 8 columns"),
        "scale_row_pad": Limit(
            "0x00" if wrong else "anything", (problem_text(case),), wrong or "0xff there changes nothing"
        ),
    }


def reach(trials: Trials, n: int, *, splits: bool) -> dict[str, Limit]:
    """Rows that the scales' buffers must have so that nothing behind them is read, and what is read past buffers' ends.

    Where no number of rows up to the tile's helps, the buffers have what right numbers need, and the over-read is what
    is left.
    """
    tile_m, tile_n = trials.variant.tile_m, trials.variant.tile_n
    shapes = list(dict.fromkeys([(1, n), (2, n), (ROWS, n), (tile_m + 1, n), (2, round_up(tile_n + 1, n))]))
    depths = [(k, log2) for k, log2 in _KS if splits or not log2]
    cases = [Problem(m=m, n=wide, k=k, log2_k_split=log2) for m, wide in shapes for k, log2 in depths]
    rows = dict.fromkeys(_SCALES, SCALE_ROWS)
    done = _run(trials, cases, rows, splits=splits)
    needed = {
        "scale_a_rows": _rows_needed(done, "ScaleA", most=tile_m),
        "scale_b_rows": _rows_needed(done, "ScaleB", most=tile_n),
    }
    if needed != rows:
        rows = needed
        done = [
            trial if not _scales_over_read(trial) else _run(trials, [trial.problem], rows, splits=splits)[0]
            for trial in done
        ]
    sizes = ", ".join(f"{m} x {wide}" for m, wide in shapes)
    ks = ", ".join(f"K={k}" + (f" log2_k_split={log2}" if log2 else "") for k, log2 in depths)
    problems = (f"M x N of {sizes}; each with {ks}",)
    limits = {name: Limit(multiple, problems) for name, multiple in rows.items()}
    for name, buffer in _OVER_READS.items():
        worst = max(done, key=lambda trial: trial.past_end.get(buffer, 0))
        past = worst.past_end.get(buffer, 0)
        why = f"{problem_text(worst.problem)}; {_matters(trials, worst, rows, past)}" if past else ""
        limits[name] = Limit(past, problems, why)
    return limits


def _matters(trials: Trials, worst: Trial, rows: dict[str, int], past: int) -> str:
    """Whether what lies behind the buffers gets into the output: the launch again, with bytes there that would show."""
    before = 0 if worst.problem.log2_k_split else SENTINEL
    again = trials.run(worst.problem, slices=worst.slices, before=before, dense=True, behind=past, **rows)
    return "what lies there is used" if again.wrong() else "what lies there changes no output"


def _run(trials: Trials, cases: Sequence[Problem], rows: dict[str, int], *, splits: bool) -> list[Trial]:
    variant = trials.variant._replace(splits_k=splits)
    done = []
    for case in cases:
        slices: Slices = k_slices(variant, case)
        before = 0 if case.log2_k_split else SENTINEL
        trial = trials.run(case, slices=slices, before=before, dense=True, **rows)
        if wrong := trial.wrong():
            raise InputError(f"{variant.name}: {problem_text(case)}: {wrong}")
        done.append(trial)
    return done


def _scales_over_read(trial: Trial) -> bool:
    return not trial.past_end.keys().isdisjoint({"ScaleA", "ScaleB"})


def _rows_needed(done: Sequence[Trial], buffer: str, *, most: int) -> int:
    """The least multiple, of 32 doubled, that covers what was read of scales, whatever M or N; 32 where none up to
    `most` does.
    """
    multiple = SCALE_ROWS
    for trial in done:
        problem = trial.problem
        rows = problem.m if buffer == "ScaleA" else problem.n
        columns = round_up(problem.k // SCALE_BLOCK, SCALE_COLUMNS)
        read = round_up(rows, SCALE_ROWS) + -(-trial.past_end.get(buffer, 0) // columns)
        while round_up(rows, multiple) < read:
            multiple *= 2
    return multiple if multiple <= most else SCALE_ROWS
