"""For each accepted form a rejected twin, with its exact message."""

import pytest

from argpack.errors import InputError
from argpack.hexdump import Dump, parse

ROW16 = "00000000: 0001 0203 0405 0607 0809 0a0b 0c0d 0e0f  ................\n"
BYTES = "00000000  00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f  |................|\n"
GDB = "0x7ffe00:\t0x00000001\t0x00000002\n"

FAULTS = [
    # xxd and its relatives
    (
        ROW16 + "00000020: 00  .\n",
        None,
        "d:2: expected offset 00000010, or an elision before it, found 00000020",
    ),
    (
        ROW16 + "00000008: 00  .\n",
        None,
        "d:2: offset 00000008 overlaps the rows before it, expected 00000010",
    ),
    (ROW16 + "00000010: 000g  ..\n", None, "d:2: expected pairs of hex digits or ??, found '000g'"),
    (ROW16 + "00000010: 0001 02034 05  ..\n", None, "d:2: expected groups of 2 bytes, found '02034'"),
    (
        "00000000: 0001 0203  .a..\n",
        None,
        "d:1: the text beside the bytes contradicts them: expected '....', found '.a..'",
    ),
    (
        ROW16 + "[...]\n00000018: 00  .\n",
        None,
        "d:3: expected an offset that is a multiple of 16, found 00000018",
    ),
    (
        ROW16 + "[...]\n",
        None,
        "d:2: elision at the end leaves the size unknown: write the last row, ?? for unknown bytes",
    ),
    (ROW16 + "*\n00000010: 00  .\n", None, "d:2: elision covers no byte: the next offset is 00000010"),
    (ROW16 + "*\n*\n00000030: 00  .\n", None, "d:3: elision follows an elision on line 2"),
    ("*\n00000010: 0001 0203  ....\n", None, "d:1: expected a row before *, which repeats it, found none"),
    (ROW16 + "*\n99999990: 00  .\n", None, "d:3: expected an offset up to 1048576, found 99999990"),
    (
        "00000000: 0001 0203  ....\n00000004: 0001 0203 0405  ......\n",
        None,
        "d:2: expected 4 bytes in a row, found 6",
    ),
    (
        "00000000: 0001 02  ...\n00000003: 04  .\n00000004: 00  .\n",
        None,
        "d:2: expected 3 bytes in a row before the last, found 1",
    ),
    ("0001 0203", "xxd", "d:1: expected a row of xxd, found '0001 0203'"),
    ("00000000: 000102", "xxd-e", "d:1: expected a row of xxd-e, found '00000000: 000102'"),
    # hexdump and od
    (BYTES + "00000011\n", None, "d:2: expected the size 00000010, found 00000011"),
    (
        BYTES + "00000010\n00000010  01\n",
        None,
        "d:3: expected nothing after the size on line 2, found another row",
    ),
    (
        BYTES.replace("0f  |", "  |"),
        None,
        "d:1: the text beside the bytes contradicts them: expected '...............', found '................'",
    ),
    ("0000000 000000 200000\n0000004\n", "od", "d:1: expected six octal digits up to 177777, found '200000'"),
    ("0000000 000000 00000\n0000004\n", "od", "d:1: expected six octal digits up to 177777, found '00000'"),
    ("0000000 0001 00g2\n0000004\n", None, "d:1: expected pairs of hex digits or ??, found '00g2'"),
    (
        "0000000 0001 0002\n0000003 0001\n",
        "hexdump",
        "d:2: offset 0000003 overlaps the rows before it, expected 0000004",
    ),
    # debug agent, word groups, printf loops
    ("0x0000: 00000001 0002\n", None, "d:1: expected groups of 4 bytes, found '0002'"),
    (
        "0x0000: 00000001\n0x0008: 00000001\n",
        None,
        "d:2: expected offset 0x0004, or an elision before it, found 0x0008",
    ),
    (
        "+0000  00000001 00g0\n",
        None,
        "d:1: the text beside the bytes contradicts them: expected '....', found '00g0'",
    ),
    (
        "+0000  00000001 0002 00\n",
        "word-groups",
        "d:1: expected groups of 4 bytes, found '0002'",
    ),
    ("0: 00 01\n4: 02 03\n", None, "d:2: expected offset 0002, or an elision before it, found 0004"),
    # gdb
    (
        GDB + "0x7ffe0c:\t0x00000003\n",
        None,
        "d:2: expected offset 0x7ffe08, or an elision before it, found 0x7ffe0c",
    ),
    (
        GDB + "0x7ffe04:\t0x00000003\n",
        None,
        "d:2: offset 0x7ffe04 overlaps the rows before it, expected 0x7ffe08",
    ),
    (GDB + "0x7ff000:\t0x00000003\n", None, "d:2: expected an address from 0x7ffe00 on, found 0x7ff000"),
    (GDB + "0x7ffe08:\t0x0003\n", None, "d:2: expected 0x and 8 digits, found '0x0003'"),
    (GDB + "0x7ffe08:\t3\n", None, "d:2: expected 0x and 8 digits, found '3'"),
    (GDB + "0x7ffe08:\n", None, "d:2: expected values after the address, found none"),
    (
        "0x7ffe00:\t0x1\t0x2\n",
        None,
        "d:1: expected 0x and 2, 4, 8 or 16 digits as x/b to x/g print, found '0x1'",
    ),
    ("0x7ffe00 <a+9999999>:\t0x01\n", "gdb", "d:1: expected an offset up to 1048576, found 9999999"),
    ("00 01", "gdb", "d:1: expected a row of gdb's x command, found '00 01'"),
    # Tensile and AITER
    (
        "[0..3] a: 00 00 00 00 (0)\n[2..3] b: 00 00 (0)\n",
        None,
        "d:2: range 2..3 overlaps the lines before it, expected 4",
    ),
    (
        "[4..7] a: 00 00 00 00 (0)\n[0..3] b: 00 00 00 00 (0)\n",
        None,
        "d:2: range 0..3 overlaps the lines before it, expected 8",
    ),
    ("[3..0] a: 00 (0)\n", None, "d:1: expected 1 bytes as 3..0 says, found 1"),
    (
        "[0..1] a: 00 zz (0)\n",
        None,
        "d:1: expected a dump in a known format (--format lists them), found '[0..1] a: 00 zz (0)'",
    ),
    (
        "[0..1] a: 00 00 (0)\n[2..3] b\n",
        None,
        "d:2: expected '[first..last] name: bytes (value)', found '[2..3] b'",
    ),
    ("[9999990..9999991] a: 00 00 (0)\n", None, "d:1: expected a range up to 1048576, found 9999991"),
    (
        "[aiter kernarg 4B]\n00 01 02 03 04\n",
        None,
        "d:2: expected 4 bytes of two hex digits, found '00 01 02 03 04'",
    ),
    ("[aiter kernarg 2B]\n00 01\n02 03\n", None, "d:3: expected 2 bytes as the heading says, found more"),
    ("[aiter kernarg xB]\n00 01\n", None, "d: expected a heading [aiter kernarg …B] with a size, found none"),
    # words
    ("0x0001 0x000002", None, "d:1: expected a word of 0x and 4 hex digits, found '0x000002'"),
    ("0x0001 0002", None, "d:1: expected a word of 0x and 4 hex digits, found '0002'"),
    (
        "0x123 0x456",
        None,
        "d:1: numbers in hex state no size of an element: write a type, as in uint32_t args[] = {0x1, 0x2}",
    ),
    # literals
    ("uint8_t a[4] = {1, 2};", None, "d: expected 4 elements as declared, found 2"),
    ("uint8_t a[] = {1, 256};", None, "d: expected elements of 1 bytes, found '256'"),
    (
        "a = [1, 256]",
        None,
        "d: the size of an element is not stated: expected bytes or a type, as in uint32_t args[] = …, found '256'",
    ),
    ("uint8_t a[] = {1, x};", None, "d:1: expected a number, found 'x'"),
    ("uint8_t a[] = {1,\n 2,\n  y};", None, "d:3: expected a number, found 'y'"),
    (
        "uint8_t a[] = {1, 010};",
        None,
        "d:1: expected a decimal or hex number, found '010', which C takes for octal",
    ),
    ("a = b'\\xzz'", None, "d:1: expected a bytes literal of Python, found another"),
    ("bytes.fromhex('0001 0g')", None, "d:1: expected pairs of hex digits or ??, found '00010g'"),
    ("00 01", "literal", "d: expected an array or a bytes literal, found none"),
    # base64, npy
    ("AAECAwQFBgcICQoLDA==\nAAAA", "base64", "d: expected base64: excess data after padding"),
    ("AAEC AwQF", "base64", "d:1: expected one group of base64 in a line, found 'AAEC AwQF'"),
    (b"\x93NUMPY\1", None, "d: expected a .npy file of version 1 to 3, found a damaged header"),
    (
        b"\x93NUMPY\1\0\x04\0abcd",
        None,
        "d: expected a header with descr, fortran_order and shape, found 'abcd'",
    ),
]


@pytest.mark.parametrize(
    ("content", "name", "message"), FAULTS, ids=[message[:50] for _, _, message in FAULTS]
)
def test_a_fault_is_one_line_with_its_place(content, name, message):
    with pytest.raises(InputError) as error:
        parse(content, source="d", format_name=name)
    assert str(error.value) == message


def npy(descr, shape, data, order="False"):
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode() + data


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy("'>u4'", "(1,)", b"1234"), "d: expected little-endian numbers, found '>u4'"),
        (npy("'|O'", "(1,)", b"1234"), "d: expected items of plain numbers, found \"'|O'\""),
        (npy("'<M8'", "(1,)", b"12345678"), "d: expected little-endian numbers, found '<M8'"),
        (npy("'<u4'", "(2,)", b"1234"), "d: expected 8 bytes of items, found 4"),
        (
            npy("'<u4'", "(1, 1, 1)", b"1234"),
            "d: expected one or two dimensions in C order, found shape (1, 1, 1)",
        ),
        (
            npy("'|u1'", "(2, 2)", b"1234", "True"),
            "d: expected one or two dimensions in C order, found shape (2, 2)",
        ),
        (npy("'|u1'", "(0,)", b""), "d: expected at least one byte, found none"),
    ],
)
def test_an_array_that_is_no_buffer_is_refused(content, message):
    with pytest.raises(InputError) as error:
        parse(content, source="d")
    assert str(error.value) == message


ACCEPTED = [
    ("static const unsigned int x[3] = {1, 2, 3};", b"\1\0\0\0\2\0\0\0\3\0\0\0"),
    ("std::array<uint16_t, 2> x = {0x0102, 0x0304};", b"\2\1\4\3"),
    ("unsigned long long x[] = {1ULL};", b"\1" + bytes(7)),
    ("int8_t x[] = {-1, 127};", b"\xff\x7f"),
    ("let a: [u16; 2] = [1, 0x203];", b"\1\0\3\2"),
    ("args = bytes([0, 1, 255])", b"\0\1\xff"),
    ("bytearray([\n  0x00,  # first\n  0x01,\n])", b"\0\1"),
    ("const uint8_t a[] = { 0x01, /* two */ 0x02, // three\n 0x03 };", b"\1\2\3"),
    ("b'\\x00\\x01A'", b"\0\1A"),
    ('args: bytes = b"a\\"b"', b'a"b'),
    ("bytes.fromhex('0001 02')", b"\0\1\2"),
    ("np.array([1, 2], dtype=np.uint32)", b"\1\0\0\0\2\0\0\0"),
    ("array([  1, 256], dtype=uint64)", b"\1" + bytes(7) + b"\0\1" + bytes(6)),
    ("array.array('I', [1, 2])", b"\1\0\0\0\2\0\0\0"),
    ("$1 = {0x0 <repeats 3 times>, 0x1}", b"\0\0\0\1"),
    ("[0x00007fab6d200000, 0x0000000000000001]", bytes.fromhex("0000206dab7f0000 0100000000000000")),
    ("[0x6d200000,0x00007fab]", bytes.fromhex("0000206dab7f0000")),
    ("0000000: 00 01\n0000002: 02\n", b"\0\1\2"),
    ("0x00: 00 01\n0x02: 02\n", b"\0\1\2"),
    ("0: 00 01 02 03 04 05 06 07 08 09\n10: 0a\n", bytes(range(11))),
    ("00000000  00 01 02\n", b"\0\1\2"),
    ("0X00: 0A 0B\n", b"\x0a\x0b"),
    ("00000000:\t0000 206d\n", b"\0\0\x20\x6d"),
    ("\xa0\xa000 01\xa002", b"\0\1\2"),
]


@pytest.mark.parametrize(("text", "data"), ACCEPTED, ids=lambda value: str(value)[:40])
def test_other_ways_to_write_bytes_are_read(text, data):
    assert parse(text) == Dump.whole(data)


def test_word_order_is_refused_where_there_are_no_words():
    with pytest.raises(InputError) as error:
        parse("00 01 02", source="d", word_order="little")
    assert str(error.value) == "d: --word-order little: plain-hex has no words here"
    with pytest.raises(InputError) as error:
        parse("00 01 02", source="d", word_order="big")
    assert str(error.value) == "expected a word order of little or memory, found 'big'"


def test_hex_that_may_be_base64_is_refused():
    for text in ("A" * 32, "aB" * 8):
        with pytest.raises(InputError, match="plain-hex and base64 both fit"):
            parse(text)
    assert parse("ab" * 8).data == b"\xab" * 8
