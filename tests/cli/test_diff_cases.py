"""Mistakes that people made in public, as dumps, and what `argpack diff` says to them, to the letter."""

import json
import struct
from pathlib import Path

import pytest

from argpack.cli import main
from argpack.families import family_named
from argpack.families.aiter_f4gemm.schema import SCHEMA

DUMPS = Path(__file__).parents[2] / "dumps"
CAPTURE = DUMPS / "aiter_f4gemm_128x2048x4096.json"
DATA = bytes.fromhex(json.loads(CAPTURE.read_text())["kernarg_hex"])
VALUES = SCHEMA.unpack(DATA)
KERNEL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256"


@pytest.fixture
def diff(tmp_path, monkeypatch, capsys):
    """Exit code and lines of a comparison of two buffers, in files called a and b, or of one with a problem."""
    monkeypatch.chdir(tmp_path)

    def run(first, second=None, *options):
        Path("a").write_bytes(first)
        names = ["a"]
        if second is not None:
            Path("b").write_bytes(second)
            names.append("b")
        code = main(["diff", *names, *options])
        return code, capsys.readouterr().out.splitlines()

    return run


def changed(**changes):
    return SCHEMA.pack({**VALUES, **changes}, pads=VALUES.pads)


def test_half_precision_alpha_in_a_slot_of_four_bytes(diff):
    wrong = DATA[:0x40] + struct.pack("<e", 1.0) + DATA[0x44:]
    code, lines = diff(DATA, wrong, "--kernel", "aiter_f4gemm")
    assert code == 1
    assert lines == [
        (
            "10 live differences: alpha is f16, 2 bytes, not f32 in the second: all from beta on is 2 bytes early; "
            "ignored: 6 unread, 2 pointer, 19 pad differences"
        ),
        "as aiter_f4gemm, all its kernels",
        "first   a: 372 bytes",
        "second  b: 370 bytes",
        "compared 368 of 372 bytes",
    ]


def test_a_stride_counted_in_bytes(diff):
    code, lines = diff(DATA, changed(stride_A0=2048), "--kernel", KERNEL)
    assert code == 1
    assert lines == [
        "1 live difference: stride_A0 4096 → 2048 fp4 elements",
        f"as aiter_f4gemm, kernel {KERNEL}",
        "first   a: 372 bytes",
        "second  b: 372 bytes",
        "compared 372 of 372 bytes",
        "",
        "      offset  field      first  second  unit          note",
        "live  0x0a0   stride_A0  4096   2048    fp4 elements  2048 may count bytes, two fp4 elements each",
    ]


def test_the_row_stride_of_d_in_the_slot_that_is_never_read(diff):
    wrong = changed(stride_D0=VALUES["stride_C0"], stride_C0=0)
    code, lines = diff(wrong, None, "--kernel", KERNEL, "--against", "-m", "128", "-n", "2048", "-k", "4096")
    assert code == 1
    assert lines == [
        "1 live difference: stride_C0 0 → 2048 bf16 elements",
        f"as aiter_f4gemm, kernel {KERNEL}",
        "of the problem only what the kernel uses is compared; operands are dense, addresses are open",
        "first   a: 372 bytes",
        "second  M=128 N=2048 K=4096: 372 bytes, 332 unknown",
        "compared 40 of 372 bytes; unknown, at least in part: ptr_D, ptr_A, ptr_B, ptr_ScaleA, ptr_ScaleB",
        "",
        "      offset  field      first  second  unit           note",
        (
            "live  0x080   stride_C0  0      2048    bf16 elements  "
            "the first has 2048 in stride_D0, which has no effect"
        ),
    ]


@pytest.mark.parametrize(
    ("field", "value", "note"),
    [
        ("stride_A0", 2048, "2048 may count bytes, two fp4 elements each"),
        ("stride_B0", 2048, "2048 may count bytes, two fp4 elements each"),
        ("stride_C0", 4096, "4096 may count bytes, two for each bf16 element"),
    ],
)
def test_a_unit_that_is_wrong_for_the_problem(field, value, note, diff):
    code, lines = diff(changed(**{field: value}), None, "--against", "-m", "128", "-n", "2048", "-k", "4096")
    assert code == 1
    assert lines[-1].endswith(note)


def gfx1250(**changes):
    """A3: gfx1250's f4gemm, N=512, K=1664; its strides are bytes, gfx950's are fp4 elements."""
    schema = family_named("aiter_f4gemm_gfx1250_mxfp4").schema
    values = {
        field.name: 0x7F00_0000_0000 + i * 0x10_0000 if field.type == "ptr" else 0
        for i, field in enumerate(schema.fields)
    }
    right = {"M": 1024, "N": 512, "K": 1664, "strideA0": 832, "strideB0": 832, "ScaleA_stride0": 52,
             "ScaleB_stride0": 52, "strideD0": 1024}  # fmt: skip
    return schema.pack({**values, **right, **changes})


@pytest.mark.parametrize(
    ("kernel", "stride", "wrong"),
    [("f4gemm_bf16_mxfp4_256x256", 1024, 512), ("f4gemm_fp4_mxfp4_256x256", 256, 512)],
)
def test_strides_in_elements_for_a_kernel_that_takes_bytes(kernel, stride, wrong, diff):
    options = ("--kernel", kernel, "--against", "-m", "1024", "-n", "512", "-k", "1664")
    code, lines = diff(gfx1250(strideA0=1664, strideD0=wrong), None, *options)
    assert code == 1
    assert lines[0] == (f"2 live differences: strideD0 {wrong} → {stride} bytes, strideA0 1664 → 832 bytes")
    assert (
        lines[-1]
        == "live  0x02c   strideA0  1664   832     bytes  one of them may count elements instead of bytes"
    )
    code, lines = diff(gfx1250(strideD0=stride), None, *options)
    assert (code, lines[0]) == (0, "no live difference in 8 of 15 live fields")


def test_hipblaslts_launch_of_the_same_kernel_against_its_problem(diff):
    """hipBLASLt is column-major: its m is the kernel's N, its n is M, and its scale strides are not rounded up."""
    theirs = SCHEMA.pack(
        {**VALUES, "M": 128, "N": 2048, "K": 1664, "stride_C0": 2048, "stride_A0": 1664, "stride_B0": 1664,
         "stride_ScaleA0": 52, "stride_ScaleB0": 52}
    )  # fmt: skip
    options = ("--kernel", "hipblaslt_f4gemm", "--against", "-k", "1664")
    code, lines = diff(theirs, None, *options, "-m", "2048", "-n", "128")
    assert code == 0
    assert lines[1:6] == [
        "as hipblaslt_f4gemm, all its kernels",
        "of the problem only what the kernel uses is compared; operands are dense, addresses are open",
        "M and N are hipBLASLt's, the kernel's N and M",
        "first   a: 372 bytes",
        "second  hipBLASLt's M=2048 N=128 K=1664: 372 bytes, 332 unknown",
    ]
    code, lines = diff(theirs, None, *options, "-m", "128", "-n", "2048")
    assert code == 1
    assert lines[0] == "3 live differences: M and N are exchanged, and stride_C0 with them"
    options = ("--kernel", "aiter_f4gemm", "--against", "-m", "128", "-n", "2048", "-k", "1664")
    code, lines = diff(theirs, None, *options)
    assert lines[0] == "2 live differences: stride_ScaleA0 52 → 56 bytes, stride_ScaleB0 52 → 56 bytes"


def test_hipblaslts_wave_kernels_take_strides_in_bytes(diff):
    schema = family_named("hipblaslt_wave_mxfp4").schema
    values = {
        field.name: 0x7F00_0000_0000 + i * 0x10_0000 if field.type == "ptr" else 0
        for i, field in enumerate(schema.fields)
    }
    wrong = schema.pack(
        {**values, "m": 128, "n": 2048, "k": 1664, "stride_a_dim0": 1664, "stride_a_scale_dim0": 52,
         "stride_b_dim0": 832, "stride_b_scale_dim0": 52, "stride_c_dim0": 2048}
    )  # fmt: skip
    code, lines = diff(wrong, None, "--against")
    assert code == 1
    assert lines[0] == "1 live difference: stride_a_dim0 1664 → 832 bytes"
    assert lines[3:5] == ["M and N are hipBLASLt's, the kernel's n and m", "M, N, K taken from a"]


def test_an_option_that_the_family_has_no_argument_for_is_refused(tmp_path, capsys):
    path = tmp_path / "own.bin"
    path.write_bytes(bytes(68))
    options = ["--against", "-m", "1", "-n", "1", "-k", "1", "--log2-k-split", "2"]
    assert main(["diff", str(path), *options]) == 2
    assert capsys.readouterr().err == "argpack: error: --log2-k-split: own_sgemm has no such argument\n"


def test_the_sizes_of_a_dump_are_enough_to_check_its_strides(diff):
    code, lines = diff(changed(stride_ScaleB0=64), None, "--kernel", KERNEL, "--against")
    assert code == 1
    assert lines[0] == "1 live difference: stride_ScaleB0 64 → 128 bytes"
    assert lines[3] == "M, N, K taken from a"
    code, lines = diff(DATA, None, "--kernel", KERNEL, "--against")
    assert (code, lines[0]) == (0, "no live difference in 10 of 15 live fields")


def test_an_older_struct_lacks_two_slots_in_the_middle(diff):
    schema = family_named("aiter_mla_v4").schema
    values = {
        field.name: 0x7F00_0000_0000 + i * 0x10_0000 if field.type == "ptr" else 0
        for i, field in enumerate(schema.fields)
    }
    new = schema.pack({**values, "scalar_f": 0.125, "s_gqa_ratio": 128, "s_kv_split": 16, "s_log2_page": 6})
    old = new[:0xA0] + new[0xC0:]
    code, lines = diff(old, new, "--kernel", "aiter_mla_v4")
    assert code == 1
    assert lines[0].split("; ")[0] == (
        "5 live differences: s_total_kv and s_stride_page are not in the first: all from s_log2_page on is "
        "32 bytes early"
    )
    assert lines[2:4] == ["first   a: 304 bytes", "second  b: 336 bytes"]


def test_pointers_in_the_order_of_another_interface(diff):
    names = ("ptr_D", "ptr_C", "ptr_A", "ptr_B")
    values = {
        **family_values("own_sgemm"),
        **{n: 0x7F00_0000_0000 + i * 0x10_0000 for i, n in enumerate(names)},
    }
    schema = family_named("own_sgemm").schema
    moved = {"ptr_D": "ptr_A", "ptr_C": "ptr_B", "ptr_A": "ptr_D", "ptr_B": "ptr_C"}
    wrong = schema.pack({**values, **{name: values[source] for name, source in moved.items()}})
    code, lines = diff(schema.pack(values), wrong)
    assert code == 1
    assert lines[0] == "4 live differences: ptr_D and ptr_A are exchanged, ptr_C and ptr_B are exchanged"
    cyclic = {"ptr_D": "ptr_A", "ptr_A": "ptr_B", "ptr_B": "ptr_D"}
    wrong = schema.pack({**values, **{name: values[source] for name, source in cyclic.items()}})
    assert diff(schema.pack(values), wrong)[1][0] == (
        "3 live differences: fields are permuted: ptr_D, ptr_A, ptr_B of the second are ptr_A, ptr_B, ptr_D of "
        "the first"
    )


def family_values(name):
    return {field.name: 64 + i for i, field in enumerate(family_named(name).schema.fields)}


def test_natural_alignment_where_the_kernel_has_slots_of_16_bytes(diff):
    natural = b""
    for field in SCHEMA.fields:
        natural += bytes(-len(natural) % field.size) + field.scalar.encode(VALUES[field.name])
    assert len(natural) == 124
    code, lines = diff(DATA, natural, "--kernel", KERNEL)
    assert code == 1
    assert lines[0].split("; ")[0].partition(": ")[2] == (
        "the second has natural C alignment, not 16-byte slots: ptr_A lies at 0x010, not at 0x020"
    )
    assert lines[2:4] == ["first   a: 372 bytes", "second  b: 124 bytes"]


def test_slots_of_8_bytes_where_c_aligns_by_size(diff):
    schema = family_named("own_sgemm").schema
    values = {**family_values("own_sgemm"), "alpha": 1.5, "beta": 2.5}
    slots = b"".join(field.scalar.encode(values[field.name]).ljust(8, b"\0") for field in schema.fields)
    code, lines = diff(schema.pack(values), slots, "--kernel", "own_sgemm")
    assert (code, len(slots)) == (1, 104)
    assert lines[0] == (
        "8 live differences: the second has 8-byte slots, not natural C alignment: beta lies at 0x028, not at 0x024"
    )


def test_arguments_as_a_column_major_library_passes_them(diff):
    other = changed(
        ptr_A=VALUES["ptr_B"], ptr_B=VALUES["ptr_A"], ptr_ScaleA=VALUES["ptr_ScaleB"],
        ptr_ScaleB=VALUES["ptr_ScaleA"], M=2048, N=128, stride_C0=128,
    )  # fmt: skip
    code, lines = diff(DATA, other, "--kernel", KERNEL)
    assert code == 1
    assert lines[0] == (
        "7 live differences: A and B are exchanged (pointers, scales), M and N are exchanged, and stride_C0 with them"
    )


def test_the_same_buffer_is_no_difference_in_any_form(diff):
    code, lines = diff(DATA, DATA, "--kernel", KERNEL)
    assert (code, lines[0]) == (0, "no live difference in 15 of 15 live fields")
    assert len(lines) == 5
