"""What `table` prints of a decoded log: which fields differ, which stay the same, which sizes occur. No subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from argpack.cli.decoding_json import plain
from argpack.families.family import Usage
from argpack.hexdump.reading import value_text
from argpack.hexdump.table import Line, Table, Tone, counted, text_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.cli.decoding import Decoding
    from argpack.hexdump.table import Document
    from argpack.records import FieldSummary, Group, Unread

_LISTED_GROUPS = 20


class Decoded(NamedTuple):
    """Logs of `rows` records in all, and `left_out` of other kernels; `groups` are combinations of the fields `names`.

    `logs` has source, format and number of records of each, `unread` the files of folders that are no logs.
    """

    logs: Sequence[tuple[str, str, int]]
    unread: Sequence[Unread]
    chosen: Decoding
    rows: int
    left_out: int
    fields: Sequence[FieldSummary]
    names: Sequence[str]
    groups: Sequence[Group]


def document(decoded: Decoded) -> Document:
    """What was read, the fields that differ, those that never do, the groups."""
    chosen, fields = decoded.chosen, decoded.fields
    source = decoded.logs[0][0] if len(decoded.logs) == 1 else counted(len(decoded.logs), "log")
    formats = " and ".join(sorted({form for _, form, _ in decoded.logs}))
    found: Document = [
        text_line(
            f"{source}: {counted(decoded.rows, 'record')} of {chosen.schema.size} bytes, read as {formats}"
        ),
        text_line(f"as {chosen.reason}"),
    ]
    found += [text_line(f"not read: {file}: {reason}", Tone.ALARM) for file, reason in decoded.unread]
    if decoded.left_out:
        found.append(text_line(f"{counted(decoded.left_out, 'record')} of other kernels left out"))
    rows = [Line(("offset", "field", "values", "lowest", "highest", "unit", "use"), Tone.STRONG)]
    rows += [_row(field, chosen) for field in fields if field.distinct > 1]
    found += [text_line(""), text_line(f"{len(rows) - 1} of {len(fields)} fields differ between records")]
    found += [Table(rows)] if len(rows) > 1 else []
    same = [f"{f.name} {_text(f.lowest, f.name, chosen)}" for f in fields if f.distinct == 1]
    unknown = [f.name for f in fields if not f.distinct]
    found += [text_line(f"always the same: {', '.join(same)}", Tone.FAINT)] if same else []
    found += [text_line(f"never known: {', '.join(unknown)}", Tone.FAINT)] if unknown else []
    return [*found, *_groups(decoded)] if decoded.groups else found


def as_json(decoded: Decoded) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "logs": [
            {"source": source, "format": form, "records": records} for source, form, records in decoded.logs
        ],
        "not_read": [{"source": file, "reason": reason} for file, reason in decoded.unread],
        "records": decoded.rows,
        "left_out": decoded.left_out,
        "schema": decoded.chosen.schema.name,
        "reason": decoded.chosen.reason,
        "fields": [
            {
                "name": field.name,
                "use": decoded.chosen.usage[field.name].value,
                "known": field.known,
                "distinct": field.distinct,
                "lowest": plain(field.lowest),
                "highest": plain(field.highest),
            }
            for field in decoded.fields
        ],
        "grouped_by": list(decoded.names),
        "groups": [
            {"values": [plain(value) for value in group.values], "records": group.records}
            for group in decoded.groups
        ],
    }


def _groups(decoded: Decoded) -> Document:
    names, groups = decoded.names, decoded.groups
    rows = [Line(("records", *names), Tone.STRONG)]
    for group in groups[:_LISTED_GROUPS]:
        values = (_text(value, name, decoded.chosen) for value, name in zip(group.values, names, strict=True))
        rows.append(Line((str(group.records), *values)))
    what = f"{counted(len(groups), 'combination')} of {', '.join(names)}"
    found: Document = [text_line(""), text_line(what), Table(rows)]
    if len(groups) > _LISTED_GROUPS:
        found.append(text_line(f"and {len(groups) - _LISTED_GROUPS} more"))
    return found


def _row(field: FieldSummary, chosen: Decoding) -> Line:
    slot, use = chosen.schema.slot(field.name), chosen.usage[field.name]
    lowest, highest = (_text(value, field.name, chosen) for value in (field.lowest, field.highest))
    unit = slot.field.unit if slot.field else ""
    cells = (f"0x{slot.offset:03x}", field.name, str(field.distinct), lowest, highest, unit, str(use))
    return Line(cells, Tone.PLAIN if use is Usage.LIVE else Tone.FAINT)


def _text(value: float | None, name: str, chosen: Decoding) -> str:
    field = chosen.schema.slot(name).field
    return "?" if value is None or field is None else value_text(field.scalar, value)
