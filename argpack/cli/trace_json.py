"""What `argpack trace --json` prints, as plain values. Offsets, sizes and addresses count bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.trace.disassembly import text_of
from argpack.trace.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.cli.checking import Check
    from argpack.trace.experiments import Experiment
    from argpack.trace.findings import Finding
    from argpack.trace.memory import BufferUse, Site
    from argpack.trace.perturb import Argument
    from argpack.trace.trace import Trace


def as_json(check: Check, trace: Trace, findings: Sequence[Finding]) -> dict[str, Any]:
    """Everything that a trace knows."""
    problem, observed = check.problem, trace.observed
    values = check.family.schema.unpack(trace.perturbed.arguments)
    wrong = any(finding.severity is Severity.WRONG for finding in findings)
    return {
        "kernel": check.kernel.name,
        "file": str(check.path),
        "family": check.family.name,
        "verdict": "wrong" if wrong else "clean",
        "m": problem.m,
        "n": problem.n,
        "k": problem.k,
        "alpha": problem.alpha,
        "beta": problem.beta,
        "log2_k_split": problem.log2_k_split,
        "seed": problem.seed,
        "grid": list(observed.launch.grid),
        "overridden": list(check.workload.overridden),
        "findings": [_finding(finding) for finding in findings],
        "arguments": [_argument(argument) for argument in trace.arguments],
        "arguments_found_with": {name: int(values[name]) for name in ("M", "N", "K") if name in values},
        "buffers": [_buffer(use) for use in observed.uses.values()],
        "experiments": [_experiment(experiment) for experiment in trace.experiments],
        "accesses": [_site(site) for site in observed.sites.values()],
        "instructions": [
            {"address": at, "text": text_of(executed.instruction), "executed": executed.count}
            for at, executed in observed.executed.items()
        ],
        "seconds": {
            "observed": observed.seconds,
            "arguments": trace.argument_seconds,
            "experiments": trace.experiment_seconds,
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity.value,
        "topic": finding.topic.value,
        "text": finding.text,
        "places": [
            [{"address": place.address, "text": place.text} for place in places] for places in finding.places
        ],
    }


def _argument(argument: Argument) -> dict[str, Any]:
    return {
        "name": argument.name,
        "offset": argument.offset,
        "size": argument.size,
        "class": argument.kind.value,
        "loads": [
            {
                "address": load.instruction.address,
                "text": text_of(load.instruction),
                "first": load.first,
                "end": load.end,
            }
            for load in argument.loads
        ],
        "changes": None if argument.change is None else argument.change.value,
        "evidence": argument.evidence,
        "tried": argument.tried,
    }


def _buffer(use: BufferUse) -> dict[str, Any]:
    return {
        "name": use.name,
        "size": use.size,
        "read": int(use.read.sum()),
        "written": int(use.written.sum()),
        "both": int((use.read & use.written).sum()),
        "never": use.size - int((use.read | use.written).sum()),
        "read_past_end": use.behind,
        "read_before_written": int(use.fresh.sum()),
        "written_again": use.rewritten,
    }


def _experiment(experiment: Experiment) -> dict[str, Any]:
    return {
        "subject": experiment.subject.value,
        "buffer": experiment.buffer,
        "name": experiment.name,
        "size": experiment.size,
        "read": experiment.read,
        "matters": experiment.matters,
        "outputs_changed": {f"{fill:#04x}": count for fill, count in experiment.changed.items()},
    }


def _site(site: Site) -> dict[str, Any]:
    return {
        "address": site.instruction.address,
        "text": text_of(site.instruction),
        "direction": site.direction.value,
        "buffers": sorted(site.buffers),
        "bytes": site.bytes,
        "dropped": site.dropped,
    }
