"""Checks one kernel on one problem, as `argpack verify` does, in the process that calls it."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from argpack.errors import ArgpackError
from argpack.sweep.results import Answer, Result

if TYPE_CHECKING:
    from argpack.codeobject import CodeObject
    from argpack.launch.emulator_backend import EmulatorBackend
    from argpack.sweep.plan import SweptKernel, Unit


def check(unit: Unit, kernel: SweptKernel) -> Result:
    """Run it on the emulator, in this one process, and judge the output; what cannot be checked is a result, too."""
    started = time.perf_counter()
    try:
        found = _checked(unit, kernel)
    except ArgpackError as error:
        found = not_checked(unit, str(error))
    return replace(found, seconds=time.perf_counter() - started)


def refused(unit: Unit) -> Result:
    """The result of a unit with a refusal."""
    return _result(unit, Answer.REFUSED, unit.refusal)


def not_checked(unit: Unit, reason: str) -> Result:
    """The result of a unit that could not be checked."""
    return _result(unit, Answer.NOT_CHECKED, reason)


def _checked(unit: Unit, kernel: SweptKernel) -> Result:
    from argpack.families.choice import kernel_of
    from argpack.families.loading import enough_memory, load_workloads

    backend = _backend()
    from threadpoolctl import threadpool_limits

    code_object = _code_object(kernel.data, kernel.label)
    found, family = kernel_of(code_object)
    # One thread, so that float sums have one order wherever this runs; and processes share the cores already.
    with threadpool_limits(limits=1, user_api="blas"), enough_memory(unit.problem):
        workload = load_workloads(family).prepare(code_object, found, unit.problem, sample=unit.sample)
        result = backend.run(workload.launch)
        verdict = workload.judge(result)
    launch = workload.launch
    return replace(
        _result(unit, Answer.PASSED if verdict.passed else Answer.FAILED, verdict.reason),
        workgroups=math.prod(launch.grid) if launch.workgroups is None else len(launch.workgroups),
        workgroups_of_grid=math.prod(launch.grid),
        outputs=verdict.elements,
        bit_equal=verdict.bit_equal,
        max_ulp=verdict.max_ulp,
        norm_error=float(verdict.norm_error),
        wrong=verdict.wrong,
        non_finite=verdict.non_finite,
        findings=len(result.findings),
    )


def _result(unit: Unit, verdict: Answer, reason: str) -> Result:
    problem = unit.problem
    return Result(unit.kernel, problem.m, problem.n, problem.k, verdict, reason)


@functools.lru_cache(maxsize=1)
def _code_object(data: bytes, label: str) -> CodeObject:
    """The last one stays read: its code stays compiled in the backend."""
    from argpack.codeobject.reader import parse

    return parse(data, source=label)


@functools.lru_cache(maxsize=1)
def _backend() -> EmulatorBackend:
    from argpack.launch.select import open_emulator

    return open_emulator(processes=1)
