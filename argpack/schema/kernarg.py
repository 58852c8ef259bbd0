"""A kernel's argument buffer as one table of fields; packing, unpacking and other forms come from that table.

It knows nothing of GPUs, kernels or problems.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.schema.field import Field, Slot
from argpack.schema.packer import Packer
from argpack.values import anew, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    import construct
    import numpy as np


@value()
class Values(Mapping[str, int | float]):
    """What an argument buffer holds: field values by name, and `pads`, the bytes of each pad by its name."""

    fields: Mapping[str, int | float]
    pads: Mapping[str, bytes] = anew(dict)

    def __getitem__(self, name: str) -> int | float:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


@value(slots=False)
class KernargSchema:
    """The fields of an argument buffer in order, packed: what separates them is only their declared pads.

    A pad is a slot of its own, named `pad_<field>`: captured buffers carry garbage there that must survive.
    Raises InputError when empty or when two slots share a name.
    """

    name: str
    fields: tuple[Field, ...]
    doc: str = ""

    def __post_init__(self) -> None:
        if not self.fields:
            raise InputError(f"schema {self.name}: expected at least one field, found none")
        seen: set[str] = set()
        for slot in self.slots:
            if slot.name in seen:
                raise InputError(f"schema {self.name}: two slots are named {slot.name}")
            seen.add(slot.name)

    @functools.cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Fields and pads in the order of their offsets, without gaps."""
        slots: list[Slot] = []
        offset = 0
        for entry in self.fields:
            slots.append(Slot(entry.name, offset, entry.size, entry))
            offset += entry.size
            if entry.pad:
                slots.append(Slot(f"pad_{entry.name}", offset, entry.pad, None))
                offset += entry.pad
        return tuple(slots)

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self.slots[-1].end

    def slot(self, name: str) -> Slot:
        """The field or pad called `name`; InputError when there is none."""
        for slot in self.slots:
            if slot.name == name:
                return slot
        raise InputError(
            f"{self.name}: no field is named {name!r}{_nearest(name, [f.name for f in self.fields])}"
        )

    def offset(self, name: str) -> int:
        """Byte offset of the field or pad called `name`; InputError when there is none."""
        return self.slot(name).offset

    @functools.cached_property
    def construct(self) -> construct.Struct:
        """The construct declaration; it parses to and builds from every slot, pads as bytes."""
        from argpack.schema.construct_form import struct_of

        return struct_of(self)

    @functools.cached_property
    def _packer(self) -> Packer:
        return Packer(self)

    @functools.cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The numpy structured dtype of one buffer, itemsize `size`; pads are void fields."""
        import numpy as np

        formats = [slot.field.scalar.dtype if slot.field else f"V{slot.size}" for slot in self.slots]
        layout = [(slot.name, form) for slot, form in zip(self.slots, formats, strict=True)]
        return np.dtype(layout)

    def pack(self, values: Mapping[str, object], *, pads: Mapping[str, bytes] | None = None) -> bytes:
        """The argument buffer, `size` bytes, for a value of each field; None is a null pointer.

        `pads` gives the bytes of pads by name, the rest is zero; values that come from `unpack` bring theirs.
        Raises InputError for missing or unknown names and for a value its type cannot hold.
        """
        if not pads and (packed := self._packer.pack(values)) is not None:
            return packed
        from argpack.schema.construct_form import build

        kept = values.pads if pads is None and isinstance(values, Values) else pads or {}
        names = [f.name for f in self.fields]
        self._check_names("field", values, names)
        missing = [name for name in names if name not in values]
        if missing:
            raise InputError(f"{self.name}: no value for {', '.join(missing)}")
        self._check_names("pad", kept, [slot.name for slot in self.slots if slot.field is None])
        content: dict[str, object] = {}
        for slot in self.slots:
            if slot.field is not None:
                content[slot.name] = self._checked(slot, slot.field, values[slot.name])
            else:
                content[slot.name] = self._pad(slot, kept.get(slot.name, bytes(slot.size)))
        return build(self, content)

    def unpack(self, data: bytes | bytearray | memoryview) -> Values:
        """Values and pads of an argument buffer of exactly `size` bytes; InputError for any other length."""
        from argpack.schema.construct_form import parse

        self.check_size(len(data))
        content = parse(self, bytes(data))
        return Values(
            {s.name: content[s.name] for s in self.slots if s.field is not None},
            {s.name: content[s.name] for s in self.slots if s.field is None},
        )

    def check_size(self, size: int) -> None:
        """Raise InputError unless `size` is the buffer's; too short a buffer has its missing fields named."""
        if size == self.size:
            return
        if size > self.size:
            raise InputError(
                f"{self.name}: expected {self.size} bytes, found {size}, {size - self.size} too many"
            )
        lost = ", ".join(f"{s.name} at 0x{s.offset:x}" for s in self.missing(size)[:3])
        more = len(self.missing(size)) - 3
        lost = f"{lost} and {more} more" if more > 0 else lost
        raise InputError(
            f"{self.name}: expected {self.size} bytes, found {size}, {self.size - size} short; missing: "
            f"{lost or 'only padding'}"
        )

    def missing(self, size: int) -> tuple[Slot, ...]:
        """The fields that a buffer of `size` bytes does not hold whole."""
        return tuple(slot for slot in self.slots if slot.field is not None and slot.end > size)

    def c_header(self) -> str:
        """C and C++ text: the packed struct, with a static_assert for its size and each field's offset."""
        from argpack.schema.c_header import header_of

        return header_of(self)

    def _check_names(self, kind: str, given: Mapping[str, object], known: list[str]) -> None:
        for name in given:
            if name not in known:
                many = (
                    f"expected {len(known)} {kind}s, found {len(given)}: " if len(given) > len(known) else ""
                )
                raise InputError(f"{self.name}: {many}no {kind} is named {name!r}{_nearest(name, known)}")

    def _checked(self, slot: Slot, entry: Field, value: object) -> object:
        try:
            return entry.scalar.decode(entry.scalar.encode(value))
        except InputError as error:
            raise InputError(f"{self.name}: {slot.name} at 0x{slot.offset:x}: {error}") from None

    def _pad(self, slot: Slot, content: bytes) -> bytes:
        if not isinstance(content, bytes | bytearray | memoryview) or len(content) != slot.size:
            found = (
                f"{len(content)}" if isinstance(content, bytes | bytearray | memoryview) else repr(content)
            )
            raise InputError(
                f"{self.name}: {slot.name} at 0x{slot.offset:x}: expected {slot.size} bytes, found {found}"
            )
        return bytes(content)


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    match = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {match[0]}?" if match else ""
