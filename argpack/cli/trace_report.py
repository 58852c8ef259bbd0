"""What `argpack trace` prints for people: arguments, memory, synchronisation, then what was found and the verdict."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from argpack.hexdump.table import Document, Line, Table, Tone, counted, text_line, to_text
from argpack.trace.findings import Severity
from argpack.trace.perturb import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from argpack.cli.checking import Check
    from argpack.trace.findings import Finding
    from argpack.trace.memory import BufferUse
    from argpack.trace.perturb import Argument
    from argpack.trace.trace import Observed, Trace

_TONES = {Kind.LIVE: Tone.PLAIN, Kind.DEAD: Tone.FAINT, Kind.UNREAD: Tone.FAINT, Kind.PAD: Tone.FAINT}
_SHOWN_PLACES = 3


def text(check: Check, trace: Trace, findings: Sequence[Finding], *, colour: bool) -> str:
    """All but the header; a newline after each line."""
    document: Document = [
        text_line(""),
        *_arguments(check, trace),
        text_line(""),
        *_memory(trace),
        text_line(""),
        text_line(_synchronisation(trace.observed)),
        text_line(_time(trace), Tone.FAINT),
        text_line(""),
        *_findings(findings),
    ]
    return to_text(document, colour=colour)


def verdict(findings: Sequence[Finding]) -> str:
    """`CLEAN`, or how much is wrong."""
    wrong = sum(finding.severity is Severity.WRONG for finding in findings)
    notes = counted(len(findings) - wrong, "note")
    return f"WRONG  {counted(wrong, 'finding')}, {notes}" if wrong else f"CLEAN  nothing wrong, {notes}"


def summary_of_pads(arguments: Sequence[Argument]) -> str:
    """One sentence for all pads."""
    pads = [argument for argument in arguments if argument.kind is Kind.PAD]
    loaded = sum(1 for pad in pads if pad.loads)
    size = counted(sum(pad.size for pad in pads), "byte")
    what = f"{loaded} of them loaded without effect" if loaded else "never loaded"
    return f"{counted(len(pads), 'pad')}, {size}: {what}"


def perturbed_problem(check: Check, trace: Trace) -> str:
    """Where arguments were changed in another launch than the one traced, which."""
    if trace.perturbed is trace.observed.launch:
        return ""
    values = check.family.schema.unpack(trace.perturbed.arguments)
    sizes = " ".join(f"{name}={values[name]}" for name in ("M", "N", "K") if name in values)
    return f"changed in turn in a launch of {sizes}"


def _arguments(check: Check, trace: Trace) -> Iterator[Line | Table]:
    rows = [Line(("offset", "argument", "use", "loaded at", "what changing it changes"), Tone.STRONG)]
    for argument in trace.arguments:
        if argument.kind is Kind.PAD:
            continue
        loads = " ".join(f"{load.instruction.address:#x}" for load in argument.loads)
        rows.append(
            Line(
                (
                    f"{argument.offset:#05x}",
                    argument.name,
                    argument.kind.value,
                    loads or "never",
                    effect(argument),
                ),
                _TONES[argument.kind],
            )
        )
    yield Table(rows)
    if any(argument.kind is Kind.PAD for argument in trace.arguments):
        yield text_line(summary_of_pads(trace.arguments))
    if other := perturbed_problem(check, trace):
        yield text_line(other)


def effect(argument: Argument) -> str:
    """`output: 1 -> 2`: what became different, and by which change."""
    if argument.kind is not Kind.LIVE or argument.change is None:
        return f"nothing ({argument.tried} tried)"
    return f"{argument.change.value}: {argument.evidence.partition(': ')[0]}"


def _memory(trace: Trace) -> Iterator[Line | Table]:
    heads = ("buffer", "bytes", "read", "written", "both", "never", "past the end", "before written")
    rows = [Line(heads, Tone.STRONG)]
    rows += [Line((use.name, *_counts(use))) for use in trace.observed.uses.values()]
    yield Table(rows)


def _counts(use: BufferUse) -> tuple[str, ...]:
    both = use.read & use.written
    numbers = (
        use.size,
        use.read.sum(),
        use.written.sum(),
        both.sum(),
        use.size - (use.read | use.written).sum(),
        use.behind,
        use.fresh.sum(),
    )
    return tuple(f"{int(number):,}" for number in numbers)


def _synchronisation(observed: Observed) -> str:
    executed = observed.executed.values()
    kinds = Counter(e.instruction.mnemonic for e in executed)
    total = sum(e.count for e in executed)
    return (
        f"{total:,} instructions executed by all waves, {len(observed.executed):,} different ones: "
        f"{kinds['s_waitcnt']} waits and {kinds['s_barrier']} barriers among them"
    )


def _time(trace: Trace) -> str:
    return (
        f"observed in {trace.observed.seconds:.3f} s; arguments changed in {trace.argument_seconds:.3f} s, "
        f"other experiments {trace.experiment_seconds:.3f} s"
    )


def _findings(findings: Sequence[Finding]) -> Iterator[Line]:
    for finding in findings:
        wrong = finding.severity is Severity.WRONG
        yield text_line(f"{finding.severity.value:<6} {finding.text}", Tone.ALARM if wrong else Tone.PLAIN)
        shown = finding.places if wrong else finding.places[:0]
        for places in shown[:_SHOWN_PLACES]:
            yield text_line("       " + ", then ".join(str(place) for place in places))
    tone = Tone.ALARM if any(f.severity is Severity.WRONG for f in findings) else Tone.GOOD
    yield text_line(verdict(findings), tone)
