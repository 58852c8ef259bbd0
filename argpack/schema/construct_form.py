"""The construct form of a schema, generated from its field table, and construct's own errors translated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import construct

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.schema.kernarg import KernargSchema
    from argpack.schema.scalar import ScalarType

_INTEGERS = {
    ("unsigned", 1): construct.Int8ul,
    ("unsigned", 2): construct.Int16ul,
    ("unsigned", 4): construct.Int32ul,
    ("unsigned", 8): construct.Int64ul,
    ("signed", 1): construct.Int8sl,
    ("signed", 2): construct.Int16sl,
    ("signed", 4): construct.Int32sl,
    ("signed", 8): construct.Int64sl,
    ("pointer", 8): construct.Int64ul,
}


def struct_of(schema: KernargSchema) -> construct.Struct:
    """Every slot in order; pads are Bytes, not Padding, because their contents must survive."""
    parts = []
    for slot in schema.slots:
        part = _scalar(slot.field.scalar) if slot.field else construct.Bytes(slot.size)
        parts.append(slot.name / part)
    return construct.Struct(*parts)


def parse(schema: KernargSchema, data: bytes) -> Mapping[str, Any]:
    """Slot contents by name."""
    try:
        return dict(schema.construct.parse(data))
    except construct.ConstructError as error:
        raise InputError(f"{schema.name}: {_one_line(error)}") from error


def build(schema: KernargSchema, content: Mapping[str, object]) -> bytes:
    """The buffer for the contents of every slot. construct lets a bare KeyError out for a missing name."""
    try:
        return bytes(schema.construct.build(content))
    except KeyError as error:
        raise InputError(f"{schema.name}: no value for {error.args[0]}") from error
    except construct.ConstructError as error:
        raise InputError(f"{schema.name}: {_one_line(error)}") from error


def _scalar(scalar: ScalarType) -> Any:
    if scalar.kind != "float":
        return _INTEGERS[scalar.kind, scalar.size]

    # construct's own floats set the quiet bit of a signalling NaN.
    def decode(data: bytes, _context: object) -> int | float:
        return scalar.decode(data)

    def encode(value: object, _context: object) -> bytes:
        return scalar.encode(value)

    return construct.ExprAdapter(construct.Bytes(scalar.size), decode, encode)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
