"""Files that are no readable code objects: one line each, with the file's name and what to do."""

import struct

import pytest
from made_objects import assembly, described, packed

from argpack.codeobject import parse, read
from argpack.errors import InputError

MACHINE = "an ELF file for another machine: expected 64-bit little-endian AMDGPU (machine 224), found"


def message_of(data, source="x.co"):
    with pytest.raises(InputError) as caught:
        parse(data, source=source)
    text = str(caught.value)
    assert text.startswith(f"{source}: ")
    assert text.isprintable()
    return text.removeprefix(f"{source}: ")


@pytest.fixture(scope="module")
def sound(build):
    return build(assembly(), note=packed(described()))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"#!/bin/sh\necho hello\n", "a text file, not a code object (ELF)"),
        (b"\0\1\2\3\4", "not an ELF file: expected it to start with 7f 45 4c 46, found 00 01 02 03"),
        (b"\xff", "not an ELF file: expected it to start with 7f 45 4c 46, found ff"),
        (b"BC\xc0\xde\x35", "LLVM bitcode, not a code object: compile and link it for an amdgcn target"),
        (b"\x7fELF", "truncated ELF file: expected a header of 64 bytes, found 4"),
    ],
)  # fmt: skip
def test_what_is_no_elf_file_is_named(data, message):
    assert message_of(data) == message


def test_missing_file(tmp_path):
    path = tmp_path / "none.co"
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: cannot read the file: No such file or directory"


def test_directory(tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot read the file: Is a directory"


def test_name_with_a_null_byte():
    with pytest.raises(InputError, match=r"^'a\\x00b': cannot read the file: embedded null byte$"):
        read("a\0b")


def patched(data, offset, value):
    return data[:offset] + value + data[offset + len(value) :]


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (18, b"\x3e\0", f"{MACHINE} 64-bit little-endian machine 62"),
        (4, b"\1", f"{MACHINE} 32-bit little-endian machine 224"),
        (5, b"\2", f"{MACHINE} 64-bit big-endian machine 57344"),
        (7, b"\x41", "an AMDGPU ELF file for another system: expected OS/ABI 64 (HSA), found 65"),
        (8, b"\0", "code object V2 (EI_ABIVERSION 0): argpack reads V3 to V6"),
        (8, b"\5", "code object V7 (EI_ABIVERSION 5): argpack reads V3 to V6"),
        (16, b"\2\0", "expected an ELF shared object (type 3), found type 2"),
        (48, b"\xfe", "ELF flags 0x5fe: unknown AMDGPU processor number 0xfe"),
        (54, b"\x20\0", "damaged ELF file: expected program headers of 56 bytes, found 32"),
        (58, b"\x28\0", "damaged ELF file: expected section headers of 64 bytes, found 40"),
        (60, b"\0\0", "an ELF file without section headers: its symbols cannot be found"),
    ],
)
def test_header_of_another_kind_of_file(sound, offset, value, message):
    assert message_of(patched(sound, offset, value)) == message


def test_relocatable_object_is_not_linked_yet(build):
    data = build(assembly(), note=packed(described()), link=False)
    assert message_of(data) == "a relocatable object, not linked yet: link it with `ld.lld -shared`"


def test_no_metadata_note(build):
    expected = "no AMDGPU metadata note: nothing says which kernels and arguments the file has"
    assert message_of(build(assembly())) == expected


@pytest.mark.parametrize(
    ("note", "message"),
    [
        (b"\x81", "damaged metadata note (1 bytes of msgpack): a value ends behind the note"),
        (packed(described())[:-1], "damaged metadata note (237 bytes of msgpack): a value ends behind the note"),
        (b"\xc1", "damaged metadata note (1 bytes of msgpack): a byte that starts no value"),
        (b"\x91" * 2000, "damaged metadata note (2000 bytes of msgpack): nested too deeply"),
        (b"\x80\x80", "damaged metadata note (2 bytes of msgpack): there are more bytes behind its end"),
        (b"\xa1\xff", "damaged metadata note (2 bytes of msgpack): text that is not UTF-8"),
        (b"\x81\x80\x80", "damaged metadata note (3 bytes of msgpack): a map's key that cannot be one"),
        (b"\x93\1\2\3", "damaged metadata note: expected a map, found list"),
        (b"\x80", "damaged metadata note: expected 'amdhsa.kernels' to be a list of maps"),
        (packed(kernels={"a": 1}), "damaged metadata note: expected 'amdhsa.kernels' to be a list of maps"),
        (packed(3), "damaged metadata note: expected 'amdhsa.kernels' to be a list of maps"),
        (packed(), "the metadata note lists no kernel"),
        (packed(described(name=None)), "kernel 0: metadata '.name': expected text, found nothing"),
        (packed(described(name=7)), "kernel 0: metadata '.name': expected text, found 7"),
        (packed(described(name="a\nb")), r"kernel 0: metadata '.name': expected text, found 'a\nb'"),
        (packed(described(symbol=None)), "kernel 'k': metadata '.symbol': expected text, found nothing"),
        (packed(described("l")), "kernel 'l': the kernel descriptor 'l.kd' is not in the symbol table"),
        (packed(described(), described("l")), "kernel 'l': the kernel descriptor 'l.kd' is not in the symbol table"),
        (packed(described(args=5)), "kernel 'k': expected '.args' to be a list of maps"),
        (packed(described(args=["x"])), "kernel 'k': expected '.args' to be a list of maps"),
        (
            packed(described(args=[{".offset": 0, ".size": -4, ".value_kind": "by_value"}])),
            "kernel 'k': argument 0: metadata '.size': expected a number, found -4",
        ),
        (
            packed(described(args=[{".offset": 0, ".size": 4}])),
            "kernel 'k': argument 0: metadata '.value_kind': expected text, found nothing",
        ),
        (
            packed(described(kernarg_segment_size=None)),
            "kernel 'k': metadata '.kernarg_segment_size': expected a number, found nothing",
        ),
        (packed(described(vgpr_count=True)), "kernel 'k': metadata '.vgpr_count': expected a number, found True"),
        (packed(described(agpr_count="8")), "kernel 'k': metadata '.agpr_count': expected a number, found '8'"),
        (
            packed(described(reqd_workgroup_size=[256, 1])),
            "kernel 'k': metadata '.reqd_workgroup_size': expected three numbers, found [256, 1]",
        ),
        (packed(described(), target=950), "the note: metadata 'amdhsa.target': expected text, found 950"),
    ],
)  # fmt: skip
def test_metadata_that_cannot_be_used(build, note, message):
    assert message_of(build(assembly(), note=note)) == message


def symbol_entry(data, name):
    """Where the dynamic symbol `name` stands in the file."""
    headers = struct.unpack_from("<Q", data, 40)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, headers + 64 * i) for i in range(data[60])]
    symbols = next(section for section in sections if section[1] == 11)
    names = sections[symbols[6]][4]
    wanted = data.index(b"\0" + name + b"\0", names) + 1 - names
    entries = range(symbols[4], symbols[4] + symbols[5], 24)
    return next(at for at in entries if struct.unpack_from("<I", data, at)[0] == wanted)


def test_no_symbol_table(sound):
    headers = struct.unpack_from("<Q", sound, 40)[0]
    data = sound
    for at in range(headers, headers + 64 * sound[60], 64):
        if struct.unpack_from("<I", sound, at + 4)[0] in (2, 11):
            data = patched(data, at + 4, struct.pack("<I", 1))
    assert message_of(data) == "an ELF file without a symbol table (.dynsym)"


def test_descriptor_outside_the_file(sound):
    data = patched(sound, symbol_entry(sound, b"k.kd") + 8, struct.pack("<Q", 0x70000))
    assert message_of(data) == "kernel 'k': the kernel descriptor at 0x70000 lies outside the file's segments"


def test_code_outside_the_executable_segments(sound):
    descriptor = struct.unpack_from("<Q", sound, symbol_entry(sound, b"k.kd") + 8)[0]
    data = patched(sound, descriptor + 16, struct.pack("<q", -descriptor))
    assert message_of(data) == "kernel 'k': its code at 0x0 lies outside the file's executable segments"
