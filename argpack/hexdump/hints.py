"""What may be behind a live difference: a wrong unit, or a value in a slot that is not read.

These are suggestions for people; nothing is decided by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.families.family import Usage
from argpack.hexdump.diff import Kind
from argpack.schema import Role

if TYPE_CHECKING:
    from argpack.hexdump.diff import Diff, Difference

# Smaller values agree by chance: pads and unset strides hold garbage.
_TELLING_VALUE = 16


def hint(difference: Difference, found: Diff) -> str:
    """What may be behind a difference if it is live, empty where nothing suggests itself."""
    field = difference.first.slot.field
    values = (difference.first.value, difference.second.value)
    if difference.kind is not Kind.LIVE or field is None or field.role is Role.POINTER or None in values:
        return ""
    ours, theirs = (value or 0 for value in values)
    unit = "" if "scale" in field.name.lower() else _unit_hint(field.unit, ours, theirs)
    if field.role is Role.STRIDE and unit:
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
    if unit == "bytes":
        return "one of them may count elements instead of bytes"
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
