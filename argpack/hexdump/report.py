"""A comparison as text: one line that says it all, then the differences, those that matter first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.diff import Kind
from argpack.hexdump.table import Line, Tone, align, counted, paint

if TYPE_CHECKING:
    from argpack.hexdump.byte_diff import ByteDiff
    from argpack.hexdump.diff import Diff, Difference
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.hints import Shift

_NAMED_IN_SUMMARY = 3
_LISTED_RANGES = 32


def summary(found: Diff, shift: Shift | None = None) -> str:
    """One line: how many live differences and which, how many others were ignored."""
    live = [_change(difference) for difference in found.live[:_NAMED_IN_SUMMARY]]
    more = len(found.live) - len(live)
    if shift:
        far = f"{counted(abs(shift.by), 'byte')} {'late' if shift.by > 0 else 'early'}"
        text = f"{counted(len(found.live), 'live difference')}: from {shift.start} on the second is {far}"
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


def report(found: Diff, *, colour: bool = False) -> str:
    """Summary, what was compared, a table of the differences; a newline after each line."""
    # Loaded only where there is something to explain: a comparison of equal dumps should be instant.
    if found.live:
        from argpack.hexdump.hints import find_shift, hint

        shift = find_shift(found)
        notes = {} if shift else {d.first.slot.name: hint(d, found) for d in found.live}
    else:
        shift, notes = None, {}
    tone = Tone.GOOD if found.same else Tone.ALARM
    lines = [paint(summary(found, shift), tone, colour=colour), _compared(found)]
    rows = [Line(("", "offset", "field", "first", "second", "unit", "note"), Tone.STRONG)]
    for kind, row_tone in (
        (Kind.LIVE, Tone.ALARM),
        (Kind.DEAD, Tone.FAINT),
        (Kind.UNREAD, Tone.FAINT),
        (Kind.ADDRESS, Tone.FAINT),
    ):
        for difference in found.of_kind(kind):
            note = difference.note or notes.get(difference.first.slot.name, "")
            rows.append(_row(difference, note, row_tone))
    if len(rows) > 1:
        lines += ["", *align(rows, colour=colour)]
    return "\n".join(lines) + "\n"


def report_bytes(found: ByteDiff, *, colour: bool = False) -> str:
    """The same without a schema: ranges of bytes that differ."""
    differing = sum(end - start for start, end in found.ranges)
    parts = (
        [f"{counted(differing, 'byte')} in {counted(len(found.ranges), 'range')} differ"] if differing else []
    )
    sizes = found.first.size, found.second.size
    if sizes[0] != sizes[1]:
        parts.append(f"sizes differ: {sizes[0]} and {sizes[1]} bytes")
    text = "; ".join(parts) or "no known byte differs"
    lines = [
        paint(text, Tone.GOOD if found.same else Tone.ALARM, colour=colour),
        f"compared {found.compared} of {counted(max(sizes), 'byte')}",
    ]
    rows = [Line(("bytes", "first", "second"), Tone.STRONG)]
    rows += [
        Line((_span(start, end), _cells(found.first, start, end), _cells(found.second, start, end)))
        for start, end in found.ranges[:_LISTED_RANGES]
    ]
    if len(rows) > 1:
        lines += ["", *align(rows, colour=colour)]
    if len(found.ranges) > _LISTED_RANGES:
        lines.append(f"and {len(found.ranges) - _LISTED_RANGES} more")
    return "\n".join(lines) + "\n"


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
