"""Code objects of shapes that AITER's files do not have: several kernels, hidden arguments, zero-filled parts."""

import dataclasses

import pytest
from made_objects import assembly, described, packed

from argpack.codeobject import Argument, parse, read

# Written as a compiler writes it: the assembler turns it into the note.
METADATA = """
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: first
    .symbol: first.kd
    .kernarg_segment_size: 272
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 14
    .vgpr_count: 7
    .agpr_count: 0
    .max_flat_workgroup_size: 1024
    .args:
      - {.name: out, .type_name: 'float*', .address_space: global, .access: write_only, .offset: 0, .size: 8,
         .value_kind: global_buffer}
      - {.name: n, .type_name: 'unsigned int', .offset: 8, .size: 4, .value_kind: by_value}
      - {.offset: 16, .size: 4, .value_kind: hidden_block_count_x}
      - {.offset: 28, .size: 2, .value_kind: hidden_group_size_x}
  - .name: second
    .symbol: second.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 6
    .vgpr_count: 1
    .max_flat_workgroup_size: 64
    .reqd_workgroup_size: [64, 1, 1]
    .cluster_dims: [2, 1, 1]
.end_amdgpu_metadata
"""


@pytest.fixture(scope="module")
def pair(build):
    """Two kernels: 3 dwords of code at a multiple of 256, then 1."""
    first = assembly("first", ".amdhsa_group_segment_fixed_size 1024", code="s_nop 0\ns_nop 1\ns_endpgm")
    return parse(build(first, assembly("second"), METADATA), source="pair.co")


def test_both_kernels_are_found_in_order(pair):
    assert [kernel.name for kernel in pair.kernels] == ["first", "second"]
    assert [kernel.symbol for kernel in pair.kernels] == ["first.kd", "second.kd"]
    assert pair.declared_target == "amdgcn-amd-amdhsa--gfx950"
    assert pair.metadata_version == (1, 2)


def test_each_kernel_has_its_own_descriptor_and_code(pair):
    first, second = pair.kernels
    assert (first.descriptor.group_segment_size, second.descriptor.group_segment_size) == (1024, 0)
    assert second.code_address - first.code_address == 256
    assert pair.code(first).hex() == "000080bf010080bf000081bf"
    assert pair.code(second).hex() == "000081bf"


def test_hidden_arguments_are_told_from_the_callers(pair):
    arguments = pair.kernels[0].arguments
    assert arguments == (
        Argument("out", 0, 8, "global_buffer", None, "global", "write_only", None, "float*"),
        Argument("n", 8, 4, "by_value", None, None, None, None, "unsigned int"),
        Argument(None, 16, 4, "hidden_block_count_x"),
        Argument(None, 28, 2, "hidden_group_size_x"),
    )
    assert [argument.hidden for argument in arguments] == [False, False, True, True]
    assert [argument.end for argument in arguments] == [8, 12, 20, 30]


def test_launch_bounds(pair):
    first, second = pair.kernels
    assert (first.max_flat_workgroup_size, first.required_workgroup_size, first.cluster_size) == (
        1024,
        None,
        None,
    )
    assert (second.max_flat_workgroup_size, second.required_workgroup_size) == (64, (64, 1, 1))
    assert second.cluster_size == (2, 1, 1)
    assert (first.agpr_count, second.agpr_count) == (0, None)
    assert second.arguments == ()


def test_code_of_a_symbol_without_a_size_ends_at_the_next_function(build):
    kernels = [assembly(name, sized=False, code="s_nop 0\ns_endpgm") for name in ("a", "b")]
    code_object = parse(build(*kernels, note=packed(described("a"), described("b"))), source="made")
    first, second = code_object.kernels
    # Up to the next function, alignment included; the last one up to the segment's end.
    assert (first.code_size, second.code_size) == (256, 8)
    assert code_object.code(second).hex() == "000080bf000081bf"


def test_zero_filled_part_of_a_segment_reads_as_zeros(build):
    variable = ".bss\n.globl variable\nvariable: .zero 64"
    code_object = parse(build(assembly(), variable, note=packed(described())), source="made")
    filled = next(segment for segment in code_object.segments if segment.size > len(segment.data))
    end = filled.address + len(filled.data)
    assert code_object.bytes_at(end - 4, 8) == filled.data[-4:] + bytes(4)
    assert code_object.bytes_at(end, filled.address + filled.size - end + 1) is None
    assert code_object.bytes_at(1 << 40, 1) is None


def test_only_code_is_executable(pair):
    address = pair.kernels[0].code_address
    holding = [s for s in pair.segments if s.address <= address < s.address + s.size]
    assert [segment.executable for segment in holding] == [True]
    assert sum(segment.executable for segment in pair.segments) == 1


def test_metadata_that_contradicts_the_descriptor_is_kept_as_it_is(build):
    source = assembly("k", ".amdhsa_kernarg_size 16", ".amdhsa_group_segment_fixed_size 512")
    note = packed(
        described(kernarg_segment_size=384, group_segment_fixed_size=65536),
        target="amdgcn-amd-amdhsa--gfx942",
    )
    code_object = parse(build(source, note=note), source="made")
    kernel = code_object.kernels[0]
    assert (kernel.kernarg_segment_size, kernel.descriptor.kernarg_size) == (384, 16)
    assert (kernel.group_segment_size, kernel.descriptor.group_segment_size) == (65536, 512)
    assert (code_object.declared_target, str(code_object.target)) == ("amdgcn-amd-amdhsa--gfx942", "gfx950")


def test_keys_that_nobody_knows_yet_are_passed_over(build):
    note = packed(described(new_key=[{"deep": 1}]), printf=["1:1:4:x"])
    assert parse(build(assembly(), note=note), source="made").kernels[0].name == "k"


@pytest.mark.parametrize("version", [None, [1], ["1", "2"], "1.2"])
def test_a_metadata_version_that_is_none_is_none(build, version):
    note = packed(described(), version=version)
    assert parse(build(assembly(), note=note), source="made").metadata_version is None


def test_a_file_gives_what_its_bytes_give(build, tmp_path):
    data = build(assembly(), note=packed(described()))
    path = tmp_path / "k.co"
    path.write_bytes(data)
    assert dataclasses.replace(read(path), source="") == dataclasses.replace(
        parse(data, source="made"), source=""
    )
    assert read(str(path)).source == str(path)
