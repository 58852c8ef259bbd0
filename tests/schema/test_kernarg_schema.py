import shutil
import subprocess
import sys

import construct
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_checks import check_schema

from argpack.errors import InputError
from argpack.schema import TYPES, Field, KernargSchema, Role

SMALL = KernargSchema(
    "small",
    (
        Field("out", "ptr", "", Role.POINTER, "Where the result goes.", pad=8),
        Field("scale", "f32", "", Role.SCALAR, "A factor /* not a comment */.", pad=4),
        Field("rows", "u32", "rows", Role.EXTENT),
        Field("shift", "i16", "log2", pad=2),
    ),
    "A small schema.",
)
TYPE_NAMES = "ptr, u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64"
VALUES = {"out": 0x1000, "scale": 0.5, "rows": 7, "shift": -3}
DATA = bytes.fromhex("001000000000000000000000000000000000003f0000000007000000fdff0000")


@st.composite
def schemas(draw):
    types = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=6))
    pads = draw(st.lists(st.integers(0, 13), min_size=len(types), max_size=len(types)))
    return KernargSchema(
        "drawn",
        tuple(
            Field(f"f{i}", kind, role=Role.POINTER if kind == "ptr" else Role.SCALAR, pad=pad)
            for i, (kind, pad) in enumerate(zip(types, pads, strict=True))
        ),
    )


def test_a_declaration_agrees_with_itself_in_every_form():
    check_schema(SMALL, VALUES, DATA)


def test_slots_are_fields_and_named_pads_without_gaps():
    assert [(slot.name, slot.offset, slot.size) for slot in SMALL.slots] == [
        ("out", 0, 8), ("pad_out", 8, 8), ("scale", 16, 4), ("pad_scale", 20, 4), ("rows", 24, 4),
        ("shift", 28, 2), ("pad_shift", 30, 2),
    ]  # fmt: skip
    assert SMALL.size == 32
    assert SMALL.offset("pad_scale") == 20


@given(schemas(), st.data())
def test_unpack_then_pack_gives_the_same_bytes_pads_and_nans_included(schema, data):
    content = data.draw(st.binary(min_size=schema.size, max_size=schema.size))
    values = schema.unpack(content)
    assert schema.pack(values) == content
    assert schema.pack(dict(values), pads=values.pads) == content
    assert schema.construct.build(schema.construct.parse(content)) == content


@given(schemas(), st.data())
def test_slices_of_the_table_agree_with_construct(schema, data):
    content = data.draw(st.binary(min_size=schema.size, max_size=schema.size))
    parsed = schema.construct.parse(content)
    for slot in schema.slots:
        piece = content[slot.offset : slot.end]
        if slot.field is None:
            assert parsed[slot.name] == piece
        else:
            assert slot.field.scalar.encode(parsed[slot.name]) == piece


def test_pads_are_zero_unless_given():
    assert SMALL.pack(VALUES)[8:16] == bytes(8)
    packed = SMALL.pack(VALUES, pads={"pad_out": b"\xaa" * 8})
    assert packed[8:16] == b"\xaa" * 8
    assert packed[20:24] == bytes(4)


def test_pads_of_unpacked_values_give_way_to_pads_given():
    kept = SMALL.unpack(SMALL.pack(VALUES, pads={"pad_out": b"\xaa" * 8}))
    assert SMALL.pack(kept)[8:16] == b"\xaa" * 8
    assert SMALL.pack(kept, pads={}) == DATA


def test_null_pointer_may_be_none():
    assert SMALL.pack({**VALUES, "out": None})[:8] == bytes(8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 2**32 + 8}, "small: rows at 0x18: expected 0 to 4294967295 (u32), found 4294967304"),
        ({"rows": None}, "small: rows at 0x18: expected an integer (u32), found None"),
        (
            {"scale": 1e39},
            "small: scale at 0x10: expected a number within the range of f32, found float 1e+39",
        ),
        ({"row": 1}, "small: expected 4 fields, found 5: no field is named 'row'; did you mean rows?"),
        ({"pad_out": b""}, "small: expected 4 fields, found 5: no field is named 'pad_out'"),
    ],
)
def test_wrong_values_are_refused_by_name(change, message):
    with pytest.raises(InputError) as error:
        SMALL.pack({**VALUES, **change})
    assert str(error.value).startswith(message)


def test_missing_fields_are_all_named():
    with pytest.raises(InputError) as error:
        SMALL.pack({"out": 0, "scale": 1.0})
    assert str(error.value) == "small: no value for rows, shift"


@pytest.mark.parametrize(
    ("pads", "message"),
    [
        ({"pad_rows": b""}, "small: no pad is named 'pad_rows'"),
        ({"pad_out": b"abc"}, "small: pad_out at 0x8: expected 8 bytes, found 3"),
        ({"pad_out": 0}, "small: pad_out at 0x8: expected 8 bytes, found 0"),
        ({"pad_out": "12345678"}, "small: pad_out at 0x8: expected 8 bytes, found '12345678'"),
    ],
)
def test_wrong_pads_are_refused_by_name(pads, message):
    with pytest.raises(InputError) as error:
        SMALL.pack(VALUES, pads=pads)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (31, "small: expected 32 bytes, found 31, 1 short; missing: only padding"),
        (29, "small: expected 32 bytes, found 29, 3 short; missing: shift at 0x1c"),
        (26, "small: expected 32 bytes, found 26, 6 short; missing: rows at 0x18, shift at 0x1c"),
        (40, "small: expected 32 bytes, found 40, 8 too many"),
    ],
)
def test_wrong_length_says_what_is_missing(size, message):
    with pytest.raises(InputError) as error:
        SMALL.unpack(bytes(size))
    assert str(error.value) == message


def test_many_missing_fields_are_counted():
    with pytest.raises(InputError) as error:
        SMALL.unpack(b"")
    missing = "out at 0x0, scale at 0x10, rows at 0x18 and 1 more"
    assert str(error.value) == f"small: expected 32 bytes, found 0, 32 short; missing: {missing}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("1st", "u32"), "field '1st': expected an identifier of ASCII letters, digits and _"),
        (("längd", "u32"), "field 'längd': expected an identifier of ASCII letters, digits and _"),
        (("x", "int"), f"field x: expected a type of {TYPE_NAMES}, found 'int'"),
        (("x", "u32", "", Role.SCALAR, "", -1), "field x: expected a pad of 0 bytes or more, found -1"),
        (("x", "u32", "", Role.POINTER), "field x: role pointer does not go with type u32"),
        (("x", "ptr", "", Role.EXTENT), "field x: role extent does not go with type ptr"),
    ],
)
def test_bad_field_is_refused(arguments, message):
    with pytest.raises(InputError) as error:
        Field(*arguments)
    assert str(error.value) == message


def test_schema_without_fields_or_with_a_name_twice_is_refused():
    with pytest.raises(InputError, match="schema x: expected at least one field, found none"):
        KernargSchema("x", ())
    with pytest.raises(InputError, match="schema x: two slots are named pad_a"):
        KernargSchema("x", (Field("a", "u8", pad=1), Field("pad_a", "u8")))


def test_unknown_slot_name_is_refused():
    with pytest.raises(InputError, match=r"small: no field is named 'scal'; did you mean scale\?"):
        SMALL.offset("scal")


def test_errors_of_construct_itself_are_translated():
    from argpack.schema.construct_form import build, parse

    with pytest.raises(InputError, match=r"small: .*stream"):
        parse(SMALL, b"short")
    with pytest.raises(InputError, match="small: no value for shift"):
        build(SMALL, {k: v for k, v in {**SMALL.construct.parse(DATA)}.items() if k != "shift"})
    with pytest.raises(InputError, match=r"small: .*rows"):
        build(SMALL, {**SMALL.construct.parse(DATA), "rows": 2**32 + 8})


def test_pads_in_construct_are_bytes():
    parsed = SMALL.construct.parse(b"\xab" * 32)
    assert isinstance(SMALL.construct, construct.Struct)
    assert parsed["pad_out"] == b"\xab" * 8


@pytest.mark.parametrize(("compiler", "language"), [("gcc", "c"), ("g++", "c++")])
def test_c_header_compiles_with_its_asserts(compiler, language, tmp_path):
    if shutil.which(compiler) is None:
        pytest.fail(f"{compiler} is needed to check the generated header")
    header = tmp_path / "small.h"
    header.write_text(SMALL.c_header())
    source = tmp_path / "main.c"
    source.write_text('#include "small.h"\n#include "small.h"\nint main(void) { return 0; }\n')
    standard = "-std=c11" if language == "c" else "-std=c++17"
    command = [
        compiler,
        "-x",
        language,
        standard,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_c_compiler_refuses_a_header_whose_offset_is_wrong(tmp_path):
    source = tmp_path / "wrong.c"
    source.write_text(SMALL.c_header().replace("uint8_t pad_out[8]", "uint8_t pad_out[7]"))
    done = subprocess.run(
        ["gcc", "-std=c11", "-fsyntax-only", str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert 'static assertion failed: "scale"' in done.stderr


def test_importing_the_schema_loads_neither_numpy_nor_construct():
    code = (
        "import sys, argpack.schema\n"
        "argpack.schema.KernargSchema('x', (argpack.schema.Field('a', 'u32'),)).offset('a')\n"
        "print([m for m in ('numpy', 'construct') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
