"""A comparison as a document: one line that says it all, then the differences, those that matter first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.diff import Kind
from argpack.hexdump.table import Document, Line, Table, Tone, counted, text_line

if TYPE_CHECKING:
    from argpack.hexdump.byte_diff import ByteDiff
    from argpack.hexdump.diff import Diff, Difference
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.mistakes import Mistake

_NAMED_IN_SUMMARY = 3
_LISTED_WITH_MISTAKE = 4
_LISTED_RANGES = 32


def summary(found: Diff, mistake: Mistake | None = None) -> str:
    """One line: how many live differences and what they are, how many others were ignored."""
    live = [_change(difference) for difference in found.live[:_NAMED_IN_SUMMARY]]
    more = len(found.live) - len(live)
    if mistake:
        text = f"{counted(len(found.live), 'live difference')}: {mistake.text}"
    elif live:
        text = f"{counted(len(found.live), 'live difference')}: " + ", ".join(live)
        text += f" and {more} more" if more else ""
    else:
        compared = len(found.live_fields) - len(found.not_compared)
        text = f"no live difference in {compared} of {counted(len(found.live_fields), 'live field')}"
    ignored = [
        f"{len(found.of_kind(kind))} {kind}"
        for kind in (Kind.DEAD, Kind.UNREAD, Kind.ADDRESS, Kind.PAD)
        if found.of_kind(kind)
    ]
    if ignored:
        many = sum(len(found.of_kind(kind)) for kind in Kind if kind is not Kind.LIVE)
        text += f"; ignored: {', '.join(ignored)} {'difference' if many == 1 else 'differences'}"
    return text


def report(found: Diff, mistake: Mistake | None = None) -> Document:
    """Summary, what was compared, a table of the differences.

    With a `mistake` behind them the summary names it, and the differences are listed only where they are few.
    """
    tone = Tone.GOOD if found.same else Tone.ALARM
    document: Document = [text_line(summary(found, mistake), tone), text_line(_compared(found))]
    if mistake and len(found.live) > _LISTED_WITH_MISTAKE:
        return document
    notes = {}
    if found.live and not mistake:
        # Loaded only where there is something to explain: a comparison of equal dumps should be instant.
        from argpack.hexdump.hints import hint

        notes = {d.first.slot.name: hint(d, found) for d in found.live}
    rows = [Line(("", "offset", "field", "first", "second", "unit", "note"), Tone.STRONG)]
    for kind in (Kind.LIVE, Kind.DEAD, Kind.UNREAD, Kind.ADDRESS):
        row_tone = Tone.ALARM if kind is Kind.LIVE else Tone.FAINT
        for difference in found.of_kind(kind):
            note = difference.note or notes.get(difference.first.slot.name, "")
            rows.append(_row(difference, note, row_tone))
    return [*document, text_line(""), Table(rows)] if len(rows) > 1 else document


def report_bytes(found: ByteDiff) -> Document:
    """The same without a schema: ranges of bytes that differ."""
    differing = sum(end - start for start, end in found.ranges)
    parts = (
        [f"{counted(differing, 'byte')} in {counted(len(found.ranges), 'range')} differ"] if differing else []
    )
    sizes = found.first.size, found.second.size
    if sizes[0] != sizes[1]:
        parts.append(f"sizes differ: {sizes[0]} and {sizes[1]} bytes")
    text = "; ".join(parts) or "no known byte differs"
    document: Document = [
        text_line(text, Tone.GOOD if found.same else Tone.ALARM),
        text_line(f"compared {found.compared} of {counted(max(sizes), 'byte')}"),
    ]
    rows = [Line(("bytes", "first", "second"), Tone.STRONG)]
    rows += [
        Line((_span(start, end), _cells(found.first, start, end), _cells(found.second, start, end)))
        for start, end in found.ranges[:_LISTED_RANGES]
    ]
    if len(rows) > 1:
        document += [text_line(""), Table(rows)]
    if len(found.ranges) > _LISTED_RANGES:
        document.append(text_line(f"and {len(found.ranges) - _LISTED_RANGES} more"))
    return document


def _compared(found: Diff) -> str:
    text = f"compared {found.compared} of {counted(found.schema.size, 'byte')}"
    if found.not_compared:
        text += f"; unknown, at least in part: {', '.join(found.not_compared)}"
    return text


def _change(difference: Difference) -> str:
    slot = difference.first.slot
    unit = f" {slot.field.unit}" if slot.field and slot.field.unit else ""
    if difference.first.missing or difference.second.missing:
        side = "first" if difference.first.missing else "second"
        return f"{slot.name} at 0x{slot.offset:03x} missing in the {side}"
    return f"{slot.name} {_shown(difference)[0]} → {_shown(difference)[1]}{unit}"


def _row(difference: Difference, note: str, tone: Tone) -> Line:
    slot = difference.first.slot
    unit = slot.field.unit if slot.field else ""
    offset = f"0x{slot.offset:03x}"
    return Line((difference.kind, offset, slot.name, *_shown(difference), unit, note), tone)


def _shown(difference: Difference) -> tuple[str, str]:
    """Values, or the bytes of both where one is known in part."""
    pair = difference.first, difference.second
    if any(not side.missing and side.value is None for side in pair):
        return (pair[0].cells or "missing", pair[1].cells or "missing")
    return (pair[0].text, pair[1].text)


def _span(start: int, end: int) -> str:
    return f"{start:04d}" if end == start + 1 else f"{start:04d}-{end - 1:04d}"


def _cells(dump: Dump, start: int, end: int) -> str:
    cells = dump.cells(start, min(end, start + 16))
    return " ".join(cells) + (" ..." if end - start > 16 else "")
