"""A field of an argument buffer, declared once, and the named slots (fields and pads) that fields lay out."""

from __future__ import annotations

import enum
from typing import NamedTuple

from argpack.errors import InputError
from argpack.schema.scalar import TYPES, ScalarType
from argpack.values import value


class Role(enum.StrEnum):
    """What an argument is for. Most wrong launches are a right number in the wrong unit or role."""

    POINTER = "pointer"
    EXTENT = "extent"
    STRIDE = "stride"
    SCALAR = "scalar"


@value()
class Field:
    """One argument. `type` names a row of the scalar table (`ptr`, `u32`, `f32`, ...).

    `unit` says what the number counts ("bytes", "fp4 elements", "rows", "log2"), empty where it counts none;
    `pad` is how many bytes of padding follow. Raises InputError for a name that is no identifier, an unknown
    type, a negative pad, or a role that does not go with the type.
    """

    name: str
    type: str
    unit: str = ""
    role: Role = Role.SCALAR
    doc: str = ""
    pad: int = 0

    def __post_init__(self) -> None:
        if not (self.name.isascii() and self.name.isidentifier()):
            raise InputError(f"field {self.name!r}: expected an identifier of ASCII letters, digits and _")
        if self.type not in TYPES:
            raise InputError(f"field {self.name}: expected a type of {', '.join(TYPES)}, found {self.type!r}")
        if self.pad < 0:
            raise InputError(f"field {self.name}: expected a pad of 0 bytes or more, found {self.pad}")
        if (self.role is Role.POINTER) != (self.type == "ptr"):
            raise InputError(f"field {self.name}: role {self.role} does not go with type {self.type}")

    @property
    def scalar(self) -> ScalarType:
        """The row of the scalar table."""
        return TYPES[self.type]

    @property
    def size(self) -> int:
        """Bytes of the value, the pad left out."""
        return self.scalar.size


class Slot(NamedTuple):
    """Bytes `offset` to `end` of an argument buffer: a field, or the pad after one (`field` is None)."""

    name: str
    offset: int
    size: int
    field: Field | None

    @property
    def end(self) -> int:
        """Offset of the first byte after the slot."""
        return self.offset + self.size
