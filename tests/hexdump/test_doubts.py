"""Values that can hardly be meant are pointed out; plausible ones never are."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.families.family import Usage
from argpack.hexdump import Dump, annotate, readings
from argpack.hexdump.doubts import doubts
from argpack.schema import Field, KernargSchema, Role

SCHEMA = KernargSchema(
    "gemm",
    (
        Field("out", "ptr", "", Role.POINTER),
        Field("alpha", "f32"),
        Field("beta", "f32"),
        Field("stride_in", "u32", "fp4 elements", Role.STRIDE),
        Field("stride_unused", "u32", "", Role.STRIDE),
        Field("rows", "i32", "rows", Role.EXTENT),
        Field("scale", "f64"),
        Field("half", "f16", pad=2),
        Field("wide", "u64"),
    ),
)
USAGE = {**{field.name: Usage.LIVE for field in SCHEMA.fields}, "stride_unused": Usage.UNREAD}
GOOD = {
    "out": 0x7FAB_6D20_0000, "alpha": 1.0, "beta": 0.0, "stride_in": 4096, "stride_unused": 0, "rows": 256,
    "scale": 0.5, "half": 1.0, "wide": 7,
}  # fmt: skip


def doubted(changes=None, implied=None, usage=USAGE):
    dump = Dump.whole(SCHEMA.pack({**GOOD, **(changes or {})}))
    return [doubt.text for doubt in doubts(readings(dump, SCHEMA, usage), implied)]


def bits(value):
    return struct.unpack("<f", struct.pack("<I", value))[0]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"alpha": bits(2)}, "alpha at 0x008 is 3e-45: the integer 2 read as a float?"),
        ({"alpha": bits(4096)}, "alpha at 0x008 is 5.74e-42: the integer 4096 read as a float?"),
        ({"alpha": float("nan")}, "alpha at 0x008 is nan (0x7fc00000): not a finite number"),
        ({"half": 2.0**-20}, "half at 0x024 is 9.5e-07: the integer 16 read as a float?"),
        ({"rows": 1065353216}, "rows at 0x018 is 1065353216: the float 1.0 read as an integer?"),
        ({"stride_in": 0xBF800000}, "stride_in at 0x010 is 3212836864: the float -1.0 read as an integer?"),
        ({"rows": -4}, "rows at 0x018 is -4: a size below zero"),
        ({"out": 0x7FAB_0000_7FAB_6D20}, "out at 0x000 is 0x7fab00007fab6d20: no address has more than 48 bits"),
        ({"out": 0x100}, "out at 0x000 is 0x100: too low for an address"),
        (
            {"out": 0x7FAB_6D20_0002},
            "out at 0x000 is 0x7fab6d200002: aligned to 2 of the 16 bytes that kernels load at once",
        ),
        ({"rows": 0x7FAB}, "rows at 0x018 is 32683: the upper half of out"),
        ({"stride_in": 0x6D20_0000}, "stride_in at 0x010 is 1830813696: the lower half of out"),
    ],
)  # fmt: skip
def test_a_doubtful_value_is_named_with_the_reason(changes, text):
    assert doubted(changes) == [text]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            2048,
            ["stride_in at 0x010 is 2048: half the 4096 fp4 elements that M, N and K imply: another unit?"],
        ),
        (
            8192,
            ["stride_in at 0x010 is 8192: twice the 4096 fp4 elements that M, N and K imply: another unit?"],
        ),
        (4096, []),
        (4160, []),
    ],
)
def test_a_stride_off_by_two_may_be_in_another_unit(value, text):
    assert doubted({"stride_in": value}, {"stride_in": 4096}) == text


def test_what_is_not_read_may_hold_anything():
    assert doubted({"stride_unused": 1065353216}) == []
    assert len(doubted({"stride_unused": 1065353216}, usage=None)) == 1


def test_unknown_values_are_not_doubted():
    unknown = Dump(bytes(SCHEMA.size), bytes(SCHEMA.size))
    assert doubts(readings(unknown, SCHEMA, USAGE)) == []


@given(
    st.integers(0, 1 << 24),
    st.integers(0, 1 << 24),
    st.floats(-1e6, 1e6, width=32).filter(lambda x: x == 0 or abs(x) > 1e-30),
)
def test_common_values_are_not_doubted(rows, stride, alpha):
    if {rows, stride} & {0x7FAB}:
        return
    assert doubted({"rows": rows, "stride_in": stride, "alpha": alpha}) == []


def test_doubts_follow_the_table_of_fields():
    dump = Dump.whole(SCHEMA.pack({**GOOD, "alpha": bits(2)}))
    assert annotate(dump, SCHEMA, USAGE).splitlines()[-1] == (
        "doubtful: alpha at 0x008 is 3e-45: the integer 2 read as a float?"
    )
