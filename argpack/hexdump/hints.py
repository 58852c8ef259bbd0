"""What may be behind live differences: a wrong unit, a value in a slot that is not read, shifted fields.

These are suggestions for people; nothing is decided by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.families.family import Usage
from argpack.hexdump.diff import Kind
from argpack.schema import Role

if TYPE_CHECKING:
    from argpack.hexdump.diff import Diff, Difference
    from argpack.hexdump.dump import Dump

_SHIFTS = (2, 4, 6, 8, 10, 12, 14, 16)
# Fewer values, or smaller ones, agree by chance: pads and unset strides hold garbage.
_ENOUGH_FIELDS = 3
_TELLING_VALUE = 16


class Shift(NamedTuple):
    """From field `start` on, the second dump has the first one's values `by` bytes later (or earlier)."""

    start: str
    by: int


def find_shift(found: Diff) -> Shift | None:
    """The shift that explains every live difference from some field on, if there is one."""
    starts = [difference.first.slot for difference in found.live]
    fields = [
        reading
        for reading, _ in found.pairs
        if reading.slot.field and reading.slot.field.role is not Role.POINTER and _live(reading.usage)
    ]
    for start in starts:
        later = [reading for reading in fields if reading.slot.offset >= start.offset]
        telling = [reading for reading in later if reading.whole and any(reading.data)]
        if len(telling) < _ENOUGH_FIELDS:
            break
        for by in (*_SHIFTS, *(-shift for shift in _SHIFTS)):
            if all(_holds(found.second, reading.slot.offset + by, reading.data) for reading in telling):
                return Shift(start.name, by)
    return None


def hint(difference: Difference, found: Diff) -> str:
    """What may be behind a difference if it is live, empty where nothing suggests itself."""
    field = difference.first.slot.field
    values = (difference.first.value, difference.second.value)
    if difference.kind is not Kind.LIVE or field is None or field.role is Role.POINTER or None in values:
        return ""
    ours, theirs = (value or 0 for value in values)
    if field.role is Role.STRIDE and (unit := _unit_hint(field.unit, ours, theirs)):
        extents = [d for d in found.live if d.first.slot.field and d.first.slot.field.role is Role.EXTENT]
        if not any(_ratio(d.first.value or 0, d.second.value or 0) == 2 for d in extents):
            return unit
    if place := _misplaced(ours, found, 1):
        return f"the second has {ours} in {place}, which has no effect"
    if place := _misplaced(theirs, found, 0):
        return f"the first has {theirs} in {place}, which has no effect"
    return ""


def _unit_hint(unit: str, first: float, second: float) -> str:
    """Bytes and elements of fp4 and bf16 differ by a factor of two, one way and the other."""
    if _ratio(first, second) != 2:
        return ""
    if unit == "fp4 elements":
        return f"{min(first, second)} may count bytes, two fp4 elements each"
    if unit == "bf16 elements":
        return f"{max(first, second)} may count bytes, two for each bf16 element"
    return ""


def _ratio(first: float, second: float) -> float:
    return max(first, second) / min(first, second) if first > 0 and second > 0 else 0


def _misplaced(value: float, found: Diff, side: int) -> str:
    """The field without effect that has `value` in the dump of that side alone; small values are chance."""
    if value < _TELLING_VALUE:
        return ""
    for pair in found.pairs:
        here, there = pair[side], pair[1 - side]
        if here.slot.field and not _live(here.usage) and here.value == value != there.value:
            return here.slot.name
    return ""


def _live(usage: Usage | None) -> bool:
    return usage is None or usage is Usage.LIVE


def _holds(dump: Dump, offset: int, data: bytes) -> bool:
    end = offset + len(data)
    return offset >= 0 and dump.data[offset:end] == data and all(dump.known[offset:end])
