"""A dump that holds the right values in the wrong form: cut off, bytes swapped, laid out by another rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.mistakes.evidence import (
    ENOUGH_FIELDS,
    Mistake,
    View,
    is_other_address,
    is_telling,
    telling,
)
from argpack.hexdump.table import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from argpack.hexdump.diff import Diff
    from argpack.schema import Field, KernargSchema

_WORDS = (2, 4, 8)
_LISTED = 2


def cut_off(view: View, found: Diff) -> Mistake | None:
    """The suspect ends early, and all that matters in what it has is right."""
    lost = []
    for difference in found.live:
        side = difference.second if view.side == "second" else difference.first
        if not side.missing:
            return None
        lost.append(side.slot)
    short = min(view.right.size, view.schema.size) - view.suspect.size
    listed = " and ".join(f"{slot.name} at 0x{slot.offset:03x}" for slot in lost[:_LISTED])
    if len(lost) > _LISTED:
        listed = f"{lost[0].name} at 0x{lost[0].offset:03x} and {len(lost) - 1} more live fields"
    verb = "is" if len(lost) == 1 else "are"
    return Mistake("cut off", f"the {view.side} is {counted(short, 'byte')} short: {listed} {verb} missing")


def swapped_bytes(view: View) -> Mistake | None:
    """Every word of 2, 4 or 8 bytes in the suspect is reversed, or every field is."""
    data, known = view.suspect.data, view.suspect.known
    for width in _WORDS:
        if _holds(view, _reversed(data, width), _reversed(known, width)):
            words = f"every {width}-byte word"
            return Mistake(
                "byte order", f"the {view.side} has the bytes of {words} in reverse: another byte order"
            )
    slots = [slot for slot in view.schema.slots if slot.end <= len(data)]
    fields = [b"".join(side[slot.offset : slot.end][::-1] for slot in slots) for side in (data, known)]
    if _holds(view, fields[0], fields[1]):
        return Mistake("byte order", f"the {view.side} has the bytes of every field in reverse: big endian")
    return None


def other_rule(view: View) -> Mistake | None:
    """The fields of the suspect lie where another rule of padding puts them."""
    here = {slot.name: slot.offset for slot in view.schema.slots if slot.field}
    candidates = {name: _offsets(view.schema, rule) for name, rule in _RULES.items()}
    own = next(
        (name for name, offsets in candidates.items() if offsets == here), "the padding of this schema"
    )
    for name, offsets in candidates.items():
        if offsets != here and (telling(view, offsets) or 0) >= ENOUGH_FIELDS:
            return Mistake("layout", f"the {view.side} has {name}, not {own}: {_moved(view, here, offsets)}")
    return None


def other_schema(view: View, others: tuple[KernargSchema, ...]) -> Mistake | None:
    """The fields of the suspect lie where another schema puts those of the same names."""
    here = {slot.name: slot.offset for slot in view.schema.slots if slot.field}
    for schema in others:
        offsets = {slot.name: slot.offset for slot in schema.slots if slot.field}
        shared = view._replace(live=tuple(r for r in view.live if r.slot.name in offsets))
        if (telling(shared, offsets) or 0) >= ENOUGH_FIELDS:
            moved = _moved(shared, here, offsets)
            return Mistake(
                "schema", f"the {view.side} is laid out as {schema.name}, not {view.schema.name}: {moved}"
            )
    return None


def _holds(view: View, data: bytes, known: bytes) -> bool:
    """Whether `data`, the suspect read in another way, has the live values, and the suspect as it is has not."""
    count = 0
    for reading in view.live:
        start, end = reading.slot.offset, reading.slot.end
        if end > len(data) or not all(known[start:end]):
            continue
        found = data[start:end]
        if found != reading.data and not is_other_address(reading, found):
            return False
        count += found == reading.data and view.suspect.data[start:end] != found and is_telling(found)
    return count >= ENOUGH_FIELDS - 1


def _reversed(data: bytes, width: int) -> bytes:
    return b"".join(data[start : start + width][::-1] for start in range(0, len(data), width))


def _aligned(size: Callable[[Field], int]) -> Callable[[int, Field], int]:
    return lambda offset, field: -(-offset // size(field)) * size(field)


_RULES: Mapping[str, Callable[[int, Field], int]] = {
    "natural C alignment": _aligned(lambda field: field.size),
    "8-byte slots": _aligned(lambda _: 8),
    "16-byte slots": _aligned(lambda _: 16),
    "no padding": _aligned(lambda _: 1),
}


def _offsets(schema: KernargSchema, rule: Callable[[int, Field], int]) -> dict[str, int]:
    """Where a rule puts each field; it says where one starts that may start at an offset at the earliest."""
    offsets = {}
    end = 0
    for field in schema.fields:
        offsets[field.name] = rule(end, field)
        end = offsets[field.name] + field.size
    return offsets


def _moved(view: View, here: Mapping[str, int], there: Mapping[str, int]) -> str:
    name = next(r.slot.name for r in view.live if here[r.slot.name] != there[r.slot.name])
    return f"{name} lies at 0x{there[name]:03x}, not at 0x{here[name]:03x}"
