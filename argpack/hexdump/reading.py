"""What a dump holds, slot by slot of a schema: bytes, value where every byte is known, usage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.families.family import Usage
    from argpack.hexdump.dump import Dump
    from argpack.schema import KernargSchema, Slot
    from argpack.schema.scalar import ScalarType


class Reading(NamedTuple):
    """One slot of a dump. `data` and `known` are empty where the dump ends before the slot does (`missing`).

    `value` is None for pads and where a byte is unknown or missing, `usage` for pads and where no usage was
    given.
    """

    slot: Slot
    data: bytes
    known: bytes
    value: int | float | None
    usage: Usage | None

    @property
    def missing(self) -> bool:
        """Whether the dump is too short for this slot."""
        return not self.data

    @property
    def whole(self) -> bool:
        """Whether every byte is known."""
        return bool(self.data) and all(self.known)

    @property
    def cells(self) -> str:
        """The bytes as hex, `??` where unknown."""
        return " ".join(f"{b:02x}" if k else "??" for b, k in zip(self.data, self.known, strict=True))

    @property
    def text(self) -> str:
        """The value as people write it: addresses in hex, null, shortest decimal; `?` unknown, `missing`."""
        if self.missing:
            return "missing"
        if self.slot.field is None or self.value is None:
            return "?" if self.slot.field else self.cells
        return value_text(self.slot.field.scalar, self.value)


def readings(
    dump: Dump, schema: KernargSchema, usage: Mapping[str, Usage] | None = None
) -> tuple[Reading, ...]:
    """Every slot of the schema, in order. `usage` goes by field name."""
    found = []
    for slot in schema.slots:
        here = slot.end <= dump.size
        data = dump.data[slot.offset : slot.end] if here else b""
        known = dump.known[slot.offset : slot.end] if here else b""
        value = slot.field.scalar.decode(data) if slot.field and here and all(known) else None
        found.append(Reading(slot, data, known, value, usage.get(slot.name) if usage else None))
    return tuple(found)


def value_text(scalar: ScalarType, value: float) -> str:
    """A value of a scalar type as text; a float in the fewest digits that give the same bits."""
    if scalar.kind == "pointer":
        return f"0x{value:x}" if value else "null"
    if scalar.kind != "float":
        return str(value)
    data = scalar.encode(value)
    if math.isnan(value):
        return f"nan (0x{int.from_bytes(data, 'little'):0{2 * scalar.size}x})"
    for digits in range(1, 17):
        text = f"{value:.{digits}g}"
        try:
            if scalar.encode(float(text)) == data:
                return repr(float(text))
        except InputError:  # rounded up beyond the largest of its type
            continue
    return repr(value)
