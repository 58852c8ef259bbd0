"""A launch run once under observation and a few times with something changed: all that a trace knows, as values."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from argpack.emulator.observe import Observers
from argpack.launch.emulator_backend import EmulatorBackend
from argpack.trace.execution import Executed, Execution
from argpack.trace.experiments import Experiment, experiments
from argpack.trace.memory import BufferUse, Load, MemoryMap, Site
from argpack.trace.perturb import Argument, perturb
from argpack.trace.synchronisation import Synchronisation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from argpack.families import Workload
    from argpack.launch import Launch, LaunchResult
    from argpack.numerics import Verdict
    from argpack.schema import KernargSchema


class Showing(Protocol):
    """Shows how far something is: `with showing("workgroups") as progress`, then `progress(done, total)`."""

    def __call__(self, unit: str, /) -> AbstractContextManager[Callable[[int, int], None]]:
        """Start with nothing done."""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """One launch as it is; `seconds` is the time that the kernel took under observation."""

    launch: Launch
    result: LaunchResult
    loads: tuple[Load, ...]
    uses: Mapping[str, BufferUse]
    sites: Mapping[int, Site]
    executed: Mapping[int, Executed]
    synchronisation: Synchronisation
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What a launch did, and what experiments on it and on its arguments have shown.

    `verdict` is that of the workload's judge on the output. `arguments` hold for the launch `perturbed`. The seconds
    are those of all runs with something changed.
    """

    workload: Workload
    observed: Observed
    verdict: Verdict
    perturbed: Launch
    arguments: tuple[Argument, ...]
    experiments: tuple[Experiment, ...]
    argument_seconds: float
    experiment_seconds: float


class Tracer:
    """Observes launches on the emulator. The code of the last kernel stays compiled, and what is known of it."""

    def __init__(self, uninitialised: frozenset[str]) -> None:
        """`uninitialised` names the buffers that the host does not fill."""
        self._synchronisation = Synchronisation()
        self._memory = MemoryMap(uninitialised)
        self._execution = Execution()
        observers = Observers([self._execution, self._memory, self._synchronisation])
        self._backend = EmulatorBackend(observer=observers)

    def observe(self, launch: Launch, *, progress: Callable[[int, int], None] | None = None) -> Observed:
        """Run a launch to its end or to a fault. What is given holds until the next one. Raises as the backend does."""
        started = time.perf_counter()
        result = self._backend.run(launch, progress=progress)
        self._synchronisation.finish()
        return Observed(
            launch,
            result,
            self._memory.loads,
            self._memory.uses,
            self._memory.sites,
            self._execution.executed,
            self._synchronisation,
            time.perf_counter() - started,
        )


def trace(
    workload: Workload,
    schema: KernargSchema,
    *,
    smaller: Callable[[], Launch],
    large: bool,
    showing: Showing,
) -> Trace:
    """Observe the workload's launch, change each of its arguments in turn, change what should not matter.

    Arguments are changed in the launch that `smaller` builds where the workload's own is `large` or ends in a fault.
    Raises UnsupportedError for what the emulator does not run.
    """
    launch = workload.launch
    with showing("workgroups") as progress:
        tracer = Tracer(frozenset(buffer.name for buffer in launch.buffers if not buffer.initialised))
        observed = tracer.observe(launch, progress=progress)
    perturbed = smaller() if large or observed.result.errors else launch
    started = time.perf_counter()
    with showing("arguments") as progress:
        arguments = perturb(perturbed, schema, progress=progress)
    between = time.perf_counter()
    found: tuple[Experiment, ...] = ()
    if not observed.result.errors:
        behind = [use.name for use in observed.uses.values() if use.behind]
        with showing("experiments") as progress:
            found = experiments(workload, observed.uses, observed.result, behind, progress=progress)
    return Trace(
        workload,
        observed,
        workload.judge(observed.result),
        perturbed,
        arguments,
        found,
        between - started,
        time.perf_counter() - between,
    )
