"""One mistake behind many differences: each recognised exactly, none seen where values merely differ."""

import struct

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from argpack.families import family_named, family_names
from argpack.families.family import Usage
from argpack.hexdump import Dump, diff
from argpack.hexdump.mistakes import find_mistake
from argpack.hexdump.report import report, summary
from argpack.hexdump.table import to_text
from argpack.schema import Field, KernargSchema, Role


def schema(name, *fields, pad_to=0):
    """Fields as (name, type); the role follows from the name."""
    made = []
    for field, kind in fields:
        size = {"ptr": 8, "u64": 8, "u32": 4, "i32": 4, "f32": 4, "f16": 2}[kind]
        role = Role.POINTER if kind == "ptr" else Role.STRIDE if field.startswith("stride") else Role.SCALAR
        role = Role.EXTENT if field in {"M", "N", "K"} else role
        made.append(Field(field, kind, role=role, pad=-size % pad_to if pad_to else 0))
    return KernargSchema(name, tuple(made))


GEMM_FIELDS = (
    ("ptr_D", "ptr"), ("ptr_C", "ptr"), ("ptr_A", "ptr"), ("ptr_B", "ptr"), ("alpha", "f32"), ("beta", "f32"),
    ("stride_D0", "u32"), ("stride_C0", "u32"), ("stride_A0", "u32"), ("stride_B0", "u32"),
    ("M", "u32"), ("N", "u32"), ("K", "u32"), ("ptr_ScaleA", "ptr"), ("ptr_ScaleB", "ptr"),
    ("stride_ScaleA0", "u32"), ("stride_ScaleB0", "u32"),
)  # fmt: skip
GEMM = schema("gemm", *GEMM_FIELDS, pad_to=16)
PACKED = schema("packed", *GEMM_FIELDS)
USAGE = {**{field.name: Usage.LIVE for field in GEMM.fields}, "ptr_C": Usage.DEAD, "stride_D0": Usage.UNREAD}
VALUES = {
    "ptr_D": 0x7F00_0010_0000, "ptr_C": 0, "ptr_A": 0x7F00_0020_0000, "ptr_B": 0x7F00_0030_0000,
    "alpha": 1.5, "beta": 0.0, "stride_D0": 77, "stride_C0": 512, "stride_A0": 4096, "stride_B0": 4160,
    "M": 256, "N": 512, "K": 4096, "ptr_ScaleA": 0x7F00_0040_0000, "ptr_ScaleB": 0x7F00_0050_0000,
    "stride_ScaleA0": 128, "stride_ScaleB0": 136,
}  # fmt: skip
DATA = GEMM.pack(VALUES, pads={slot.name: b"\xa5" * slot.size for slot in GEMM.slots if slot.field is None})


def changed(**changes):
    return GEMM.pack({**VALUES, **changes})


def found(first, second, of=GEMM, usage=USAGE):
    return diff(Dump.whole(first), Dump.whole(second), of, usage)


def mistake(first, second, of=GEMM, usage=USAGE, others=()):
    named = find_mistake(found(first, second, of, usage), others)
    return named and named.text


def swapped(data, width):
    return b"".join(data[i : i + width][::-1] for i in range(0, len(data), width))


def laid_out(slot):
    """The values where each field starts at a multiple of `slot`, or of its own size for 0."""
    data = b""
    for field in GEMM.fields:
        size = slot or field.size
        data += bytes(-len(data) % size) + field.scalar.encode(VALUES[field.name])
    return data


BIG_ENDIAN = b"".join(
    slot.field.scalar.encode(VALUES[slot.name])[::-1] if slot.field else bytes(slot.size)
    for slot in GEMM.slots
)
# Offsets: alpha 0x040, beta 0x050, stride_C0 0x070, M 0x0a0.
WRONG = {
    "shift late": (
        DATA[:0x70] + bytes(4) + DATA[0x70:],
        "from stride_C0 on the second is 4 bytes late",
    ),
    "shift early": (DATA[:0x64] + DATA[0x70:], "from stride_C0 on the second is 12 bytes early"),
    "a field missing": (
        DATA[:0x60] + DATA[0x70:],
        "stride_D0 is not in the second: all from stride_C0 on is 16 bytes early",
    ),
    "two fields missing": (
        DATA[:0x50] + DATA[0x70:],
        "beta and stride_D0 are not in the second: all from stride_C0 on is 32 bytes early",
    ),
    "half a value lost": (
        DATA[:0x42] + DATA[0x44:],
        "from inside alpha on the second is 2 bytes early",
    ),
    "narrower": (
        DATA[:0x40] + struct.pack("<e", 1.5) + DATA[0x44:],
        "alpha is f16, 2 bytes, not f32 in the second: all from beta on is 2 bytes early",
    ),
    "wider": (
        DATA[:0x40] + struct.pack("<d", 1.5) + DATA[0x44:],
        "alpha is f64, 8 bytes, not f32 in the second: all from beta on is 4 bytes late",
    ),
    "wider within its slot": (
        DATA[:0x40] + struct.pack("<d", 1.5) + DATA[0x48:],
        "alpha is f64, 8 bytes, not f32 in the second",
    ),
    "natural alignment": (
        laid_out(0),
        "the second has natural C alignment, not 16-byte slots: ptr_A lies at 0x010, not at 0x020",
    ),
    "slots of 8": (
        laid_out(8),
        "the second has 8-byte slots, not 16-byte slots: ptr_A lies at 0x010, not at 0x020",
    ),
    "no padding": (
        PACKED.pack({**VALUES}),
        "the second has no padding, not 16-byte slots: ptr_A lies at 0x010, not at 0x020",
    ),
    "A and B": (
        changed(
            ptr_A=VALUES["ptr_B"], ptr_B=VALUES["ptr_A"],
            ptr_ScaleA=VALUES["ptr_ScaleB"], ptr_ScaleB=VALUES["ptr_ScaleA"],
            stride_A0=4160, stride_B0=4096, stride_ScaleA0=136, stride_ScaleB0=128,
        ),
        "A and B are exchanged (pointers, strides, scales)",
    ),
    "A and B, scales only": (
        changed(ptr_ScaleA=VALUES["ptr_ScaleB"], ptr_ScaleB=VALUES["ptr_ScaleA"]),
        "A and B are exchanged (scales)",
    ),
    "M and N": (changed(M=512, N=256), "M and N are exchanged"),
    "M and N, dense": (
        changed(M=512, N=256, stride_C0=256),
        "M and N are exchanged, and stride_C0 with them",
    ),
    "as hipBLASLt passes them": (
        changed(M=512, N=256, stride_C0=256, stride_A0=4160, stride_B0=4096),
        "A and B are exchanged (strides), M and N are exchanged, and stride_C0 with them",
    ),
    "permuted": (
        changed(M=4096, N=256, K=512),
        "fields are permuted: M, N, K of the second are K, M, N of the first",
    ),
    "words of 2": (swapped(DATA, 2), "the second has the bytes of every 2-byte word in reverse: another byte order"),
    "words of 4": (swapped(DATA, 4), "the second has the bytes of every 4-byte word in reverse: another byte order"),
    "words of 8": (swapped(DATA, 8), "the second has the bytes of every 8-byte word in reverse: another byte order"),
    "big endian": (BIG_ENDIAN, "the second has the bytes of every field in reverse: big endian"),
    "cut off": (
        DATA[:0xB0],
        "the second is 96 bytes short: N at 0x0b0 and 5 more live fields are missing",
    ),
    "one argument short": (DATA[:0x100], "the second is 16 bytes short: stride_ScaleB0 at 0x100 is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_in_a_whole_buffer_is_one_line(name):
    data, text = WRONG[name]
    assert mistake(DATA, data) == text
    line = summary(found(DATA, data), find_mistake(found(DATA, data)))
    assert text in line
    assert "\n" not in line


@pytest.mark.parametrize("name", WRONG)
def test_the_other_way_round_a_mistake_is_seen_as_well(name):
    data, _ = WRONG[name]
    assert mistake(data, DATA) is not None


@pytest.mark.parametrize("name", ["natural alignment", "words of 4", "cut off", "narrower"])
def test_the_first_dump_is_named_where_it_is_the_wrong_one(name):
    data, text = WRONG[name]
    if name != "words of 4":  # reversing twice is none: either dump may be the reversed one
        assert mistake(data, DATA) == text.replace("the second", "the first")


def test_many_differences_are_not_listed_beside_the_mistake_that_explains_them():
    data, text = WRONG["slots of 8"]
    compared = found(DATA, data)
    assert to_text(report(compared, find_mistake(compared))).splitlines() == [
        f"13 live differences: {text}; ignored: 1 dead, 1 unread, 1 pointer, 8 pad differences",
        "compared 132 of 272 bytes",
    ]


def test_few_differences_are_listed_beside_it():
    compared = found(DATA, changed(M=512, N=256))
    lines = to_text(report(compared, find_mistake(compared))).splitlines()
    assert lines[0].startswith("2 live differences: M and N are exchanged; ignored: ")
    assert [line.split()[:5] for line in lines[4:]] == [
        ["live", "0x0a0", "M", "256", "512"],
        ["live", "0x0b0", "N", "512", "256"],
    ]


def test_exchanged_pointers_of_one_run_are_live_differences():
    compared = found(DATA, changed(ptr_A=VALUES["ptr_B"], ptr_B=VALUES["ptr_A"]))
    assert [(d.first.slot.name, d.kind.value, d.note) for d in compared.live] == [
        ("ptr_A", "live", "the first has this address in ptr_B"),
        ("ptr_B", "live", "the first has this address in ptr_A"),
    ]


def test_pointers_of_two_runs_are_no_difference_wherever_they_lie():
    other_run = {name: VALUES[name] + 0x10_0000_0000 for name in ("ptr_D", "ptr_A", "ptr_B")}
    assert found(DATA, changed(**other_run)).same


V2 = schema("kernel_v2", *((f"ptr_{x}", "ptr") for x in "DCAB"), ("M", "u32"), ("N", "u32"))
V3 = schema("kernel_v3", ("M", "u32"), ("N", "u32"), *((f"ptr_{x}", "ptr") for x in "ABCD"))
ORDER = {**{f"ptr_{x}": 0x7F00_0000_1000 + i * 0x1_0000 for i, x in enumerate("ABCD")}, "M": 100, "N": 200}


def test_the_argument_order_of_another_version_is_recognised():
    assert mistake(V2.pack(ORDER), V3.pack(ORDER), V2, None, [V3]) == (
        "the second is laid out as kernel_v3, not kernel_v2: ptr_D lies at 0x020, not at 0x000"
    )


def test_every_stride_that_follows_an_exchange_is_named():
    of = schema("rows", *((name, "u32") for name in ("M", "N", "stride_a", "stride_b", "stride_c")))
    before = {"M": 100, "N": 200, "stride_a": 100, "stride_b": 200, "stride_c": 200}
    after = {"M": 200, "N": 100, "stride_a": 200, "stride_b": 100, "stride_c": 100}
    assert mistake(of.pack(before), of.pack(after), of, None) == (
        "M and N are exchanged, and stride_a, stride_b and stride_c with them"
    )


def test_two_fields_of_different_kinds_with_each_others_values_are_chance():
    assert mistake(DATA, changed(M=4096, stride_A0=256)) is None
    assert (
        mistake(DATA, changed(ptr_D=VALUES["ptr_B"], ptr_B=VALUES["ptr_D"]))
        == "ptr_D and ptr_B are exchanged"
    )


def test_values_of_two_problems_are_no_mistake_in_any_family():
    """Two launches of each family, in two runs, with sizes such as people use: only real exchanges may be named."""
    rng = np.random.default_rng(1)
    for name in family_names():
        family = family_named(name)
        for _ in range(6):
            one, other = (family.schema.pack(launch_of(family.schema, rng, run)) for run in (0, 1))
            named = find_mistake(found(one, other, family.schema, family.usage(name)))
            assert named is None or named.kind == "exchange", (name, named)


def launch_of(of, rng, run):
    sizes = [0, 0, 1, 2, 4, 16, 64, 128, 256, 1024, 4096, int(rng.integers(1 << 16))]
    values = {}
    for field in of.fields:
        if field.type == "ptr":
            values[field.name] = 0x7000_0000_0000 + (run << 40) + int(rng.integers(1 << 24)) * 256
        elif field.scalar.kind == "float":
            values[field.name] = float(rng.choice([0.0, 0.125, 0.5, 1.0, 2.0]))
        else:
            values[field.name] = min(int(rng.choice(sizes)), field.scalar.bounds[1])
    return values


def test_a_permutation_that_no_version_has_is_spelt_out():
    moved = {**ORDER, "ptr_D": ORDER["ptr_C"], "ptr_C": ORDER["ptr_A"], "ptr_A": ORDER["ptr_D"]}
    assert mistake(V2.pack(ORDER), V2.pack(moved), V2, None) == (
        "fields are permuted: ptr_D, ptr_C, ptr_A of the second are ptr_C, ptr_A, ptr_D of the first"
    )


SHORT = schema("short", ("ptr_a", "ptr"), ("ptr_b", "ptr"), ("alpha", "f32"), ("count", "u32"))


def test_a_struct_that_lacks_the_newest_argument_names_it():
    newer = KernargSchema("newer", (*SHORT.fields, Field("residual_ptr", "ptr", role=Role.POINTER)))
    values = {"ptr_a": 0x7F00_0000_0000, "ptr_b": 0x7F00_0001_0000, "alpha": 1.0, "count": 3}
    full = newer.pack({**values, "residual_ptr": 0x7F00_0002_0000})
    assert mistake(full, SHORT.pack(values), newer, None) == (
        "the second is 8 bytes short: residual_ptr at 0x018 is missing"
    )


def test_slots_of_8_where_c_would_pad_less():
    of = schema("mixed", ("p", "ptr"), ("q", "ptr"), ("f", "f32"), ("n", "u32"), ("m", "u32"), ("k", "u32"))
    values = {"p": 0x7F00_0000_0000, "q": 0x7F00_0001_0000, "f": 0.25, "n": 300, "m": 500, "k": 700}
    slots = b"".join(field.scalar.encode(values[field.name]).ljust(8, b"\0") for field in of.fields)
    assert mistake(of.pack(values), slots, of, None) == (
        "the second has 8-byte slots, not natural C alignment: n lies at 0x018, not at 0x014"
    )


def test_unknown_bytes_are_no_evidence():
    data = WRONG["slots of 8"][0].ljust(len(DATA), b"\0")
    hidden = Dump(bytes(len(data)), bytes(len(data)))
    assert find_mistake(diff(Dump.whole(DATA), hidden, GEMM, USAGE)) is None
    some = bytes([1] * 0x20 + [0] * (len(data) - 0x20))
    partly = Dump(bytes(b if k else 0 for b, k in zip(data, some, strict=True)), some)
    assert find_mistake(diff(Dump.whole(DATA), partly, GEMM, USAGE)) is None


def of_field(field):
    if field.type == "f32":
        return st.floats(width=32, allow_nan=False)
    if field.type == "ptr":
        return st.integers(1, 1 << 31).map(lambda page: 0x7000_0000_0000 + page * 256)
    return st.integers(0, 1 << 20)


def any_values(of):
    return st.fixed_dictionaries({field.name: of_field(field) for field in of.fields})


@given(st.sampled_from([GEMM, PACKED]), st.data())
def test_a_correct_buffer_has_no_mistake(of, data):
    packed = of.pack(data.draw(any_values(of)))
    assert find_mistake(found(packed, packed, of)) is None


@settings(max_examples=150)
@given(st.sampled_from([GEMM, PACKED]), st.data())
def test_other_values_alone_are_no_mistake(of, data):
    values = data.draw(any_values(of))
    names = data.draw(st.sets(st.sampled_from([field.name for field in of.fields]), min_size=1))
    others = {name: data.draw(of_field(of.slot(name).field)) for name in sorted(names)}
    both = set(values.values()) & set(others.values())
    assume(not both)
    assert mistake(of.pack(values), of.pack({**values, **others}), of) is None


@given(
    st.lists(st.sampled_from([1, 32, 64, 128]), min_size=8, max_size=8),
    st.integers(0, 6),
    st.integers(200, 300),
)
@example([64] * 8, 3, 256)
def test_a_single_changed_size_among_equal_ones_is_no_shift(sizes, index, value):
    of = schema("plain", *((f"size_{i}", "u32") for i in range(8)))
    before = {f"size_{i}": size for i, size in enumerate(sizes)}
    after = {**before, f"size_{index}": value, f"size_{index + 1}": value + 77}
    assert mistake(of.pack(before), of.pack(after), of, None) is None


@given(st.integers(0, len(DATA) - 40), st.integers(1, 8), st.binary(min_size=8, max_size=8))
def test_bytes_added_anywhere_are_seen_or_explained_by_none_wrongly(at, many, filler):
    wrong = DATA[:at] + filler[:many] + DATA[at:]
    compared = found(DATA, wrong[: len(DATA)])
    named = find_mistake(compared)
    if named is not None and named.kind == "shift":
        assert f"{many} byte" in named.text
        assert "late" in named.text


@settings(max_examples=100)
@given(any_values(GEMM), any_values(GEMM))
def test_a_mistake_in_one_direction_is_one_in_the_other(one, other):
    forth, back = (
        find_mistake(found(a, b))
        for a, b in ((GEMM.pack(one), GEMM.pack(other)), (GEMM.pack(other), GEMM.pack(one)))
    )
    assert (forth is None) == (back is None)
