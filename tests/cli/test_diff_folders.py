"""argpack diff DIR DIR: files by name, which fields ever differ, and an exit code that hides nothing."""

import json
from pathlib import Path

import pytest

from argpack.cli import main
from argpack.families.aiter_f4gemm.schema import SCHEMA

DUMPS = Path(__file__).parents[2] / "dumps"
CAPTURE = json.loads((DUMPS / "aiter_f4gemm_128x2048x4096.json").read_text())
VALUES = SCHEMA.unpack(bytes.fromhex(CAPTURE["kernarg_hex"]))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two folders, a and b, to be filled with `name: fields that differ` or bytes."""
    monkeypatch.chdir(tmp_path)

    def fill(first, second):
        for folder, files in (("a", first), ("b", second)):
            Path(folder).mkdir()
            for name, content in files.items():
                data = content if isinstance(content, bytes) else SCHEMA.pack({**VALUES, **content})
                Path(folder, name).write_bytes(data)
        return ["diff", "a", "b", "--kernel", "aiter_f4gemm"]

    return fill


def test_files_are_compared_by_name_and_summed_up(folders, capsys):
    command = folders(
        {"1.bin": {}, "2.bin": {}, "3.bin": {}, "4.bin": {}, "5.bin": {}, ".hidden": b""},
        {"1.bin": {}, "2.bin": {"stride_A0": 2048}, "3.bin": {"stride_A0": 2048, "alpha": 0.5}, "6.bin": {},
         "4.bin": {"M": 2048, "N": 128}},
    )  # fmt: skip
    assert main(command) == 1
    assert capsys.readouterr().out == (
        "6 files: 1 the same, 3 different, 2 in one folder only\n"
        "fields that differ: stride_A0 in 2 files; alpha in 1 file\n"
        "mistakes: M and N are exchanged in 1 file\n"
        "\n"
        "file   verdict    what\n"
        "1.bin  same       no live difference in 15 of 15 live fields\n"
        "2.bin  different  1 live difference: stride_A0 4096 → 2048 fp4 elements\n"
        "3.bin  different  2 live differences: alpha 1.0 → 0.5, stride_A0 4096 → 2048 fp4 elements\n"
        "4.bin  different  2 live differences: M and N are exchanged\n"
        "5.bin  missing    only in a\n"
        "6.bin  missing    only in b\n"
    )


def test_equal_folders_are_the_same(folders, capsys):
    assert main(folders({"1.bin": {}}, {"1.bin": {"ptr_A": 0x7F00_0000_0000}})) == 0
    assert capsys.readouterr().out.splitlines()[0] == "1 file: 1 the same"


def test_a_file_that_cannot_be_compared_is_exit_2_and_the_others_are_compared(folders, capsys):
    command = folders({"1.bin": {}, "2.txt": b"prose"}, {"1.bin": {"M": 1}, "2.txt": b"prose"})
    assert main(command) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 files: 1 different, 1 not compared"
    assert lines[-1].startswith("2.txt  not compared  a/2.txt:1: expected a dump")


def test_json_has_each_file(folders, capsys):
    assert main([*folders({"1.bin": {}, "2.bin": {}}, {"1.bin": {}, "2.bin": {"K": 64}}), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"same": 1, "different": 1, "missing": 0, "not compared": 0}
    assert found["fields"] == {"K": 1}
    assert found["files"][1] == {
        "name": "2.bin", "verdict": "different", "text": "1 live difference: K 4096 → 64 fp4 elements",
        "fields": ["K"], "mistake": None,
    }  # fmt: skip


def test_the_page_of_two_folders(folders, capsys):
    assert main([*folders({"1.bin": {}}, {"1.bin": {"K": 64}}), "--html"]) == 1
    assert '<tr class="alarm"><td>1.bin</td><td>different</td>' in capsys.readouterr().out


def test_a_folder_and_a_file_are_refused(folders, capsys):
    folders({"1.bin": {}}, {"1.bin": {}})
    assert main(["diff", "a", "b/1.bin"]) == 2
    assert main(["diff", "a/1.bin", "b"]) == 2
    Path("c").mkdir()
    Path("d").mkdir()
    assert main(["diff", "c", "d"]) == 2
    assert capsys.readouterr().err == (
        "argpack: error: b/1.bin: expected a folder, like the other one, found a file or nothing\n"
        "argpack: error: a/1.bin: expected a folder, like the other one, found a file or nothing\n"
        "argpack: error: c and d: expected dumps, found no file\n"
    )
