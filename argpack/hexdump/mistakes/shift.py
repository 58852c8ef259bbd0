"""From some field on all is a few bytes late or early, perhaps because the field before is wider or narrower."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.diff import Kind
from argpack.hexdump.mistakes.evidence import ENOUGH_FIELDS, Mistake, View, telling
from argpack.hexdump.table import counted
from argpack.schema import TYPES

if TYPE_CHECKING:
    from argpack.hexdump.diff import Diff
    from argpack.schema import ScalarType, Slot

_BY = [sign * by for by in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48) for sign in (1, -1)]
_MOST_LACKING = 4  # fields


def widened(view: View, found: Diff) -> Mistake | None:
    """The first field that differs is wider or narrower in the suspect; what follows moves, if there is no room."""
    first = found.live[0].first.slot
    for other in _of_kind(first):
        by = other.size - first.size
        if _width(view, first, by) is not other:
            continue
        start = next((s for s in view.schema.slots if s.field and s.offset > first.offset), None)
        if start and _explains(view, start, by):
            return _mistake(view, start, by, first, other)
        if len(found.live) == 1 and _absorbed(view, first, by):
            return _mistake(view, None, by, first, other)
    return None


def lacking(view: View, found: Diff) -> Mistake | None:
    """A few whole fields are not in the suspect: all that follows is early by just their size."""
    slots = [slot for slot in view.schema.slots if slot.field]
    first = slots.index(found.live[0].first.slot)
    # Fields that do not matter, between the last that is right and the first that is wrong, may be gone or have moved.
    kept = max((i for i in range(first) if any(r.slot == slots[i] for r in view.live)), default=-1) + 1
    for start in range(kept, first + 1):
        for after in range(start + 1, min(start + _MOST_LACKING, len(slots) - 1) + 1):
            by = slots[start].offset - slots[after].offset
            beside = all(_has(view, slot, 0) for slot in slots[kept:start])
            moved = all(_has(view, slot, by) for slot in slots[after:first])
            if beside and moved and _explains(view, slots[after], by):
                names = [slot.name for slot in slots[start:after]]
                verb = "is" if len(names) == 1 else "are"
                text = f"{' and '.join(names)} {verb} not in the {view.side}"
                return Mistake("missing fields", f"{text}: all from {slots[after].name} on is {_far(by)}")
    return None


def shifted(view: View, found: Diff) -> Mistake | None:
    """From some field on all is a few bytes late or early, or from inside that field on."""
    slots = [slot for slot in view.schema.slots if slot.field]
    first = found.live[0].first.slot
    starts = [d.first.slot for d in found.differences if d.kind in {Kind.LIVE, Kind.ADDRESS}]
    for start in starts[: starts.index(first) + 1]:
        for by in _BY:
            if _explains(view, start, by):
                index = slots.index(start)
                before = slots[index - 1] if index else None
                other = _width(view, before, by) if before else None
                return _mistake(view, start, by, before if other else None, other)
    for by in _BY:
        if (at := _split(view, first, by)) and _explains(view, first, by, inside=at):
            return Mistake("shift", f"from inside {first.name} on the {view.side} is {_far(by)}")
    return None


def _has(view: View, slot: Slot, by: int) -> bool:
    here = slot.offset + by
    return view.right.data[slot.offset : slot.end] == view.suspect.data[here : here + slot.size]


def _split(view: View, slot: Slot, by: int) -> int:
    """Where in a field `by` bytes were added or lost (negative): after so many of its bytes, 0 for nowhere."""
    data = view.right.data[slot.offset : slot.end]
    for at in range(1, slot.size):
        head = view.suspect.data[slot.offset : slot.offset + at]
        rest = data[at:] if by > 0 else data[at - by :]
        tail = slot.offset + at + max(by, 0)
        if head == data[:at] and view.suspect.data[tail : tail + len(rest)] == rest:
            return at
    return 0


def _explains(view: View, start: Slot, by: int, *, inside: int = 0) -> bool:
    """Whether all live fields from `start` on, or from the next one on, are `by` bytes late."""
    moved = view._replace(live=tuple(r for r in view.live if r.slot.offset >= start.offset + inside))
    offsets = {reading.slot.name: reading.slot.offset + by for reading in moved.live}
    return (telling(moved, offsets, may_be_lost=True) or 0) >= ENOUGH_FIELDS


def _width(view: View, slot: Slot, by: int) -> ScalarType | None:
    """The type of the field's kind, `by` bytes wider, as which the suspect has the right value there."""
    reading = next((r for r in view.live if r.slot == slot), None)
    if reading is None or reading.value is None or not any(reading.data):
        return None
    for other in _of_kind(slot):
        end = slot.offset + other.size
        if other.size - slot.size != by or not all(view.suspect.known[slot.offset : end]):
            continue
        try:
            if view.suspect.data[slot.offset : end] == other.encode(reading.value):
                return other
        except InputError:
            continue
    return None


def _absorbed(view: View, slot: Slot, by: int) -> bool:
    """Whether nothing has to move: a wider value fits before the next field, a narrower one is followed by zeros."""
    if by < 0:
        return not any(view.suspect.data[slot.end + by : slot.end])
    return all(
        other.offset >= slot.end + by
        for other in view.schema.slots
        if other.field and other.offset > slot.offset
    )


def _of_kind(slot: Slot) -> list[ScalarType]:
    scalar = slot.field.scalar if slot.field else TYPES["u8"]
    return [other for other in TYPES.values() if other.kind == scalar.kind and other.size != scalar.size]


def _mistake(view: View, start: Slot | None, by: int, wide: Slot | None, other: ScalarType | None) -> Mistake:
    far = _far(by)
    if wide is None or other is None or wide.field is None:
        return Mistake("shift", f"from {start.name if start else ''} on the {view.side} is {far}")
    text = f"{wide.name} is {other.name}, {counted(other.size, 'byte')}, not {wide.field.type} in the {view.side}"
    return Mistake("width", f"{text}: all from {start.name} on is {far}" if start else text)


def _far(by: int) -> str:
    return f"{counted(abs(by), 'byte')} {'late' if by > 0 else 'early'}"
