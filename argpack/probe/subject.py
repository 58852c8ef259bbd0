"""A kernel as probing sees it: named buffers that take any bytes, and an output. No layout is known here.

From the family come only which argument is which, how large its buffer is, and the launch geometry.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import ArgpackError, InputError, UnsupportedError
from argpack.launch import Buffer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families import Problem
    from argpack.launch import Backend, Launch

A, B, SCALE_A, SCALE_B, D = "A", "B", "ScaleA", "ScaleB", "D"


class ProbeError(ArgpackError):
    """The outputs of a kernel are not what one place in memory for each element can explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A launch of D = A·Bᵀ on MXFP4 operands whose buffers `A`, `B`, `ScaleA`, `ScaleB` are to be filled.

    `m`, `n`, `k` count elements; rows of the bf16 output `D` are `row_stride` elements apart. `run` gives the
    buffers after a launch of that kind, by name, uint8.
    """

    name: str
    m: int
    n: int
    k: int
    row_stride: int
    sizes: Mapping[str, int]
    run: Callable[[Mapping[str, NDArray[np.uint8]]], Mapping[str, NDArray[np.uint8]]]

    def output(self, **contents: NDArray[np.uint8]) -> NDArray[np.uint16]:
        """bf16 bits of D, (m, n), after a launch with these contents. Raises ProbeError for a memory fault."""
        for name, size in self.sizes.items():
            if contents[name].shape != (size,):
                raise InputError(f"probe: {name}: expected {size} bytes, found shape {contents[name].shape}")
        bits = self.run(contents)[D].view(np.uint16)
        return bits.reshape(-1, self.row_stride)[: self.m, : self.n].copy()


def subject_of(code_object: CodeObject, kernel: Kernel, problem: Problem, backend: Backend) -> Subject:
    """What probing needs of a kernel. Raises UnsupportedError for a family whose operands are not MXFP4,
    RefusedError for a problem that the kernel is known to compute wrongly.
    """
    from argpack.families.choice import family_of_kernel
    from argpack.families.loading import load_workloads

    family = family_of_kernel(kernel, code_object)
    if family is None or family.name != "aiter_f4gemm":
        known = "of no known family" if family is None else f"{family.name}, whose operands are not MXFP4"
        raise UnsupportedError(f"{code_object.source}: {kernel.name}: {known}: its layouts cannot be probed")
    launch = load_workloads(family).prepare(code_object, kernel, problem).launch
    sizes = {buffer.name: buffer.size for buffer in launch.buffers}
    return Subject(
        name=kernel.name,
        m=problem.m,
        n=problem.n,
        k=problem.k,
        row_stride=problem.n,
        sizes={name: sizes[name] for name in (A, B, SCALE_A, SCALE_B)},
        run=lambda contents: _run(launch, contents, backend),
    )


def _run(
    launch: Launch, contents: Mapping[str, NDArray[np.uint8]], backend: Backend
) -> Mapping[str, NDArray[np.uint8]]:
    buffers = tuple(
        Buffer(buffer.name, contents[buffer.name], buffer.initialised) if buffer.name in contents else buffer
        for buffer in launch.buffers
    )
    result = backend.run(dataclasses.replace(launch, buffers=buffers))
    if result.errors:
        raise ProbeError(f"{launch.kernel.name}: {result.errors[0]}")
    return result.buffers
