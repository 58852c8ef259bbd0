import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from argpack.cli import main
from argpack.cli.decoding import families_known
from argpack.families.aiter_f4gemm.schema import SCHEMA

DUMPS = Path(__file__).parents[2] / "dumps"
EXCERPT = str(DUMPS / "origin_excerpt.txt")
TABLE = str(DUMPS / "aiter_f4gemm_256x256x4096_nopreshuffle.txt")
CAPTURE = str(DUMPS / "aiter_f4gemm_64x512x7168_splitk.json")
KERNEL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256"
BASE = bytes.fromhex(json.loads(Path(CAPTURE).read_text())["kernarg_hex"])


def use_of(text, field):
    """The column `use` of a field's line."""
    lines = text.splitlines()
    heading = next(line for line in lines if line.startswith("offset"))
    line = next(line for line in lines if f" {field} " in line)
    start = heading.index("use ")
    return line[start : start + 8].strip()


def test_excerpt_shows_what_it_holds_and_states_how_the_family_was_found(capsys):
    assert main(["show", EXCERPT]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0] == f"{EXCERPT}: 372 bytes, 304 unknown"
    assert lines[1] == "as aiter_f4gemm, the only family with 372 bytes of arguments; --kernel narrows it"
    words = [" ".join(line.split()) for line in lines]
    assert any(" ptr_D ptr 0x7fab6d200000 live " in line for line in words)
    assert any(" ptr_C ptr null dead " in line for line in words)
    assert any(" ?? M u32 ? rows live " in line for line in words)
    assert any(" stride_ScaleB0 u32 128 bytes live " in line for line in words)
    assert "\x1b" not in text


@pytest.mark.parametrize(
    "name", [KERNEL, f"{KERNEL}.co", f"some/where/{KERNEL}.co", f"_ZN5aiter42{KERNEL}E", f"_ZN5aiter42{KERNEL}E.kd"]
)  # fmt: skip
def test_a_kernel_is_resolved_by_name_without_its_file(name, capsys):
    assert main(["show", TABLE, "--kernel", name]) == 0
    text = capsys.readouterr().out
    assert KERNEL in text.splitlines()[1]
    assert use_of(text, "alpha") == "live"
    assert use_of(text, "log2_k_split") == "live"


def test_the_kernel_decides_what_an_argument_is_used_for(capsys):
    assert main(["show", TABLE, "--kernel", "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"]) == 0
    text = capsys.readouterr().out
    assert use_of(text, "alpha") == "dead"
    assert use_of(text, "log2_k_split") == "unread"


def test_a_family_may_be_named(capsys):
    assert main(["show", TABLE, "--kernel", "aiter_f4gemm"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "as aiter_f4gemm, all its kernels"


def test_a_renamed_code_object_is_opened(kernels_dir, tmp_path, capsys):
    copy = tmp_path / "renamed.co"
    shutil.copy(kernels_dir / "gfx950" / "f4gemm" / f"{KERNEL}.co", copy)
    assert main(["show", TABLE, "--kernel", str(copy)]) == 0
    assert f"kernel _ZN5aiter42{KERNEL}E" in capsys.readouterr().out.splitlines()[1]


def test_the_kernel_recorded_with_a_capture_is_used(capsys):
    assert main(["show", CAPTURE]) == 0
    expected = f"as aiter_f4gemm, kernel _ZN5aiter42{KERNEL}E as recorded"
    assert capsys.readouterr().out.splitlines()[1] == expected


def test_a_capture_for_another_kernel_is_pointed_out(capsys):
    assert main(["show", CAPTURE, "--kernel", "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"]) == 0
    note = f"{CAPTURE}: captured for another kernel, _ZN5aiter42{KERNEL}E"
    assert capsys.readouterr().out.splitlines()[2] == note


def test_standard_input_is_a_dash(monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO(BASE)

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert main(["show", "-"]) == 0
    assert capsys.readouterr().out.startswith("standard input: 372 bytes\n")


def test_json_has_every_field_and_pad(capsys):
    assert main(["show", EXCERPT, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {key: shown[key] for key in ("size", "known", "schema", "kernels", "beyond")} == {
        "size": 372, "known": 68, "schema": "aiter_f4gemm", "kernels": [], "beyond": "",
    }  # fmt: skip
    assert [field["name"] for field in shown["fields"]] == [field.name for field in SCHEMA.fields]
    assert len(shown["pads"]) == 23
    assert shown["fields"][0] == {
        "name": "ptr_D", "offset": 0, "type": "ptr", "role": "pointer", "unit": "", "use": "live",
        "bytes": "00 00 20 6d ab 7f 00 00", "value": 0x7FAB6D200000, "text": "0x7fab6d200000",
        "doc": "Output, bf16, M rows of stride_C0 elements.",
    }  # fmt: skip
    assert shown["fields"][4]["value"] is None


def test_json_stays_valid_where_a_value_is_not_finite(tmp_path, capsys):
    path = tmp_path / "nan.bin"
    path.write_bytes(BASE[:64] + bytes.fromhex("010080ff") + BASE[68:])
    assert main(["show", str(path), "--json"]) == 0
    fields = {field["name"]: field for field in json.loads(capsys.readouterr().out)["fields"]}
    assert (fields["alpha"]["value"], fields["alpha"]["text"]) == ("nan", "nan (0xff800001)")


def test_a_whole_segment_is_decoded_and_the_rest_left_out(tmp_path, capsys):
    path = tmp_path / "segment.bin"
    path.write_bytes(BASE + bytes(12))
    assert main(["show", str(path), "--kernel", KERNEL]) == 0
    assert capsys.readouterr().out.splitlines()[2] == f"{path}: 12 bytes after the arguments, not decoded"


def test_a_buffer_without_the_argument_that_the_kernel_never_reads_is_fine(tmp_path, capsys):
    path = tmp_path / "short.bin"
    path.write_bytes(BASE[:368])
    assert main(["show", str(path), "--kernel", "f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256"]) == 0
    assert " missing " in capsys.readouterr().out


def test_colour_is_for_terminals_that_want_it(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["show", TABLE]) == 0
    assert "\x1b[2m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["show", TABLE]) == 0
    assert "\x1b" not in capsys.readouterr().out


PNG = b"\x89PNG\r\n\x1a\n" + bytes(1000)
FAMILIES = families_known()
NO_FAMILY = f"the arguments of one known family: name a kernel with --kernel, of {FAMILIES}"
SHORT = (
    "expected 372 bytes, found 100, 272 short; "
    "missing: stride_D1 at 0x70, stride_C0 at 0x80, stride_C1 at 0x90 and 14 more"
)
CUT = Path(TABLE).read_bytes().rstrip(b" |\n")[:-1]
OTHER_TILE = "f4gemm_bf16_per1x32Fp4_BpreShuffle_512x512"
NOT_MEASURED = "expected one of the 35 kernels f4gemm_bf16_per1x32Fp4_* that were measured"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", [], "FILE: expected a dump, found an empty file"),
        (PNG, [], f"FILE: 1008 bytes are not {NO_FAMILY}"),
        (BASE[:371], [], f"FILE: 371 bytes are not {NO_FAMILY}"),
        (PNG, ["--kernel", KERNEL], "FILE: expected 372 bytes (aiter_f4gemm), found 1008"),
        (
            BASE[:368],
            ["--kernel", KERNEL],
            "FILE: aiter_f4gemm: expected 372 bytes, found 368, 4 short; missing: log2_k_split at 0x170",
        ),
        (BASE[:100], ["--kernel", KERNEL], f"FILE: aiter_f4gemm: {SHORT}"),
        (
            b"some prose\n",
            [],
            "FILE:1: expected a dump in a known format (--format lists them), found 'some prose'",
        ),
        (
            BASE.hex(" ", 4).encode(),
            [],
            (
                "FILE: plain-hex and words both fit, with different bytes: choose one with --format "
                "(values that look like addresses: 15 as plain-hex, 0 as words)"
            ),
        ),
        (CUT, [], "FILE:26: expected a byte of two hex digits or ??, found '0'"),
        (
            BASE,
            ["--kernel", "my_gemm"],
            f"--kernel my_gemm: expected a kernel of a known family, its file or a family, of {FAMILIES}",
        ),
        (BASE, ["--kernel", OTHER_TILE], f"{OTHER_TILE}: {NOT_MEASURED}"),
        (BASE, ["--kernel", TABLE], None),
        (
            b'{"kernarg_hex": "00", "kernel": "my_gemm"}',
            [],
            f"the kernel recorded, my_gemm, is of no known family, of {FAMILIES}",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_decoded_is_one_line_and_exit_2(content, options, message, tmp_path, capsys):
    path = tmp_path / "dump"
    path.write_bytes(content)
    assert main(["show", str(path), *options]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("argpack: error: ")
    assert output.err.count("\n") == 1
    if message is not None:
        assert output.err == f"argpack: error: {message.replace('FILE', str(path))}\n"


def test_a_page_of_html_has_the_fields(capsys):
    assert main(["show", TABLE, "--html"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!DOCTYPE html>")
    assert "<td>stride_A0</td><td>u32</td><td>4096</td><td>fp4 elements</td><td>live</td>" in page


def test_a_stride_in_another_unit_than_the_sizes_imply_is_doubted(tmp_path, capsys):
    values = SCHEMA.unpack(BASE)
    path = tmp_path / "bytes.bin"
    path.write_bytes(SCHEMA.pack({**values, "stride_A0": values["K"] // 2}))
    assert main(["show", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["doubts"] == [
        {
            "name": "stride_A0",
            "text": "stride_A0 at 0x0a0 is 3584: half the 7168 fp4 elements that M, N and K imply: another unit?",
        }
    ]
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("doubtful: stride_A0 at 0x0a0 is 3584: half ")


def test_no_capture_of_the_hosts_own_code_is_doubted(capsys):
    for path in sorted(DUMPS.glob("*.json")):
        assert main(["show", str(path)]) == 0
        assert "doubtful" not in capsys.readouterr().out


def test_messages_list_the_families_with_their_sizes():
    assert families_known().startswith("aiter_f4gemm (372 bytes), own_sgemm (68 bytes) and ")


def test_a_directory_and_a_missing_file_are_refused(tmp_path, capsys):
    assert main(["show", str(tmp_path)]) == 2
    assert main(["show", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == (
        f"argpack: error: {tmp_path}: expected a file, found a directory\n"
        f"argpack: error: {tmp_path / 'none'}: No such file or directory\n"
    )


def test_format_may_be_named(tmp_path, capsys):
    path = tmp_path / "words.txt"
    words = [BASE[i : i + 4][::-1].hex() for i in range(0, 372, 4)]
    path.write_text(" ".join(words))
    assert main(["show", str(path), "--format", "words"]) == 0
    assert " 0x7fab6d200000 " in capsys.readouterr().out
    path.write_text(BASE.hex(" ", 4))
    assert main(["show", str(path), "--format", "plain-hex"]) == 0
    assert " 0x7fab6d200000 " in capsys.readouterr().out


def test_show_loads_neither_numpy_nor_construct_nor_the_decoder():
    code = (
        "import sys\nfrom argpack.cli import main\n"
        f"assert main(['show', {EXCERPT!r}]) == 0\n"
        "print([m for m in ('numpy', 'construct', 'tinygrad', 'ml_dtypes', 'elftools') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
