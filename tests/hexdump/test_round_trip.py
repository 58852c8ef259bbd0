"""Laws of reading and writing: parse(render(x, format)) == x, however the text was logged, coloured and pasted."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.hexdump import Dump, parse, render, render_bytes
from argpack.hexdump.formats import FORMATS

UNITS = {"xxd": (1, 2, 4, 8), "xxd-e": (2, 4, 8), "word-groups": (1, 2, 4, 8), "gdb": (1, 2, 4, 8), "words": (2, 4, 8),
         "gdb-symbol": (1, 2, 4, 8), "od-x": (1, 2, 4, 8), "od-x-Ad": (1, 2, 4, 8), "od-x-Ax": (1, 2, 4, 8),
         "literal": (1, 2, 4, 8), "indexed": (1, 2, 4, 8)}  # fmt: skip
# A capture states more than a dump has, so none is written from one.
WRITTEN = [(f.name, unit) for f in FORMATS if f.name != "capture" for unit in UNITS.get(f.name, (None,))]
BINARY = {"raw", "npy"}
TEXTS = [(name, unit) for name, unit in WRITTEN if name not in BINARY]
WHOLE = {"base64", "npy", "raw", "literal", "captured-json"}

PREFIXES = [
    "2026-08-01 12:00:00,123 ", "2026-08-01T12:00:00.123456Z ", "[2026-08-01 12:00:00] ", "12:00:00.5 ", "[0]: ",
    "[rank3]: ", "[default0]:", "[1,0]<stdout>:", "[   12.345678] ", "INFO: ", "INFO:root:", "[INFO] ", "> ",
    "2026-08-01 12:00:00 - argpack.debug - DEBUG - ", "I0801 12:00:00.123456 4242 asm_gemm.cu:42] ", "worker-1  | ",
    "Dec  1 12:00:00 node7 vllm[123]: ", "(EngineCore_DP0 pid=4242) ", "[0]: 2026-08-01 12:00:00,123 ERROR ",
    "E0801 12:00:00.123456 4242 asm_gemm.cu:42] ", "INFO 08-01 12:00:00 [asm_gemm.py:42] ",
    ":3:hip_module.cpp            :669 : 1234567890 us: [pid:99 tid:0x7ffff5678740] ", "[1/8] ", "E       ",
    "2026-08-01T12:00:00.123456789Z stdout F ", "[rank1]:[W801 12:00:00.000000000 host.cpp:10] ",
]  # fmt: skip

# Each law is tried for some forty formats and units.
SOME = settings(max_examples=max(settings().max_examples // 8, 10))
FEW = settings(max_examples=max(settings().max_examples // 20, 5))


@st.composite
def dumps(draw, unit=1, whole=False):
    """Dumps of whole words with unknown runs of every length, repeated rows, and bytes that look like text."""
    runs = draw(
        st.lists(
            st.tuples(
                st.booleans(),
                st.one_of(
                    st.binary(min_size=1, max_size=40),
                    st.integers(1, 80).map(bytes),
                    st.text("0123456789abcdef |<>.*A", min_size=1, max_size=40).map(str.encode),
                ),
            ),
            min_size=1,
            max_size=6,
        )
    )
    data, known = b"", b""
    for is_known, run in runs:
        data += run if is_known or whole else bytes(len(run))
        known += (b"\1" if is_known or whole else b"\0") * len(run)
    room = len(data) // unit * unit
    assume(room)
    return Dump(data[:room], known[:room])


def even(dump):
    """The dump with words of two bytes wholly known or not at all, which octal words cannot mark otherwise."""
    known = b"".join(
        bytes([min(dump.known[i : i + 2])]) * len(dump.known[i : i + 2]) for i in range(0, dump.size, 2)
    )
    return Dump(bytes(b * k for b, k in zip(dump.data, known, strict=True)), known)


def of(draw, name, unit):
    """A dump that the format can say."""
    size = 4 if name == "debug-agent" else unit or 1
    dump = draw(dumps(unit=size, whole=name in WHOLE))
    return even(dump) if name in {"od", "od-Ad", "od-Ax"} else dump


def stated(name, unit):
    """The word order that has to be said."""
    return "memory" if name == "word-groups" and unit != 1 else None


@pytest.mark.parametrize(("name", "unit"), WRITTEN)
@SOME
@given(data=st.data())
def test_what_is_written_in_a_format_is_read_in_it(name, unit, data):
    dump = of(data.draw, name, unit)
    assume(name != "raw" or (dump.data[:4] != b"\x7fELF"))
    content = render_bytes(dump, format_name=name, unit=unit)
    assume(name != "raw" or content.strip(b" \n\t\r"))
    assert parse(content, format_name=name, word_order=stated(name, unit)) == dump


@pytest.mark.parametrize(("name", "unit"), TEXTS)
@SOME
@given(data=st.data())
def test_log_prefixes_colours_line_ends_and_case_do_not_matter(name, unit, data):
    dump = of(data.draw, name, unit)
    lines = render(dump, format_name=name, unit=unit).splitlines()
    prefix = data.draw(st.sampled_from(["", *PREFIXES]))
    colour = data.draw(st.sampled_from(["", "\x1b[31m", "\x1b[1;38;5;200m\x1b]0;title\x07"]))
    end = data.draw(st.sampled_from(["\n", "\r\n", " \t\r\n"]))
    plain = "\x1b[0m" if colour else ""
    text = "".join(f"{prefix}{colour}{line}{plain}{end}" for line in lines)
    assert parse(text, format_name=name, word_order=stated(name, unit)) == dump


@pytest.mark.parametrize(
    ("name", "unit"), [(n, u) for n, u in TEXTS if n not in {"base64", "captured-json", "tensile"}]
)
@FEW
@given(data=st.data())
def test_upper_case_is_read(name, unit, data):
    dump = of(data.draw, name, unit)
    lines = render(dump, format_name=name, unit=unit).splitlines()
    upper = [
        line.upper() if name in {"plain-hex", "words", "debug-agent", "od-x"} else line for line in lines
    ]
    if name == "xxd":
        upper = [line[:10] + line[10:].partition("  ")[0].upper() for line in lines]
    assert parse("\n".join(upper), format_name=name, word_order=stated(name, unit)) == dump


@pytest.mark.parametrize(("name", "unit"), [(n, u) for n, u in WRITTEN if n != "raw"])
@SOME
@given(data=st.data())
def test_detection_reads_what_was_written_or_refuses(name, unit, data):
    dump = of(data.draw, name, unit)
    content = render_bytes(dump, format_name=name, unit=unit)
    # One group of digits alone is read as bytes in the order of memory.
    assume(name != "words" or len(content.split()) > 1)
    try:
        found = parse(content)
    except InputError as error:
        found = dump
        reasons = ("fit, with different bytes", "is not stated", *(["expected"] if name == "base64" else []))
        if not any(reason in str(error) for reason in reasons):
            raise
    assert found == dump


@pytest.mark.parametrize(
    ("name", "size"),
    [("base64", 3), ("npy", 3), ("raw", 3), ("literal", 3), ("captured-json", 3), ("od", 4)],
)  # fmt: skip
def test_a_format_without_a_mark_for_an_unknown_byte_refuses_it(name, size):
    dump = Dump(bytes(size), b"\0" + b"\1" * (size - 1), "d")
    with pytest.raises(InputError, match=r"^d: .*unknown"):
        render_bytes(dump, format_name=name)


def test_repeated_rows_are_a_star_and_unknown_rows_brackets():
    dump = Dump(b"\1" * 64 + bytes(48) + b"\2" * 5, b"\1" * 64 + bytes(48) + b"\1" * 5)
    assert render(dump, format_name="hexdump-C") == (
        "00000000  01 01 01 01 01 01 01 01  01 01 01 01 01 01 01 01  |................|\n"
        "*\n"
        "00000040  ?? ?? ?? ?? ?? ?? ?? ??  ?? ?? ?? ?? ?? ?? ?? ??  |????????????????|\n"
        "[...]\n"
        "00000070  02 02 02 02 02                                    |.....|\n"
        "00000075\n"
    )


def test_sizes_and_units_that_a_format_cannot_say_are_refused():
    five = Dump.whole(b"12345", "d")
    for name, unit, message in [
        (
            "debug-agent",
            None,
            "d: debug-agent has words of 4 bytes: expected a multiple of that, found 5 bytes",
        ),
        ("words", 2, "d: words has words of 2 bytes: expected a multiple of that, found 5 bytes"),
        ("words", 1, "words: expected a unit of 2, 4 or 8 bytes, found 1"),
        ("gdb", 4, "d: gdb has words of 4 bytes: expected a multiple of that, found 5 bytes"),
        ("gdb", 3, "gdb: expected a unit of 1, 2, 4 or 8 bytes, found 3"),
        ("literal", 3, "literal: expected a unit of 1, 2, 4 or 8 bytes, found 3"),
        ("hexdump", 4, "hexdump: expected a unit of 2 bytes, found 4"),
        ("plain-hex", 4, "d: plain-hex has no words: expected no unit, found 4"),
    ]:
        with pytest.raises(InputError) as error:
            render(five, format_name=name, unit=unit)
        assert str(error.value) == message
    with pytest.raises(InputError, match=r"^npy is no text: render_bytes writes it$"):
        render(five, format_name="npy")
