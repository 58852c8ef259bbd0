import math
import re
import struct

import pytest

from argpack.families.family import Usage
from argpack.hexdump import Dump, annotate, readings
from argpack.hexdump.reading import value_text
from argpack.schema import TYPES, Field, KernargSchema, Role

SCHEMA = KernargSchema(
    "tiny",
    (
        Field("out", "ptr", "", Role.POINTER, "The result.", 8),
        Field("alpha", "f32", "", Role.SCALAR, "A factor.", 4),
        Field("rows", "u32", "rows", Role.EXTENT, "How many."),
    ),
)
USAGE = {"out": Usage.LIVE, "alpha": Usage.DEAD, "rows": Usage.LIVE}
DATA = bytes.fromhex("0010000000000000aa000000000000000000003f0000000007000000")


def test_each_field_with_bytes_value_unit_and_use():
    assert annotate(Dump.whole(DATA), SCHEMA, USAGE) == (
        "offset  bytes                    field  type  value   unit  use   note\n"
        "0x000   00 10 00 00 00 00 00 00  out    ptr   0x1000        live  The result.\n"
        "0x010   00 00 00 3f              alpha  f32   0.5           dead  A factor.\n"
        "0x018   07 00 00 00              rows   u32   7       rows  live  How many.\n"
        "2 pads, 12 bytes: 1 not zero, 1 zero\n"
    )


def test_unknown_and_missing_values_are_said_to_be_so():
    cut = Dump(b"\0" * 16 + b"\0\0\0\x3f", b"\0" * 17 + b"\1" * 3)
    lines = annotate(cut, SCHEMA).splitlines()
    assert lines[1].split() == ["0x000", *["??"] * 8, "out", "ptr", "?", "The", "result."]
    assert lines[2].split()[:7] == ["0x010", "??", "00", "00", "3f", "alpha", "f32"]
    assert lines[3].split() == ["0x018", "rows", "u32", "missing", "rows", "How", "many."]
    assert lines[4] == "1 pad, 8 bytes: 1 unknown"


def test_colour_dims_what_does_not_matter_and_changes_no_text():
    coloured = annotate(Dump.whole(DATA), SCHEMA, USAGE, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == annotate(Dump.whole(DATA), SCHEMA, USAGE)
    assert coloured.splitlines()[2].startswith("\x1b[2m")
    assert coloured.splitlines()[3].startswith("0x018")


def test_a_schema_without_pads_has_no_line_about_them():
    plain = KernargSchema("plain", (Field("a", "u8"),))
    assert len(annotate(Dump.whole(b"\1"), plain).splitlines()) == 2


def test_readings_hold_bytes_values_and_state():
    found = {reading.slot.name: reading for reading in readings(Dump.whole(DATA), SCHEMA, USAGE)}
    assert {name: reading.value for name, reading in found.items()} == {
        "out": 0x1000, "pad_out": None, "alpha": 0.5, "pad_alpha": None, "rows": 7,
    }  # fmt: skip
    assert found["pad_out"].text == "aa 00 00 00 00 00 00 00"
    assert found["pad_out"].usage is None
    assert all(reading.whole and not reading.missing for reading in found.values())


@pytest.mark.parametrize(
    ("type_name", "bits", "text"),
    [
        ("ptr", 0, "null"),
        ("ptr", 0x7FAB6D200000, "0x7fab6d200000"),
        ("u32", 0xFFFFFFFF, "4294967295"),
        ("i32", 0xFFFFFFFF, "-1"),
        ("f32", 0x3DCCCCCD, "0.1"),
        ("f32", 0x7F7FFFFF, "3.4028235e+38"),
        ("f32", 0x00000001, "1e-45"),
        ("f32", 0x80000000, "-0.0"),
        ("f32", 0x7F800000, "inf"),
        ("f32", 0xFFC00001, "nan (0xffc00001)"),
        ("f32", 0x7F800001, "nan (0x7f800001)"),
        ("f16", 0x3C00, "1.0"),
        ("f64", 0x3FD5555555555555, "0.3333333333333333"),
        ("f64", 0x3FD3333333333334, "0.30000000000000004"),
    ],
)
def test_values_are_written_in_the_base_people_read(type_name, bits, text):
    scalar = TYPES[type_name]
    assert value_text(scalar, scalar.decode(bits.to_bytes(scalar.size, "little"))) == text


def test_the_shortest_text_of_a_float_gives_its_bits_back():
    for bits in range(0, 2**31, 2**31 // 997):
        value = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
        if math.isfinite(value):
            assert struct.pack("<f", float(value_text(TYPES["f32"], value))) == bits.to_bytes(4, "little")
