"""Values that can hardly be meant: another type's bits, half a pointer, impossible addresses, a wrong unit.

Only fields that matter are doubted: what no kernel reads may hold anything.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, NamedTuple

from argpack.families.family import Usage
from argpack.hexdump.reading import value_text
from argpack.schema import TYPES, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from argpack.hexdump.reading import Reading

_ADDRESS_BITS = 48
_LOWEST_ADDRESS = 1 << 12  # the first page is never mapped
_COMMON = 1 << 16  # integers below are common values
_VECTOR_ALIGNMENT = 16  # bytes: kernels load vectors of this size
# A float in this range with so few digits is more likely meant as one than the integer of its bits, above 2^29.
_COMMON_FLOATS = (2**-14, 2**14)
_FEW_DIGITS = 0xFFFF
# The smallest normal float by size in bytes: what lies below it has the bits of a small integer.
_NORMAL = {2: 2.0**-14, 4: 2.0**-126, 8: 2.0**-1022}


class Doubt(NamedTuple):
    """Why the value of field `name` is doubted; `text` names field, offset and value."""

    name: str
    text: str


def doubts(slots: Sequence[Reading], implied: Mapping[str, int | float] | None = None) -> list[Doubt]:
    """The doubtful values of a dump, in order, one doubt a field at most.

    `implied` are values by field name that M, N and K of the same dump ask for.
    """
    live = [r for r in slots if r.slot.field and r.value is not None and r.usage in {None, Usage.LIVE}]
    halves = _pointer_halves(slots)
    found = []
    for reading in live:
        text = _pointer(reading) or _half(reading, halves) or _other_type(reading)
        text = text or _sign(reading) or _unit(reading, implied or {})
        if text:
            place = f"{reading.slot.name} at 0x{reading.slot.offset:03x}"
            found.append(Doubt(reading.slot.name, f"{place} is {reading.text}: {text}"))
    return found


def _pointer(reading: Reading) -> str:
    field = reading.slot.field
    if field is None or field.type != "ptr" or not reading.value:
        return ""
    address = int(reading.value)
    if address >> _ADDRESS_BITS:
        return "no address has more than 48 bits"
    if address < _LOWEST_ADDRESS:
        return "too low for an address"
    if address % _VECTOR_ALIGNMENT:
        return f"aligned to {address & -address} of the {_VECTOR_ALIGNMENT} bytes that kernels load at once"
    return ""


def _pointer_halves(slots: Sequence[Reading]) -> dict[int, str]:
    """What 4 bytes of each pointer read as, where that is no common number."""
    halves = {}
    for reading in slots:
        if reading.slot.field is None or reading.slot.field.type != "ptr" or not reading.value:
            continue
        low, high = int(reading.value) & 0xFFFF_FFFF, int(reading.value) >> 32
        if high >= 1 << 8:
            halves[high] = f"the upper half of {reading.slot.name}"
        if low >= _COMMON:
            halves[low] = f"the lower half of {reading.slot.name}"
    return halves


def _half(reading: Reading, halves: Mapping[int, str]) -> str:
    field = reading.slot.field
    if field is None or field.type == "ptr" or reading.slot.size != 4 or field.scalar.kind == "float":
        return ""
    return halves.get(int(reading.value or 0), "")


def _other_type(reading: Reading) -> str:
    field, bits = reading.slot.field, int.from_bytes(reading.data, "little")
    if field is None or reading.value is None or not bits:
        return ""
    if field.scalar.kind == "float":
        number = float(reading.value)
        if not math.isfinite(number):
            return "not a finite number"
        return f"the integer {bits} read as a float?" if 0 < number < _NORMAL[reading.slot.size] else ""
    if field.type in {"u32", "i32"} and not bits & _FEW_DIGITS:
        number = struct.unpack("<f", reading.data)[0]
        if _COMMON_FLOATS[0] <= abs(number) <= _COMMON_FLOATS[1]:
            return f"the float {value_text(TYPES['f32'], number)} read as an integer?"
    return ""


def _sign(reading: Reading) -> str:
    field = reading.slot.field
    negative = field is not None and field.role is Role.EXTENT and (reading.value or 0) < 0
    return "a size below zero" if negative else ""


def _unit(reading: Reading, implied: Mapping[str, int | float]) -> str:
    """A stride that is off by two is counted in bytes instead of elements, or the other way round."""
    field, value, right = reading.slot.field, reading.value or 0, implied.get(reading.slot.name, 0)
    if field is None or field.role is not Role.STRIDE or not right:
        return ""
    if value not in {right * 2, right / 2}:
        return ""
    times = "twice" if value == right * 2 else "half"
    unit = f" {field.unit}" if field.unit else ""
    return f"{times} the {right}{unit} that M, N and K imply: another unit?"
