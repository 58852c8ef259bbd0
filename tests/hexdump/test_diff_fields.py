import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.families.family import Usage
from argpack.hexdump import Dump, Kind, diff
from argpack.hexdump.hints import hint
from argpack.hexdump.mistakes import find_mistake
from argpack.hexdump.report import report, summary
from argpack.hexdump.table import to_text
from argpack.schema import Field, KernargSchema, Role

SCHEMA = KernargSchema(
    "gemm",
    (
        Field("out", "ptr", "", Role.POINTER, pad=8),
        Field("bias", "ptr", "", Role.POINTER, pad=8),
        Field("alpha", "f32", "", Role.SCALAR, pad=12),
        Field("beta", "f32", "", Role.SCALAR, pad=12),
        Field("stride_out", "u32", "bf16 elements", Role.STRIDE, pad=12),
        Field("stride_unused", "u32", "bf16 elements", Role.STRIDE, pad=12),
        Field("stride_in", "u32", "fp4 elements", Role.STRIDE, pad=12),
        Field("rows", "u32", "rows", Role.EXTENT, pad=12),
        Field("columns", "u32", "columns", Role.EXTENT, pad=12),
        Field("depth", "u32", "fp4 elements", Role.EXTENT),
    ),
)
USAGE = {
    **{field.name: Usage.LIVE for field in SCHEMA.fields},
    "bias": Usage.DEAD,
    "beta": Usage.DEAD,
    "stride_unused": Usage.UNREAD,
}
BASE = {
    "out": 0x7F0000001000, "bias": 0, "alpha": 1.0, "beta": 0.0, "stride_out": 512, "stride_unused": 0,
    "stride_in": 4096, "rows": 256, "columns": 512, "depth": 4096,
}  # fmt: skip
TWO_LIVE = (
    "2 live differences: alpha 1.0 → 0.1, stride_in 4096 → 2048 fp4 elements; "
    "ignored: 1 dead, 1 pointer, 1 pad differences"
)
PAD_OUT = {"pad_out": b"garbage!"}


def dump(changes=None, *, pads=None, source="dump"):
    return Dump.whole(SCHEMA.pack({**BASE, **(changes or {})}, pads=pads), source)


def with_unknown(of, start, end):
    data, known = bytearray(of.data), bytearray(of.known)
    data[start:end] = bytes(end - start)
    known[start:end] = bytes(end - start)
    return Dump(bytes(data), bytes(known))


def kinds(found):
    return {difference.first.slot.name: difference.kind.value for difference in found.differences}


@pytest.mark.parametrize(
    ("changes", "pads", "expected", "same"),
    [
        ({}, None, {}, True),
        ({"stride_in": 2048}, None, {"stride_in": "live"}, False),
        ({"alpha": -1.0}, None, {"alpha": "live"}, False),
        ({"alpha": float("nan")}, None, {"alpha": "live"}, False),
        ({"beta": 2.0}, None, {"beta": "dead"}, True),
        ({"stride_unused": 99}, None, {"stride_unused": "unread"}, True),
        ({}, PAD_OUT, {"pad_out": "pad"}, True),
        ({"out": 0x7F0000002000}, None, {"out": "pointer"}, True),
        ({"out": 0}, None, {"out": "live"}, False),
        ({"bias": 0x7F0000002000}, None, {"bias": "dead"}, True),
        ({"out": 0x7F0000001010}, None, {"out": "pointer"}, True),
        ({"out": 0x7F0000001008}, None, {"out": "live"}, False),
        ({"rows": 1, "beta": 1.0, "stride_unused": 5, "out": 0x7F0000002000}, PAD_OUT, {
            "rows": "live", "beta": "dead", "stride_unused": "unread", "out": "pointer", "pad_out": "pad",
        }, False),
    ],
)  # fmt: skip
def test_only_live_differences_count(changes, pads, expected, same):
    found = diff(dump(), dump(changes, pads=pads), SCHEMA, USAGE)
    assert kinds(found) == expected
    assert found.same is same
    assert found.compared == SCHEMA.size == 148
    assert found.not_compared == ()


def test_alignment_is_noted_where_only_addresses_differ():
    found = diff(dump(), dump({"out": 0x7F0000001010}), SCHEMA, USAGE)
    assert found.differences[0].note == "aligned to 256 and 16 bytes"
    assert diff(dump(), dump({"out": 0x7F0000001100}), SCHEMA, USAGE).differences[0].note == ""


def test_without_usage_every_field_is_live_and_pads_still_are_not():
    found = diff(dump(), dump({"beta": 2.0}, pads=PAD_OUT), SCHEMA)
    assert kinds(found) == {"pad_out": "pad", "beta": "live"}


def test_only_what_both_know_is_compared():
    offset = SCHEMA.offset("rows")
    partly = with_unknown(dump({"rows": 7}), offset, offset + 4)
    found = diff(dump(), partly, SCHEMA, USAGE)
    assert found.same
    assert found.not_compared == ("rows",)
    assert found.compared == 148 - 4


def test_a_field_known_in_part_differs_in_the_part_that_is_known():
    offset = SCHEMA.offset("depth")
    partly = with_unknown(dump({"depth": 0x01002000}), offset + 3, offset + 4)
    found = diff(dump(), partly, SCHEMA, USAGE)
    assert kinds(found) == {"depth": "live"}
    assert found.not_compared == ("depth",)
    assert "depth 00 10 00 00 → 00 20 00 ??" in summary(found)


def test_a_pointer_known_in_part_is_compared_only_as_far_as_null_goes():
    high_unknown = with_unknown(dump({"out": 0x7F0000002000}), 4, 8)
    assert kinds(diff(dump(), high_unknown, SCHEMA, USAGE)) == {"out": "pointer"}
    assert kinds(diff(dump({"out": 0}), high_unknown, SCHEMA, USAGE)) == {"out": "live"}
    low_unknown = with_unknown(dump({"out": 0x2000}), 0, 2)
    found = diff(dump({"out": 0x10002000}), low_unknown, SCHEMA, USAGE)
    assert kinds(found) == {}
    assert found.not_compared == ("out",)


def test_a_short_dump_lacks_its_last_fields_by_name():
    short = Dump.whole(dump().data[:-2])
    found = diff(dump(), short, SCHEMA, USAGE)
    assert kinds(found) == {"depth": "live"}
    assert found.differences[0].note == "missing in one"
    assert "depth at 0x090 missing in the second" in summary(found)
    assert "depth at 0x090 missing in the first" in summary(diff(short, dump(), SCHEMA, USAGE))
    both = diff(short, short, SCHEMA, USAGE)
    assert both.same
    assert both.not_compared == ("depth",)


def test_a_short_dump_that_lacks_only_what_is_not_read_is_the_same():
    usage = {**USAGE, "depth": Usage.UNREAD}
    assert diff(dump(), Dump.whole(dump().data[:-4]), SCHEMA, usage).same


@st.composite
def any_dump(draw):
    data = draw(st.binary(min_size=100, max_size=148))
    known = bytes(draw(st.lists(st.integers(0, 1), min_size=len(data), max_size=len(data))))
    return Dump(bytes(b if k else 0 for b, k in zip(data, known, strict=True)), known)


@given(any_dump())
def test_a_dump_does_not_differ_from_itself(one):
    found = diff(one, one, SCHEMA, USAGE)
    assert found.differences == ()
    ends = [slot.end for slot in SCHEMA.slots if slot.end <= one.size]
    assert found.compared == one.known[: ends[-1]].count(1)


@given(any_dump(), any_dump())
def test_comparing_the_other_way_round_mirrors_every_difference(one, other):
    forth, back = diff(one, other, SCHEMA, USAGE), diff(other, one, SCHEMA, USAGE)
    mirrored = [(d.kind, d.second, d.first) for d in back.differences]
    assert [(d.kind, d.first, d.second) for d in forth.differences] == mirrored
    assert (forth.compared, forth.not_compared) == (back.compared, back.not_compared)
    for found in (forth, back):
        mistake = find_mistake(found)
        assert to_text(report(found, mistake)).startswith(summary(found, mistake))


@given(st.sampled_from(SCHEMA.fields), st.data())
def test_changing_one_field_gives_one_difference_of_its_kind(field, data):
    low, high = field.scalar.bounds if field.type != "f32" else (0, 0)
    values = st.floats(width=32) if field.type == "f32" else st.integers(low, high)
    value = data.draw(values)
    found = diff(dump(), dump({field.name: value}), SCHEMA, USAGE)
    same_bits = field.scalar.encode(value) == field.scalar.encode(BASE[field.name])
    assert [d.first.slot.name for d in found.differences] == ([] if same_bits else [field.name])
    if field.role is not Role.POINTER:
        assert found.same == (same_bits or USAGE[field.name] is not Usage.LIVE)


@pytest.mark.parametrize(
    ("changes", "pads", "line"),
    [
        ({}, None, "no live difference in 7 of 7 live fields"),
        ({}, PAD_OUT, "no live difference in 7 of 7 live fields; ignored: 1 pad difference"),
        ({"stride_in": 2048}, None, "1 live difference: stride_in 4096 → 2048 fp4 elements"),
        (
            {"alpha": 0.1, "stride_in": 2048, "beta": 1.0, "out": 0x2000},
            PAD_OUT,
            TWO_LIVE,
        ),
        (
            {"rows": 1, "columns": 2, "depth": 3, "out": 0, "alpha": 2.0},
            None,
            "5 live differences: out 0x7f0000001000 → null, alpha 1.0 → 2.0, rows 256 → 1 rows and 2 more",
        ),
    ],
)  # fmt: skip
def test_the_summary_is_one_line(changes, pads, line):
    assert summary(diff(dump(), dump(changes, pads=pads), SCHEMA, USAGE)) == line


def test_the_report_lists_live_differences_first_and_collapses_pads():
    found = diff(dump(), dump({"stride_in": 99, "beta": 1.0, "out": 0x2000}, pads=PAD_OUT), SCHEMA, USAGE)
    assert to_text(report(found)) == (
        "1 live difference: stride_in 4096 → 99 fp4 elements; ignored: 1 dead, 1 pointer, 1 pad differences\n"
        "compared 148 of 148 bytes\n"
        "\n"
        "         offset  field      first           second  unit          note\n"
        "live     0x060   stride_in  4096            99      fp4 elements\n"
        "dead     0x030   beta       0.0             1.0\n"
        "pointer  0x000   out        0x7f0000001000  0x2000\n"
    )  # fmt: skip


def test_colour_changes_nothing_but_the_escape_sequences():
    import re

    found = diff(dump(), dump({"stride_in": 2048, "beta": 1.0}), SCHEMA, USAGE)
    plain, coloured = (to_text(report(found), colour=colour) for colour in (False, True))
    assert coloured != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({"stride_in": 2048}, "stride_in", "2048 may count bytes, two fp4 elements each"),
        ({"stride_out": 1024}, "stride_out", "1024 may count bytes, two for each bf16 element"),
        ({"stride_in": 2048, "depth": 2048}, "stride_in", ""),
        ({"stride_in": 4000}, "stride_in", ""),
        (
            {"stride_out": 0, "stride_unused": 512},
            "stride_out",
            "the second has 512 in stride_unused, which has no effect",
        ),
        ({"stride_out": 77, "stride_unused": 77}, "stride_out", ""),
        ({"out": 0}, "out", ""),
        ({"beta": 4.0}, "beta", ""),
    ],
)
def test_hints_at_the_mistake_behind_a_difference(changes, field, expected):
    found = diff(dump(), dump(changes), SCHEMA, USAGE)
    difference = next(d for d in found.differences if d.first.slot.name == field)
    assert hint(difference, found) == expected


def test_a_hint_says_which_dump_has_the_value_where_it_is_not_read():
    found = diff(dump({"stride_out": 0, "stride_unused": 512}), dump(), SCHEMA, USAGE)
    assert hint(found.live[0], found) == "the first has 512 in stride_unused, which has no effect"


def test_kinds_are_words_that_json_and_text_share():
    assert [kind.value for kind in Kind] == ["live", "dead", "unread", "pad", "pointer"]
