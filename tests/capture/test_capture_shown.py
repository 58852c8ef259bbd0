"""`show`, `diff` and `table` read captures."""

import json
import struct

import pytest
from recorded import record

from argpack.cli import main
from argpack.codeobject import read as read_code
from argpack.errors import InputError
from argpack.families import Problem, family_of
from argpack.families.loading import load_workloads
from argpack.hexdump import parse, read
from argpack.kernels import OWN

SGEMM = OWN / "sgemm.co"
F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"


@pytest.fixture
def every_way(programs, capture):
    return capture(programs.host, "every_way", SGEMM, SGEMM)[0].source


def test_a_real_kernel_is_shown_by_the_kernel_that_was_recorded(kernels_dir, tmp_path, capsys):
    code_object = read_code(kernels_dir / F4GEMM)
    kernel = code_object.kernels[0]
    problem = Problem(m=32, n=128, k=256)
    launch = load_workloads(family_of(kernel.name)).prepare(code_object, kernel, problem).launch
    path = tmp_path / "real.capture"
    record(path, launch, None, buffers=False)
    assert main(["show", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: 372 bytes"
    assert "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128" in lines[1]
    assert any(" M " in line and " 32 " in line for line in lines)


def test_a_launch_is_shown_by_its_number(every_way, capsys):
    assert main(["show", f"{every_way}#2", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert "argpack_sgemm" in json.dumps(shown)
    assert main(["show", every_way]) == 2
    assert f"the capture has 9 launches: name one, {every_way}#1 to #9" in capsys.readouterr().err
    assert main(["show", f"{every_way}#x"]) == 2
    assert "expected the number of a launch after #, found 'x'" in capsys.readouterr().err


def test_two_launches_of_one_capture_are_compared(programs, capture, capsys):
    recorded, _ = capture(programs.host, "exit", SGEMM, 0)
    assert main(["diff", f"{recorded.source}#1", f"{recorded.source}#1"]) == 0
    capsys.readouterr()
    assert main(["diff", f"{recorded.source}#1", f"{recorded.source}#2"]) == 1
    assert " M " in capsys.readouterr().out


def test_a_capture_larger_than_any_dump_is_read(programs, capture, capsys):
    recorded, _ = capture(programs.host, "threads", SGEMM, 8000)
    dump = read(f"{recorded.source}#8000")
    assert (dump.size, dump.kernel) == (68, "argpack_sgemm")
    assert dump.source == f"{recorded.source}#8000"


def test_bytes_between_the_arguments_are_unknown(tmp_path):
    from argpack.capture import layout
    from argpack.capture.writer import CaptureWriter

    path = tmp_path / "gap.capture"
    writer = CaptureWriter(path)
    writer.kernel(1, "some", None, [(0, 8, 1), (12, 4, 0)])
    head = struct.pack("<QQQII3I3IIIII", 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, layout.PARAMETERS, 16, 0, 0)
    writer.write(layout.LAUNCH, head + b"\x11" * 8 + bytes(4) + b"\x22" * 4)
    writer.close()
    dump = read(path)
    assert dump.data == b"\x11" * 8 + bytes(4) + b"\x22" * 4
    assert dump.known == b"\x01" * 8 + bytes(4) + b"\x01" * 4
    assert parse(path.read_bytes()).known == dump.known


def test_a_capture_is_not_taken_for_another_format(every_way):
    with pytest.raises(InputError, match="--format raw: it is a file of argpack capture"):
        read(f"{every_way}#1", format_name="raw")
    with pytest.raises(InputError, match="expected a file of argpack capture"):
        parse("00 01 02", format_name="capture")


def test_the_table_has_a_row_for_each_launch(programs, capture, tmp_path, capsys):
    recorded, _ = capture(programs.host, "exit", SGEMM, 0)
    columns = tmp_path / "columns.csv"
    assert main(["table", recorded.source, "-o", str(columns)]) == 0
    heading, first, second = (line.split(",") for line in columns.read_text().splitlines())
    assert [row[heading.index("M")] for row in (first, second)] == ["0", "1"]
    assert first[heading.index("kernel")] == "argpack_sgemm"
    assert [first[heading.index(f"grid_{axis}")] for axis in "xyz"] == ["5", "6", "7"]
