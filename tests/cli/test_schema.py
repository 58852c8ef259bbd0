"""argpack schema: what a person reads, word for word where it is short; exit codes; what is refused."""

import json
import tomllib
from pathlib import Path

import pytest

from argpack.cli import main

DUMPS = sorted(str(path) for path in (Path(__file__).parents[2] / "dumps").glob("aiter_f4gemm_*.json"))
SOFTMAX = "gfx942/topksoftmax/topksoftmax_12x128x6.co"


@pytest.fixture
def schema(capsys, kernels_dir):
    def call(*arguments):
        code = main(["schema", *map(str, arguments), "--kernels", str(kernels_dir)])
        return code, *capsys.readouterr()

    return call


def lines(text):
    return [line.rstrip() for line in text.splitlines()]


def test_a_declared_family_is_shown_with_units_use_and_launch(schema):
    code, out, err = schema("aiter_topksoftmax")
    assert (code, err) == (0, "")
    assert lines(out) == lines(
        """\
AITER topksoftmax: top-k softmax of gating logits
128 bytes, 8 fields
launch: workgroup 256 x 1 x 1 work-items; grid x=ceil(tokens/subm)
note: ptr_T are indices out, ptr_W weights out, ptr_A gating in; topk is loaded without effect.

offset  size  name         type  unit   use   what it is
0x000      8  ptr_T        ptr   -      live  -
0x010      8  ptr_W        ptr   -      live  -
0x020      8  ptr_A        ptr   -      live  -
0x030      4  batch        u32   rows   live  -
0x040      4  expert       u32   count  live  -
0x050      4  topk         u32   count  dead  -
0x060      4  renormalize  u32   flag   live  -
0x070      4  out_stride   u32   bytes  live  Stride(0)*4.
"""
    )


def test_a_schema_is_derived_from_metadata_alone(schema):
    code, out, _ = schema(SOFTMAX)
    assert code == 0
    assert lines(out)[:6] == [
        "arguments as the metadata of _ZN5aiter20topksoftmax_12x128x6E declares them",
        "128 bytes, 8 fields",
        "its family is aiter_topksoftmax: `argpack schema check` holds the two together",
        "",
        "offset  size  name         type  unit  use   what it is",
        "0x000      8  T            ptr   -     live  -",
    ]


def test_a_derived_schema_in_toml_decodes_a_dump(schema, tmp_path, capsys):
    code, out, _ = schema("f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co", "--toml")
    assert code == 0
    path = tmp_path / "mine.toml"
    path.write_text(out)
    assert tomllib.loads(out)["size"] == 384
    dump = tmp_path / "dump.bin"
    dump.write_bytes(bytes(range(256)) + bytes(128))
    assert main(["show", str(dump), "--schema", str(path)]) == 0
    assert "Mdim" in capsys.readouterr().out


def test_a_check_names_every_disagreement_with_its_reason(schema):
    code, out, err = schema("check", SOFTMAX)
    assert (code, err) == (0, "")
    assert lines(out)[1:] == lines(
        """\
schema aiter_topksoftmax: 8 fields, 128 bytes; metadata: 8 arguments and 18 pads, 128 bytes
agrees: 4 disagreements, each with a known reason

offset  what        disagreement                                          why it does no harm
0x000   name        T for ptr_T                                           the metadata's name for it
0x010   name        W for ptr_W                                           the metadata's name for it
0x020   name        A for ptr_A                                           the metadata's name for it
0x080   descriptor  the kernel descriptor says 0 bytes, the metadata 128  hand-written descriptors leave it 0
"""
    )


def test_a_check_against_another_schema_contradicts(schema):
    code, out, _ = schema("check", SOFTMAX, "--schema", "aiter_pa")
    assert code == 1
    assert "CONTRADICTS: " in out
    assert "0x000   name        T for ptr_O" in out
    code, out, _ = schema("check", SOFTMAX, "--schema", "aiter_pa", "--json")
    found = json.loads(out)
    assert (code, found["agrees"], found["schema"]) == (1, False, "aiter_pa")
    assert found["disagreements"][0] == {"kind": "name", "offset": 0, "text": "T for ptr_O", "reason": ""}


def test_a_kernel_of_no_family_needs_a_schema_to_be_checked(schema, tmp_path):
    import argpack.kernels

    other = tmp_path / "other.co"
    data = Path(argpack.kernels.resolve("sgemm", root=None)).read_bytes()
    other.write_bytes(data.replace(b"argpack_sgemm", b"another_sgemm"))
    code, _, err = schema("check", other)
    assert code == 2
    assert err.endswith("another_sgemm is of no family that argpack declares: name a schema with --schema\n")
    assert schema("check", other, "--schema", "own_sgemm")[0] == 0
    assert "it is of no family that argpack declares: nothing confirms the metadata" in schema(other)[1]


def test_two_versions_are_compared_by_field(schema):
    code, out, _ = schema("compare", "aiter_pa", "aiter_pa_2026")
    assert code == 1
    assert lines(out) == lines(
        """\
aiter_pa: 16 fields, 256 bytes
aiter_pa_2026: 17 fields, 272 bytes

field    aiter_pa  aiter_pa_2026  change
mtp      -         0xe0 u32       only in aiter_pa_2026
GQA      0xe0 u32  0xf0 u32       +16 bytes
ptr_QTP  0xf0 ptr  0x100 ptr      +16 bytes
"""
    )


def test_a_struct_with_two_slots_more_for_another_chip_is_told_with_both_sizes(schema, tmp_path):
    """MLA v4 had 19 slots, then 21: tests that expect a dump of 304 bytes meet one of 336."""
    old = tmp_path / "old.toml"
    text = schema("aiter_mla_v4", "--toml")[1]
    fields = [part for part in text.split("\n\n") if "s_total_kv" not in part and "s_stride_page" not in part]
    kept = "\n\n".join(fields).replace("size = 336", "size = 304").replace("aiter_mla_v4", "old")
    old.write_text("\n".join(line for line in kept.splitlines() if not line.startswith("offset = ")))
    code, out, _ = schema("compare", old, "aiter_mla_v4")
    assert code == 1
    assert lines(out)[:2] == ["old: 19 fields, 304 bytes", "aiter_mla_v4: 21 fields, 336 bytes"]
    assert "s_total_kv         -          0xa0 u32      only in aiter_mla_v4" in out
    assert "s_stride_page      -          0xb0 u32      only in aiter_mla_v4" in out


def test_another_order_of_the_same_arguments_is_said(schema, tmp_path):
    """Version 2 passes D, C, A, B; version 3 A, B, C, D."""
    for name, order in (("v2", "DCAB"), ("v3", "ABCD")):
        fields = "".join(f"[[field]]\nname = 'ptr_{x}'\ntype = 'ptr'\n" for x in order)
        (tmp_path / f"{name}.toml").write_text(f"name = '{name}'\nalign = 8\n{fields}")
    code, out, _ = schema("compare", tmp_path / "v2.toml", tmp_path / "v3.toml")
    assert code == 1
    assert "the same fields in another order: 4 lie elsewhere" in out


def test_equal_schemas_compare_equal(schema):
    code, out, _ = schema("compare", "aiter_f4gemm", "hipblaslt_f4gemm")
    assert code == 0
    assert lines(out)[2] == "the same fields at the same places"
    code, out, _ = schema("compare", "aiter_pa", "aiter_pa", "--json")
    assert (code, json.loads(out)["differences"]) == (0, [])


def test_launches_show_slots_and_problem_without_a_schema(schema):
    code, out, err = schema("infer", *DUMPS)
    assert (code, err) == (0, "")
    first, spacing, problem = lines(out)[:3]
    assert first == "12 buffers of 372 bytes"
    assert spacing.startswith(
        "slots of 16 bytes (high confidence): all 5 sure pointers start at multiples of 16"
    )
    assert problem.startswith(
        "may be M at 0xe0, N at 0xf0, K at 0x100 (high confidence): then strides at 0xa0, 0xc0, "
    )
    code, out, _ = schema("infer", DUMPS[0])
    assert code == 0
    assert "one buffer tells no constant from a value" in out


def test_what_was_inferred_is_given_as_toml_and_json(schema):
    code, out, _ = schema("infer", *DUMPS, "--toml")
    assert code == 0
    assert [f["name"] for f in tomllib.loads(out)["field"]][14:17] == ["M", "N", "K"]
    code, out, _ = schema("infer", *DUMPS, "--json")
    assert code == 0
    assert json.loads(out)["sizes"][0]["k"] == 0x100


def test_all_families_are_listed(schema):
    code, out, _ = schema("list")
    assert code == 0
    assert len(lines(out)) == 51
    assert (
        lines(out)[1] == "aiter_f4gemm                          372  yes     MXFP4 GEMM, bf16 output, gfx950"
    )
    assert len(json.loads(schema("list", "--json")[1])) == 50
    assert json.loads(schema("aiter_pa", "--json")[1])["fields"][14]["metadata"] == ["GQA:i32"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check"], "schema check: expected one name or file to follow, found nothing"),
        (["compare", "aiter_pa"], "schema compare: expected two schemas to follow, found aiter_pa"),
        (["aiter_pa", "aiter_mla"], "schema aiter_pa: expected nothing to follow, found aiter_mla"),
        (["list", "--toml"], "schema list: --toml prints a schema, and this prints none"),
        (["aiter_pa", "--schema", "x"], "--schema goes with `schema check` alone"),
        (["infer", "/nowhere"], "/nowhere: No such file or directory"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(schema, arguments, message):
    code, out, err = schema(*arguments)
    assert (code, out, err) == (2, "", f"argpack: error: {message}\n")
