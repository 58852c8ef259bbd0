"""Truncated and altered code objects: each is read or refused in one line, nothing else happens."""

import struct

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_objects import assembly, described, packed

from argpack.codeobject import parse, read
from argpack.errors import ArgpackError, InputError

ARGUMENT = {".name": "n", ".offset": 0, ".size": 4, ".value_kind": "by_value", ".value_type": "i32"}


@pytest.fixture(scope="module")
def small(build):
    """Two kernels with arguments in 2,000 bytes."""
    kernels = [described(name, args=[ARGUMENT, ARGUMENT]) for name in ("a", "b")]
    return build(assembly("a"), assembly("b"), note=packed(*kernels))


@pytest.fixture(scope="module")
def real(kernels_dir):
    return (kernels_dir / "gfx942/flatmm_uk_gfx9_f16f8_128x256x128_1x4x1_16x16x32.co").read_bytes()


def outcome(data):
    """`read` or `refused`; everything that is derived from what was read is looked at."""
    message = None
    try:
        code_object = parse(data, source="x.co")
    except ArgpackError as error:
        message = str(error)
    if message is not None:
        assert message.startswith("x.co: ")
        assert message.isprintable()
        return "refused"
    for kernel in code_object.kernels:
        assert len(code_object.code(kernel)) == kernel.code_size
        for name in dir(kernel.descriptor):
            getattr(kernel.descriptor, name)
    return "read"


def test_truncated_at_any_length_is_refused(small):
    assert outcome(small) == "read"
    assert {outcome(small[:length]) for length in range(len(small))} == {"refused"}


def test_real_file_truncated_is_refused(real):
    assert outcome(real) == "read"
    assert {outcome(real[:length]) for length in range(0, len(real), 13)} == {"refused"}


def test_message_of_a_truncated_file_says_so(small):
    # The section headers end the file.
    with pytest.raises(
        InputError, match=r"^x\.co: truncated ELF file: expected \d+ section headers at 0x[0-9a-f]+, found "
    ):
        parse(small[:-1], source="x.co")


def test_any_byte_altered_is_read_or_refused(small):
    outcomes = [
        outcome(small[:at] + bytes([value]) + small[at + 1 :])
        for at in range(len(small))
        for value in {0, 0xFF, small[at] ^ 1, small[at] ^ 0x80} - {small[at]}
    ]
    assert outcomes.count("read") > 1000
    assert outcomes.count("refused") > 1000


EXTENTS = st.sampled_from([0, 1, 64, 12200, 12201, 1 << 31, 1 << 63, (1 << 64) - 1]) | st.integers(
    0, (1 << 64) - 1
)
# The ELF header, program headers, note and symbols; from 11400 on the section headers.
PLACES = st.integers(0, 3200) | st.integers(11400, 12198)


@given(st.lists(st.tuples(PLACES, st.sampled_from([2, 4, 8]), EXTENTS), min_size=1, max_size=3))
def test_extents_altered_together_are_read_or_refused(real, changes):
    data = bytearray(real)
    for at, size, value in changes:
        data[at : at + size] = struct.pack("<Q", value)[:size]
    outcome(bytes(data[: len(real)]))


PLAIN = st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats()
VALUES = st.recursive(
    PLAIN | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def room(build):
    """A code object with a note of 600 bytes to write into, and where they start."""
    data = build(assembly(), note=b"\xc0" * 600)
    return data, data.index(b"\xc0" * 600)


def with_note(room, note):
    """Changes the note's contents and its size."""
    data, at = room
    assert len(note) <= 600
    sized = data[: at - 16] + struct.pack("<I", len(note)) + data[at - 12 : at]
    return sized + note + data[at + len(note) :]


@given(key=st.sampled_from(sorted(described() | {".agpr_count": 0, ".reqd_workgroup_size": 0})), value=VALUES)
def test_any_value_of_any_metadata_key_is_read_or_refused(room, key, value):
    outcome(with_note(room, packed(described() | {key: value})))


@given(key=st.sampled_from([*ARGUMENT, ".access", ".type_name"]), value=VALUES)
def test_any_value_of_any_argument_key_is_read_or_refused(room, key, value):
    outcome(with_note(room, packed(described() | {".args": [ARGUMENT | {key: value}]})))


@given(VALUES)
def test_any_note_is_refused(room, value):
    assert outcome(with_note(room, msgpack.packb(value))) == "refused"


@given(st.binary(max_size=200))
def test_any_bytes_as_a_note_are_refused(room, note):
    assert outcome(with_note(room, note)) == "refused"


def test_a_note_replaced_is_read(room):
    assert outcome(with_note(room, packed(described()))) == "read"


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data):
    assert outcome(data) == "refused"
    assert outcome(b"\x7fELF\x02\x01\x01\x40\x03" + data) == "refused"


@pytest.mark.parametrize("content", [b"", b"text\n", b"\x7fELF", b"\0" * 100])
def test_files_are_refused_like_their_bytes(tmp_path, content):
    path = tmp_path / "x.co"
    path.write_bytes(content)
    with pytest.raises(InputError) as of_file:
        read(path)
    with pytest.raises(InputError) as of_bytes:
        parse(content, source=str(path))
    assert str(of_file.value) == str(of_bytes.value)
