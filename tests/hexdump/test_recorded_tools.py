"""What xxd, hexdump, od, base64 and gdb really print is read back; tests/hexdump/recorded/record made the files."""

import json
from pathlib import Path

import pytest

from argpack.errors import InputError
from argpack.hexdump import Dump, parse, read, render

RECORDED = Path(__file__).parent / "recorded"
DUMPS = Path(__file__).parents[2] / "dumps"
CAPTURE = json.loads((DUMPS / "aiter_f4gemm_256x256x4096_nopreshuffle.json").read_text())
BUFFERS = {
    "capture": bytes.fromhex(CAPTURE["kernarg_hex"]),
    "runs": bytes(range(16)) + bytes(80) + b"\xff" * 48 + b"argpack" + bytes(30),
}
# What these files cannot say by themselves; each has a test below.
SPECIAL = {"capture.gdb-xb-offset", "capture.gdb-print-words", "capture.gdb-xg"}
FILES = sorted(path.stem for path in RECORDED.glob("*.txt"))
READABLE = [name for name in FILES if name not in SPECIAL]


def test_every_tool_is_recorded_for_both_buffers():
    tools = {name.partition(".")[2] for name in FILES if name.startswith("runs.")}
    assert len(tools) == 24
    assert {f"capture.{tool}" for tool in tools} <= set(FILES)
    assert set(FILES) >= SPECIAL
    assert len(READABLE) == 2 * 24 + 5


@pytest.mark.parametrize("name", READABLE)
def test_output_of_a_tool_is_read_without_being_told_which(name):
    assert read(RECORDED / f"{name}.txt") == Dump.whole(BUFFERS[name.partition(".")[0]])


WRITERS = [
    ("xxd", "xxd", None), ("xxd-e", "xxd-e", None), ("xxd-e-g2", "xxd-e", 2), ("xxd-e-g8", "xxd-e", 8),
    ("xxd-p", "plain-hex", None), ("hexdump", "hexdump", None), ("hexdump-C", "hexdump-C", None), ("od", "od", None),
    ("od-Ad", "od-Ad", None), ("od-Ax", "od-Ax", None), ("od-x", "od-x", None), ("od-tx1", "od-x", 1),
    ("od-Ax-tx1", "od-x-Ax", 1), ("od-Ad-tx4", "od-x-Ad", 4), ("od-Ax-tx8", "od-x-Ax", 8), ("base64", "base64", None),
]  # fmt: skip


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(("tool", "format_name", "unit"), WRITERS)
def test_render_writes_what_the_tool_prints_to_the_letter(buffer, tool, format_name, unit):
    expected = (RECORDED / f"{buffer}.{tool}.txt").read_text()
    assert render(Dump.whole(BUFFERS[buffer]), format_name=format_name, unit=unit) == expected


def test_render_writes_what_gdb_prints_but_for_the_addresses():
    printed = (RECORDED / "capture.gdb-xw.txt").read_text().splitlines()
    rendered = render(Dump.whole(BUFFERS["capture"]), format_name="gdb-symbol").splitlines()
    values = [line.partition(" ")[2] for line in printed]
    assert [line.partition(" ")[2] for line in rendered] == values
    assert values[1] == "<args+16>:\t0x00000000\t0x00000000\t0x00000000\t0x00000001"


def test_giant_words_of_gdb_leave_the_last_half_one_out():
    assert read(RECORDED / "capture.gdb-xg.txt") == Dump.whole(BUFFERS["capture"][:368])


def test_a_first_row_beyond_the_symbol_is_refused_until_one_says_where_the_buffer_begins():
    text = (RECORDED / "capture.gdb-xb-offset.txt").read_text()
    assert text.split()[1] == "<args+16>:"
    with pytest.raises(InputError) as error:
        parse(text, source="gdb.txt")
    assert str(error.value) == (
        "gdb.txt: gdb and gdb-symbol both fit, with different bytes: choose one with --format"
    )
    part = BUFFERS["capture"][16:24]
    assert parse(text, format_name="gdb") == Dump.whole(part)
    assert parse(text, format_name="gdb-symbol") == Dump(bytes(16) + part, bytes(16) + b"\1" * 8)


def test_an_array_of_words_that_gdb_prints_needs_its_type():
    text = (RECORDED / "capture.gdb-print-words.txt").read_text()
    with pytest.raises(InputError, match=r"the size of an element is not stated: .*, found '1830813696'"):
        parse(text)
    assert parse("uint32_t args[93] = " + text.partition("= ")[2]) == Dump.whole(BUFFERS["capture"])


def test_only_dumps_of_words_say_how_they_were_read():
    assert read(RECORDED / "capture.xxd-e.txt").form == "xxd-e, little-endian words of 4 bytes"
    assert read(RECORDED / "capture.xxd.txt").form == "xxd, groups of 2 bytes in the order of memory"
    assert read(RECORDED / "capture.od.txt").form == "od, little-endian words of 2 bytes"
    assert read(RECORDED / "capture.hexdump-C.txt").form == ""


@pytest.mark.parametrize(
    ("tool", "unit"), [("hexdump", 2), ("od-x", 2), ("od", 2), ("od-Ax-tx8", 8), ("gdb-xw", 4)]
)
def test_word_order_memory_turns_the_bytes_of_every_word(tool, unit):
    data = BUFFERS["capture"] + bytes(-len(BUFFERS["capture"]) % unit)
    turned = b"".join(data[i : i + unit][::-1] for i in range(0, len(data), unit))
    found = read(RECORDED / f"capture.{tool}.txt", word_order="memory")
    assert found.data[:368] == turned[:368]
    assert "order of memory" in found.form


def test_text_beside_the_bytes_tells_xxd_from_xxd_e_and_without_it_they_are_refused():
    lines = (RECORDED / "capture.xxd-e.txt").read_text().splitlines()
    bare = "\n".join(line.partition("  ")[0] for line in lines[:23])
    with pytest.raises(InputError) as error:
        parse(bare, source="d")
    assert str(error.value) == (
        "d: xxd and xxd-e both fit, with different bytes: choose one with --format "
        "(values that look like addresses: 0 as xxd, 15 as xxd-e)"
    )
    assert parse(bare, format_name="xxd-e") == Dump.whole(BUFFERS["capture"][:368])
    assert parse(bare, word_order="little") == Dump.whole(BUFFERS["capture"][:368])
