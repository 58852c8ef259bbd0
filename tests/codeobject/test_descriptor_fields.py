"""Kernel descriptors that the assembler makes from directives, read back."""

import pytest
from made_objects import assembly, described, packed

from argpack.codeobject import UserSgpr, parse
from argpack.codeobject.descriptor import decode
from argpack.errors import InputError


def descriptor(build, *directives, processor="gfx950", accum_offset=None, **registers):
    source = assembly("k", *directives, accum_offset=accum_offset, **registers)
    data = build(source, note=packed(described()), processor=processor)
    return parse(data, source="made").kernels[0].descriptor


def test_sizes_and_modes(build):
    found = descriptor(
        build,
        ".amdhsa_group_segment_fixed_size 65536",
        ".amdhsa_private_segment_fixed_size 48",
        ".amdhsa_kernarg_size 372",
        ".amdhsa_float_round_mode_32 1",
        ".amdhsa_float_round_mode_16_64 2",
        ".amdhsa_float_denorm_mode_32 3",
        ".amdhsa_float_denorm_mode_16_64 1",
        ".amdhsa_dx10_clamp 0",
        ".amdhsa_ieee_mode 1",
        ".amdhsa_fp16_overflow 1",
        ".amdhsa_uses_dynamic_stack 1",
        accum_offset=8,
    )
    assert (found.group_segment_size, found.private_segment_size, found.kernarg_size) == (65536, 48, 372)
    assert (found.round_mode_32, found.round_mode_16_64) == (1, 2)
    assert (found.denorm_mode_32, found.denorm_mode_16_64) == (3, 1)
    assert (found.dx10_clamp, found.ieee_mode, found.fp16_overflow) == (False, True, True)
    assert found.dynamic_stack
    assert found.wavefront_size == 64


def test_modes_that_are_off_and_on_are_not_confused(build):
    found = descriptor(build, ".amdhsa_dx10_clamp 1", ".amdhsa_ieee_mode 0", accum_offset=8)
    assert (found.dx10_clamp, found.ieee_mode, found.fp16_overflow) == (True, False, False)
    assert not found.dynamic_stack


def test_user_sgprs_come_in_their_fixed_order_then_the_workgroup_ids(build):
    found = descriptor(
        build,
        ".amdhsa_user_sgpr_dispatch_ptr 1",
        ".amdhsa_user_sgpr_queue_ptr 1",
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1",
        ".amdhsa_user_sgpr_dispatch_id 1",
        ".amdhsa_user_sgpr_kernarg_preload_length 3",
        ".amdhsa_user_sgpr_kernarg_preload_offset 2",
        ".amdhsa_system_sgpr_workgroup_id_x 1",
        ".amdhsa_system_sgpr_workgroup_id_y 0",
        ".amdhsa_system_sgpr_workgroup_id_z 1",
        ".amdhsa_system_sgpr_workgroup_info 1",
        ".amdhsa_system_vgpr_workitem_id 2",
        ".amdhsa_enable_private_segment 1",
        accum_offset=8,
    )
    assert found.user_sgprs == (
        UserSgpr("dispatch_ptr", 0, 2),
        UserSgpr("queue_ptr", 2, 2),
        UserSgpr("kernarg_segment_ptr", 4, 2),
        UserSgpr("dispatch_id", 6, 2),
        UserSgpr("kernarg_preload", 8, 3),
    )
    assert found.user_sgpr_count == 11
    assert (found.kernarg_preload_length, found.kernarg_preload_offset) == (3, 2)
    assert (found.workgroup_id_x, found.workgroup_id_y, found.workgroup_id_z) == (True, False, True)
    assert (found.workgroup_info, found.workitem_id_mode, found.private_segment_enabled) == (True, 2, True)


def test_first_user_sgprs_on_a_processor_without_architected_scratch(build):
    found = descriptor(
        build,
        ".amdhsa_user_sgpr_private_segment_buffer 1",
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1",
        ".amdhsa_user_sgpr_flat_scratch_init 1",
        ".amdhsa_user_sgpr_private_segment_size 1",
        processor="gfx906",
    )
    assert found.user_sgprs == (
        UserSgpr("private_segment_buffer", 0, 4),
        UserSgpr("kernarg_segment_ptr", 4, 2),
        UserSgpr("flat_scratch_init", 6, 2),
        UserSgpr("private_segment_size", 8, 1),
    )
    assert found.user_sgpr_count == 9


@pytest.mark.parametrize(
    ("processor", "vgprs", "accum_offset", "expected"),
    [  # expected: allocated VGPRs, of which v, of which a, wave
        ("gfx950", 41, 24, (48, 24, 24, 64)),
        ("gfx950", 512, 256, (512, 256, 256, 64)),
        ("gfx90a", 20, 20, (24, 20, 4, 64)),
        ("gfx908", 9, None, (12, 12, None, 64)),
        ("gfx906", 9, None, (12, 12, None, 64)),
        ("gfx1250", 17, None, (32, 32, None, 32)),
    ],
)
def test_vector_registers(build, processor, vgprs, accum_offset, expected):
    found = descriptor(build, processor=processor, accum_offset=accum_offset, vgprs=vgprs)
    assert (found.vgpr_total, found.vgpr_count, found.agpr_count, found.wavefront_size) == expected


@pytest.mark.parametrize(("wave32", "expected"), [(1, (16, 32)), (0, (12, 64))])
def test_the_granule_of_vector_registers_follows_the_wave(build, wave32, expected):
    found = descriptor(build, f".amdhsa_wavefront_size32 {wave32}", processor="gfx1030", vgprs=9)
    assert (found.vgpr_total, found.wavefront_size) == expected


@pytest.mark.parametrize(
    ("processor", "accum_offset", "expected"),
    # 20 used and 6 for VCC, flat scratch and the XNACK mask, on gfx7 4 for the first two.
    [("gfx950", 8, 32), ("gfx906", None, 32), ("gfx700", None, 24), ("gfx1030", None, None)],
)
def test_scalar_registers(build, processor, accum_offset, expected):
    found = descriptor(build, processor=processor, accum_offset=accum_offset, sgprs=20)
    assert found.sgpr_total == expected


def test_gfx12_has_neither_of_two_mode_bits(build):
    found = descriptor(build, processor="gfx1200")
    assert (found.dx10_clamp, found.ieee_mode) == (None, None)


def test_descriptor_of_another_length_is_refused():
    with pytest.raises(InputError, match=r"^kernel descriptor at 0x40: expected 64 bytes, found 63$"):
        decode(bytes(63), processor="gfx950", address=0x40)
