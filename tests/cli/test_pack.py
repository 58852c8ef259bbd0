"""`argpack pack`: the bytes, the formats, what it warns of and what it refuses."""

import json
import struct

import pytest

from argpack.cli import main
from argpack.families.aiter_f4gemm import FAMILY
from argpack.hexdump import read

SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
SIZES = ["-m", "33", "-n", "64", "-k", "320"]
EXPECTED = {
    "ptr_D": 0, "ptr_C": 0, "ptr_A": 0x7000, "ptr_B": 0, "alpha": 1.0, "beta": 0.0, "stride_D0": 0, "stride_D1": 0,
    "stride_C0": 64, "stride_C1": 0, "stride_A0": 320, "stride_A1": 0, "stride_B0": 320, "stride_B1": 0, "M": 33,
    "N": 64, "K": 320, "ptr_ScaleA": 0, "ptr_ScaleB": 0, "stride_ScaleA0": 16, "stride_ScaleA1": 0,
    "stride_ScaleB0": 16, "stride_ScaleB1": 0, "log2_k_split": 0,
}  # fmt: skip


@pytest.fixture
def pack(kernels_dir, capfdbinary):
    """Runs `argpack pack`; gives exit code, standard output (bytes) and standard error."""

    def run(*arguments):
        code = main(["pack", *arguments, "--kernels", str(kernels_dir)])
        captured = capfdbinary.readouterr()
        return code, captured.out, captured.err.decode()

    return run


@pytest.mark.parametrize("form", ["dump", "hex", "bin", "json"])
def test_every_format_is_read_back_to_the_same_values(pack, tmp_path, form):
    file = tmp_path / f"packed.{form}"
    code, out, _ = pack(SMALL, *SIZES, "--set", "ptr_A=0x7000", "--format", form, "-o", str(file))
    assert (code, out) == (0, b"")
    dump = read(str(file))
    assert dump.known_count == 372
    assert dict(FAMILY.schema.unpack(dump.data)) == EXPECTED


@pytest.mark.parametrize("form", ["dump", "hex", "bin", "json"])
def test_standard_output_has_what_a_file_would(pack, tmp_path, form):
    file = tmp_path / "packed"
    pack(SMALL, *SIZES, "--format", form, "-o", str(file))
    assert pack(SMALL, *SIZES, "--format", form)[1] == file.read_bytes()


def test_binary_is_372_bytes(pack):
    assert len(pack(SMALL, *SIZES, "--format", "bin")[1]) == 372


def test_json_names_the_kernel_and_the_fields(pack):
    found = json.loads(pack(SMALL, *SIZES, "--set", "ptr_A=0x7000", "--format", "json")[1])
    assert found["kernel"] == "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E"
    assert found["kernarg_size"] == 372
    assert found["fields"] == EXPECTED


def test_null_pointers_that_the_kernel_uses_are_noted(pack):
    _, _, err = pack(SMALL, *SIZES, "--set", "ptr_A=0x7000", "--set", "ptr_D=0x8000")
    assert (
        err == "argpack: note: ptr_B, ptr_ScaleA, ptr_ScaleB are null; --set ptr_B=0x... gives an address\n"
    )


def test_one_null_pointer_is_noted_too(pack):
    settings = [f"--set={name}=0x1000" for name in ("ptr_D", "ptr_A", "ptr_B", "ptr_ScaleA")]
    assert "note: ptr_ScaleB are null" not in pack(SMALL, *SIZES, *settings)[2]
    assert (
        pack(SMALL, *SIZES, *settings)[2]
        == "argpack: note: ptr_ScaleB is null; --set ptr_ScaleB=0x... gives an address\n"
    )


def test_all_pointers_set_leaves_nothing_to_say(pack):
    settings = [f"--set={name}=0x1000" for name in ("ptr_D", "ptr_A", "ptr_B", "ptr_ScaleA", "ptr_ScaleB")]
    code, out, err = pack(SMALL, *SIZES, *settings)
    assert (code, err) == (0, "")
    assert out.startswith(b"Offset | 00 01")


def test_what_the_kernel_computes_wrongly_is_packed_with_a_warning(pack):
    code, out, err = pack(SMALL, "-m", "1", "-n", "33", "-k", "64", "--alpha", "2", "--format", "bin")
    assert (code, len(out)) == (0, 372)
    assert "argpack: warning: N must be a multiple of 32 for this kernel, found 33" in err
    assert "argpack: warning: this kernel reads alpha and ignores it, found 2" in err


def test_an_existing_file_is_kept(pack, tmp_path):
    file = tmp_path / "kept"
    file.write_text("precious")
    code, _, err = pack(SMALL, *SIZES, "-o", str(file))
    assert code == 2
    assert f"argpack: error: {file}: exists; --force overwrites it\n" in err
    assert file.read_text() == "precious"
    assert pack(SMALL, *SIZES, "-o", str(file), "--force")[0] == 0
    assert file.read_text().startswith("Offset")


def test_own_sgemm_has_its_own_buffer(pack):
    code, out, _ = pack("sgemm", *SIZES, "--beta", "0", "--format", "bin")
    assert (code, len(out)) == (0, 68)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([SMALL, "-m", "1", "-n", "32", "-k", "100"], "K: expected a multiple of 32"),
        ([SMALL, *SIZES, "--log2-k-split", "-1"], "log2_k_split: expected 0 to 31, found -1"),
        ([SMALL, *SIZES, "--set", "Q=1"], "no field is named 'Q'"),
        (
            [SMALL, *SIZES, "-o", "/nowhere/at/all"],
            "/nowhere/at/all: cannot be written: its folder does not exist",
        ),
        (
            ["gfx942/all_reduce.co", *SIZES],
            "for gfx942: of aiter_all_reduce, whose arguments argpack knows; it launches others",
        ),
        ([SMALL, "-m", "1", "-n", "32"], "the following arguments are required: -k"),
    ],
)
def test_what_cannot_be_packed_is_exit_2(pack, arguments, message):
    code, out, err = pack(*arguments)
    assert (code, out) == (2, b"")
    assert message in err


def test_another_librarys_launch_is_packed_from_its_sizes(pack):
    """m and n are hipBLASLt's: D has m rows for it and m columns for the kernel. Strides are bytes, but for C."""
    pointers = [f"--set={name}=0x1000" for name in ("ptr_a", "ptr_a_scale", "ptr_b", "ptr_b_scale", "ptr_c")]
    sizes = ["-m", "2048", "-n", "128", "-k", "1664"]
    code, out, err = pack("--schema", "hipblaslt_wave_mxfp4", *sizes, *pointers, "--format", "bin")
    assert (code, err) == (0, "")
    assert struct.unpack("<13Q", out) == (*[0x1000] * 5, 128, 2048, 1664, 832, 52, 832, 52, 2048)
    code, out, _ = pack("--schema", "hipblaslt_f4gemm", *sizes, "--format", "json")
    found = json.loads(out)
    assert (code, found["kernarg_size"], "kernel" in found) == (0, 372, False)
    assert {name: value for name, value in found["fields"].items() if value} == {
        "alpha": 1.0, "stride_C0": 2048, "stride_A0": 1664, "stride_B0": 1664, "M": 128, "N": 2048, "K": 1664,
        "stride_ScaleA0": 52, "stride_ScaleB0": 52,
    }  # fmt: skip


OWN = """\
name = "mine"
align = "natural"

[[field]]
name = "out"
type = "ptr"

[[field]]
name = "scale"
type = "f32"

[[field]]
name = "count"
type = "u64"
"""


def test_a_schema_of_ones_own_is_packed_from_what_is_set(pack, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    code, out, err = pack("--schema", str(path), "--set=scale=0.5", "--set=count=7", "--format", "bin")
    assert code == 0
    assert out == struct.pack("<QfIQ", 0, 0.5, 0, 7)
    assert err == "argpack: note: out is null; --set out=0x... gives an address\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected either a KERNEL or --schema, found neither"),
        ([SMALL, "--schema", "own_sgemm"], "expected either a KERNEL or --schema, found both"),
        (["--schema", "mine.toml", "--set=scale=1"], "mine: no value for count"),
        (["--schema", "mine.toml", "--set=count=-1"], "--set count=-1: expected 0 to 18446744073709551615"),
        (["--schema", "mine.toml", "-m", "3"], "mine: how a problem becomes arguments is not known for this family"),
        (["--schema", "own_sgemm", "-m", "3"], "the following arguments are required: -n, -k"),
        (["--schema", "hipblaslt_wave_mxfp4", "--alpha", "2"], "--alpha: hipblaslt_wave_mxfp4 has no such argument"),
        (["--schema", "none.toml"], "none.toml: No such file or directory"),
        (["--schema", "aiter_paa"], "unknown family 'aiter_paa'; did you mean aiter_pa?"),
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_packed_is_one_line(pack, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(OWN)
    code, out, err = pack(*arguments)
    assert (code, out, err.count("\n")) == (2, b"", 1)
    assert err.startswith(f"argpack: error: {message}")
