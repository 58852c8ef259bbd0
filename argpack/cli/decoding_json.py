"""What `show` and `diff` print with --json. NaN and infinity are strings: JSON has neither."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from argpack.hexdump import Kind, readings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import ByteDiff, Diff, Dump, Reading
    from argpack.hexdump.mistakes import Mistake


def shown(dump: Dump, chosen: Decoding, implied: Mapping[str, int | float]) -> dict[str, Any]:
    """A dump, decoded; `implied` are the values that its sizes ask for, by field name."""
    from argpack.hexdump.doubts import doubts

    slots = readings(dump, chosen.schema, chosen.usage)
    return {
        **_dump(dump),
        **_decoding(chosen),
        "fields": [_field(reading) for reading in slots if reading.slot.field],
        "pads": [
            {"name": reading.slot.name, "offset": reading.slot.offset, "bytes": reading.cells}
            for reading in slots
            if reading.slot.field is None
        ],
        "doubts": [{"name": doubt.name, "text": doubt.text} for doubt in doubts(slots, implied)],
        "beyond": " ".join(dump.cells(chosen.schema.size, dump.size)),
    }


def compared(found: Diff, chosen: Decoding, mistake: Mistake | None) -> dict[str, Any]:
    """A comparison by field, and the mistake behind the differences where one is known."""
    from argpack.hexdump.hints import hint

    return {
        "same": found.same,
        "first": _dump(found.first),
        "second": _dump(found.second),
        **_decoding(chosen),
        "compared": found.compared,
        "total": chosen.schema.size,
        "live_fields": list(found.live_fields),
        "not_compared": list(found.not_compared),
        "counts": {kind.value: len(found.of_kind(kind)) for kind in Kind},
        "mistake": {"kind": mistake.kind, "text": mistake.text} if mistake else None,
        "differences": [
            {
                "name": difference.first.slot.name,
                "offset": difference.first.slot.offset,
                "kind": difference.kind.value,
                "unit": difference.first.slot.field.unit if difference.first.slot.field else "",
                "first": _content(difference.first),
                "second": _content(difference.second),
                "note": difference.note or (hint(difference, found) if not mistake else ""),
            }
            for difference in found.differences
        ],
    }


def compared_bytes(found: ByteDiff) -> dict[str, Any]:
    """A comparison by bytes."""
    return {
        "same": found.same,
        "first": _dump(found.first),
        "second": _dump(found.second),
        "schema": None,
        "compared": found.compared,
        "total": max(found.first.size, found.second.size),
        "ranges": [{"start": start, "end": end} for start, end in found.ranges],
    }


def _dump(dump: Dump) -> dict[str, Any]:
    return {"source": dump.source, "size": dump.size, "known": dump.known_count}


def _decoding(chosen: Decoding) -> dict[str, Any]:
    return {"schema": chosen.schema.name, "kernels": list(chosen.kernels), "reason": chosen.reason}


def _field(reading: Reading) -> dict[str, Any]:
    field = reading.slot.field
    return {
        "name": reading.slot.name,
        "offset": reading.slot.offset,
        "type": field.type if field else "",
        "role": field.role.value if field else "",
        "unit": field.unit if field else "",
        "use": reading.usage.value if reading.usage else None,
        **_content(reading),
        "doc": field.doc if field else "",
    }


def plain(value: float | None) -> int | float | str | None:
    """A value as JSON has it."""
    finite = value is None or not isinstance(value, float) or math.isfinite(value)
    return value if finite else str(value)


def _content(reading: Reading) -> dict[str, Any]:
    return {"bytes": reading.cells, "value": plain(reading.value), "text": reading.text}
