"""Text as people paste it: outputs that are refused by name, lists, labels, text that tells an order of bytes."""

import pytest

from argpack.errors import InputError
from argpack.hexdump import Dump, parse

DATA = bytes.fromhex("0000206dab7f0000 00010000 00100000 0000803f 01000000")
ADVICE = "are not read; print the bytes with xxd, hexdump -C or od -Ax -tx1"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("0000000  1830813696       32683         256        4096\n0000020  1065353216           1\n0000030",
         "decimal numbers, as od -td4 prints them"),
        ("0000000 1830813696      32683        256       4096", "decimal numbers, as od -td4 prints them"),
        ("0000000   0   0  32 109 171 127   0   0", "decimal numbers, as od -td4 prints them"),
        ("0000000   00000   27936   32683   00000", "decimal numbers, as hexdump -d prints them"),
        ("0000000 000 000 040 155 253 177 000 000", "octal bytes, as od -b and hexdump -b print them"),
        ("0000000  \\0  \\0       m 253 177  \\0  \\0", "characters, as od -c and hexdump -c print them"),
        ("0000000     3.0948500e+27   4.5798638e-41", "floats, as od -tf4 prints them"),
        ("00000000: 00000000 00000000 00100000 01101101 10101011 01111111  .. m..", "bits, as xxd -b prints them"),
        (" 000000 066440 077653 000000 000400 000000\n", "octal words without offsets, as od -An prints them"),
        (" 066440 077653 000000 000400\n 010000 000000\n", "octal words without offsets, as od -An prints them"),
    ],
)  # fmt: skip
def test_outputs_of_tools_that_are_not_read_are_named(text, what):
    with pytest.raises(InputError) as error:
        parse(text, source="d")
    assert str(error.value) == f"d:1: {what}, {ADVICE}"


def test_offsets_before_bytes_are_never_read_as_bytes():
    """The first offset is no zero: the rows would be whole pairs of digits all the same."""
    text = "000040 00 00 20 6d\n000050 ab 7f 00 00\n"
    with pytest.raises(InputError):
        parse(text)
    with pytest.raises(InputError):
        parse("00000040 6d200000 00007fab\n")


@pytest.mark.parametrize(
    "text",
    [
        ",".join(f"0x{byte:02x}" for byte in DATA),
        ", ".join(f"0x{byte:02X}" for byte in DATA) + ",\n",
        "0x6d200000,0x00007fab,0x00000100,\n0x00001000,0x3f800000,0x00000001",
        "0x00007fab6d200000,0x0000100000000100,0x000000013f800000",
    ],
)
def test_numbers_between_commas_need_no_bracket(text):
    assert parse(text) == Dump.whole(DATA)


@pytest.mark.parametrize(
    "label",
    [
        "preload: ",
        "preload[0]: ",
        "kernarg_preload_0_14 = ",
        "Kernarg preload dwords: ",
        "preloaded dwords[0..5]:",
    ],
)
def test_dwords_of_preloaded_registers_may_have_a_label_on_each_line(label):
    label = label.replace("Kernarg", "kernarg")
    text = f"{label}0x6d200000 0x00007fab 0x00000100\n{label}0x00001000 0x3f800000 0x00000001\n"
    assert parse(text) == Dump.whole(DATA)


def test_numbers_of_any_length_state_no_size():
    with pytest.raises(InputError) as error:
        parse("0x0, 0x0, 0x20, 0x6d", source="d")
    assert str(error.value) == (
        "d:1: numbers in hex state no size of an element: write a type, as in uint32_t args[] = {0x1, 0x2}"
    )
    assert parse("uint8_t a[] = {0x0, 0x0, 0x20, 0x6d};") == Dump.whole(DATA[:4])


def test_text_beside_groups_tells_the_order_of_their_bytes():
    """A row of a SNAP section as a runtime prints it: groups in the order of memory, text beside them."""
    memory = " SNAP (arg block, 24 bytes):\n   +0000  DEADBEEF 12345678 48656C6C 6F206B61  .....4VxHello ka\n"
    memory += "   +0010  74682100 00000000                    th!.....\n"
    assert parse(memory).data == bytes.fromhex("deadbeef12345678") + b"Hello kath!\0\0\0\0\0"
    little = (
        memory.replace("48656C6C", "6C6C6548").replace("6F206B61", "616B206F").replace("74682100", "00216874")
    )
    little = little.replace("DEADBEEF 12345678", "EFBEADDE 78563412")
    assert parse(little).data == parse(memory).data
    assert parse(little).form == "word-groups, little-endian words of 4 bytes"


def test_text_that_reads_the_same_both_ways_tells_nothing():
    with pytest.raises(InputError, match=r"^d: the order of bytes in groups of 4 is not stated: "):
        parse("+0000  00000001 00000002  ........\n", source="d")


def test_decimal_offsets_of_xxd_are_told_from_hex_ones():
    row = "{}: 0000 206d ab7f 0000 0001 0000 0010 0000  .. m............\n"
    text = row.format("00000000") + row.format("00000016") + row.format("00000032")
    assert parse(text) == Dump.whole(DATA[:16] * 3)
    with pytest.raises(InputError) as error:
        parse(row.format("00000000") + "[...]\n" + row.format("00000160"), source="d")
    assert str(error.value).startswith(
        "d: xxd and xxd-d both fit, with different bytes: choose one with --format"
    )


def test_the_last_word_of_od_may_have_less_text_than_bytes():
    text = "000000 00007fab6d200000 0000100000000100  >.. m............<\n000010 000000000000007f  >....<\n000014\n"
    assert parse(text) == Dump.whole(DATA[:16] + b"\x7f\0\0\0")
    with pytest.raises(InputError, match="contradicts"):
        parse(text.replace("000000000000007f  >....<", "010000000000007f  >....<"))


ROWS = "00000000: 0000 206d ab7f 0000 0001 0000 0010 0000  .. m............\n00000010: 0000 803f 0100 0000  ...?....\n"


@pytest.mark.parametrize(
    "number", ["{}:", "{}: ", "     {}\t", "12:00:00 {}:"], ids=["grep -n", "srun -l", "cat -n", "and a time"]
)
def test_rows_may_have_the_number_of_their_line_or_task(number):
    text = "".join(number.format(i) + line + "\n" for i, line in enumerate(ROWS.splitlines(), 1))
    assert parse(text) == Dump.whole(DATA)
    text = "".join(number.format(0) + line + "\n" for line in ROWS.splitlines())
    assert parse(text) == Dump.whole(DATA)


def test_prefixes_of_different_lengths_in_one_log():
    first, second = ROWS.splitlines()
    assert parse(f"12:00:00 {first}\n12:00:00 INFO {second}\n12:00:00 done with it\n") == Dump.whole(DATA)
    assert parse(f"[0]: 0x{'6d200000'} 0x00007fab\n[0]: 0x00000100\n").data == DATA[:12]


@pytest.mark.parametrize("blank", ["\xa0", "\u2009", "\u202f", "\u3000", " \u200b", "\ufeff "])
def test_blanks_of_other_widths_make_no_bytes_of_text(blank):
    """Copied out of a chat or a document: such text was once taken for raw bytes."""
    assert parse(ROWS.replace(" ", blank).encode(), format_name=None) == Dump.whole(DATA)


def test_any_text_without_control_characters_is_text():
    with pytest.raises(InputError, match="expected a dump in a known format"):
        parse("\ue0b0 ~/logs \ue0b0 nothing here\n".encode(), source="d")
    assert parse(b"\x01\x02\x03\x04ab").data == b"\x01\x02\x03\x04ab"


@pytest.mark.parametrize(
    "text",
    [
        ":".join(f"{byte:02x}" for byte in DATA),
        "-".join(f"{byte:02X}" for byte in DATA),
        ",\n".join(", ".join(f"{byte:02x}" for byte in DATA[i : i + 8]) for i in (0, 8, 16)),
        "".join(f"\\x{byte:02x}" for byte in DATA),
        '"' + "".join(f"\\x{byte:02x}" for byte in DATA) + '";',
        "kernarg: " + DATA.hex(),
        "args (24 bytes): " + DATA.hex(" "),
        "kernarg_hex = " + DATA.hex(),
        "[" + " ".join(f"{byte:3d}" for byte in DATA[:12]) + "\n " + " ".join(f"{byte:3d}" for byte in DATA[12:]) + "]",
        "[]byte{" + ", ".join(f"0x{byte:x}" for byte in DATA) + "}",
        "Uint8Array(24) [" + ", ".join(str(byte) for byte in DATA) + "]",
        "byte[] args = new byte[] {" + ", ".join(f"(byte)0x{byte:02x}" for byte in DATA) + "};",
        "\n ".join("b'" + "".join(f"\\x{byte:02x}" for byte in part) + "'" for part in (DATA[:8], DATA[8:])),
        f"bytes.fromhex('{DATA[:8].hex()}'\n              '{DATA[8:].hex()}')",
        f"[0x0000] {DATA[:16].hex(' ')}\n[0x0010] {DATA[16:].hex(' ')}",
        f"[0000] {DATA[:16].hex(' ')}\n[0016] {DATA[16:].hex(' ')}",
        f"0x0000  {DATA[:16].hex(' ')}\n0x0010  {DATA[16:].hex(' ')}",
    ],
    ids=["colons", "dashes", "commas", "escapes", "C string", "label", "label with size", "label with =", "numpy",
         "Go", "JavaScript", "Java", "pprint", "fromhex", "bracketed hex", "bracketed decimal", "0x without colon"],
)  # fmt: skip
def test_ways_to_print_bytes_in_a_program_are_read(text):
    assert parse(text) == Dump.whole(DATA)


def test_the_last_bytes_of_a_list_are_no_prose():
    assert parse("00, 00, 20, 6d,\nab, 7f\n").data == DATA[:6]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("args[0] = 0x6d200000\nargs[1] = 0x00007fab", DATA[:8]),
        ("[0] 0x6d200000\n[1] 0x00007fab\n", DATA[:8]),
        ("[0]: 0x6d200000,\n[1]: 0x00007fab,\n", DATA[:8]),
        ("kernarg[0x00] -> 0x00007fab6d200000\nkernarg[0x08] -> 0x0000100000000100", DATA[:16]),
        ("b[0]=0x00\nb[1]=0x??\nb[2]=0x20\n", None),
    ],
)
def test_words_with_an_index_are_read_in_its_order(text, data):
    found = parse(text)
    assert found == (Dump(b"\0\0\x20", b"\1\0\1") if data is None else Dump.whole(data))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a[0] = 0x00000001\na[2] = 0x00000002", "d:2: expected an index that grows by 1 or 4, found 2"),
        ("a[0] = 0x00000001\na[1] = 0x00000002\na[3] = 0x00000003", "d:3: expected the index 2, found 3"),
        ("a[1] = 0x00000001\na[2] = 0x00000002", "d:1: expected the index 0, found 1"),
        ("a[0] = 0x00000001\nb[1] = 0x00000002", "d:2: expected a[…] and 8 hex digits, found another"),
        ("a[0] = 0x00000001\na[1] = 0x0002", "d:2: expected a[…] and 8 hex digits, found another"),
        ("a[0] = 0x001\na[1] = 0x002", "d:1: expected 0x and 2, 4, 8 or 16 hex digits, found 3"),
        ("b'30303030303030306162'",
         "d:1: the literal is hex digits, as hexlify returns them: write them without b and quotes"),
        ("0x" + DATA.hex(), "d:1: a number of 48 hex digits: drop 0x if they are bytes in the order of memory"),
        ("0x7fffe000:\t0\t0\t32\t109", f"d:1: decimal numbers, as x/d of gdb prints them, {ADVICE}"),
        ("[ 0  0 32 ... 0  0]", "d:1: expected a number, found '0  0 32 ... 0  0'"),
    ],
)  # fmt: skip
def test_what_would_be_misread_is_refused(text, message):
    with pytest.raises(InputError) as error:
        parse(text, source="d")
    assert str(error.value) == message
