"""From a code object to the layouts that its operands must have, found by running it: the steps of probing in order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.families import Problem
from argpack.probe.confirm import confirm
from argpack.probe.identify import identify
from argpack.probe.measure import measure
from argpack.probe.padding import PAD_VALUES, right_pad_values
from argpack.probe.subject import subject_of
from argpack.probe.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from argpack.codeobject import CodeObject, Kernel
    from argpack.launch import Backend
    from argpack.numerics import Verdict
    from argpack.probe.identify import Identity
    from argpack.probe.subject import Subject
    from argpack.probe.tables import Table

# K shows two tiles of every known layout, N is one that every f4gemm kernel can do, and M is K and half a tile of 32
# more: each row shows another term of the sums in one go, and rows that end inside a tile show its padding.
DEFAULT_PROBLEM = Problem(m=528, n=512, k=512)


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """What was found, by buffer name (A, B, ScaleA, ScaleB): measured `tables` and their `identities`.

    `verdict` is the comparison of one launch on random bytes with what the tables predict. `right_pads` are the bytes
    of `PAD_VALUES` that may stand in padding columns of the scales, None where a layout is not known. `launches`
    counts all.
    """

    problem: Problem
    tables: Mapping[str, Table]
    identities: Mapping[str, Identity]
    verdict: Verdict
    right_pads: tuple[int, ...] | None
    launches: int
    seconds: float


def infer_layouts(
    code_object: CodeObject,
    kernel: Kernel,
    backend: Backend,
    *,
    problem: Problem = DEFAULT_PROBLEM,
    progress: Callable[[int, int], None] | None = None,
) -> Inference:
    """Run `kernel` on probing data and find where every element and scale of `problem` must lie.

    Only outputs are looked at, so a device does as well as the emulator. `progress(done, total)` counts launches.
    Raises UnsupportedError for a family that cannot be probed, RefusedError for a problem that the kernel is known
    to compute wrongly, ProbeError where no places explain the outputs.
    """
    return infer_from(
        lambda problem: subject_of(code_object, kernel, problem, backend), problem, progress=progress
    )


def infer_from(
    subject_for: Callable[[Problem], Subject],
    problem: Problem,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Inference:
    """The same for anything that can be launched: `subject_for(problem)` is ready to run that problem."""
    started = time.perf_counter()
    subject = subject_for(problem)
    places = measure(subject, progress=progress)
    tables = tables_of(subject, places)
    verdict = confirm(subject, tables)
    found = {name: identify(table) for name, table in tables.items()}
    launches = places.launches + 1
    pads = None
    if verdict.passed and all(len(identity.layouts) == 1 for identity in found.values()):
        layouts = {name: identity.layouts[0].layout for name, identity in found.items()}
        pads = right_pad_values(problem, layouts, subject_for)
        launches += len(PAD_VALUES)
    return Inference(problem, tables, found, verdict, pads, launches, time.perf_counter() - started)
