"""Compares two dumps field by field.

Only what both dumps know is compared. Addresses differ from run to run: pointers compare by being null and by
alignment, and by value only where both dumps have the same addresses in different fields.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from argpack.families.family import Usage
from argpack.hexdump.reading import readings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.hexdump.dump import Dump
    from argpack.hexdump.reading import Reading
    from argpack.schema import KernargSchema

# Kernels load vectors of 16 bytes; allocators align to at least that, a GPU's to 256.
VECTOR_ALIGNMENT = 16
ALLOCATION_ALIGNMENT = 256


class Kind(enum.StrEnum):
    """How much a difference matters: only `LIVE` ones make two dumps differ.

    `DEAD` fields are read without effect, `UNREAD` ones never loaded, `PAD` is between fields. `ADDRESS` is a
    pointer that differs in its address alone, or in an alignment of at least 16 bytes in both.
    """

    LIVE = "live"
    DEAD = "dead"
    UNREAD = "unread"
    PAD = "pad"
    ADDRESS = "pointer"


class Difference(NamedTuple):
    """One slot that differs. `note` says what differs where it is not the value."""

    kind: Kind
    first: Reading
    second: Reading
    note: str = ""


class Diff(NamedTuple):
    """The differences of two dumps, in the order of offsets. `pairs` has every slot as both dumps hold it.

    `compared` counts the bytes of the schema that both dumps know. `live_fields` names the fields that
    matter, `not_compared` those of them that were compared in part or not at all: a byte is unknown in one
    dump, or both end before the field.
    """

    first: Dump
    second: Dump
    schema: KernargSchema
    pairs: tuple[tuple[Reading, Reading], ...]
    differences: tuple[Difference, ...]
    compared: int
    live_fields: tuple[str, ...]
    not_compared: tuple[str, ...]

    @property
    def live(self) -> tuple[Difference, ...]:
        """The differences that matter."""
        return self.of_kind(Kind.LIVE)

    @property
    def same(self) -> bool:
        """Whether no live field differs in what was compared."""
        return not self.live

    def of_kind(self, kind: Kind) -> tuple[Difference, ...]:
        """The differences of one kind."""
        return tuple(difference for difference in self.differences if difference.kind is kind)


def diff(first: Dump, second: Dump, schema: KernargSchema, usage: Mapping[str, Usage] | None = None) -> Diff:
    """Compare by field. `usage` goes by field name; a field without usage counts as live.

    A dump that ends early differs in the fields it lacks; bytes beyond the schema are not looked at.
    """
    differences: list[Difference] = []
    live: list[str] = []
    not_compared: list[str] = []
    compared = 0
    pairs = tuple(zip(readings(first, schema, usage), readings(second, schema, usage), strict=True))
    for a, b in pairs:
        both = [x and y for x, y in zip(a.known, b.known, strict=False)]
        compared += sum(both)
        if a.slot.field is not None and a.usage in {None, Usage.LIVE}:
            live.append(a.slot.name)
            if a.missing == b.missing and not all(both or [0]):
                not_compared.append(a.slot.name)
        if found := _compare(a, b, both):
            differences.append(found)
    differences = _with_exchanged_pointers(differences)
    return Diff(first, second, schema, pairs, tuple(differences), compared, tuple(live), tuple(not_compared))


def _compare(a: Reading, b: Reading, both: list[int]) -> Difference | None:
    kind = Kind(a.usage or Usage.LIVE) if a.slot.field else Kind.PAD
    if a.missing or b.missing:
        one = a.missing != b.missing and a.slot.field is not None
        return Difference(kind, a, b, "missing in one") if one else None
    if all(x == y for x, y, known in zip(a.data, b.data, both, strict=True) if known):
        return None
    if a.slot.field is not None and a.slot.field.type == "ptr":
        return _compare_pointers(kind, a, b)
    return Difference(kind, a, b)


def _compare_pointers(kind: Kind, a: Reading, b: Reading) -> Difference | None:
    """A pointer with a known byte other than zero is not null, whatever its unknown bytes are."""
    nulls = [False if any(side.data) else True if side.whole else None for side in (a, b)]
    if None in nulls:
        return None
    if nulls[0] != nulls[1]:
        return Difference(kind, a, b, "null in one")
    if a.value is None or b.value is None:
        return Difference(Kind.ADDRESS, a, b)
    alignments = sorted(_alignment(int(side.value or 0)) for side in (a, b))
    if alignments[0] == alignments[1]:
        return Difference(Kind.ADDRESS, a, b)
    note = f"aligned to {_alignment(int(a.value))} and {_alignment(int(b.value))} bytes"
    return Difference(kind if alignments[0] < VECTOR_ALIGNMENT else Kind.ADDRESS, a, b, note)


def _with_exchanged_pointers(differences: list[Difference]) -> list[Difference]:
    """Live pointers whose addresses are those of each other in the other dump: one run, exchanged arguments."""
    moved = [
        d
        for d in differences
        if d.first.slot.field and d.first.slot.field.type == "ptr" and d.first.usage in {None, Usage.LIVE}
        if d.first.value and d.second.value
    ]
    while True:
        ours, theirs = {d.first.value for d in moved}, {d.second.value for d in moved}
        closed = [d for d in moved if d.first.value in theirs and d.second.value in ours]
        if len(closed) == len(moved):
            break
        moved = closed
    names = {d.first.value: d.first.slot.name for d in moved}
    notes = {d.first.slot: f"the first has this address in {names[d.second.value]}" for d in moved}
    return [
        d._replace(kind=Kind.LIVE, note=notes[d.first.slot]) if d.first.slot in notes else d
        for d in differences
    ]


def _alignment(address: int) -> int:
    return min(address & -address, ALLOCATION_ALIGNMENT)
