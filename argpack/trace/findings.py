"""What a trace has found, in sentences: what is wrong, and what is worth knowing and harmless."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.observe import Direction
from argpack.trace.experiments import Subject
from argpack.trace.lds_races import Order
from argpack.trace.perturb import Kind
from argpack.trace.places import Place, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.families import Region
    from argpack.trace.experiments import Experiment
    from argpack.trace.memory import BufferUse
    from argpack.trace.trace import Trace

_SHOWN = 3


class Severity(enum.StrEnum):
    """`WRONG` fails the trace; a `NOTE` does not."""

    WRONG = "wrong"
    NOTE = "note"


class Topic(enum.StrEnum):
    """What a finding is about."""

    ARGUMENTS = "arguments"
    MEMORY = "memory"
    PADDING = "padding"
    SYNCHRONISATION = "synchronisation"
    NUMBERS = "numbers"


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, and the instructions that it is about: pairs for synchronisation, the first of them first."""

    severity: Severity
    topic: Topic
    text: str
    places: tuple[tuple[Place, ...], ...] = ()


def counted_outputs(count: int) -> str:
    """`nothing`, `1 output`, `1,234 outputs`."""
    return f"{count:,} output{'s' if count > 1 else ''}" if count else "nothing"


def findings(trace: Trace) -> tuple[Finding, ...]:
    """Everything there is to say, what is wrong first."""
    found = [*_synchronisation(trace), *_memory(trace), *_experiments(trace), *_arguments(trace)]
    if not trace.verdict.passed:
        found.append(Finding(Severity.WRONG, Topic.NUMBERS, f"the output is wrong: {trace.verdict.reason}"))
    return tuple(sorted(found, key=lambda finding: finding.severity is not Severity.WRONG))


def _arguments(trace: Trace) -> Iterator[Finding]:
    passed = len(trace.observed.launch.arguments)
    beyond = [load for load in trace.observed.loads if load.offset + load.size > passed]
    if beyond:
        last = max(load.offset + load.size for load in beyond)
        yield Finding(
            Severity.WRONG,
            Topic.ARGUMENTS,
            f"the kernel loads arguments up to byte {last:#x}, the host passes {passed:#x} bytes: "
            "it takes whatever lies behind them",
            tuple((place(load.instruction),) for load in beyond),
        )
    for argument in trace.arguments:
        if argument.kind is Kind.LIVE and argument.name.startswith("pad"):
            yield Finding(
                Severity.NOTE,
                Topic.ARGUMENTS,
                f"{argument.name} at {argument.offset:#x} is called a pad and changes what the kernel does: "
                f"{argument.evidence}",
                tuple((place(load.instruction),) for load in argument.loads),
            )


def _memory(trace: Trace) -> Iterator[Finding]:
    for error in trace.observed.result.errors:
        yield Finding(Severity.WRONG, Topic.MEMORY, error)
    workload = trace.workload
    if workload.output is not None:
        use = trace.observed.uses[workload.output.buffer]
        yield from _output(trace, use, workload.output, workload.spill)
    for use in trace.observed.uses.values():
        if use.rewritten:
            yield Finding(
                Severity.WRONG,
                Topic.MEMORY,
                f"{_bytes(use.rewritten)} of {use.name} are stored more than once, the first at offset "
                f"{use.first_rewritten or 0:#x}: between workgroups nothing says which store is the last",
                _stores(trace, use.name),
            )
    for direction, verb in ((Direction.READ, "loads"), (Direction.WRITE, "stores")):
        for name in trace.observed.uses:
            sites = [
                site
                for site in trace.observed.sites.values()
                if site.dropped and name in site.buffers and site.direction is direction
            ]
            if sites:
                dropped = sum(site.dropped for site in sites)
                fate = "give zero" if direction is Direction.READ else "are dropped"
                yield Finding(
                    Severity.NOTE,
                    Topic.MEMORY,
                    f"{verb} of {_bytes(dropped)} are out of range of the buffer resource of {name} and {fate}",
                    tuple((place(site.instruction),) for site in sites),
                )


def _output(trace: Trace, use: BufferUse, output: Region, spill: Region | None) -> Iterator[Finding]:
    inside = output.mask()
    missing = inside & ~use.written
    if missing.any():
        yield Finding(
            Severity.WRONG,
            Topic.MEMORY,
            f"{_bytes(missing.sum())} of {output.name} are never written, the first at offset "
            f"{int(np.argmax(missing)):#x}",
        )
    outside = use.written & ~inside
    allowed = outside & spill.mask() if spill else np.zeros_like(outside)
    if allowed.any() and spill:
        yield Finding(
            Severity.NOTE,
            Topic.MEMORY,
            f"{_bytes(allowed.sum())} of {spill.name} are written, too: they must be allocated",
        )
    stray = outside & ~allowed
    if stray.any():
        yield Finding(
            Severity.WRONG,
            Topic.MEMORY,
            f"{_bytes(stray.sum())} of {use.name} outside {output.name} are written, the first at offset "
            f"{int(np.argmax(stray)):#x}",
            _stores(trace, use.name),
        )


def _experiments(trace: Trace) -> Iterator[Finding]:
    for experiment in trace.experiments:
        severity, topic = Severity.NOTE, Topic.PADDING
        if experiment.subject is Subject.PADDING:
            yield Finding(severity, topic, _padding(experiment))
            continue
        topic = Topic.MEMORY
        if experiment.subject is Subject.FRESH:
            what = (
                f"{_bytes(experiment.read)} of {experiment.buffer} are read before anything was written there"
            )
            readers = tuple(s.instruction for s in trace.observed.sites.values() if s.fresh)
        else:
            use = trace.observed.uses[experiment.buffer]
            what = (
                f"{_bytes(use.behind)} are read past the end of {experiment.buffer} "
                "(zero here, whatever lies there on a device)"
            )
            readers = use.readers_behind
        if experiment.matters:
            severity = Severity.WRONG
        yield Finding(
            severity, topic, f"{what}{_effect(experiment)}", tuple((place(reader),) for reader in readers)
        )


def _padding(experiment: Experiment) -> str:
    if not experiment.read:
        return f"{experiment.name}: {_bytes(experiment.size)}, never read"
    fills = " ".join(f"0x{value:02x}" for value in experiment.present[:3])
    what = f"{experiment.name}: {_bytes(experiment.size)} of {fills}, {experiment.read:,} read"
    return what + _effect(experiment)


def _effect(experiment: Experiment) -> str:
    if not experiment.matters:
        tried = " ".join(f"0x{fill:02x}" for fill in experiment.changed)
        return f"; without effect on the output (tried {tried})"
    effects = ", ".join(
        f"0x{fill:02x} there changes {counted_outputs(count)}" for fill, count in experiment.changed.items()
    )
    return f"; it matters: {effects}"


def _synchronisation(trace: Trace) -> Iterator[Finding]:
    seen, at = trace.observed.synchronisation, trace.observed.synchronisation.instructions
    hazards = list(seen.hazards.values())
    for overwrites, what in ((False, "read"), (True, "overwritten")):
        some = [hazard for hazard in hazards if hazard.overwrites is overwrites]
        if some:
            first = some[0]
            yield Finding(
                Severity.WRONG,
                Topic.SYNCHRONISATION,
                f"{first.register} is {what} by {place(at[first.user])} while {place(at[first.load])} may still be "
                f"filling it: no s_waitcnt between them covers it{_more(len(some) - 1)}",
                tuple((place(at[hazard.load]), place(at[hazard.user])) for hazard in some),
            )
    for order in Order:
        races = [race for race in seen.races.values() if race.order is order]
        if races:
            race = races[0]
            yield Finding(
                Severity.NOTE if order is Order.TIMED else Severity.WRONG,
                Topic.SYNCHRONISATION,
                f"LDS byte {race.byte:#x}: {place(race.first)} and {place(race.second)} are not in order: "
                f"{order.value}{_more(len(races) - 1)}",
                tuple((place(race.first), place(race.second)) for race in races),
            )
    for mismatch in seen.mismatches[:_SHOWN]:
        yield Finding(
            Severity.WRONG,
            Topic.SYNCHRONISATION,
            f"waves of one workgroup meet {mismatch.fewer} and {mismatch.more} barriers: one ends at "
            f"{place(mismatch.end)}, another waits on at {place(mismatch.barrier)}",
            ((place(mismatch.end), place(mismatch.barrier)),),
        )


def _stores(trace: Trace, name: str) -> tuple[tuple[Place, ...], ...]:
    return tuple(
        (place(site.instruction),)
        for site in trace.observed.sites.values()
        if name in site.buffers and site.direction is Direction.WRITE
    )


def _more(count: int) -> str:
    return f" (and {count} pairs more)" if count > 1 else " (and 1 pair more)" if count else ""


def _bytes(count: int | np.integer) -> str:
    return "1 byte" if count == 1 else f"{int(count):,} bytes"
