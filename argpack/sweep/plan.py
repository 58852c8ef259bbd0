"""What a sweep consists of: kernels, shapes, and for each pair how much work it is or why the kernel cannot do it."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from argpack import __version__
from argpack.errors import InputError
from argpack.values import changed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from argpack.codeobject import CodeObject
    from argpack.families.family import Problem
    from argpack.sweep.shapes import Shapes

# Multiply-adds that take the emulator as long as it needs around them: to read a kernel, to make operands.
_AROUND = 1 << 26
# A sample has so many tiles at corners and edges beside those at random; few more where offsets pass 32 bits.
_CORNERS_AND_EDGES = 6


@dataclass(frozen=True, slots=True)
class SweptKernel:
    """A code object with one kernel. `label` names it in results: its file name, with folders where they are needed.

    `sha256` is of the bytes `data`, which travel to other processes: they check exactly these.
    """

    label: str
    data: bytes = field(repr=False)

    @property
    def sha256(self) -> str:
        """Of the file, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Sampling:
    """Of a problem of more than `above` multiply-adds run a sample: corners, edges and `tiles` at random.

    None: run every workgroup whatever the size. `text` is the option as people write it.
    """

    text: str
    above: int | None
    tiles: int


@dataclass(frozen=True, slots=True)
class Unit:
    """One kernel and one problem. `sample` tiles at random are run, all for None; `work` counts multiply-adds.

    `refusal` says why the kernel cannot compute it; empty where it can.
    """

    kernel: str
    problem: Problem
    sample: int | None
    work: int
    refusal: str

    @property
    def key(self) -> tuple[str, int, int, int]:
        """What a sweep has one result of: kernel, M, N, K."""
        return self.kernel, self.problem.m, self.problem.n, self.problem.k


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole sweep: the units, kernel by kernel in the order of the shapes. `header` tells it from other sweeps."""

    kernels: tuple[SweptKernel, ...]
    units: tuple[Unit, ...]
    header: dict[str, Any]


def load_kernels(paths: Sequence[Path]) -> tuple[SweptKernel, ...]:
    """Read the files. Raises InputError where one cannot be read or is named twice."""
    from argpack.codeobject.reader import read_bytes

    return tuple(
        SweptKernel(label, read_bytes(path)) for label, path in zip(_labels(paths), paths, strict=True)
    )


def _labels(paths: Sequence[Path]) -> list[str]:
    labels: list[str] = []
    for depth in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        labels = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(labels)) == len(labels):
            return labels
    raise InputError(f"{Counter(labels).most_common(1)[0][0]} is named twice")


def make_plan(kernels: Sequence[SweptKernel], shapes: Shapes, *, seed: int, sampling: Sampling) -> Plan:
    """Pair each kernel with each shape. Raises InputError for kernels that argpack cannot launch on the emulator."""
    from argpack.codeobject.reader import parse

    errors: list[str] = []
    units: list[Unit] = []
    for kernel in kernels:
        try:
            units += _units(kernel, parse(kernel.data, source=kernel.label), shapes, seed, sampling)
        except InputError as error:
            errors.append(str(error))
    if errors:
        if len(kernels) == 1:
            raise InputError(errors[0])
        raise InputError(
            f"{len(errors)} of {len(kernels)} kernels cannot be swept, narrow the pattern; the first: {errors[0]}"
        )
    header = {
        "argpack_sweep": 1,
        "argpack": __version__,
        "seed": seed,
        "workgroups": sampling.text,
        "kernels": {kernel.label: kernel.sha256 for kernel in kernels},
        "shapes": [list(size) for size in shapes.sizes],
    }
    return Plan(tuple(kernels), tuple(units), header)


def _units(
    kernel: SweptKernel, code_object: CodeObject, shapes: Shapes, seed: int, sampling: Sampling
) -> list[Unit]:
    from argpack.families.choice import kernel_of
    from argpack.families.loading import load_workloads
    from argpack.launch.emulated import PROCESSOR

    found, family = kernel_of(code_object)
    if code_object.target.processor != PROCESSOR:
        raise InputError(f"{kernel.label}: for {code_object.target}, the emulator runs {PROCESSOR}")
    workloads = load_workloads(family)
    family.cross_check(found)
    default, tile = workloads.default_problem(found.name), workloads.tile(found.name)
    units = []
    for m, n, k in shapes.sizes:
        problem = changed(default, m=m, n=n, k=k, seed=seed)
        try:
            refusal = "; ".join(workloads.refusals(found.name, problem))
        except InputError as error:  # there is no such problem for this kernel
            refusal = str(error)
        sample = sampling.tiles if sampling.above is not None and m * n * k > sampling.above else None
        work = 0 if refusal else _work(problem, tile, sample)
        units.append(Unit(kernel.label, problem, sample, work, refusal))
    return units


def _work(problem: Problem, tile: tuple[int, int], sample: int | None) -> int:
    tiles = math.ceil(problem.m / tile[0]) * math.ceil(problem.n / tile[1])
    if sample is not None:
        tiles = min(tiles, sample + _CORNERS_AND_EDGES)
    return tiles * tile[0] * tile[1] * problem.k + _AROUND
