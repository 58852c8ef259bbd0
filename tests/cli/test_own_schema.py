"""A schema that a user writes in TOML, from packing to a table: what each command makes of --schema FILE."""

import json

import pytest

from argpack.cli import main

OWN = """\
name = "scaled_copy"
align = 8

[[field]]
name = "out"
type = "ptr"

[[field]]
name = "scale"
type = "f32"
use = "dead"

[[field]]
name = "rows"
type = "u32"
role = "extent"
unit = "rows"

[[field]]
name = "pitch"
type = "u32"
role = "stride"
unit = "bytes"
"""


@pytest.fixture
def packed(tmp_path, monkeypatch, capsys):
    """Two buffers, a and b, packed with the schema; they differ in `pitch` and, without effect, in `scale`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(OWN)
    for name, scale, pitch in (("a", "1", "512"), ("b", "2", "1024")):
        settings = [
            "--set=out=0x7f0000001000",
            f"--set=scale={scale}",
            "--set=rows=64",
            f"--set=pitch={pitch}",
        ]
        assert main(["pack", "--schema", "own.toml", *settings, "-o", name]) == 0
    capsys.readouterr()
    return ["--schema", "own.toml"]


def test_show_decodes_with_it(packed, capsys):
    assert main(["show", "a", *packed]) == 0
    assert capsys.readouterr().out == (
        "a: 28 bytes\n"
        "as scaled_copy, declared in own.toml\n"
        "\n"
        "offset  bytes                    field  type  value           unit   use   note\n"
        "0x000   00 10 00 00 00 7f 00 00  out    ptr   0x7f0000001000         live\n"
        "0x008   00 00 80 3f              scale  f32   1.0                    dead\n"
        "0x010   40 00 00 00              rows   u32   64              rows   live\n"
        "0x018   00 02 00 00              pitch  u32   512             bytes  live\n"
        "2 pads, 8 bytes: 2 zero\n"
    )


def test_diff_compares_with_it(packed, capsys):
    assert main(["diff", "a", "b", *packed]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "1 live difference: pitch 512 → 1024 bytes; ignored: 1 dead difference",
        "as scaled_copy, declared in own.toml",
    ]


def test_table_counts_with_it(packed, tmp_path, capsys):
    records = [json.dumps({"kernarg_hex": "00" * 16 + f"{rows:02x}" + "00" * 15}) for rows in (1, 2, 2)]
    (tmp_path / "log").write_text("\n".join(records))
    assert main(["table", "log", *packed]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1] == "as scaled_copy, declared in own.toml"
    assert out[-4:] == ["2 combinations of rows", "records  rows", "2        2", "1        1"]


def test_what_no_rule_says_cannot_be_held_against_a_problem(packed, capsys):
    assert main(["diff", "a", "--against", "-m", "1", "-n", "1", "-k", "1", *packed]) == 2
    assert capsys.readouterr().err == (
        "argpack: error: --against: scaled_copy: how a problem becomes arguments is not known for this family\n"
    )
