"""What every hypothesis about a mistake is held against: the values of one dump, looked for in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.families.family import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.hexdump.diff import Diff
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.reading import Reading
    from argpack.schema import KernargSchema

# Fewer values, or smaller ones, agree by chance: pads and unset strides hold garbage.
ENOUGH_FIELDS = 3
TELLING_VALUE = 16
_ADDRESS_BITS = 48
_LOWEST_ADDRESS = 1 << 16  # the first pages are never mapped
_VECTOR_ALIGNMENT = 16


class Mistake(NamedTuple):
    """A mistake in a whole buffer: `kind` is its name in JSON, `text` a sentence without a full stop."""

    kind: str
    text: str


class View(NamedTuple):
    """One of the dumps taken as right. `live` are the fields that matter as it holds them, those known in full.

    `suspect` is the other dump, `side` what messages call it.
    """

    schema: KernargSchema
    right: Dump
    suspect: Dump
    side: str
    live: tuple[Reading, ...]


def views(found: Diff) -> tuple[View, View]:
    """The second dump suspected, then the first."""
    live = [pair for pair in found.pairs if pair[0].slot.field and pair[0].usage in {None, Usage.LIVE}]
    first, second = (tuple(pair[i] for pair in live if pair[i].whole) for i in (0, 1))
    return (
        View(found.schema, found.first, found.second, "second", first),
        View(found.schema, found.second, found.first, "first", second),
    )


def telling(view: View, offsets: Mapping[str, int], *, may_be_lost: bool = False) -> int | None:
    """How many live values the suspect has at `offsets` where the right dump has none of them.

    None where a value is not there: the hypothesis is wrong. Pointers need not be equal, only null or not, and
    possible; a value beyond the end of the suspect contradicts unless it `may_be_lost`.
    """
    count = 0
    for reading in view.live:
        offset = offsets[reading.slot.name]
        end = offset + reading.slot.size
        if offset < 0 or end > view.suspect.size:
            if not may_be_lost:
                return None
            continue
        if not all(view.suspect.known[offset:end]):
            continue
        data = view.suspect.data[offset:end]
        if data == reading.data:
            count += is_telling(data) and view.right.data[offset:end] != data
        elif not is_other_address(reading, data):
            return None
    return count


def is_telling(data: bytes) -> bool:
    """Whether a value is large enough not to be met by chance."""
    return int.from_bytes(data, "little") >= TELLING_VALUE


def is_other_address(reading: Reading, data: bytes) -> bool:
    """Whether `data` may be the same pointer in another run: an address as well aligned, where there was one."""
    if reading.slot.field is None or reading.slot.field.type != "ptr" or not any(reading.data):
        return False
    before, now = int.from_bytes(reading.data, "little"), int.from_bytes(data, "little")
    alignment = min(before & -before, _VECTOR_ALIGNMENT)
    return _LOWEST_ADDRESS <= now < 1 << _ADDRESS_BITS and now % alignment == 0
