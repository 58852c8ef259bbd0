"""What raw argument buffers show of themselves, without a schema: slots, pointers, floats, integers, constants.

It guesses and says how sure it is. It cannot tell a field from stack garbage in a pad by one buffer; several launches
of one kernel help, the more they differ. Offsets and sizes are bytes.
"""

from __future__ import annotations

import enum
import struct
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# User addresses of Linux on x86-64 lie below 2^47; ROCm's allocations and the stack are near its top.
_HIGHEST_ADDRESS = 1 << 47
_LOWEST_ADDRESS = 1 << 32
_USUAL_ADDRESS = 0x5500 << 32
_ALLOCATION = 256
# As integers, floats from 2^-20 to 2^20 are numbers of about a billion; small integers are denormal floats.
_FLOATS = (2.0**-20, 2.0**20)
_LARGEST_COUNT = 1 << 26
_SHORT_MANTISSA = 0xFFF


Buffer = tuple[bytes, bytes]


class Sure(enum.StrEnum):
    """How sure a guess is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Guess(NamedTuple):
    """A field, as far as it shows. `kind` is pointer, float, integer, zero or unclear, `values` one for each buffer.

    A value is None where its bytes are not all known. `type` is a name of the scalar table.
    """

    offset: int
    size: int
    kind: str
    type: str
    values: tuple[int | float | None, ...]
    sure: Sure
    why: str

    @property
    def constant(self) -> bool:
        """Whether all buffers hold the same known value."""
        return len(set(self.values)) == 1 and self.values[0] is not None


class Inference(NamedTuple):
    """`slot` is the bytes that fields seem to be spaced by, 0 where they are not; `slot_why` says what shows it."""

    size: int
    slot: int
    slot_sure: Sure
    slot_why: str
    guesses: tuple[Guess, ...]


def infer(buffers: Sequence[Buffer]) -> Inference:
    """What (data, known) buffers of one kernel show; `known` has a 1 for each byte that is known.

    Raises InputError for no buffer, for buffers of different sizes and for fewer than 8 bytes.
    """
    sizes = sorted({len(data) for data, _ in buffers})
    if len(sizes) != 1:
        found = " and ".join(f"{size} bytes" for size in sizes) or "none"
        raise InputError(f"expected buffers of one size, found {found}")
    if sizes[0] < 8:
        raise InputError(f"expected at least 8 bytes, found {sizes[0]}")
    slot, sure, why = _slot(buffers, sizes[0])
    guesses = tuple(_slotted(buffers, sizes[0], slot) if slot else _scanned(buffers, sizes[0]))
    return Inference(sizes[0], slot, sure, why, guesses)


def _slotted(buffers: Sequence[Buffer], size: int, slot: int) -> Iterator[Guess]:
    """One guess for each slot; what lies behind its value is a pad, whatever it looks like."""
    for offset in range(0, size - 3, slot):
        pointer = _pointer(buffers, offset) if offset + 8 <= size else None
        guess = pointer or _word(buffers, offset)
        yield guess
        if slot == 8 and pointer is None and offset + 8 <= size:
            yield _word(buffers, offset + 4)


def _scanned(buffers: Sequence[Buffer], size: int) -> Iterator[Guess]:
    """Guesses without gaps; addresses may lie at multiples of 4."""
    offset = 0
    while offset + 4 <= size:
        pointer = _pointer(buffers, offset) if offset + 8 <= size else None
        yield pointer or _word(buffers, offset)
        offset += 8 if pointer else 4


def _pointer(buffers: Sequence[Buffer], offset: int) -> Guess | None:
    """An address in every buffer, or null in some. Beside a count or a float, half an address is old padding."""
    values = _values(buffers, offset, 8, "<Q")
    addresses = [int(value) for value in values if value]
    if not addresses or any(not _LOWEST_ADDRESS <= value < _HIGHEST_ADDRESS for value in addresses):
        return None
    low = [value & 0xFFFFFFFF for value in addresses]
    if any(value % _ALLOCATION for value in addresses) or all(word < _LARGEST_COUNT for word in low):
        return None
    if all(_is_float(word) and not word & _SHORT_MANTISSA for word in low) and len(set(low)) < 3:
        return None
    usual = all(value >= _USUAL_ADDRESS for value in addresses)
    sure = Sure.HIGH if usual and len(addresses) == len(values) else Sure.MEDIUM
    return Guess(offset, 8, "pointer", "ptr", values, sure, "an address, aligned to 256 bytes")


def _word(buffers: Sequence[Buffer], offset: int) -> Guess:
    raw = _values(buffers, offset, 4, "<I")
    known = [int(value) for value in raw if value is not None]
    if not known:
        return Guess(offset, 4, "unclear", "u32", raw, Sure.LOW, "not known")
    if not any(known):
        return Guess(offset, 4, "zero", "u32", raw, Sure.LOW, "zero: a null pointer, a value or a pad")
    if all(_is_float(value) for value in known if value):
        floats = _values(buffers, offset, 4, "<f")
        short = all(value & _SHORT_MANTISSA == 0 for value in known)
        sure = Sure.HIGH if short else Sure.MEDIUM
        return Guess(offset, 4, "float", "f32", floats, sure, "a float of usual size, no count")
    if all(value < _LARGEST_COUNT for value in known):
        sure = Sure.MEDIUM if len(known) > 1 else Sure.LOW
        return Guess(offset, 4, "integer", "u32", raw, sure, "a small number")
    return Guess(
        offset, 4, "unclear", "u32", raw, Sure.LOW, "neither count, nor float, nor address: unset, or a pad"
    )


def _is_float(word: int) -> bool:
    value = abs(struct.unpack("<f", word.to_bytes(4, "little"))[0])
    return bool(_FLOATS[0] <= value <= _FLOATS[1])


def _values(buffers: Sequence[Buffer], offset: int, size: int, form: str) -> tuple[int | float | None, ...]:
    return tuple(
        struct.unpack_from(form, data, offset)[0] if all(known[offset : offset + size]) else None
        for data, known in buffers
    )


def _slot(buffers: Sequence[Buffer], size: int) -> tuple[int, Sure, str]:
    """The spacing of the fields, which the sure pointers show: what lies between may be old contents of the stack."""
    offsets: list[int] = []
    for offset in range(0, size - 7, 4):
        pointer = _pointer(buffers, offset)
        if pointer is not None and pointer.sure is Sure.HIGH and (not offsets or offset >= offsets[-1] + 8):
            offsets.append(offset)
    if len(offsets) < 2:
        return 0, Sure.LOW, f"{len(offsets)} sure pointers show no spacing"
    count = len(offsets)
    if all(offset % 16 == 0 for offset in offsets):
        sure = Sure.HIGH if count > 3 else Sure.MEDIUM
        return 16, sure, f"all {count} sure pointers start at multiples of 16, none 8 bytes behind another"
    if any(offset % 8 for offset in offsets):
        return 0, Sure.HIGH, "pointers start at multiples of 4: the fields are packed"
    values = [
        guess for guess in _scanned(buffers, size) if guess.kind in {"integer", "float"} and any(guess.values)
    ]
    between = sum(guess.offset % 8 == 4 for guess in values)
    if between:
        return 0, Sure.MEDIUM, f"{between} of {len(values)} values start between multiples of 8: no slots"
    sure = Sure.MEDIUM if len(values) > 2 else Sure.LOW
    return 8, sure, f"{count} sure pointers and {len(values)} other values start at multiples of 8"
