"""argpack table: a log of many buffers, in every form, to text, JSON, CSV, Parquet and Arrow."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from argpack.cli import main
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.hexdump import Dump, render

DUMPS = Path(__file__).parents[2] / "dumps"
FIRST, SECOND = (
    json.loads((DUMPS / f"aiter_f4gemm_{name}.json").read_text())
    for name in ("256x256x4096", "128x2048x4096")
)
KERNEL = "aiter_f4gemm"
VALUES = SCHEMA.unpack(bytes.fromhex(FIRST["kernarg_hex"]))


def buffer(**changes):
    return SCHEMA.pack(
        {**VALUES, "alpha": 1.0, "beta": 0.0, "ptr_C": 0, "stride_C1": 0, "stride_B1": 0, **changes}
    )


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(content, name="log"):
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


RAW = b"".join([buffer(), buffer(M=512), buffer(M=512, alpha=0.5), buffer(N=1024, stride_C0=1024)])
REPORT = """\
log: 4 records of 372 bytes, read as raw
as aiter_f4gemm, all its kernels

4 of 24 fields differ between records
offset  field      values  lowest  highest  unit           use
0x040   alpha      2       0.5     1.0                     live
0x080   stride_C0  2       256     1024     bf16 elements  live
0x0e0   M          2       256     512      rows           live
0x0f0   N          2       256     1024     columns        live
always the same: ptr_D 0x7fab6d200000, ptr_C null, ptr_A 0x7fab7d200000, ptr_B 0x7fab8d200000, beta 0.0, \
stride_D0 0, stride_D1 51, stride_C1 0, stride_A0 4096, stride_A1 161, stride_B0 4096, stride_B1 0, K 4096, \
ptr_ScaleA 0x7fab9d200000, ptr_ScaleB 0x7fab9e200000, stride_ScaleA0 128, stride_ScaleA1 1, stride_ScaleB0 128, \
stride_ScaleB1 6, log2_k_split 0

3 combinations of M, N, K
records  M    N     K
2        512  256   4096
1        256  256   4096
1        256  1024  4096
"""


def test_raw_records_end_to_end(log, capsys):
    assert main(["table", log(RAW), "--kernel", KERNEL]) == 0
    assert capsys.readouterr().out == REPORT


def test_grouping_by_chosen_fields(log, capsys):
    assert main(["table", log(RAW), "--kernel", KERNEL, "--group-by", "alpha,N"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("3 combinations of alpha, N") + 1 :] == [
        "records  alpha  N",
        "2        1.0    256",
        "1        0.5    256",
        "1        1.0    1024",
    ]


def test_lines_of_json_with_kernel_and_grid(log, capsys):
    lines = [
        json.dumps({"kernarg_hex": c["kernarg_hex"], "kernel": c["kernel"], "grid": c["grid"]})
        for c in (FIRST, SECOND)
    ]
    assert main(["table", log("\n".join(lines) + "\n"), "-o", "out.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "log: 2 records of 372 bytes, read as json"
    with Path("out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kernel"] for row in rows] == [FIRST["kernel"], SECOND["kernel"]]
    assert [int(row["grid_x"]) for row in rows] == [FIRST["grid"][0], SECOND["grid"][0]]
    assert [int(row["N"]) for row in rows] == [256, 2048]
    assert list(rows[0])[:6] == ["kernel", "grid_x", "grid_y", "grid_z", "ptr_D", "ptr_C"]


def test_objects_of_json_over_several_lines(log, capsys):
    assert main(["table", log(json.dumps(FIRST, indent=1) + "\n" + json.dumps(SECOND, indent=1))]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "log: 2 records of 372 bytes, read as json"
    assert "2 combinations of M, N, K" in out


def test_text_with_a_dump_after_the_other(log, capsys):
    dumps = [Dump.whole(buffer(M=m)) for m in (1, 2, 3)]
    text = "".join(f"launch {i} of my program\n{render(dump)}\n" for i, dump in enumerate(dumps))
    assert main(["table", log(text), "--kernel", KERNEL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["schema"], found["not_read"]) == (3, "aiter_f4gemm", [])
    assert found["logs"] == [{"source": "log", "format": "dumps", "records": 3}]
    fields = {field["name"]: field for field in found["fields"]}
    assert fields["M"] == {"name": "M", "use": "live", "known": 3, "distinct": 3, "lowest": 1, "highest": 3}
    assert found["groups"][0] == {"values": [1, 256, 4096], "records": 1}


def test_what_a_dump_leaves_out_is_unknown_in_the_columns(log, capsys):
    whole = buffer()
    offset = SCHEMA.offset("M")
    known = b"\1" * offset + bytes(16) + b"\1" * (372 - offset - 16)
    partly = Dump(bytes(b if k else 0 for b, k in zip(whole, known, strict=True)), known)
    text = f"first\n{render(Dump.whole(whole))}\nsecond\n{render(partly)}\n"
    assert main(["table", log(text), "--kernel", KERNEL, "-o", "out.csv"]) == 0
    with Path("out.csv").open(newline="") as file:
        assert [row["M"] for row in csv.DictReader(file)] == ["256", ""]
    capsys.readouterr()
    assert main(["table", "log", "--kernel", KERNEL, "-o", "out.parquet"]) == 0
    from pyarrow import parquet

    assert parquet.read_table("out.parquet")["M"].to_pylist() == [256, None]


@pytest.mark.parametrize("name", ["out.parquet", "out.arrow"])
def test_columns_in_the_formats_of_arrow_keep_types_and_values(name, log):
    from pyarrow import feather, parquet

    assert main(["table", log(RAW), "--kernel", KERNEL, "-o", name]) == 0
    table = parquet.read_table(name) if name.endswith("parquet") else feather.read_table(name)
    assert table.column_names == [field.name for field in SCHEMA.fields]
    assert table["M"].to_pylist() == [256, 512, 512, 256]
    assert table["ptr_A"].to_pylist() == [VALUES["ptr_A"]] * 4
    assert table["alpha"].to_pylist() == [1.0, 1.0, 0.5, 1.0]
    assert {str(table.schema.field(n).type) for n in ("ptr_A", "M", "alpha", "log2_k_split")} == {
        "uint64", "uint32", "float", "int32",
    }  # fmt: skip


def test_csv_has_floats_that_give_their_bits_back(log):
    assert main(["table", log(buffer(alpha=0.1) * 2), "--kernel", KERNEL, "-o", "out.csv"]) == 0
    with Path("out.csv").open(newline="") as file:
        assert [row["alpha"] for row in csv.DictReader(file)] == ["0.1", "0.1"]


def test_without_pyarrow_csv_is_written_and_parquet_says_what_is_missing(log, monkeypatch, capsys):
    for module in ("pyarrow", "pyarrow.feather", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    assert main(["table", log(RAW), "--kernel", KERNEL, "-o", "out.parquet"]) == 2
    assert capsys.readouterr().err == (
        "argpack: error: out.parquet: Parquet and Arrow files need pyarrow: pip install 'argpack[table]', "
        "or write .csv\n"
    )
    assert main(["table", "log", "--kernel", KERNEL, "-o", "out.csv"]) == 0


def test_records_of_other_kernels_are_left_out_where_one_is_named(log, capsys):
    lines = [
        json.dumps({"kernarg_hex": FIRST["kernarg_hex"], "kernel": FIRST["kernel"]}),
        json.dumps({"kernarg_hex": "00" * 24, "kernel": "vectorised_add"}),
    ]
    assert main(["table", log("\n".join(lines))]) == 2
    assert "the kernel recorded, vectorised_add, is of no known family" in capsys.readouterr().err
    assert main(["table", "log", "--kernel", KERNEL]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "log: 1 record of 372 bytes, read as json"
    assert out[2] == "1 record of other kernels left out"
    assert main(["table", "log", "--kernel", "own_sgemm"]) == 2
    assert capsys.readouterr().err == (
        "argpack: error: log: expected records of own_sgemm, all its kernels, found 2 others\n"
    )


def test_a_page_of_html(log, capsys):
    assert main(["table", log(RAW), "--kernel", KERNEL, "--html"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!DOCTYPE html>")
    assert "<td>stride_C0</td><td>2</td><td>256</td><td>1024</td>" in page


NAMED = ["--kernel", KERNEL]
BAD_JSON = '{"kernarg_hex": "00"}\n\n{"kernarg_hex": '


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", [], "log: expected records, found an empty file"),
        (
            RAW[:-1],
            NAMED,
            "log: expected records of 372 bytes (aiter_f4gemm), found 1487 bytes, 371 too many",
        ),
        (RAW, [*NAMED, "--group-by", "m"], None),
        (RAW, [*NAMED, "-o", "out.xlsx"], "out.xlsx: expected a file name that ends in .csv, .parquet, .arrow"),
        (RAW, [*NAMED, "-o", "log.csv"], "log.csv: exists; --force overwrites it"),
        (RAW, [*NAMED, "-o", "none/out.csv"], "none/out.csv: cannot be written: its folder does not exist"),
        (BAD_JSON, [], "log:3: expected a JSON object"),
        ('{"a": 1}', [], "log:1: expected a JSON object with a string kernarg_hex"),
        ('{"kernarg_hex": "00", "kernarg_size": 2}', [],
         "log:1: kernarg_hex: expected 2 bytes as kernarg_size says, found 1"),
        ('{"kernarg_hex": "0"}', [], "log:1: kernarg_hex: expected pairs of hex digits"),
        ('{"kernarg_hex": "00", "kernel": 3}', [], "log:1: kernel: expected a string, found int"),
        ('{"kernarg_hex": "00", "grid": [1.5]}', [], "log:1: grid: expected at most three integers, found [1.5]"),
        ("just some prose\n", [], None),
        (
            json.dumps({"kernarg_hex": "00" * 100}),
            NAMED,
            (
                "log:1: aiter_f4gemm: expected 372 bytes, found 100, 272 short; missing: stride_D1 at 0x70, "
                "stride_C0 at 0x80, stride_C1 at 0x90 and 14 more"
            ),
        ),
        (json.dumps({"kernarg_hex": "00" * 500}), NAMED, "log:1: expected 372 bytes (aiter_f4gemm), found 500"),
    ],
)  # fmt: skip
def test_what_cannot_be_decoded_is_one_line_and_exit_2(content, options, message, log, capsys):
    Path(log("", "log.csv")).touch()
    assert main(["table", log(content), *options]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)
    if message is not None:
        assert output.err == f"argpack: error: {message}\n"


def test_raw_records_need_a_name(log, capsys):
    assert main(["table", log(RAW)]) == 2
    assert capsys.readouterr().err.startswith(
        "argpack: error: log: raw records do not say whose arguments they are: name a kernel with --kernel, of "
    )


def test_a_folder_without_logs_and_a_missing_file_are_refused(tmp_path, capsys):
    assert main(["table", str(tmp_path)]) == 2
    (tmp_path / "README").write_text("prose\n")
    assert main(["table", str(tmp_path)]) == 2
    assert main(["table", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == (
        f"argpack: error: {tmp_path}: expected a folder with capture logs, found no file\n"
        f"argpack: error: {tmp_path}: expected a folder with capture logs, found none in 1 file\n"
        f"argpack: error: {tmp_path / 'none'}: No such file or directory\n"
    )


def test_logs_of_several_forms_are_one_table(log, capsys):
    log(RAW, "a.raw")
    log(json.dumps({"kernarg_hex": buffer(M=9).hex(), "kernel": FIRST["kernel"], "grid": [2, 3]}), "b.json")
    log(f"launch\n{render(Dump.whole(buffer(M=10)))}", "c.txt")
    assert main(["table", "a.raw", "b.json", "c.txt", "--kernel", KERNEL, "-o", "out.csv"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "3 logs: 6 records of 372 bytes, read as dumps and json and raw"
    assert out[out.index("5 combinations of M, N, K") + 1] == "records  M    N     K"
    with Path("out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["log"] for row in rows] == ["a.raw"] * 4 + ["b.json", "c.txt"]
    assert [row["kernel"] for row in rows] == [""] * 4 + [FIRST["kernel"], ""]
    assert [(row["grid_x"], row["grid_y"], row["grid_z"]) for row in rows[3:]] == [
        ("0", "0", "0"), ("2", "3", "1"), ("0", "0", "0"),
    ]  # fmt: skip
    assert [row["M"] for row in rows] == ["256", "512", "512", "256", "9", "10"]


def test_a_folder_of_dumps_is_a_table_and_what_is_no_dump_is_named(log, capsys):
    Path("logs").mkdir()
    for number in (1, 2, 3):
        log(json.dumps({**FIRST, "kernarg_hex": buffer(M=number).hex()}, indent=1), f"logs/{number}.json")
    log("hidden", "logs/.cache")
    assert main(["table", "logs"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "3 logs: 3 records of 372 bytes, read as json"
    log("What these are.\n", "logs/README.md")
    assert main(["table", "logs"]) == 2
    assert capsys.readouterr().out.splitlines()[2] == "not read: logs/README.md: expected dumps, found none"
    assert main(["table", "logs", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["not_read"] == [
        {"source": "logs/README.md", "reason": "expected dumps, found none"}
    ]


def test_logs_of_two_families_are_refused(log, capsys):
    log(json.dumps({"kernarg_hex": FIRST["kernarg_hex"], "kernel": FIRST["kernel"]}), "a")
    log(json.dumps({"kernarg_hex": "00" * 68, "kernel": "argpack_sgemm"}), "b")
    assert main(["table", "a", "b"]) == 2
    assert "are of different families: aiter_f4gemm and own_sgemm" in capsys.readouterr().err
    assert main(["table", "a", "b", "--kernel", "own_sgemm"]) == 0
    assert capsys.readouterr().out.splitlines()[2] == "1 record of other kernels left out"


def test_rows_of_a_npy_file_are_records(log, capsys):
    np.save("rows.npy", np.frombuffer(RAW, np.uint8).reshape(4, 372))
    assert main(["table", "rows.npy"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "rows.npy: 4 records of 372 bytes, read as npy"
    np.save("records.npy", np.frombuffer(RAW, SCHEMA.dtype))
    assert main(["table", "records.npy", "--group-by", "M"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == ["records  M", "2        256", "2        512"]


def test_a_log_may_come_from_a_pipe(log, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RAW)))
    assert main(["table", "-", "--kernel", KERNEL]) == 0
    assert capsys.readouterr().out == REPORT.replace("log:", "standard input:")


def test_table_without_a_file_to_write_loads_no_pyarrow(log):
    code = (
        "import sys\nfrom argpack.cli import main\n"
        f"assert main(['table', {log(RAW)!r}, '--kernel', {KERNEL!r}]) == 0\n"
        "print([m for m in ('pyarrow', 'construct', 'tinygrad') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
