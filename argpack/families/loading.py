"""Loads the module that launches a family's kernels: what it offers, whatever the family. That costs numpy."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Protocol, cast

from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.extents import Extent
    from argpack.families.family import ExpectedOutput, Family, Problem, Workload
    from argpack.launch import Launch


class Workloads(Protocol):
    """What the workload module of every family has. One whose operands have layouts has `Placement`, too."""

    def default_problem(self, kernel_name: str) -> Problem:
        """A problem that the kernel can compute and that runs in a second or two."""

    def tile(self, kernel_name: str) -> tuple[int, int]:
        """Rows and columns of the output that a workgroup computes."""

    def field_values(self, problem: Problem) -> dict[str, int | float]:
        """A value of each field of the argument buffer, pointers null."""

    def extents(self, problem: Problem) -> tuple[Extent, ...]:
        """The matrices of a launch, padding included."""

    def refusals(self, kernel_name: str, problem: Problem) -> tuple[str, ...]:
        """Why the kernel is known to compute the problem wrongly; InputError where there is no such problem."""

    def prepare(
        self,
        code_object: CodeObject,
        kernel: Kernel,
        problem: Problem,
        *,
        force: bool = ...,
        overrides: Mapping[str, int | float] = ...,
        sample: int | None = ...,
    ) -> Workload:
        """A launch on random operands; RefusedError for what is known to go wrong, unless `force`.

        `sample` is how many tiles of the output at random to compute, beside corners and edges; None for all.
        """

    def expected_output(self, launch: Launch) -> ExpectedOutput:
        """What a launch that somebody else built should write; InputError where its buffers do not tell."""


def load_workloads(family: Family) -> Workloads:
    """Import the family's workload module. Raises InputError for a family that argpack cannot launch yet."""
    if family.workload is None:
        raise InputError(f"{family.name}: argpack knows its arguments and cannot launch its kernels yet")
    return cast("Workloads", importlib.import_module(family.workload))


@contextlib.contextmanager
def enough_memory(problem: Problem) -> Iterator[None]:
    """Turn what is too large for this machine into UnavailableError."""
    try:
        yield
    except MemoryError as error:
        sizes = f"M={problem.m} N={problem.n} K={problem.k}"
        raise UnavailableError(f"{sizes}: not enough memory on this machine: {error}") from None
