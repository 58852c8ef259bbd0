"""One check of a declared schema in every direction; the tests of each family's schema call it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.schema import KernargSchema

STRUCT_CODES = {
    "ptr": "Q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "i8": "b", "i16": "h", "i32": "i", "i64": "q", "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip


def struct_format(schema: KernargSchema) -> str:
    """The schema as Python's struct module sees it: a path that shares nothing with argpack's codec."""
    return "<" + "".join(f"{STRUCT_CODES[f.type]}{f'{f.pad}x' if f.pad else ''}" for f in schema.fields)


def check_schema(schema: KernargSchema, values: Mapping[str, int | float], data: bytes) -> None:
    """`values` (no NaN, pads zero) and `data` are the same buffer in every form that the schema generates."""
    names = [field.name for field in schema.fields]
    assert struct.pack(struct_format(schema), *(values[name] for name in names)) == data
    assert schema.size == len(data) == struct.calcsize(struct_format(schema))

    assert schema.pack(values) == data
    unpacked = schema.unpack(data)
    assert dict(unpacked) == dict(values)
    assert len(unpacked) == len(names)
    assert schema.pack(unpacked) == data

    assert schema.construct.sizeof() == len(data)
    parsed = schema.construct.parse(data)
    assert {name: parsed[name] for name in names} == dict(values)
    assert schema.construct.build(parsed) == data

    assert schema.dtype.itemsize == len(data)
    record = np.frombuffer(data, schema.dtype)[0]
    assert {name: record[name].item() for name in names} == dict(values)
    assert np.array([record], schema.dtype).tobytes() == data

    for slot in schema.slots:
        assert schema.offset(slot.name) == slot.offset == schema.dtype.fields[slot.name][1]
        if slot.field is not None:
            assert slot.field.scalar.decode(data[slot.offset : slot.end]) == values[slot.name]
    ends = [0, *(slot.end for slot in schema.slots)]
    assert [slot.offset for slot in schema.slots] == ends[:-1]
