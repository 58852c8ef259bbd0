"""Schemas that users write: alignment has to be said, and every mistake is one line that names file and field."""

import pytest

from argpack.errors import InputError
from argpack.schema import Role
from argpack.schema.toml_form import load, parse

FOUR = """
[[field]]
name = "a"
type = "ptr"
[[field]]
name = "b"
type = "ptr"
[[field]]
name = "scale"
type = "f32"
[[field]]
name = "n"
type = "u32"
role = "extent"
unit = "rows"
use = "dead"
metadata = ["N", "M:fp32"]
"""


@pytest.mark.parametrize(
    ("align", "n", "size"), [("'packed'", 20, 24), ("'natural'", 20, 24), ("8", 24, 28), ("16", 48, 52)]
)
def test_each_rule_of_alignment_has_its_own_offsets(align, n, size):
    schema = parse(f"name = 'x'\nalign = {align}\n{FOUR}").schema
    assert schema.offset("n") == n
    assert schema.size == size


def test_without_a_rule_both_places_of_the_field_are_shown():
    with pytest.raises(InputError) as error:
        parse(f"name = 'x'\n{FOUR}", source="my.toml")
    assert str(error.value) == (
        "my.toml: align: expected packed, natural, 8 or 16, found nothing: n would be at 0x14 (packed and natural), "
        "0x18 (8), 0x30 (16)"
    )


def test_size_adds_the_padding_at_the_end():
    schema = parse(f"name = 'x'\nalign = 8\nsize = 32\n{FOUR}").schema
    assert (schema.size, schema.slot("pad_n").size) == (32, 4)


def test_roles_units_uses_and_metadata_names_are_read():
    document = parse(f"name = 'x'\nalign = 'natural'\n{FOUR}")
    assert [field.role for field in document.schema.fields] == [
        Role.POINTER, Role.POINTER, Role.SCALAR, Role.EXTENT,
    ]  # fmt: skip
    assert document.schema.fields[3].unit == "rows"
    assert document.uses == {"n": "dead"}
    assert document.metadata == {"n": ("N:i32", "M:fp32")}


ONE = "[[field]]\nname = 'a'\ntype = 'u32'\n"
TOP = "name = 'x'\nalign = 'packed'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [", "s: expected TOML: "),
        ("", "s: name: expected a value, found nothing"),
        (
            "name = 'a b'\n" + ONE,
            "s: name: expected an identifier of ASCII letters, digits and _, found 'a b'",
        ),
        (TOP, "s: expected a [[field]] for each argument, found none"),
        (TOP + "field = [1]", "s: expected a [[field]] for each argument, found none"),
        (TOP + "aling = 8\n" + ONE, "s: no key is named 'aling'; did you mean align?"),
        (TOP + ONE + "pads = 8", "s: field a: no key is named 'pads'; did you mean pad?"),
        (TOP + ONE + "pad = '8'", "s: field a: pad: found '8', of the wrong kind"),
        (TOP + ONE + "pad = true", "s: field a: pad: found True, of the wrong kind"),
        (TOP + ONE + "pad = -1", "s: field a: expected a pad of 0 bytes or more, found -1"),
        (TOP + ONE + "offset = 4", "s: field a: offset 0x4 is given, its place is 0x0"),
        (TOP + "size = 8\n" + ONE, "s: size: 8 bytes are given, the fields take 4"),
        (
            TOP + ONE + "role = 'size'",
            "s: field a: role: expected pointer, extent, stride, scalar, found 'size'",
        ),
        (TOP + ONE + "use = 'no'", "s: field a: use: expected live, dead, unread, found 'no'"),
        (TOP + ONE + "metadata = [1]", "s: field a: metadata: expected names, found [1]"),
        (TOP + "[[field]]\nname = 'a'", "s: field a: type: expected a value, found nothing"),
        (TOP + "[[field]]\ntype = 'u32'", "s: field: name: expected a value, found nothing"),
        (TOP + ONE.replace("u32", "int"), "s: field a: expected a type of ptr, u8,"),
        (TOP + ONE + ONE, "s: schema x: two slots are named a"),
        (
            "name = 'x'\nalign = 8\n" + ONE + "pad = 4",
            "s: field a: pad goes with align packed alone, found 8",
        ),
        ("name = 'x'\nalign = 4\n" + ONE, "s: align: expected packed, natural, 8 or 16, found 4"),
        ("name = 'x'\nalign = 'wide'\n" + ONE, "s: align: expected packed, natural, 8 or 16, found 'wide'"),
    ],
)
def test_mistakes_are_named_with_their_field(text, message):
    with pytest.raises(InputError) as error:
        parse(text, source="s")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: No such file or directory"):
        load(tmp_path / "none.toml")
    with pytest.raises(InputError, match="Is a directory"):
        load(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="expected TOML, found bytes that are not UTF-8"):
        load(binary)
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(InputError, match="expected a schema of at most 1048576 bytes, found more"):
        load(large)
