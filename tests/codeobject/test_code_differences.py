"""`argpack diff` of two code objects, built by LLVM's assembler or AITER's own."""

import json
import subprocess
import sys

import pytest
from made_objects import assembly, described, packed

from argpack.cli import main
from argpack.codeobject import parse
from argpack.codeobject.difference import Difference, differences

POINTER = {".name": "p", ".offset": 0, ".size": 8, ".value_kind": "global_buffer"}
COUNT = {".name": "n", ".offset": 8, ".size": 4, ".value_kind": "by_value", ".value_type": "i32"}
KERNARG = ".amdhsa_user_sgpr_kernarg_segment_ptr 1"
PRELOAD = (".amdhsa_user_sgpr_kernarg_preload_length 3", ".amdhsa_user_sgpr_kernarg_preload_offset 1")


@pytest.fixture(scope="module")
def made(build):
    def make(*directives, code="s_endpgm", processor="gfx950", **changes):
        values = {"args": [POINTER, COUNT], "kernarg_segment_size": 16} | changes
        source = assembly("k", KERNARG, *directives, code=code)
        return build(source, note=packed(described(**values)), processor=processor)

    return make


def found(first, second):
    return differences(parse(first, source="first"), parse(second, source="second"))


def test_a_preload_directive_lost_on_the_way_is_named(made, tmp_path, capsys):
    """Code disassembled and assembled again: every byte of it is the same, and its first arguments are gone."""
    first, second = tmp_path / "first.co", tmp_path / "second.co"
    first.write_bytes(made(*PRELOAD))
    second.write_bytes(made())
    assert main(["diff", str(first), str(second)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 differences"
    assert [line.split("  ")[0] for line in lines[5:9]] == [
        "kernarg preload length, dwords",
        "kernarg preload offset, dwords",
        "user SGPRs",
        "user SGPRs hold",
    ]
    assert [line.split()[-2:] for line in lines[5:8]] == [["3", "0"], ["1", "0"], ["5", "2"]]
    assert lines[8].split("  ")[1:] == [
        "s[0:1] kernarg_segment_ptr, s[2:4] kernarg_preload",
        "s[0:1] kernarg_segment_ptr",
    ] or lines[8].endswith("s[0:1] kernarg_segment_ptr, s[2:4] kernarg_preload  s[0:1] kernarg_segment_ptr")
    assert (
        lines[9] == "Code that finds arguments in preloaded SGPRs reads garbage where they are not preloaded."
    )


def test_the_same_kernel_is_no_difference(made, tmp_path, capsys):
    one = made(*PRELOAD)
    assert found(one, one) == ()
    (tmp_path / "x.co").write_bytes(one)
    assert main(["diff", str(tmp_path / "x.co"), str(tmp_path / "x.co")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "the same file"


def test_the_same_kernel_at_another_address_is_no_difference(build, tmp_path, capsys):
    note = packed(described())
    paths = tmp_path / "a.co", tmp_path / "b.co"
    paths[0].write_bytes(build(assembly(), note=note))
    paths[1].write_bytes(build(".text\n.fill 4096, 4, 0xbf800000", assembly(), note=note))
    assert parse(paths[0].read_bytes(), source="").kernels[0].code_address != (
        parse(paths[1].read_bytes(), source="").kernels[0].code_address
    )
    assert main(["diff", *map(str, paths)]) == 0
    assert capsys.readouterr().out.startswith("the same target, launch, arguments and code of 1 kernel\n")


def test_one_instruction_is_told_with_its_place(made):
    (one,) = found(made(code="s_nop 0\ns_nop 1\ns_endpgm"), made(code="s_nop 0\ns_nop 2\ns_endpgm"))
    assert one == Difference(
        "k",
        "machine code",
        "12 bytes, 01 00 80 bf 00 00 81 bf at 0x4",
        "12 bytes, 02 00 80 bf 00 00 81 bf at 0x4",
    )
    (longer,) = found(made(code="s_endpgm"), made(code="s_endpgm\ns_nop 0"))
    assert longer[2:] == ("4 bytes, nothing at 0x4", "8 bytes, 00 00 80 bf at 0x4")


def test_arguments_are_compared_by_their_offsets(made):
    moved = COUNT | {".offset": 12}
    assert found(made(), made(args=[POINTER | {".name": "q"}, moved])) == (
        Difference("k", "argument at 0x000", "p, 8 bytes, global_buffer", "q, 8 bytes, global_buffer"),
        Difference("k", "argument at 0x008", "n, 4 bytes, by_value, i32", None),
        Difference("k", "argument at 0x00c", None, "n, 4 bytes, by_value, i32"),
    )


def test_sizes_and_the_target(made):
    told = found(
        made(), made(processor="gfx942", group_segment_fixed_size=64, reqd_workgroup_size=[64, 2, 1])
    )
    assert told == (
        Difference(None, "target", "gfx950", "gfx942"),
        Difference("k", "LDS, bytes", "0", "64"),
        Difference("k", "required workgroup", None, "64×2×1"),
    )


def test_kernels_are_paired_by_name(build):
    def of(*names):
        sources = [assembly(name) for name in names]
        return build(*sources, note=packed(*(described(name) for name in names)))

    assert found(of("a", "b"), of("b", "c")) == (
        Difference("a", "kernel", "there", None),
        Difference("c", "kernel", None, "there"),
    )
    assert found(of("a"), of("b")) == (Difference("a", "name", "a", "b"),)


def test_real_kernels_and_json(kernels_dir, capsys):
    folder = kernels_dir / "gfx950" / "f4gemm"
    paths = [str(folder / f"f4gemm_bf16_per1x32Fp4_BpreShuffle_32x{n}.co") for n in (128, 256)]
    assert main(["diff", *paths, "--json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert [each["what"] for each in value["differences"]] == ["name", "machine code"]
    assert [side["target"] for side in value["sides"]] == ["gfx950", "gfx950"]
    assert main(["diff", *paths, "--html"]) == 1
    assert "<table" in capsys.readouterr().out


def test_a_code_object_and_a_dump_are_not_compared(made, tmp_path, capsys):
    (tmp_path / "x.co").write_bytes(made())
    (tmp_path / "x.txt").write_text("00 11 22 33\n")
    assert main(["diff", str(tmp_path / "x.co"), str(tmp_path / "x.txt")]) == 2
    assert "expected a dump, found a code object (ELF)" in capsys.readouterr().err
    assert main(["diff", str(tmp_path / "x.co"), str(tmp_path / "x.co"), "--kernel", "sgemm"]) == 2
    assert "two code objects are compared as they are" in capsys.readouterr().err


def test_a_pipe_is_not_looked_into(tmp_path):
    (tmp_path / "x.txt").write_text("00 11 22 33\n")
    command = f"{sys.executable} -m argpack diff <(cat {tmp_path}/x.txt) {tmp_path}/x.txt"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
