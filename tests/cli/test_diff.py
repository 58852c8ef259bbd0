import json
import subprocess
import sys
from pathlib import Path

import pytest

from argpack import values
from argpack.cli import main
from argpack.cli.decoding import families_known
from argpack.families.aiter_f4gemm.schema import SCHEMA

DUMPS = Path(__file__).parents[2] / "dumps"
EXCERPT = str(DUMPS / "origin_excerpt.txt")
TABLE = str(DUMPS / "aiter_f4gemm_256x256x4096_nopreshuffle.txt")
KERNEL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256"
SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
BASE = bytes.fromhex(json.loads(Path(TABLE).with_suffix(".json").read_text())["kernarg_hex"])


@pytest.fixture
def changed(tmp_path):
    def write(name="changed.bin", **changes):
        values = SCHEMA.unpack(BASE)
        path = tmp_path / name
        path.write_bytes(SCHEMA.pack({**values, **changes}, pads=values.pads))
        return str(path)

    return write


def test_the_same_dump_twice_is_the_same(capsys):
    assert main(["diff", TABLE, TABLE]) == 0
    assert capsys.readouterr().out == (
        "no live difference in 15 of 15 live fields\n"
        "as aiter_f4gemm, the only family with 372 bytes of arguments; --kernel narrows it\n"
        f"first   {TABLE}: 372 bytes\n"
        f"second  {TABLE}: 372 bytes\n"
        "compared 372 of 372 bytes\n"
    )


def test_a_stride_in_bytes_is_found_and_named(changed, capsys):
    path = changed(stride_A0=2048, ptr_A=0x7F0000000000)
    assert main(["diff", TABLE, path, "--kernel", KERNEL]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "1 live difference: stride_A0 4096 → 2048 fp4 elements; ignored: 1 pointer difference"
    )  # fmt: skip
    assert lines[1] == f"as aiter_f4gemm, kernel {KERNEL}"
    assert "2048 may count bytes, two fp4 elements each" in lines[-2]


def test_pads_unset_strides_and_addresses_do_not_fail_a_diff(tmp_path, capsys):
    values = SCHEMA.unpack(BASE)
    unset = {"stride_D0": 7, "stride_D1": 8, "stride_C1": 9, "ptr_D": 0x7000_0000_0000, "beta": 3.0}
    path = tmp_path / "zero.bin"
    path.write_bytes(SCHEMA.pack({**values, **unset}, pads={}))
    assert main(["diff", TABLE, str(path), "--kernel", SMALL]) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "no live difference in 13 of 13 live fields; ignored: 1 dead, 3 unread, 1 pointer, 21 pad differences"
    )


def test_alpha_counts_only_for_kernels_that_apply_it(changed, capsys):
    path = changed(alpha=2.0)
    assert main(["diff", TABLE, path, "--kernel", KERNEL]) == 1
    assert main(["diff", TABLE, path, "--kernel", f"{SMALL}.co"]) == 0
    assert main(["diff", TABLE, path]) == 1


def test_kernels_recorded_differ_and_the_strictest_use_counts(capsys):
    splitk = str(DUMPS / "aiter_f4gemm_256x256x1024_splitk.json")
    plain = str(DUMPS / "aiter_f4gemm_256x256x4096.json")
    assert main(["diff", splitk, plain]) == 1
    text = capsys.readouterr().out
    assert "as recorded; a field counts by its strictest use" in text.splitlines()[1]
    assert "live    0x040   alpha" in text
    assert "live    0x170   log2_k_split" in text


def test_an_excerpt_is_compared_as_far_as_it_goes(capsys):
    assert main(["diff", EXCERPT, TABLE]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "no live difference in 3 of 15 live fields; ignored: 1 unread, 3 pad differences"
    assert lines[2] == f"first   {EXCERPT}: 372 bytes, 304 unknown"
    assert lines[4].startswith("compared 68 of 372 bytes; unknown, at least in part: ptr_A, ptr_B, alpha, ")


def test_a_missing_argument_is_a_difference_if_the_kernel_reads_it(tmp_path, capsys):
    path = tmp_path / "short.bin"
    path.write_bytes(BASE[:368])
    assert main(["diff", TABLE, str(path), "--kernel", KERNEL]) == 1
    assert capsys.readouterr().out.startswith(
        "1 live difference: the second is 4 bytes short: log2_k_split at 0x170 is missing\n"
    )
    assert main(["diff", TABLE, str(path), "--kernel", SMALL]) == 0


def test_shifted_arguments_are_one_finding(tmp_path, capsys):
    path = tmp_path / "shifted.bin"
    path.write_bytes(BASE[:66] + BASE[68:])
    assert main(["diff", TABLE, str(path), "--kernel", KERNEL]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(
        "10 live differences: from inside alpha on the second is 2 bytes early; ignored: "
    )


def test_buffers_of_no_family_are_compared_byte_by_byte(tmp_path, capsys):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("00 01 02 03")
    second.write_text("00 01 ff 03")
    assert main(["diff", str(first), str(second)]) == 1
    assert capsys.readouterr().out == (
        "1 byte in 1 range differ\n"
        "as bytes: no kernel is named and no single family has this size\n"
        f"first   {first}: 4 bytes\n"
        f"second  {second}: 4 bytes\n"
        "compared 4 of 4 bytes\n"
        "\n"
        "bytes  first  second\n"
        "0002   02     ff\n"
    )
    second.write_text("00 ?? 02 03")
    assert main(["diff", str(first), str(second)]) == 0


def test_json_by_field(changed, capsys):
    assert main(["diff", TABLE, changed(stride_A0=2048, beta=1.0), "--kernel", KERNEL, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["same"] is False
    assert (found["compared"], found["total"], found["not_compared"]) == (372, 372, [])
    assert found["counts"] == {"live": 1, "dead": 1, "unread": 0, "pad": 0, "pointer": 0}
    assert [difference["name"] for difference in found["differences"]] == ["beta", "stride_A0"]
    assert found["differences"][1] == {
        "name": "stride_A0", "offset": 160, "kind": "live", "unit": "fp4 elements",
        "first": {"bytes": "00 10 00 00", "value": 4096, "text": "4096"},
        "second": {"bytes": "00 08 00 00", "value": 2048, "text": "2048"},
        "note": "2048 may count bytes, two fp4 elements each",
    }  # fmt: skip


def test_json_names_the_mistake(tmp_path, capsys):
    path = tmp_path / "shifted.bin"
    path.write_bytes(BASE[:66] + BASE[68:])
    assert main(["diff", TABLE, str(path), "--kernel", KERNEL, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["mistake"] == {
        "kind": "shift",
        "text": "from inside alpha on the second is 2 bytes early",
    }


def test_json_by_bytes(tmp_path, capsys):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("00 01 02 03")
    second.write_text("00 01 ff fe")
    assert main(["diff", str(first), str(second), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["same"], found["schema"], found["ranges"]) == (False, None, [{"start": 2, "end": 4}])


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (BASE, b"", [], "B: expected a dump, found an empty file"),
        (BASE, BASE + bytes(100), ["--kernel", KERNEL], "B: expected 372 bytes (aiter_f4gemm), found 472"),
        (b"00 ??", b"?? 00", [], "A and B: no byte is known in both"),
        (b"\0" * 16, b"\0" * 16, ["--kernel", SMALL], None),
        (
            b"00 " * 8 + b"?? " * 364,
            b"?? " * 8 + b"00 " * 364,
            [],
            "A and B: no live field is known in both",
        ),
        (
            b'{"kernarg_hex": "00", "kernel": "other"}',
            BASE,
            [],
            f"the kernel recorded, other, is of no known family, of {families_known()}",
        ),
    ],
)
def test_what_cannot_be_compared_is_one_line_and_exit_2(first, second, options, message, tmp_path, capsys):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(first)
    b.write_bytes(second)
    code = main(["diff", str(a), str(b), *options])
    output = capsys.readouterr()
    if message is None:
        assert code == 0
        return
    assert (code, output.out) == (2, "")
    assert output.err == f"argpack: error: {message.replace('A', str(a), 1).replace('B', str(b), 1)}\n"


def test_format_decides_for_the_dump_that_it_fits_and_leaves_the_other(tmp_path, capsys):
    words = tmp_path / "words.txt"
    words.write_text(" ".join(BASE[i : i + 4][::-1].hex() for i in range(0, 372, 4)))
    assert main(["diff", TABLE, str(words)]) == 2
    assert "plain-hex and words both fit" in capsys.readouterr().err
    assert main(["diff", TABLE, str(words), "--format", "words"]) == 0
    assert main(["diff", TABLE, str(words), "--format", "plain-hex"]) == 1
    capsys.readouterr()
    assert main(["diff", TABLE, TABLE, "--format", "words"]) == 2
    assert "expected words of 4, 8 or 16 hex digits, found 'Offset'" in capsys.readouterr().err


def test_two_families_of_one_size_are_told_apart_only_by_a_kernel(tmp_path, monkeypatch, capsys):
    from argpack import families

    ours = families.family_named("aiter_f4gemm")
    other = values.changed(ours, name="other", matches=lambda name: name == "other_kernel")
    monkeypatch.setattr(families, "FAMILIES", (ours, other))
    assert main(["diff", TABLE, TABLE]) == 0
    assert "as bytes: no kernel is named and no single family has this size" in capsys.readouterr().out
    assert main(["show", TABLE]) == 2
    assert "--kernel, of aiter_f4gemm (372 bytes), other (372 bytes)" in capsys.readouterr().err
    captures = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, kernel in zip(captures, (KERNEL, "other_kernel"), strict=True):
        path.write_text(json.dumps({"kernarg_hex": BASE.hex(), "kernel": kernel}))
    assert main(["diff", *map(str, captures)]) == 2
    assert capsys.readouterr().err == (
        f"argpack: error: the kernels recorded, {KERNEL} and other_kernel, are of different families: "
        "aiter_f4gemm and other\n"
    )


def test_standard_input_can_only_be_one_of_the_two(capsys):
    assert main(["diff", "-", "-"]) == 2
    assert capsys.readouterr().err == "argpack: error: expected two dumps, found standard input twice\n"


def test_diff_loads_neither_numpy_nor_construct_nor_the_decoder():
    capture = str(DUMPS / "aiter_f4gemm_1x1280x8192.json")
    code = (
        "import sys\nfrom argpack.cli import main\n"
        f"assert main(['diff', {TABLE!r}, {capture!r}]) == 1\n"
        "print([m for m in ('numpy', 'construct', 'tinygrad', 'ml_dtypes', 'elftools') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_page_of_html_has_the_differences(changed, capsys):
    assert main(["diff", TABLE, changed(stride_A0=2048), "--kernel", KERNEL, "--html"]) == 1
    page = capsys.readouterr().out
    assert '<p class="alarm">1 live difference: stride_A0 4096 → 2048 fp4 elements</p>' in page
    assert "<td>2048 may count bytes, two fp4 elements each</td>" in page


def test_the_captures_agree_with_the_problems_they_were_made_for(capsys):
    for path in sorted(DUMPS.glob("*.json")):
        problem = json.loads(path.read_text())["problem"]
        sizes = [text for name in "mnk" for text in (f"-{name}", str(problem[name.upper()]))]
        padded = problem["out_row_stride"] != problem["N"]  # dense operands are what a problem asks for
        assert main(["diff", str(path), "--against", *sizes]) == int(padded)
        line = capsys.readouterr().out.splitlines()[0]
        assert line.startswith("1 live difference: stride_C0 " if padded else "no live difference in ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([TABLE, "--against"], "--against takes the place of a second dump, found both"),
        (["-m", "3"], "expected a second dump, or --against and a problem"),
        ([TABLE, "-m", "3"], "-m, -n, -k and the like state the problem of --against, which is not given"),
        (["--against", "-m", "0"], "--against: m: expected 1 or more, found 0"),
        (["--against", "--log2-k-split", str(1 << 40)], None),
        (["--against", "--kernel", "aiter_f8_block_scale_mi350"], None),
    ],
)
def test_what_against_cannot_do_is_one_line(options, message, capsys):
    assert main(["diff", TABLE, *options]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)
    if message is not None:
        assert output.err == f"argpack: error: {message}\n"


def test_a_size_that_neither_dump_nor_options_say_is_asked_for(capsys):
    assert main(["diff", EXCERPT, "--against", "-m", "256"]) == 2
    assert capsys.readouterr().err == (
        f"argpack: error: --against: {EXCERPT} does not say all sizes: expected -n, -k\n"
    )


def test_a_family_that_loads_numpy_for_its_values_can_be_compared_with_a_problem(tmp_path, capsys):
    from argpack.families import family_named

    schema = family_named("own_sgemm").schema
    values = {field.name: 64 for field in schema.fields}
    path = tmp_path / "own.bin"
    path.write_bytes(schema.pack({**values, "stride_B": 128}))
    assert main(["diff", str(path), "--against", "-m", "64", "-n", "64", "-k", "64"]) == 1
    assert capsys.readouterr().out.startswith("1 live difference: stride_B 128 → 64 f32 elements\n")
