"""Metadata held against schemas: the mistakes that people made, each with what argpack says of it."""

import dataclasses

import pytest

from argpack.codeobject import Argument, read
from argpack.errors import InputError
from argpack.families import family_named
from argpack.families.choice import family_of_kernel
from argpack.families.derive import derive
from argpack.families.metadata import Kind, compare, contradictions, disagreements
from argpack.families.user import family_from_file
from argpack.schema import Field, KernargSchema, Role


def pointer(name, offset):
    return Argument(name, offset, 8, "global_buffer")


def value(name, offset, size=4, kind="i32"):
    return Argument(name, offset, size, "by_value", kind)


def hidden(kind, offset, size):
    return Argument(None, offset, size, f"hidden_{kind}")


@pytest.fixture(scope="module")
def kernel(kernels_dir):
    return read(kernels_dir / "gfx942" / "all_reduce.co").kernels[0]


@pytest.fixture
def declaring(kernel):
    """A kernel that declares the given arguments in a segment of the given size."""

    def make(*arguments, segment, name="made"):
        descriptor = dataclasses.replace(kernel.descriptor, kernarg_size=segment)
        return dataclasses.replace(
            kernel, name=name, arguments=arguments, kernarg_segment_size=segment, descriptor=descriptor
        )

    return make


def schema(*fields):
    return KernargSchema(
        "mine",
        tuple(
            Field(name, kind, role=Role.POINTER if kind == "ptr" else Role.SCALAR, pad=pad)
            for name, kind, pad in fields
        ),
    )


V1 = schema(("a", "ptr", 0), ("b", "ptr", 0), ("n", "u32", 4))
V2 = schema(("a", "ptr", 0), ("b", "ptr", 0), ("n", "u32", 4), ("residual_ptr", "ptr", 0))


def said(kernel, against, **options):
    return [(one.kind, one.text, bool(one.reason)) for one in compare(kernel, against, names={}, **options)]


def test_a_kernel_that_gained_an_argument_is_told_by_name_and_offset(declaring):
    """A stale call site packs version 1 for a kernel of version 2."""
    newer = declaring(
        pointer("a", 0), pointer("b", 8), value("n", 16), pointer("residual_ptr", 24), segment=32
    )
    assert said(newer, V1) == [
        (Kind.GAP, "no argument declares bytes 0x14 to 0x18", True),
        (Kind.EXTRA, "argument residual_ptr at 0x18: mine has no field there", False),
        (Kind.SEGMENT, "24 bytes are passed, 32 declared", False),
    ]
    with pytest.raises(InputError) as error:
        V2.unpack(V1.pack({"a": 1, "b": 2, "n": 3}))
    assert str(error.value) == "mine: expected 32 bytes, found 24, 8 short; missing: residual_ptr at 0x18"


def test_a_rebuilt_kernel_with_a_larger_segment_is_refused_field_by_field(declaring):
    """208 bytes of arguments against a code object that declares 256."""
    fields = [(f"p{i}", "ptr", 8) for i in range(16)]
    old = schema(*fields[:13])
    new = declaring(*(pointer(f"p{i}", 16 * i) for i in range(16)), segment=256)
    wrong = [one.text for one in compare(new, old, names={}) if not one.reason]
    assert wrong == [
        "argument p13 at 0xd0: mine has no field there",
        "208 bytes are passed, 256 declared",
        "argument p14 at 0xe0: mine has no field there",
        "argument p15 at 0xf0: mine has no field there",
    ]
    with pytest.raises(InputError, match=r"208, 48 short; missing: p13 at 0xd0, p14 at 0xe0, p15 at 0xf0"):
        schema(*fields).check_size(208)


def test_arguments_in_another_order_are_names_at_wrong_places(declaring):
    swapped = declaring(pointer("d", 0), pointer("c", 8), pointer("a", 16), segment=24)
    ours = schema(("a", "ptr", 0), ("d", "ptr", 0), ("c", "ptr", 0))
    assert said(swapped, ours) == [
        (Kind.NAME, "d for a", False),
        (Kind.NAME, "c for d", False),
        (Kind.NAME, "a for c", False),
    ]


def test_metadata_that_omits_arguments_is_no_ground_truth(declaring):
    ours = schema(("x", "u64", 0), ("y", "u64", 0), ("z", "u64", 0), ("out", "ptr", 0))
    lying = declaring(pointer("out", 24), segment=32)
    assert said(lying, ours) == [
        (
            Kind.LACKING,
            "x at 0x0: no argument declares it, and HIP copies only what the metadata declares",
            False,
        ),
        (Kind.GAP, "no argument declares bytes 0x0 to 0x18", False),
        (
            Kind.LACKING,
            "y at 0x8: no argument declares it, and HIP copies only what the metadata declares",
            False,
        ),
        (
            Kind.LACKING,
            "z at 0x10: no argument declares it, and HIP copies only what the metadata declares",
            False,
        ),
    ]


def test_a_value_more_than_declared_is_refused():
    """OpenCL rejects the argument, HIP stays silent."""
    nineteen = schema(*((f"v{i}", "u32", 0) for i in range(19)))
    with pytest.raises(InputError, match="mine: expected 19 fields, found 20: no field is named 'v19'"):
        nineteen.pack({f"v{i}": i for i in range(20)})


def test_eight_byte_slots_and_natural_alignment_are_told_apart(declaring):
    natural = schema(("a", "ptr", 0), ("b", "ptr", 0), ("x", "f32", 0), ("n", "u32", 0))
    strided = declaring(
        pointer("a", 0), pointer("b", 8), value("x", 16, kind="f32"), value("n", 24),
        hidden("block_count_x", 32, 4), segment=40,
    )  # fmt: skip
    assert said(strided, natural) == [
        (
            Kind.LACKING,
            "n at 0x14: no argument declares it, and HIP copies only what the metadata declares",
            False,
        ),
        (Kind.GAP, "no argument declares bytes 0x14 to 0x18", False),
        (Kind.EXTRA, "argument n at 0x18: mine has no field there", False),
        (Kind.SEGMENT, "24 bytes are passed, 40 declared", False),
        (Kind.GAP, "no argument declares bytes 0x1c to 0x20", True),
    ]


def test_hidden_arguments_at_odd_places_are_fields_where_they_say(declaring):
    odd = declaring(
        pointer("in", 0),
        value("last", 200, size=1, kind="u8"),
        hidden("global_offset_x", 201, 8),
        segment=216,
    )
    derived = derive(odd)
    assert [(s.name, s.offset, s.size) for s in derived.slots] == [
        ("in", 0, 8), ("pad_in", 8, 192), ("last", 200, 1), ("hidden_global_offset_x", 201, 8),
        ("pad_hidden_global_offset_x", 209, 7),
    ]  # fmt: skip
    behind = derive(declaring(pointer("a", 0), hidden("none", 8, 8), value("v", 16), segment=24))
    assert [(s.name, s.offset) for s in behind.slots if s.field] == [("a", 0), ("hidden_none", 8), ("v", 16)]


def test_a_hidden_argument_over_a_field_contradicts(declaring):
    made = declaring(pointer("a", 0), pointer("b", 8), hidden("none", 16, 8), segment=24)
    assert (Kind.OVERLAP, "argument without a name at 0x10 overlaps n at 0x10", False) in said(made, V1)


def test_sizes_offsets_types_overlaps_and_ends_are_each_named(declaring):
    made = declaring(
        value("a", 0, size=8, kind="u64"),
        pointer("b", 6),
        value("n", 16, kind="f32"),
        value("m", 20),
        segment=22,
    )
    assert said(made, schema(("a", "ptr", 0), ("b", "ptr", 0), ("n", "u32", 4))) == [
        (Kind.TYPE, "argument a at 0x0: expected ptr, found u64", False),
        (Kind.OFFSET, "argument b at 0x6: expected a at 0x0", False),
        (Kind.OVERLAP, "argument b at 0x6 overlaps argument a at 0x0", False),
        (
            Kind.LACKING,
            "b at 0x8: no argument declares it, and HIP copies only what the metadata declares",
            False,
        ),
        (Kind.GAP, "no argument declares bytes 0xe to 0x10", False),
        (Kind.TYPE, "argument n at 0x10: expected u32, found f32", False),
        (Kind.EXTRA, "argument m at 0x14: mine has no field there", False),
        (Kind.BEYOND, "argument m at 0x14 ends at 0x18, the segment at 0x16", False),
        (Kind.SEGMENT, "24 bytes are passed, 22 declared", False),
    ]


def test_blocks_halves_and_pads_with_their_value_are_known_forms(declaring):
    block = declaring(value("_kernarg_raw", 0, size=24), segment=24)
    assert said(block, V1) == [
        (Kind.SIZE, "argument _kernarg_raw at 0x0 covers 3 fields from a at 0x0", True)
    ]
    halves = declaring(value(None, 0), value(None, 4), pointer("b", 8), value("n", 16, size=8), segment=24)
    assert said(halves, V1) == [
        (Kind.NAME, "no name for a", True),
        (Kind.SIZE, "argument without a name at 0x0: expected 8 bytes, found 4", True),
        (Kind.SIZE, "argument n at 0x10: expected 4 bytes, found 8", True),
    ]
    over = declaring(value("_raw", 0, size=32), segment=32)
    assert (Kind.SIZE, "argument _raw at 0x0 covers 3 fields from a at 0x0", False) in said(over, V1)


def test_versions_are_chosen_by_declared_arguments(kernels_dir):
    """The wheel's bf16gemm declares neither bias nor semaphore; pa has GQA where the later version has mtp."""
    for path, name in (
        ("gfx950/bf16gemm/bf16gemm_outf32_tn_32x64_pf3.co", "aiter_bf16gemm"),
        ("gfx942/pa/pa_bf16_noquant_gqa16_1tg_4w.co", "aiter_pa"),
        ("gfx942/fmha_v3_bwd/bwd_hd128_bf16_a16_rtna_pddv.co", "aiter_fmha_v3_bwd_a16_pddv"),
        ("gfx942/fmha_v3_bwd/bwd_hd128_bf16_a16_rtna.co", "aiter_fmha_v3_bwd_a16"),
        ("gfx950/fmha_v3_bwd/bwd_hd128_fp16_a32_psskddv.co", "aiter_fmha_v3_bwd"),
        ("gfx942/fmha_v3_bwd/bwd_hd128_fp16_a32_psskddv.co", "aiter_fmha_v3_bwd_a32"),
    ):
        code_object = read(kernels_dir / path)
        found = code_object.kernels[0]
        assert family_of_kernel(found, code_object) is family_named(name)
        assert family_of_kernel(found) is family_named(name)
        assert contradictions(family_named(name), found) == ()


def test_a_later_version_is_recognised_by_its_arguments(declaring):
    later = family_named("aiter_pa_2026")
    arguments = [
        pointer(name.removeprefix("ptr_"), slot.offset)
        if slot.field.type == "ptr"
        else value(later.metadata_names[name][0].partition(":")[0], slot.offset)
        for slot in later.schema.slots
        if slot.field is not None
        for name in [slot.name]
    ]
    made = declaring(*arguments, segment=272, name="pa_kernel_func")
    assert family_of_kernel(made) is later


def test_arguments_that_fit_no_version_are_not_guessed(declaring):
    made = declaring(pointer("nothing", 0), segment=8, name="pa_kernel_func")
    with pytest.raises(InputError) as error:
        family_of_kernel(made)
    assert str(error.value) == (
        "kernel pa_kernel_func: its declared arguments fit none of aiter_pa (256 bytes), aiter_pa_2026 (272 bytes)"
    )


def test_a_kernel_of_unknown_name_is_known_by_the_folder_of_its_file(declaring, kernels_dir):
    code_object = read(kernels_dir / "gfx942" / "topksoftmax" / "topksoftmax_12x128x6.co")
    renamed = dataclasses.replace(code_object.kernels[0], name="renamed")
    assert family_of_kernel(renamed, code_object) is family_named("aiter_topksoftmax")
    assert family_of_kernel(renamed) is None


def test_what_contradicts_raises_with_the_first_and_the_number_of_others(declaring):
    family = family_named("aiter_topksoftmax")
    made = declaring(pointer("T", 0), pointer("W", 24), segment=32)
    with pytest.raises(InputError) as error:
        family.cross_check(made)
    assert str(error.value) == (
        "kernel made: aiter_topksoftmax: no argument declares bytes 0x8 to 0x18 and 3 more"
    )


def test_a_users_schema_is_checked_with_its_metadata_names(declaring, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        "name = 'mine'\nalign = 16\nsize = 32\n[[field]]\nname = 'out'\ntype = 'ptr'\nmetadata = ['O']\n"
        "[[field]]\nname = 'rows'\ntype = 'u32'\nmetadata = ['M']\nuse = 'unread'\n"
    )
    family = family_from_file(path)
    made = declaring(pointer("O", 0), value("M", 16), segment=32)
    assert contradictions(family, made) == ()
    assert family.cross_check(made) == (
        "the metadata has other names for 2 of 2 fields: O for out",
        "no argument declares bytes 0x8 to 0x10; padding",
    )
    assert [one.text for one in disagreements(family, made)] == [
        "O for out",
        "no argument declares bytes 0x8 to 0x10",
        "M for rows",
    ]
    assert family.usage("mine")["rows"] == "unread"
