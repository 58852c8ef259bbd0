"""From a code object's path and the options of `verify` to a launch, and from there to a verdict. It prints
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argpack.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from argpack.codeobject import CodeObject, Kernel
    from argpack.families import Family, Problem, Workload
    from argpack.families.loading import Workloads
    from argpack.launch import Backend, LaunchResult
    from argpack.numerics import Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """One kernel ready to be run. `metadata` are the sentences of the cross-check, `choice` says why this
    backend. `repeat` is how many launches to time, None for none.
    """

    path: Path
    code_object: CodeObject
    kernel: Kernel
    family: Family
    tile: tuple[int, int]
    problem: Problem
    metadata: tuple[str, ...]
    workload: Workload
    backend: Backend
    choice: str
    repeat: int | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """`seconds` is what one launch takes, the mean of `launches` in a row."""

    launches: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A check that was run. `timing` is there where one was asked for."""

    check: Check
    result: LaunchResult
    verdict: Verdict
    timing: Timing | None = None

    @property
    def tflops(self) -> float | None:
        """10^12 operations a second, 2·M·N·K to a launch; None without a timing or with one of 0 seconds."""
        if self.timing is None or not self.timing.seconds:
            return None
        problem = self.check.problem
        return 2 * problem.m * problem.n * problem.k / self.timing.seconds / 1e12

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed."""
        return int(not self.verdict.passed)


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A kernel that could not be checked, and why."""

    path: Path
    reason: str

    @property
    def exit_code(self) -> int:
        """2, could not check."""
        return 2


def prepare_check(path: Path, args: argparse.Namespace) -> Check:
    """Read the file, build the launch, choose the backend; ArgpackError where that cannot be done."""
    from argpack.cli.problem import overrides_of, problem_of
    from argpack.codeobject import read
    from argpack.families.choice import kernel_of
    from argpack.families.loading import enough_memory, load_workloads
    from argpack.launch.select import select_backend

    code_object = read(path)
    kernel, family = kernel_of(code_object)
    metadata = family.cross_check(kernel)
    workloads = load_workloads(family)
    problem = problem_of(args, workloads.default_problem(kernel.name))
    situation = _situation(args, workloads, family)
    overrides = overrides_of(args.set, family.schema)
    with enough_memory(problem):
        workload = workloads.prepare(
            code_object,
            kernel,
            problem,
            force=args.force,
            overrides=overrides,
            sample=args.workgroups,
            **situation,
        )
    if args.workgroups is None:
        backend, choice = select_backend(args.backend, code_object)
    elif args.backend == "hip":
        raise InputError("--workgroups sample is for the emulator: a GPU runs whole grids")
    else:
        backend, _ = select_backend("emulator", code_object)
        choice = "emulator: it can run some workgroups of a grid"
    if args.repeat and backend.name != "hip":
        raise InputError(f"--repeat measures the time of a GPU; this runs on the {choice}")
    tile = workloads.tile(kernel.name)
    return Check(
        path, code_object, kernel, family, tile, problem, metadata, workload, backend, choice, args.repeat
    )


def run_check(check: Check, progress: Callable[[int, int], None] | None) -> Outcome:
    """Launch and judge; ArgpackError where that cannot be done."""
    from argpack.families.loading import enough_memory

    with enough_memory(check.problem):
        result = check.backend.run(check.workload.launch, progress=progress)
        return Outcome(check, result, check.workload.judge(result), _timing(check))


def _timing(check: Check) -> Timing | None:
    from argpack.launch.hip_backend import HipBackend

    if not check.repeat or not isinstance(check.backend, HipBackend):
        return None
    return Timing(check.repeat, check.backend.time(check.workload.launch, repeat=check.repeat))


def _situation(args: argparse.Namespace, workloads: Workloads, family: Family) -> dict[str, Any]:
    """The options that build a wrong situation on purpose; they are for families whose operands have
    layouts.
    """
    given = {
        "scale_a_layout": args.scale_layout,
        "scale_b_layout": args.scale_layout,
        "scale_pad": args.scale_pad,
        "b_layout": args.b_layout,
        "exchange_scales": args.exchange_scales or None,
    }
    placed = {name: value for name, value in given.items() if value is not None}
    situation: dict[str, Any] = {}
    placement = getattr(workloads, "Placement", None)
    if placement is None and (placed or args.no_zero):
        raise InputError(f"{family.name}: its operands have no scales, no layouts and no output to zero")
    if placed and placement is not None:
        situation["placement"] = placement(**placed)
    if args.no_zero:
        situation["zero_output"] = False
    return situation
