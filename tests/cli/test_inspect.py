import json
import shutil
import subprocess
import sys

import pytest

from argpack import families
from argpack.cli import main
from argpack.errors import InputError
from argpack.values import changed

F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co"
COMPILED = "gfx942/flatmm_uk_gfx9_f16f8_128x256x128_1x4x1_16x16x32.co"

# Two kernels as a compiler would write them: hidden arguments in one, odd ones in the other.
SOURCE = """
.macro kernel name
.text
.globl \\name
.p2align 8
.type \\name,@function
\\name:
s_endpgm
.L\\name:
.size \\name, .L\\name-\\name
.rodata
.p2align 6
.amdhsa_kernel \\name
  .amdhsa_next_free_vgpr 24
  .amdhsa_next_free_sgpr 20
  .amdhsa_accum_offset 16
  .amdhsa_kernarg_size 272
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_vgpr_workitem_id 1
.end_amdhsa_kernel
.endm
kernel hiding
kernel odd
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: hiding, .symbol: hiding.kd, .kernarg_segment_size: 272, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 1024, .private_segment_fixed_size: 16, .wavefront_size: 64, .sgpr_count: 26,
     .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [
       {.name: out, .type_name: 'float*', .access: write_only, .offset: 0, .size: 8, .value_kind: global_buffer},
       {.offset: 8, .size: 4, .value_kind: hidden_block_count_x},
       {.offset: 12, .size: 260, .value_kind: hidden_none}]}
  - {.name: odd, .symbol: odd.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 26,
     .vgpr_count: 24, .max_flat_workgroup_size: 256, .reqd_workgroup_size: [8, 8, 1], .cluster_dims: [2, 1, 1],
     .args: [
       {.name: a, .offset: 4, .size: 8, .value_kind: global_buffer},
       {.name: b, .offset: 8, .size: 4, .value_kind: by_value, .value_type: f32},
       {.name: last, .offset: 32, .size: 4, .value_kind: by_value}]}
.end_amdgpu_metadata
"""


@pytest.fixture(scope="module")
def pair(llvm_tool, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    command = [llvm_tool("llvm-mc"), "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-filetype=obj"]
    subprocess.run([*command, "-o", folder / "pair.o"], input=SOURCE, text=True, check=True)
    subprocess.run([llvm_tool("ld.lld"), "-shared", folder / "pair.o", "-o", folder / "pair.co"], check=True)
    return folder / "pair.co"


def inspect(capsys, *arguments):
    """Exit code and lines of output."""
    code = main(["inspect", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert err == ""
    return code, out.splitlines()


def test_the_whole_of_a_compiled_kernel(kernels_dir, capsys):
    path = kernels_dir / COMPILED
    code, lines = inspect(capsys, path)
    assert code == 0
    assert (
        lines
        == f"""\
file    {path}, 12200 bytes
sha256  380bfbd6b41293ef5defe07bff2024c518c1789dd3de01b7d00f576127ce518a
target  gfx942, code object V5 (ABI version 3); metadata 1.2, which names amdgcn-amd-amdhsa--gfx942

kernel  flatmm_uk_gfx9_f16f8_128x256x128_1x4x1_16x16x32
family  AITER flatmm_a8w8_blockscale: fp8 GEMM with block scales (flatmm), compiled
launch  workgroups of exactly 256 x 1 x 1 work-items in waves of 64 lanes
start   s[0:1] kernarg_segment_ptr, s2 workgroup_id_x, s3 workgroup_id_y, v0 work-item id x
code    7708 bytes at 0x1c00

                  metadata  descriptor
kernarg segment        112         112  bytes
LDS                  65536       65536  bytes
scratch                  0           0  bytes a work-item
wave                    64          64  lanes
vector registers       512         512  v0 to v255, 256 AGPRs
scalar registers        93          96  used, allocated

offset  size  name               kind           type  access
0x000      8  a_ptr              global_buffer  -     read_only
0x008      8  b_ptr              global_buffer  -     read_only
0x010      8  c_ptr              global_buffer  -     read_write
0x018      8  sa_ptr             global_buffer  -     read_only
0x020      8  sb_ptr             global_buffer  -     read_only
0x028      8  d_ptr              global_buffer  -     read_write
0x030      8  d_f16_ptr          global_buffer  -     read_write
0x038      8  dbg_int_ptr        global_buffer  -     read_write
0x040      8  dbg_fp8_ptr        global_buffer  -     read_write
0x048      8  dbg_f16_ptr        global_buffer  -     read_write
0x050      8  dbg_fp32_ptr       global_buffer  -     read_write
0x058      4  hidden_size        by_value       i32   -
0x05c      4  intermediate_size  by_value       i32   -
0x060      4  num_tokens         by_value       i32   -
0x064      4  num_experts        by_value       i32   -
0x068      4  topk               by_value       i32   -
0x06c      4  stride_token       by_value       i32   -""".splitlines()
    )


def test_a_kernel_of_a_known_family_is_checked_against_it(kernels_dir, capsys):
    code, lines = inspect(capsys, "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256", "--kernels", kernels_dir)
    assert code == 0
    assert "family  AITER f4gemm: MXFP4 GEMM, bf16 output, gfx950" in lines
    first = next(i for i, line in enumerate(lines) if line.startswith("check   "))
    assert lines[first].startswith("check   372 bytes are passed, 384 declared: the last 12 are a pad")
    assert lines[first + 2] == "        the metadata types alpha and beta i32: the kernel reads f32"
    assert "kernarg segment        384           0  bytes" in lines


def test_pads_next_to_each_other_share_a_line(kernels_dir, capsys):
    _, lines = inspect(capsys, kernels_dir / F4GEMM)
    table = lines[lines.index("") :]
    assert "0x040      4  alpha          by_value       i32   -" in table
    assert "0x044     12  pad x 3        by_value       i32   -" in table
    assert "0x008      8  pad            by_value       i32   -" in table
    assert table[-1] == "0x174     12  pad x 3        by_value       i32   -"


def test_every_kernel_of_a_file_is_shown(pair, capsys):
    code, lines = inspect(capsys, pair)
    assert code == 0
    assert lines[2:4] == [
        "target  gfx950, code object V6 (ABI version 4); metadata 1.2, which names no target",
        "kernels 2",
    ]
    assert [line for line in lines if line.startswith("kernel  ")] == ["kernel  hiding", "kernel  odd"]


def test_hidden_arguments_are_pointed_out(pair, capsys):
    _, lines = inspect(capsys, pair)
    registers = "s[0:1] dispatch_ptr, s[2:3] kernarg_segment_ptr, s4 kernarg_preload, s5 workgroup_id_x"
    assert lines[6:9] == [
        "family  none that argpack knows",
        "launch  workgroups of at most 1024 work-items in waves of 64 lanes",
        f"start   {registers}, s6 workgroup_id_y, v0 work-item id xy",
    ]
    assert lines[9].startswith("code    4 bytes at 0x")  # where, the linker decides
    assert lines[10:12] == ["notes   hidden arguments, which the runtime fills in and not the caller: 2", ""]
    assert lines[12:24] == [
        "                  metadata  descriptor",
        "kernarg segment        272         272  bytes",
        "LDS                   1024           0  bytes",
        "scratch                 16           0  bytes a work-item",
        "wave                    64          64  lanes",
        "vector registers        24          24  v0 to v15, 8 AGPRs",
        "scalar registers        26          32  used, allocated",
        "",
        "offset  size  name  kind                  type    access",
        "0x000      8  out   global_buffer         float*  write_only",
        "0x008      4  -     hidden_block_count_x  -       -",
        "0x00c    260  -     hidden_none           -       -",
    ]


def test_odd_arguments_are_pointed_out(pair, capsys):
    _, lines = inspect(capsys, pair)
    start = lines.index("kernel  odd")
    launch = (
        "workgroups of exactly 8 x 8 x 1 (at most 256) work-items in waves of 64 lanes, clusters of 2 x 1 x 1"
    )
    assert lines[start + 2] == f"launch  {launch} workgroups"
    assert lines[start + 5 : start + 8] == [
        "notes   the last argument ends at 0x24, 12 bytes behind the segment's end",
        "        arguments a and b overlap at 0x8",
        "        pointers not aligned to their size: 1, the first at 0x4",
    ]


def test_a_kernel_without_arguments(pair, tmp_path, capsys):
    path = tmp_path / "renamed.co"
    # The note's key spoiled: what is left has no arguments.
    path.write_bytes(pair.read_bytes().replace(b".args", b".xrgs"))
    code, lines = inspect(capsys, path)
    assert code == 0
    assert lines[-1] == "no arguments"
    assert not any(line.startswith("notes") for line in lines)


def test_a_kernel_that_contradicts_its_family_is_shown_and_fails(kernels_dir, capsys, monkeypatch):
    def contradict(kernel):
        raise InputError("argument 'D' at 0x0: expected 8 bytes, found 4")

    family = changed(families.FAMILIES[0], cross_check=contradict)
    monkeypatch.setattr(families, "FAMILIES", (family,))
    code, lines = inspect(capsys, kernels_dir / F4GEMM)
    assert code == 1
    assert "check   contradicts the family: argument 'D' at 0x0: expected 8 bytes, found 4" in lines
    assert lines[-1].startswith("0x174")


def test_json_has_every_argument(kernels_dir, capsys):
    code, lines = inspect(capsys, kernels_dir / F4GEMM, "--json")
    value = json.loads("\n".join(lines))
    assert code == 0
    assert value["file"] == str(kernels_dir / F4GEMM)
    assert (value["size"], value["target"], value["code_object_version"]) == (35632, "gfx950", 6)
    (kernel,) = value["kernels"]
    assert (kernel["family"], kernel["contradiction"], len(kernel["cross_check"])) == (
        "aiter_f4gemm",
        None,
        4,
    )
    assert (kernel["kernarg_segment_size"], kernel["descriptor"]["kernarg_size"]) == (384, 0)
    assert len(kernel["arguments"]) == 84
    assert kernel["arguments"][0]["name"] == "D"
    assert kernel["descriptor"]["user_sgprs"] == [{"name": "kernarg_segment_ptr", "register": 0, "count": 2}]


def test_json_of_two_kernels_has_the_notes(pair, capsys):
    _, lines = inspect(capsys, pair, "--json")
    kernels = json.loads("\n".join(lines))["kernels"]
    assert [kernel["family"] for kernel in kernels] == [None, None]
    assert [len(kernel["notes"]) for kernel in kernels] == [1, 3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"hello\n", "a text file, not a code object (ELF)"),
        (b"\x7fELF\2\1\1", "truncated ELF file: expected a header of 64 bytes, found 7"),
    ],
)
def test_a_file_that_is_none_is_one_line_and_exit_code_2(content, message, tmp_path, capsys):
    path = tmp_path / "x.co"
    path.write_bytes(content)
    assert main(["inspect", str(path)]) == 2
    assert capsys.readouterr() == ("", f"argpack: error: {path}: {message}\n")


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_truncated_kernel_prints_nothing_else(option, kernels_dir, tmp_path, capsys):
    path = tmp_path / "cut.co"
    path.write_bytes((kernels_dir / F4GEMM).read_bytes()[:20000])
    assert main(["inspect", str(path), *option]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"argpack: error: {path}: truncated ELF file: ")
    assert err.count("\n") == 1


def test_unknown_name_is_one_line_and_exit_code_2(kernels_dir, capsys):
    assert main(["inspect", "no_such_kernel", "--kernels", str(kernels_dir)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("argpack: error: no_such_kernel: no such file, and no kernel in ")


def test_folder_is_refused(tmp_path, capsys):
    assert main(["inspect", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"argpack: error: {tmp_path}: expected a code object, found a folder\n"


def test_a_renamed_copy_is_read_from_its_path(kernels_dir, tmp_path, capsys):
    copy = tmp_path / "renamed.co"
    shutil.copy(kernels_dir / F4GEMM, copy)
    code, lines = inspect(capsys, copy)
    assert code == 0
    assert "kernel  _ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256E" in lines


def test_it_needs_no_heavy_package(kernels_dir):
    script = (
        "import sys; from argpack.cli import main; main(['inspect', sys.argv[1]]); "
        "print([m for m in ('numpy', 'tinygrad', 'ml_dtypes', 'elftools') if m in sys.modules])"
    )
    command = [sys.executable, "-c", script, str(kernels_dir / F4GEMM)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
