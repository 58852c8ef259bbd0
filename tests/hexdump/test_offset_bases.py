"""Dumps that do not begin at offset 0, as `xxd -s` and `od -j` print them: --base, and what is said without it."""

import pytest

from argpack.cli import main
from argpack.errors import InputError
from argpack.hexdump import FIRST, Dump, parse

DATA = bytes.fromhex("0000206dab7f0000 00010000 00100000 0000803f 01000000")

# The last 24 of 88 bytes, of which the first 64 are 00, 01 ... 3f, as the tools themselves print them.
SKIPPED = {
    "xxd -s 64": (
        "00000040: 0000 206d ab7f 0000 0001 0000 0010 0000  .. m............\n"
        "00000050: 0000 803f 0100 0000                      ...?....\n"
    ),
    "xxd -s 64 -e": (
        "00000040: 6d200000 00007fab 00000100 00001000  .. m............\n"
        "00000050: 3f800000 00000001                    ...?....\n"
    ),
    "hexdump -s 64": (
        "0000040 0000 6d20 7fab 0000 0100 0000 1000 0000\n0000050 0000 3f80 0001 0000\n0000058\n"
    ),
    "hexdump -C -s 64": (
        "00000040  00 00 20 6d ab 7f 00 00  00 01 00 00 00 10 00 00  |.. m............|\n"
        "00000050  00 00 80 3f 01 00 00 00                           |...?....|\n00000058\n"
    ),
    "od -j 64": (
        "0000100 000000 066440 077653 000000 000400 000000 010000 000000\n"
        "0000120 000000 037600 000001 000000\n0000130\n"
    ),
    "od -j 64 -Ad -tx4": "0000064 6d200000 00007fab 00000100 00001000\n0000080 3f800000 00000001\n0000088\n",
    "od -j 64 -Ax -tx1": (
        "000040 00 00 20 6d ab 7f 00 00 00 01 00 00 00 10 00 00\n000050 00 00 80 3f 01 00 00 00\n000058\n"
    ),
}


@pytest.mark.parametrize("tool", SKIPPED)
@pytest.mark.parametrize("base", [FIRST, 64])
def test_the_buffer_begins_where_the_base_says(tool, base):
    assert parse(SKIPPED[tool], base=base) == Dump.whole(DATA)


@pytest.mark.parametrize("tool", SKIPPED)
def test_without_a_base_it_is_refused_and_the_option_is_named(tool):
    with pytest.raises(InputError) as error:
        parse(SKIPPED[tool], source="d")
    offset = SKIPPED[tool].split()[0].rstrip(":")
    assert str(error.value) == (
        f"d:1: expected offsets from 0 on, found '{offset}': --base first if the buffer begins there, a line [...] "
        "before it if rows are left out"
    )


def test_what_lies_before_the_base_is_left_out():
    whole = bytes(range(40)) + DATA
    rows = [whole[i : i + 16] for i in range(0, 64, 16)]
    text = "".join(f"{16 * i:04x}: {row.hex(' ')}\n" for i, row in enumerate(rows))
    assert parse(text, base=40, format_name="offset-bytes") == Dump.whole(DATA)
    assert parse(text, base=FIRST, format_name="offset-bytes") == Dump.whole(whole)


def test_addresses_are_a_base_by_themselves_and_another_may_be_stated():
    text = "0x7fffffffe000 <frame>:\t0x1111111111111111\t0x00007fab6d200000\n"
    assert parse(text).size == 16
    assert parse(text, base=0x7FFFFFFFE008, format_name="gdb") == Dump.whole(DATA[:8])


def test_a_base_that_no_row_reaches_back_to_is_refused():
    with pytest.raises(InputError) as error:
        parse(SKIPPED["xxd -s 64"], source="d", base=32)
    assert str(error.value) == (
        "d: the first offset is 00000040, beyond the base 0x20: write [...] before it where rows are left out"
    )
    assert parse("[...]\n" + SKIPPED["xxd -s 64"], base=32, format_name="xxd").known_count == 24


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--base", "64"], "argpack: error: d: --base: plain-hex has no offsets\n"),
        (["--base", "-5"], None),
        (["--base", "x"], None),
    ],
)
def test_a_base_without_effect_or_meaning_is_refused(options, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").write_text(DATA.hex())
    assert main(["show", "d", "--kernel", "own_sgemm", *options]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    if message:
        assert found.err == message
    else:
        assert "argument --base: invalid" in found.err or "expected one argument" in found.err


def test_of_two_dumps_the_base_is_for_the_one_with_offsets(tmp_path, capsys):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text(SKIPPED["xxd -s 64"])
    second.write_bytes(DATA)
    assert main(["diff", str(first), str(second), "--base", "first"]) == 0
    assert capsys.readouterr().out.startswith("no known byte differs\n")
    assert main(["diff", str(second), str(second), "--base", "first"]) == 2
    assert "--base: neither " in capsys.readouterr().err
