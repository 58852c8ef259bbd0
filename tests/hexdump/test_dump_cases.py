"""Public mistakes and oddities of dumps, each with what a user reads.

The cases D1 to D5 and the list after them are condensed from public threads and sources; see each test.
"""

import pytest

from argpack.cli import main
from argpack.errors import InputError
from argpack.families import family_named
from argpack.hexdump import Dump, parse, render

# D = 0x7fab6d200000, then 256, 4096, 1.0f, 1: 24 bytes.
DATA = bytes.fromhex("0000206dab7f0000 00010000 00100000 0000803f 01000000")


def show(text, capsys, tmp_path, *options):
    path = tmp_path / "log.txt"
    path.write_text(text)
    code = main(["show", str(path), *options])
    output = capsys.readouterr()
    return code, (output.out + output.err).replace(str(path), "log.txt")


# D1: rocr_debug_agent prints 0x0000: and eight 32-bit values in a line: each word is turned round.


def test_d1_words_of_the_debug_agent_are_turned_into_the_order_of_memory():
    found = parse("0x0000: 6d200000 00007fab 00000100 00001000 3f800000 00000001\n")
    assert found == Dump.whole(DATA)
    assert found.form == "debug-agent, little-endian words of 4 bytes"


def test_d1_eight_values_in_a_line_and_the_offset_of_the_next():
    words = [f"{i:08x}" for i in range(12)]
    text = f"0x0000: {' '.join(words[:8])}\n0x0020: {' '.join(words[8:])}\n"
    assert parse(text) == Dump.whole(b"".join(i.to_bytes(4, "little") for i in range(12)))
    with pytest.raises(
        InputError, match=r"^d:2: expected offset 0x0020, or an elision before it, found 0x0040$"
    ):
        parse(text.replace("0x0020", "0x0040"), source="d")


# D2: Tensile's log: decimal ranges, bytes in the order of memory, the value beside them.

TENSILE = (
    "[0..7] a: 00 00 20 6d ab 7f 00 00 (0x7fab6d200000)\n"
    "[8..11] m: 00 01 00 00 (256)\n"
    "[16..19] alpha: 00 00 80 3f (1)\n"
    "[24..31] d: 00 20 20 e5 fe 7f 00 00 (0x7ffee5202000)\n"
)


def test_d2_ranges_are_decimal_and_bytes_between_arguments_unknown():
    found = parse(TENSILE)
    assert found.size == 32
    assert found.data[24:32] == (0x7FFEE5202000).to_bytes(8, "little")
    assert [i for i in range(32) if not found.known[i]] == [12, 13, 14, 15, 20, 21, 22, 23]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "[24..31] d: 00 20 20 e5 fe 7f 00 00 (0x7ffee5202001)",
            "d:1: the value of 'd' contradicts its bytes: '0x7ffee5202001' is not 00 20 20 e5 fe 7f 00 00",
        ),
        (
            "[0..3] m: 00 01 00 00 (255)",
            "d:1: the value of 'm' contradicts its bytes: '255' is not 00 01 00 00",
        ),
        ("[0..3] m: 00 01 00", "d:1: expected 4 bytes as 0..3 says, found 3"),
        (
            "[0..3] a: 00 00 80 3f (2.5)",
            "d:1: the value of 'a' contradicts its bytes: '2.5' is not 00 00 80 3f",
        ),
    ],
)
def test_d2_a_log_that_contradicts_itself_is_refused(line, message):
    with pytest.raises(InputError) as error:
        parse(line, source="d")
    assert str(error.value) == message


@pytest.mark.parametrize(
    "line",
    [
        "[0..3] n: ff ff ff ff (-1)", "[0..3] n: ff ff ff ff (4294967295)", "[0..7] p: 00 00 00 00 00 00 00 00 (nil)",
        "[0..7] p: 00 00 00 00 00 00 00 00 (0)", "[0..3] x: db 0f 49 40 (3.14159)", "[0..1] h: 00 3c (1)",
        "[0..1] b: 80 3f (1)", "[0..3] mode: 01 00 00 00 (SomeEnumeration)", "[0..3] x: 00 00 c0 7f (nan)",
    ],
)  # fmt: skip
def test_d2_every_way_a_value_may_be_written(line):
    assert parse(line).known_count > 0


# D3: AITER's MLA dump has no offsets, and its last row has the trailer glued to it.


def test_d3_the_trailer_glued_to_the_last_row_is_cut_off_by_the_declared_size():
    rows = f"{DATA[:16].hex(' ')}\n{DATA[16:].hex(' ')} [aiter grid (2,1,4) block (256,1,1)]\n"
    assert parse("[aiter kernarg 24B]\n" + rows) == Dump.whole(DATA)


def test_d3_a_multiple_of_sixteen_ends_its_line_and_log_lines_stand_around():
    text = (
        "[rank0]: loading mla_v4.co\n[rank0]: [aiter kernarg 16B]\n"
        f"[rank0]: {DATA[:16].hex(' ')} \n[rank0]: [aiter grid (2,1,4) block (256,1,1)]\n"
    )
    assert parse(text) == Dump.whole(DATA[:16])


def test_d3_fewer_rows_than_declared_are_refused():
    text = f"[aiter kernarg 304B]\n{DATA[:16].hex(' ')}\n[aiter grid (1,1,1) block (256,1,1)]\n"
    with pytest.raises(InputError, match=r"^d: expected 304 bytes as the heading says, found 16$"):
        parse(text, source="d")


# D4: the same look as the debug agent's with the opposite order of bytes.

SNAP = "+0000  0000206D AB7F0000 00010000 00100000\n+0010  0000803F 01000000\n"


def test_d4_groups_whose_order_nothing_states_need_to_be_told(capsys, tmp_path):
    code, output = show(SNAP, capsys, tmp_path)
    assert (code, output.count("\n")) == (2, 1)
    assert output.startswith("argpack: error: log.txt: the order of bytes in groups of 4 is not stated: ")
    assert output.endswith("choose one with --word-order little or memory\n")
    assert parse(SNAP, word_order="memory") == Dump.whole(DATA)
    turned = b"".join(DATA[i : i + 4][::-1] for i in range(0, 24, 4))
    assert parse(SNAP, word_order="little") == Dump.whole(turned)


def test_d4_groups_that_read_the_same_both_ways_still_state_their_order():
    assert parse("+0000  00 01 02 03").data == b"\0\1\2\3"


# D5: logs can lie; words of preloaded registers.


def test_d5_a_list_of_32_bit_words_is_read_as_numbers():
    assert parse("0x6d200000 0x00007fab 0x00000100 0x00001000 0x3f800000 0x00000001") == Dump.whole(DATA)
    assert parse("0x6d200000, 0x00007fab,\n0x00000100, 0x00001000,\n0x3f800000, 0x00000001") == Dump.whole(
        DATA
    )


def test_d5_a_decimal_number_with_a_label_is_no_dump():
    with pytest.raises(
        InputError, match=r"^d:1: expected a dump in a known format .*, found 'alignment: 1407288984\.\.\.'$"
    ):
        parse("alignment: 140728898420992\n", source="d")


# Also needed: see test_recorded_tools.py for every tool's real output.


def test_offset_alone_on_the_last_line_states_the_size():
    assert parse("0000000 0100 0302\n0000003\n".replace("0302", "0002")) == Dump.whole(b"\0\1\2")
    with pytest.raises(InputError, match=r"^d:2: the size 3 leaves out bytes that are not zero$"):
        parse("0000000 0100 0302\n0000003\n", source="d")
    with pytest.raises(InputError, match=r"^d:2: expected the size 0000004, found 0000008$"):
        parse("0000000 0100 0302\n0000008\n", source="d")


def test_a_star_repeats_the_row_before_it_up_to_the_next_offset():
    row = "00000000  01 02 03 04 05 06 07 08  09 0a 0b 0c 0d 0e 0f 10  |................|\n"
    text = row + "*\n00000030  ff  |.|\n00000031\n"
    assert parse(text) == Dump.whole(bytes(range(1, 17)) * 3 + b"\xff")


def test_octal_and_hex_offsets_that_only_a_star_separates_are_refused_by_name():
    with pytest.raises(InputError) as error:
        parse(f"0000000{' 0000' * 8}\n*\n0000060 0001\n0000062\n", source="d")
    assert str(error.value) == (
        "d: hexdump and od-x both fit, with different bytes: choose one with --format"
    )


def test_absolute_addresses_count_from_the_first():
    text = "0x7ffe00001010:\t0x00007fab6d200000\t0x0000100000000100\n0x7ffe00001020:\t0x000000013f800000\n"
    assert parse(text) == Dump.whole(DATA)
    lldb = "0x16fdff3a0: 00 00 20 6d ab 7f 00 00 00 01 00 00 00 10 00 00  .. m............\n0x16fdff3b0: 00 00 80 3f\n"
    assert parse(lldb) == Dump.whole(DATA[:20])


def test_gdb_prompts_and_symbols():
    text = (
        "(gdb) x/3xg &args\n"
        "0x555555558060 <args>:\t0x00007fab6d200000\t0x0000100000000100\n"
        "0x555555558070 <args+16>:\t0x000000013f800000\n"
        "(gdb) \n"
    )
    assert parse(text) == Dump.whole(DATA)
    with pytest.raises(InputError, match=r"^d:3: expected '<args\+16> at 0x555555\.\.\.', found \+24$"):
        parse(text.replace("+16", "+24"), source="d")


def test_how_words_were_read_is_said_and_can_be_turned(capsys, tmp_path):
    capture = bytes(372)
    text = "".join(
        f"0x{i:04x}: {' '.join(['00000000'] * min(8, (372 - i) // 4))}\n" for i in range(0, 372, 32)
    )
    assert parse(text) == Dump.whole(capture)
    code, output = show(text, capsys, tmp_path, "--kernel", "aiter_f4gemm")
    assert code == 0
    assert "log.txt: read as debug-agent, little-endian words of 4 bytes\n" in output
    code, output = show(text, capsys, tmp_path, "--kernel", "aiter_f4gemm", "--word-order", "memory")
    assert "log.txt: read as debug-agent, groups of 4 bytes in the order of memory\n" in output


# All of them at the command line: one buffer of 68 bytes, which is no multiple of 16, as each tool logs it.

SGEMM = family_named("own_sgemm").schema
VALUES = {
    "ptr_D": 0x7FAB6D200000, "ptr_C": 0, "ptr_A": 0x7FAB7D200000, "ptr_B": 0x7FAB8D200000, "alpha": 1.0, "beta": 0.0,
    "M": 64, "N": 32, "K": 16, "stride_D": 32, "stride_C": 32, "stride_A": 8, "stride_B": 32,
}  # fmt: skip
LOGS = {
    "d1": ("debug-agent", "log.txt: read as debug-agent, little-endian words of 4 bytes"),
    "d2": ("tensile", None),
    "d3": ("aiter", None),
    "d4": ("word-groups", "log.txt: read as word-groups, groups of 4 bytes in the order of memory"),
    "d5": ("words", "log.txt: read as words, little-endian words of 4 bytes"),
}


@pytest.mark.parametrize("case", LOGS)
def test_every_log_of_one_buffer_shows_the_same_fields(case, capsys, tmp_path):
    name, how = LOGS[case]
    text = render(Dump.whole(SGEMM.pack(VALUES)), format_name=name)
    if case == "d3":
        assert text.splitlines()[-1].endswith("00 [aiter grid (1,1,1) block (256,1,1)]")
    if case == "d5":
        text = "".join(
            f"preload: {' '.join(f'0x{word}' for word in line.split())}\n" for line in text.splitlines()
        )
    code, output = show(f"loading sgemm.co\n{text}done\n", capsys, tmp_path)
    lines = output.splitlines()
    assert code == 0
    assert lines[:2] == [
        "log.txt: 68 bytes",
        "as own_sgemm, the only family with 68 bytes of arguments; --kernel narrows it",
    ]
    assert lines[2 : 3 + bool(how)] == [*filter(None, [how]), ""]
    rows = [line.split()[:1] + line.split()[-1:] for line in lines if line.startswith("0x")]
    assert len(rows) == 13
    assert (
        "0x028   40 00 00 00              M         u32   64              rows          live  Rows of A, C and D."
        in lines
    )
    assert (
        lines[-1]
        == "doubtful: stride_A at 0x03c is 8: half the 16 f32 elements that M, N and K imply: another unit?"
    )
