"""The file itself: cut, damaged and foreign files give whole records, sentences on the rest, and nothing invented."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.capture import layout, parse, read
from argpack.capture.writer import CaptureWriter
from argpack.errors import ArgpackError, InputError

HEAD = struct.Struct("<QQQII3I3IIIII")


def launch(writer, arguments, *, kernel=1, how=1, memory=(), flags=0, api=0):
    sizes = (2, 3, 4, 64, 1, 1)
    head = HEAD.pack(kernel, 16, 0, api, flags, *sizes, how, len(arguments), len(memory), 0)
    entries = b"".join(struct.pack("<QQ32s", *entry) for entry in memory)
    return writer.write(layout.LAUNCH, head + arguments + entries)


def answer(call, *arguments):
    """What it returns, or the message of its error."""
    try:
        return call(*arguments)
    except ArgpackError as error:
        return str(error)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Three launches, the second with memory; 100 bytes of contents."""
    path = tmp_path_factory.mktemp("file") / "made.capture"
    writer = CaptureWriter(path)
    writer.kernel(1, "some_kernel", b"code", [(0, 8, 1), (12, 4, 0), (16, 8, 3)])
    launch(writer, b"\x01" * 24)
    digest = writer.blob(bytes(range(100)))
    number = launch(writer, b"\x02" * 16, how=2, memory=[(0x1000, 100, digest)])
    writer.write(
        layout.RESULT,
        struct.pack("<QiII4x", number, 7, 1, 0) + struct.pack("<QQ32s", 0x1000, 100, b"\0" * 32),
    )
    launch(writer, b"\x03" * 24, kernel=9)
    writer.write(layout.NOTE, b"a note")
    writer.close()
    return path


def test_a_whole_file_reads_back(file):
    capture = read(file)
    first, second, third = capture.launches
    assert (first.number, first.kernel, first.arguments) == (1, "some_kernel", b"\x01" * 24)
    assert (first.grid, first.block, first.dynamic_lds) == ((2, 3, 4), (64, 1, 1), 16)
    assert (first.finished, first.error, first.known) == (False, 0, b"\x01" * 24)
    assert capture.contents(first.code) == b"code"
    assert second.known == b"\x01" * 8 + bytes(4) + b"\x01" * 4
    assert second.pointers == (0,)
    assert (second.error, second.memory[0].after) == (7, None)
    assert capture.contents(second.memory[0].before) == bytes(range(100))
    assert third.remarks == ("the record of its kernel is not in the file",)
    assert capture.notes == ("a note",)
    assert capture.problems == ()
    assert capture.processes[0].ended


@given(st.data())
def test_a_cut_file_gives_the_launches_before_the_cut(file, data):
    whole = file.read_bytes()
    all_launches = read(file).launches
    cut = data.draw(st.integers(64, len(whole)))
    capture = parse(whole[:cut], source="cut")
    numbers = [entry.arguments for entry in capture.launches]
    assert numbers == [entry.arguments for entry in all_launches][: len(numbers)]
    assert len(capture.problems) <= 1
    if cut in {64, len(whole)}:
        assert capture.problems == ()


@given(st.data())
def test_a_damaged_byte_costs_its_record_and_no_other(file, data):
    whole = bytearray(file.read_bytes())
    at = data.draw(st.integers(64, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    capture = parse(bytes(whole), source="damaged")
    known = {entry.arguments for entry in read(file).launches}
    found = [entry.arguments for entry in capture.launches]
    assert set(found) <= known
    assert len(found) >= 2
    assert capture.problems
    for entry in capture.launches:
        for memory in entry.memory:
            assert answer(capture.contents, memory.before) in {
                bytes(range(100)),
                f"damaged: contents {memory.before[:16]}: not in the file",
            }


@given(st.binary(min_size=1, max_size=300), st.data())
def test_garbage_between_records_is_passed_over(file, garbage, data):
    whole = file.read_bytes()
    marker = whole[24:40]
    starts = [at for at in range(64, len(whole)) if whole.startswith(marker, at)]
    at = data.draw(st.sampled_from(starts))
    capture = parse(whole[:at] + garbage + whole[at:], source="garbage")
    assert len(capture.launches) == 3
    (problem,) = capture.problems
    assert problem.startswith(
        f"garbage: torn or damaged record: {len(garbage)} bytes at {at:#x} are not used ("
    )


@given(st.binary(max_size=400))
def test_any_bytes_after_the_magic_give_an_answer_or_one_line(data):
    assert "\n" not in str(answer(lambda: parse(layout.MAGIC + data, source="any")))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x7fELF" + bytes(80), "expected a capture, which starts with"),
        (layout.MAGIC, "the header of the capture is cut off: 16 bytes"),
        (layout.MAGIC + bytes(48), "the header of the capture is damaged: its checksum differs"),
    ],
)
def test_what_is_no_capture_is_refused(data, message):
    with pytest.raises(InputError, match=f"x: {message}"):
        parse(data, source="x")


def test_a_newer_version_is_refused(tmp_path):
    import zlib

    head = bytearray(64)
    head[:16] = layout.MAGIC
    head[16] = 2
    head[60:] = struct.pack("<I", zlib.crc32(head[:60]))
    with pytest.raises(InputError, match="expected a capture of version 1, found 2"):
        parse(bytes(head), source="x")


def test_missing_contents_are_refused_by_name(file):
    with pytest.raises(InputError, match="contents 0000000000000000: not in the file"):
        read(file).contents("0" * 64)


def test_an_empty_file_and_a_folder_are_refused(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    for path in (tmp_path / "empty", tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError, match="cannot read the capture"):
            read(path)
