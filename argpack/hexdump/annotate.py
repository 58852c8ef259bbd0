"""A dump as a table: the bytes of each field with name, type, value, unit, usage and what the field is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.families.family import Usage
from argpack.hexdump.reading import readings
from argpack.hexdump.table import Document, Line, Table, Tone, counted, text_line, to_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from argpack.hexdump.dump import Dump
    from argpack.hexdump.reading import Reading
    from argpack.schema import Field, KernargSchema

_HEADING = Line(("offset", "bytes", "field", "type", "value", "unit", "use", "note"), Tone.STRONG)


def annotate(
    dump: Dump,
    schema: KernargSchema,
    usage: Mapping[str, Usage] | None = None,
    *,
    implied: Mapping[str, int | float] | None = None,
    colour: bool = False,
) -> str:
    """The document of `annotated` as text, a newline after each line."""
    return to_text(annotated(dump, schema, usage, implied=implied), colour=colour)


def annotated(
    dump: Dump,
    schema: KernargSchema,
    usage: Mapping[str, Usage] | None = None,
    *,
    implied: Mapping[str, int | float] | None = None,
) -> Document:
    """The table, then a line about the pads, then a line for each value that can hardly be meant.

    `usage` goes by field name, as does `implied`: the values that the sizes in the dump imply.
    """
    from argpack.hexdump.doubts import doubts

    slots = readings(dump, schema, usage)
    rows = [_row(reading, reading.slot.field) for reading in slots if reading.slot.field]
    document: Document = [Table([_HEADING, *rows])]
    pads = [reading for reading in slots if reading.slot.field is None and not reading.missing]
    if pads:
        document.append(text_line(_pads(pads), Tone.FAINT))
    document += [text_line(f"doubtful: {doubt.text}", Tone.ALARM) for doubt in doubts(slots, implied)]
    return document


def _row(reading: Reading, field: Field) -> Line:
    use = str(reading.usage) if reading.usage else ""
    cells = (
        f"0x{reading.slot.offset:03x}",
        reading.cells,
        field.name,
        field.type,
        reading.text,
        field.unit,
        use,
    )
    faint = reading.usage in {Usage.DEAD, Usage.UNREAD} or reading.value is None
    return Line((*cells, field.doc), Tone.FAINT if faint else Tone.PLAIN)


def _pads(pads: Sequence[Reading]) -> str:
    """What the pads hold, in a sentence: zero, something else (stack garbage mostly) or unknown."""
    size = sum(len(pad.data) for pad in pads)
    used = sum(1 for pad in pads if any(pad.data))
    unknown = sum(1 for pad in pads if not any(pad.data) and not pad.whole)
    parts = [f"{used} not zero"] if used else []
    parts += [f"{unknown} unknown"] if unknown else []
    parts += [f"{len(pads) - used - unknown} zero"] if len(pads) - used - unknown else []
    return f"{counted(len(pads), 'pad')}, {counted(size, 'byte')}: {', '.join(parts)}"
