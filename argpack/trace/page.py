"""A trace as one HTML page without scripts and without other files, for people who have never seen the kernel."""

from __future__ import annotations

import base64
from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from argpack.hexdump.table import counted
from argpack.trace.findings import Severity, counted_outputs
from argpack.trace.maps import COLOURS, MEANINGS, marks_of, picture, row_bytes_of
from argpack.trace.page_arguments import arguments_section
from argpack.trace.page_code import code_section
from argpack.trace.page_parts import STYLE, escaped, key, link, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from argpack.schema import KernargSchema
    from argpack.trace.experiments import Experiment
    from argpack.trace.findings import Finding
    from argpack.trace.memory import BufferUse
    from argpack.trace.trace import Trace

_SHOWN_PAIRS = 12
_WORDS = {
    "argument buffer": "the bytes that the host passes to the kernel: pointers, sizes and strides at fixed offsets",
    "workgroup, wave": "a launch is a grid of workgroups; each runs as waves of 64 work-items (lanes) in lockstep",
    "buffer resource": "four registers with an address and a size: loads beyond the size give zero, stores are dropped",
    "LDS": "fast memory on the chip that the waves of one workgroup share",
    "s_waitcnt": "waits until all but so many of the loads and stores issued before are done",
    "s_barrier": "waits until every wave of the workgroup has come to a barrier",
    "scale": "one byte for a block of elements, a power of two that all of them are multiplied by",
    "padding": "bytes that round a buffer up to whole tiles and belong to no element",
}
_WIDTH, _HEIGHT = 480, 256


def to_html(
    trace: Trace,
    findings: Sequence[Finding],
    schema: KernargSchema,
    *,
    facts: Sequence[tuple[str, str]],
    row_counts: Sequence[int],
    elsewhere: str,
) -> str:
    """The page, UTF-8 when written. `facts` are lines about kernel and problem, `row_counts` rows that matrices have.

    `elsewhere` says in which other launch the arguments were changed, or is empty.
    """
    launch = trace.observed.launch
    waves = prod(launch.grid) * -(-prod(launch.block) // 64)
    name = launch.kernel.name
    body = [
        f"<h1>Trace of {escaped(name)}</h1>\n",
        *_facts(facts),
        *_findings(findings),
        *arguments_section(trace.arguments, schema, trace.observed.result.arguments, elsewhere),
        *_memory(trace, row_counts),
        *_padding(trace.experiments),
        *_synchronisation(trace, findings),
        *_words(),
        *code_section(trace.observed, findings, waves),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Trace of {escaped(name)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        f"{''.join(body)}</body>\n</html>\n"
    )


def _facts(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield (
        '<p class="faint">One launch of an AMD GPU kernel was run instruction by instruction on a CPU emulator, and '
        "everything that it did was watched. This page says what was wrong, which arguments matter, which bytes of "
        "memory were touched, and which instructions ran.</p>\n"
    )
    yield table((), [(f"<b>{escaped(label)}</b>", escaped(text)) for label, text in facts])


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    wrong = [finding for finding in findings if finding.severity is Severity.WRONG]
    yield "<h2>What was found</h2>\n"
    if wrong:
        yield f'<p class="verdict wrong">{len(wrong)} thing{"s" if len(wrong) > 1 else ""} wrong</p>\n'
    else:
        yield '<p class="verdict clean">Nothing is wrong with this launch</p>\n'
        if findings:
            yield "<p>The notes below are worth knowing when you call the kernel yourself.</p>\n"
    yield '<ul class="findings">\n'
    for finding in findings:
        bad = finding.severity is Severity.WRONG
        tag = f'<span class="tag">{finding.severity.value}: {finding.topic.value}</span>'
        yield f'<li class="{"bad" if bad else "note"}">{tag}{escaped(finding.text)}'
        if finding.places:
            yield f"<details><summary>{len(finding.places)} in the code</summary>\n"
            for places in finding.places[:_SHOWN_PAIRS]:
                yield f"<div>{', then '.join(link(place) for place in places)}</div>\n"
            if len(finding.places) > _SHOWN_PAIRS:
                yield f"<div>and {len(finding.places) - _SHOWN_PAIRS} more</div>\n"
            yield "</details>"
        yield "</li>\n"
    yield "</ul>\n"


def _memory(trace: Trace, row_counts: Sequence[int]) -> Iterator[str]:
    yield "<h2>Memory, buffer by buffer</h2>\n"
    yield (
        "<p>Each picture is one buffer from its first byte (top left) to its last (bottom right), row by row; a colour "
        "says what happened to the bytes there. All counts are bytes.</p>\n"
    )
    uses = trace.observed.uses.values()
    heads = ("buffer", "size", "read", "written", "never touched", "read past its end", "read before written")
    rows = [(f"<b>{escaped(use.name)}</b>", *(f"{n:,}" for n in _counts(use))) for use in uses]
    yield table(heads, rows, numbers=frozenset(range(1, len(heads))))
    yield '<div class="buffers">\n'
    for use in uses:
        yield "<div>"
        yield from _buffer(trace, use, row_counts)
        yield "</div>\n"
    yield "</div>\n"


def _counts(use: BufferUse) -> tuple[int, ...]:
    touched = int((use.read | use.written).sum())
    fresh = int(use.fresh.sum())
    return use.size, int(use.read.sum()), int(use.written.sum()), use.size - touched, use.behind, fresh


def _buffer(trace: Trace, use: BufferUse, row_counts: Sequence[int]) -> Iterator[str]:
    workload = trace.workload
    marks = marks_of(use, workload.output, workload.spill, workload.padding)
    is_output = workload.output is not None and workload.output.buffer == use.name
    drawn = picture(marks, row_counts, row_bytes_of(workload.output) if workload.output and is_output else 0)
    scale = max(1, min(_WIDTH // drawn.width, _HEIGHT // drawn.height))
    data = base64.b64encode(drawn.png).decode()
    yield f"<h3>{escaped(use.name)}</h3>\n"
    yield f"<p>{''.join(key(COLOURS[mark], MEANINGS[mark]) for mark in drawn.marks)}</p>\n"
    yield (
        f'<img src="data:image/png;base64,{data}" width="{drawn.width * scale}" height="{drawn.height * scale}" '
        f'alt="{escaped(use.name)}: {escaped(", ".join(MEANINGS[mark] for mark in drawn.marks))}">\n'
    )
    pixel = counted(drawn.pixel_bytes, "byte")
    yield f'<p class="faint">A row of the picture is {drawn.row_bytes:,} bytes, a pixel {pixel}.</p>\n'
    sites = [site for site in trace.observed.sites.values() if use.name in site.buffers]
    rows = [
        (
            f'<a href="#i{site.instruction.address:x}">{site.instruction.address:#x}</a>',
            f"<code>{escaped(site.instruction.mnemonic)}</code>",
            {"read": "reads", "write": "writes", "atomic": "adds"}[site.direction.value],
            f"{site.bytes:,}",
            f"{site.dropped:,}" if site.dropped else "",
        )
        for site in sites
    ]
    heads = ("at", "instruction", "", "bytes, repeats counted", "out of range of its buffer resource")
    yield f"<details><summary>{len(rows)} instructions access it</summary>\n"
    yield table(heads, rows, numbers=frozenset({3, 4}))
    yield "</details>\n"


def _padding(experiments: Sequence[Experiment]) -> Iterator[str]:
    if not experiments:
        return
    yield "<h2>What happens with other bytes where none should matter</h2>\n"
    yield (
        "<p>The launch was run again with these bytes changed. Where the output changes, what the host puts there "
        "matters: the kernel multiplies it in.</p>\n"
    )
    rows = []
    for experiment in experiments:
        effects = [
            f"0x{fill:02x} changes {counted_outputs(count)}" for fill, count in experiment.changed.items()
        ]
        rows.append(
            (
                escaped(experiment.name),
                f"{experiment.size:,}",
                f"{experiment.read:,}" if experiment.read else "",
                " ".join(f"0x{value:02x}" for value in experiment.present[:4]),
                "<br>".join(effects) or "not read",
            )
        )
    heads = ("bytes", "how many", "read by the kernel", "hold", "with other values")
    yield table(heads, rows, numbers=frozenset({1, 2}))


def _words() -> Iterator[str]:
    yield "<h2>Words used here</h2>\n"
    yield table((), [(f"<b>{escaped(word)}</b>", escaped(meaning)) for word, meaning in _WORDS.items()])


def _synchronisation(trace: Trace, findings: Sequence[Finding]) -> Iterator[str]:
    observed = trace.observed
    kinds = Counter(executed.instruction.mnemonic for executed in observed.executed.values())
    total = sum(executed.count for executed in observed.executed.values())
    wrong = sum(f.topic.value == "synchronisation" and f.severity is Severity.WRONG for f in findings)
    yield "<h2>Waits and barriers</h2>\n"
    yield (
        f"<p>Loads return later than they are issued, and waves of a workgroup share LDS: <code>s_waitcnt</code> and "
        f"<code>s_barrier</code> keep them in order. {kinds['s_waitcnt']} waits and {kinds['s_barrier']} barriers were "
        f"among the instructions that ran ({total:,} times in all). For every register it was checked that the load "
        "that fills it had been waited for, for every byte of LDS that accesses by two waves have a wait and a "
        "barrier between them, and that all waves of a workgroup meet the same number of barriers: "
        f"<b>{'see what was found' if wrong else 'nothing is missing'}</b>.</p>\n"
    )
