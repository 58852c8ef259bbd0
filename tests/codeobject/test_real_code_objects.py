"""The 2,501 code objects of AITER's wheel, each against what LLVM's tools say of it."""

import collections
import dataclasses
import subprocess

import llvm_output
import pytest

from argpack.codeobject import read

F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co"
# Compiled, not written by hand: the only one with a descriptor that declares its arguments.
COMPILED = "gfx942/flatmm_uk_gfx9_f16f8_128x256x128_1x4x1_16x16x32.co"


@pytest.fixture(scope="module")
def objects(kernels_dir):
    return {str(path): read(path) for path in sorted(kernels_dir.rglob("*.co"))}


@pytest.fixture(scope="module")
def counted(objects):
    """Counts of a value over all files."""
    return lambda value: dict(collections.Counter(value(code_object) for code_object in objects.values()))


def test_every_file_is_read(objects, counted):
    assert len(objects) == 2501
    assert counted(lambda o: str(o.target)) == {"gfx942": 1281, "gfx950": 1220}
    assert counted(lambda o: o.code_object_version) == {4: 11, 5: 1190, 6: 1300}
    assert counted(lambda o: o.metadata_version) == {(1, 0): 2491, (1, 1): 9, (1, 2): 1}
    assert counted(lambda o: o.declared_target) == {None: 2500, "amdgcn-amd-amdhsa--gfx942": 1}
    assert counted(lambda o: len(o.kernels)) == {1: 2501}


def test_what_metadata_and_descriptor_say_is_kept_apart(counted):
    assert counted(lambda o: o.kernels[0].descriptor.kernarg_size) == {0: 2500, 112: 1}
    behind = counted(lambda o: o.kernels[0].kernarg_segment_size - max(a.end for a in o.kernels[0].arguments))
    assert behind == {0: 2491, 12: 9, 16: 1}
    assert counted(lambda o: o.kernels[0].vgpr_count == o.kernels[0].descriptor.vgpr_total) == {
        True: 2497,
        False: 4,
    }


def test_metadata_is_what_llvm_readelf_prints(objects, llvm_tool):
    expected = llvm_output.notes(llvm_tool("llvm-readelf"), objects)
    assert {path: [as_metadata(kernel) for kernel in o.kernels] for path, o in objects.items()} == expected


def as_metadata(kernel):
    """The kernel under the metadata's own keys, for comparison."""
    names = {
        ".name": kernel.name,
        ".symbol": kernel.symbol,
        ".kernarg_segment_size": kernel.kernarg_segment_size,
        ".kernarg_segment_align": kernel.kernarg_segment_align,
        ".group_segment_fixed_size": kernel.group_segment_size,
        ".private_segment_fixed_size": kernel.private_segment_size,
        ".max_flat_workgroup_size": kernel.max_flat_workgroup_size,
        ".reqd_workgroup_size": kernel.required_workgroup_size and list(kernel.required_workgroup_size),
        ".wavefront_size": kernel.wavefront_size,
        ".sgpr_count": kernel.sgpr_count,
        ".vgpr_count": kernel.vgpr_count,
        ".agpr_count": kernel.agpr_count,
    }
    keys = {"kind": ".value_kind", "type": ".value_type"}
    arguments = [
        {
            keys.get(field, f".{field}"): value
            for field, value in ((f.name, getattr(argument, f.name)) for f in dataclasses.fields(argument))
            if value is not None
        }
        for argument in kernel.arguments
    ]
    return {".args": arguments} | {key: value for key, value in names.items() if value is not None}


def test_descriptor_is_what_llvm_objdump_prints(objects, llvm_tool):
    expected = llvm_output.descriptors(llvm_tool("llvm-objdump"), objects)
    assert len(expected) == 2501
    for path, directives in expected.items():
        found = objects[path].kernels[0].descriptor
        users = {user.name: user.register for user in found.user_sgprs}
        assert users == {"kernarg_segment_ptr": 0}
        values = {
            "group_segment_fixed_size": found.group_segment_size,
            "private_segment_fixed_size": found.private_segment_size,
            "kernarg_size": found.kernarg_size,
            "accum_offset": found.accum_offset,
            "next_free_vgpr": found.vgpr_total,
            "float_round_mode_32": found.round_mode_32,
            "float_round_mode_16_64": found.round_mode_16_64,
            "float_denorm_mode_32": found.denorm_mode_32,
            "float_denorm_mode_16_64": found.denorm_mode_16_64,
            "dx10_clamp": found.dx10_clamp,
            "ieee_mode": found.ieee_mode,
            "fp16_overflow": found.fp16_overflow,
            "enable_private_segment": found.private_segment_enabled,
            "system_sgpr_workgroup_id_x": found.workgroup_id_x,
            "system_sgpr_workgroup_id_y": found.workgroup_id_y,
            "system_sgpr_workgroup_id_z": found.workgroup_id_z,
            "system_sgpr_workgroup_info": found.workgroup_info,
            "system_vgpr_workitem_id": found.workitem_id_mode,
            "user_sgpr_kernarg_segment_ptr": "kernarg_segment_ptr" in users,
        }
        assert {name: directives[name] for name in values} == values, path
        # The field counts eights, the hardware allocates sixteens.
        assert found.sgpr_total == -(-directives["next_free_sgpr"] // 16) * 16, path


@pytest.mark.parametrize("name", [F4GEMM, COMPILED, "gfx942/fmoe_f16.co", "gfx942/pa_a16w8_b16.co"])
def test_code_is_the_text_section(name, kernels_dir, llvm_tool, tmp_path):
    text = tmp_path / "text"
    objcopy = [llvm_tool("llvm-objcopy"), "-O", "binary", "-j", ".text", kernels_dir / name, text]
    subprocess.run(objcopy, check=True)
    code_object = read(kernels_dir / name)
    assert code_object.code(code_object.kernels[0]) == text.read_bytes()


def test_digest_is_that_of_the_file(kernels_dir):
    expected = "ff0d6bb10a211068997cbb2d846734092270324cafcaf32281ce5fb50946ffa1"
    assert read(kernels_dir / F4GEMM).sha256 == expected
