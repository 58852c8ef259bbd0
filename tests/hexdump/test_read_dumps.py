from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.hexdump import Dump, parse, read, render
from argpack.hexdump.formats import FORMATS

DUMPS = Path(__file__).parents[2] / "dumps"
HEADING = (
    "Offset | 00 01 02 03 04 05 06 07 | 08 09 0A 0B 0C 0D 0E 0F\n"
    "-------|-------------------------|-------------------------\n"
)
ROW = "00 00 00 00 00 00 00 00 | 00 00 00 00 00 00 00 00"


@st.composite
def dumps(draw, max_size=200):
    """Dumps with unknown runs of every length, whole rows and ends included."""
    data, known = b"", b""
    runs = draw(
        st.lists(st.tuples(st.booleans(), st.binary(min_size=1, max_size=50)), min_size=1, max_size=8)
    )
    for is_known, run in runs:
        data += run if is_known else bytes(len(run))
        known += (b"\1" if is_known else b"\0") * len(run)
    return Dump(data[:max_size], known[:max_size])


@given(dumps())
def test_a_rendered_dump_reads_back_to_the_same_bytes_and_mask(dump):
    assert parse(render(dump)) == dump


@given(dumps())
def test_bytes_do_not_matter_to_reading_trailing_blanks_and_line_ends(dump):
    stripped = "\r\n".join(line.rstrip() for line in render(dump).splitlines())
    assert parse(stripped) == dump
    indented = "\n".join("    " + line for line in render(dump).splitlines())
    assert parse("\n\n" + indented + "\n\n") == dump


@given(st.binary(min_size=1, max_size=64), st.sampled_from([" ", "\n", "\t", " \n"]))
def test_plain_hex_with_any_blanks_between_bytes(data, blank):
    expected = Dump.whole(data)
    assert parse(data.hex()) == expected
    assert parse(data.hex(" ").replace(" ", blank)) == expected
    assert parse(data.hex().upper() + "\n") == expected


@given(st.binary(min_size=9, max_size=90))
def test_plain_hex_over_lines_of_sixty_digits(data):
    digits = data.hex()
    assert parse("\n".join(digits[i : i + 60] for i in range(0, len(digits), 60))) == Dump.whole(data)


def test_plain_hex_may_have_unknown_bytes():
    assert parse("01 ?? 03") == Dump(b"\1\0\3", b"\1\0\1")
    assert parse("01??03") == Dump(b"\1\0\3", b"\1\0\1")


@given(st.binary(min_size=1, max_size=100))
def test_bytes_that_are_no_text_are_raw_binary(data):
    # Those say themselves what they are.
    assume(not data.startswith((b"\x7fELF", b"\xff\xfe", b"\xfe\xff", b"\x93NUMPY", b"argpack capture\n")))
    assert parse(data + b"\0") == Dump.whole(data + b"\0")


def test_text_saved_as_utf16_or_with_a_byte_order_mark_is_read():
    text = "01 02 03 04"
    for encoding in ("utf-16", "utf-8-sig"):
        assert parse(text.encode(encoding)) == Dump.whole(b"\1\2\3\4")
    chinese = "\u4e00".encode("utf-16")
    assert parse(chinese) == Dump.whole(chinese)


def test_the_excerpt_decodes_what_it_shows_and_nothing_more():
    from argpack.families.aiter_f4gemm.schema import SCHEMA
    from argpack.hexdump import readings

    dump = read(DUMPS / "origin_excerpt.txt")
    assert dump.size == 372
    assert [offset for offset in range(372) if dump.known[offset]] == [*range(32), *range(336, 372)]
    values = {reading.slot.name: reading.value for reading in readings(dump, SCHEMA) if reading.slot.field}
    shown = {
        "ptr_D": 0x7FAB6D200000, "ptr_C": 0, "stride_ScaleB0": 128, "stride_ScaleB1": 0, "log2_k_split": 0,
    }  # fmt: skip
    assert values == {**dict.fromkeys(values), **shown}
    assert values["stride_ScaleB0"] * 32 == 4096  # K


@pytest.mark.parametrize(
    "name", ["origin_excerpt.txt", "aiter_f4gemm_256x256x4096_nopreshuffle.txt"]
)  # fmt: skip
def test_rendering_writes_the_origins_format_to_the_letter(name):
    assert render(read(DUMPS / name)) == (DUMPS / name).read_text()


def test_captured_json_is_the_same_dump_as_its_table_and_names_the_kernel():
    table = read(DUMPS / "aiter_f4gemm_256x256x4096_nopreshuffle.txt")
    capture = read(DUMPS / "aiter_f4gemm_256x256x4096_nopreshuffle.json")
    assert capture == table
    assert capture.kernel == "_ZN5aiter44f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256E"
    assert table.kernel == ""


def test_unknown_rows_are_elided_and_unknown_bytes_marked():
    dump = Dump(b"\1" * 16 + bytes(40), b"\1" * 16 + bytes(38) + b"\1\0")
    assert render(dump) == (
        HEADING
        + "0000   | 01 01 01 01 01 01 01 01 | 01 01 01 01 01 01 01 01 \n"
        + "[...]\n"
        + "0048   | ?? ?? ?? ?? ?? ?? 00 ?? |                         \n"
    )


def test_groups_that_may_be_words_are_refused_until_the_format_is_named():
    text = "6d200000 00007fab"
    with pytest.raises(InputError) as error:
        parse(text, source="gdb.txt")
    expected = (
        "gdb.txt: plain-hex and words both fit, with different bytes: choose one with --format "
        "(values that look like addresses: 0 as plain-hex, 1 as words)"
    )
    assert str(error.value) == expected
    assert parse(text, format_name="plain-hex").data.hex() == "6d20000000007fab"
    assert parse(text, format_name="words").data.hex() == "0000206dab7f0000"


def test_two_formats_that_agree_are_no_reason_to_refuse():
    assert parse("abababab cdcdcdcd") == Dump.whole(b"\xab" * 4 + b"\xcd" * 4)


def test_names_of_formats_are_unique():
    names = [entry.name for entry in FORMATS]
    assert sorted(names) == sorted(set(names))


BAD = [
    # offset table
    (f"0000 | {ROW}\n0032 | {ROW}", "d:2: expected offset 0016, or an elision before it, found 0032"),
    (f"0000 | {ROW}\n0010 | {ROW}", "d:2: offset 0010 overlaps the rows before it, expected 0016"),
    (f"0000 | {ROW}\n0000 | {ROW}", "d:2: offset 0000 overlaps the rows before it, expected 0016"),
    (
        f"0016 | {ROW}",
        (
            "d:1: expected offsets from 0 on, found '0016': --base first if the buffer begins there, a line [...] "
            "before it if rows are left out"
        ),
    ),
    (f"{HEADING}0000 | 00 01\n0016 | {ROW}", "d:3: expected 16 bytes in a row before the last, found 2"),
    (f"0000 | {ROW}\n[...]\n0016 | {ROW}", "d:2: elision covers no byte: the next offset is 0016"),
    (f"0000 | {ROW}\n[...]\n[...]\n0064 | {ROW}", "d:3: elision follows an elision on line 2"),
    (f"0000 | {ROW}\n[...]\n0150 | {ROW}", "d:3: expected an offset that is a multiple of 16, found 0150"),
    (
        f"0000 | {ROW}\n[...]",
        "d:2: elision at the end leaves the size unknown: write the last row, ?? for unknown bytes",
    ),
    (f"0000 | {ROW}\n00a0 | {ROW}", "d:2: expected a decimal offset, found '00a0'"),
    (f"[...]\n99999984 | {ROW}", "d:2: expected an offset up to 1048576, found '99999984'"),
    ("0000 | 00 0g", "d:1: expected a byte of two hex digits or ??, found '0g'"),
    ("0000 | 00 001", "d:1: expected a byte of two hex digits or ??, found '001'"),
    ("0000 | 00 ?", "d:1: expected a byte of two hex digits or ??, found '?'"),
    ("0000 | 00 00 00 00 00 00 00 00 00", "d:1: expected at most 8 bytes in a column, found 9"),
    ("0000 | 00 00 | 00", "d:1: expected 8 bytes in the left column, found 2"),
    ("0000 | 00 | 00 | 00", "d:1: expected 'offset | 8 bytes | 8 bytes', found '0000 | 00 | 00 | 00'"),
    ("0000 | 00\n0016 |", "d:2: expected at least one byte, found none"),
    (
        f"0000 | {ROW}\nand so on\n0016 | {ROW}",
        "d:2: expected 'offset | 8 bytes | 8 bytes', found 'and so on'",
    ),
    (HEADING, "d: expected at least one byte, found none"),
    # plain hex
    ("00 11 2", "d:1: expected an even number of hex digits, found 1"),
    ("00 11\n22 zz", "d:2: expected hex digits, found 'zz'"),
    ("00 11\n0x22", "d:2: expected hex digits, found '0x22'"),
    ("00 11\n?1", "d:2: expected hex digits, found '?1'"),
    ("00 11\n???", "d:2: expected an even number of hex digits, found 3"),
    # JSON
    ('{"kernarg_hex": "00", ', "d:1: expected JSON: Expecting property name enclosed in double quotes"),
    ('{\n"kernarg_hex" "00"}', "d:2: expected JSON: Expecting ':' delimiter"),
    ("{}", "d: expected a JSON object with a string kernarg_hex, found none"),
    ('{"kernarg_hex": 5}', "d: expected a JSON object with a string kernarg_hex, found none"),
    ('{"kernarg_hex": "0"}', "d: kernarg_hex: expected pairs of hex digits"),
    ('{"kernarg_hex": ""}', "d: kernarg_hex: expected pairs of hex digits"),
    (
        '{"kernarg_hex": "0011", "kernarg_size": 372}',
        "d: kernarg_hex: expected 372 bytes as kernarg_size says, found 2",
    ),
    ('{"kernarg_hex": "00", "kernel": 1}', "d: kernel: expected a string, found int"),
    ('{"a":' * 100_000, "d:1: expected a JSON object, found one too deep or with too long a number"),
    (
        '{"a": ' + "1" * 9999 + "}",
        "d:1: expected a JSON object, found one too deep or with too long a number",
    ),
    # no dump at all
    ("", "d: expected a dump, found an empty file"),
    (" \n\t\n", "d: expected a dump, found only blanks"),
    ("Dear reader,", "d:1: expected a dump in a known format (--format lists them), found 'Dear reader,'"),
    (b"\x7fELF\2\1\1\0", "d: expected a dump, found a code object (ELF); --kernel takes it"),
    (b"\0" * (2**20 + 1), "d: expected a dump of at most 1048576 bytes, found more"),
]


@pytest.mark.parametrize(("content", "message"), BAD, ids=[message[:60] for _, message in BAD])
def test_bad_input_is_refused_with_file_and_line(content, message):
    with pytest.raises(InputError) as error:
        parse(content, source="d")
    assert str(error.value) == message


def test_format_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"expected a dump format of captured-json, .*, found 'XXD'"):
        parse("00", format_name="XXD")


@pytest.mark.parametrize("content", ["not words", "00 11", "0011 001122", "0011 zz11", "Offset"])
def test_named_format_that_does_not_fit_is_refused(content):
    with pytest.raises(InputError, match=r"d:1: expected .* found"):
        parse(content, source="d", format_name="words")


def test_directory_and_missing_file_are_named(tmp_path):
    with pytest.raises(InputError) as error:
        read(tmp_path)
    assert str(error.value) == f"{tmp_path}: expected a file, found a directory"
    with pytest.raises(InputError) as error:
        read(tmp_path / "none.txt")
    assert str(error.value) == f"{tmp_path / 'none.txt'}: No such file or directory"
    with pytest.raises(InputError, match="null"):
        read("a\0b")


@pytest.mark.parametrize(
    ("data", "known", "message"),
    [
        (b"", b"", "x: expected at least one byte, found none"),
        (b"ab", b"\1", "x: expected a mask of 2 bytes, found 1"),
        (b"ab", b"\1\2", "x: mask at 1: expected 0 or 1, found 2"),
        (b"ab", b"\1\0", "x: byte 1 is unknown: expected 0, found 0x62"),
    ],
)
def test_dump_whose_mask_does_not_fit_is_refused(data, known, message):
    with pytest.raises(InputError) as error:
        Dump(data, known, "x")
    assert str(error.value) == message


@given(st.one_of(st.text(max_size=80), st.binary(max_size=80)))
def test_no_input_makes_anything_but_a_dump_or_an_input_error(content):
    try:
        found = parse(content).size
    except InputError as error:
        found = len(str(error).splitlines())
    assert found >= 1
