"""The kernel's code on the page of a trace: every instruction, how often it ran, where it went, what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.emulator.decoder import decode
from argpack.errors import UnsupportedError
from argpack.trace.disassembly import text_of
from argpack.trace.findings import Severity
from argpack.trace.page_parts import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from argpack.emulator.decoder import Instruction
    from argpack.launch import Launch
    from argpack.trace.execution import Executed
    from argpack.trace.findings import Finding
    from argpack.trace.memory import Site
    from argpack.trace.trace import Observed

_BAR = 90  # pixels
_ENDS = ("s_branch", "s_cbranch", "s_barrier", "s_endpgm")


def code_section(observed: Observed, findings: Sequence[Finding], waves: int) -> Iterator[str]:
    """All instructions from the kernel's entry on; `waves` is how many waves the launch had."""
    listing = _listing(observed.launch, observed.executed)
    never = sum(instruction.address not in observed.executed for instruction in listing)
    yield "<h2>The code, and how often it ran</h2>\n"
    yield (
        f"<p>{len(listing):,} instructions; {never:,} of them never ran for this problem (grey). The number in front "
        "is how often waves executed the instruction, all turns of a loop counted: the launch had "
        f"{waves:,} waves of 64 work-items. Lines with a background are named by a finding.</p>\n"
    )
    marked = _marked(findings)
    most = max((executed.count for executed in observed.executed.values()), default=1)
    yield '<table class="code">\n'
    for instruction in listing:
        executed = observed.executed.get(instruction.address)
        yield _line(instruction, executed, observed.sites, marked, most)
        if instruction.mnemonic.startswith(_ENDS):
            yield "<tr><td>&nbsp;</td></tr>\n"
    yield "</table>\n"


def _listing(launch: Launch, executed: Mapping[int, Executed]) -> list[Instruction]:
    """From the entry to the last instruction that ran, or to the end of what can be decoded."""
    code, start = launch.code_object.code(launch.kernel), launch.kernel.code_address
    last = max(executed, default=start)
    listing = []
    at = 0
    while at + 4 <= len(code):
        try:
            instruction = decode(code[at : at + 24], start + at)
        except UnsupportedError:
            break
        listing.append(instruction)
        at += instruction.size
        if instruction.mnemonic == "s_endpgm" and start + at > last:
            break
    return listing


def _marked(findings: Sequence[Finding]) -> dict[int, str]:
    marked: dict[int, str] = {}
    for finding in reversed(findings):
        kind = "hit bad" if finding.severity is Severity.WRONG else "hit"
        marked.update((place.address, kind) for places in finding.places for place in places)
    return marked


def _line(
    instruction: Instruction,
    executed: Executed | None,
    sites: Mapping[int, Site],
    marked: Mapping[int, str],
    most: int,
) -> str:
    kind = marked.get(instruction.address, "" if executed else "never")
    count, bar = ("", "") if executed is None else (f"{executed.count:,}", _bar(executed.count / most))
    went = _went(sites.get(instruction.address))
    return (
        f'<tr id="i{instruction.address:x}" class="{kind}">'
        f'<td class="n">{count}</td><td>{bar}</td><td>{instruction.address:#x}</td>'
        f'<td>{escaped(text_of(instruction))}</td><td class="faint">{escaped(went)}</td></tr>\n'
    )


def _bar(share: float) -> str:
    return f'<span class="bar" style="width:{max(1, round(_BAR * share))}px"></span>'


def _went(site: Site | None) -> str:
    if site is None:
        return ""
    verb = {"read": "reads", "write": "writes", "atomic": "adds to"}[site.direction.value]
    where = ", ".join(sorted(site.buffers)) or "nothing"
    dropped = f", {site.dropped:,} bytes out of range" if site.dropped else ""
    return f"{verb} {where}: {site.bytes:,} bytes{dropped}"
