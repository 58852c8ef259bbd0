"""Records as columns: the same values as unpacking one record after the other, whatever is unknown."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.records import decode_columns, group_by, summarise
from argpack.schema import Field, KernargSchema, Role

SCHEMA = KernargSchema(
    "mixed",
    (
        Field("out", "ptr", role=Role.POINTER, pad=3),
        Field("alpha", "f32"),
        Field("half", "f16", pad=1),
        Field("small", "i8"),
        Field("rows", "u32", role=Role.EXTENT),
        Field("wide", "i64"),
    ),
)
SIZE = 8 + 3 + 4 + 2 + 1 + 1 + 4 + 8


def packed(**changes):
    base = {"out": 0, "alpha": 1.0, "half": 0.5, "small": -1, "rows": 7, "wide": -2}
    return SCHEMA.pack({**base, **changes})


@given(st.lists(st.binary(min_size=SIZE, max_size=SIZE), max_size=5))
def test_columns_hold_what_unpacking_each_record_gives(records):
    columns = decode_columns(b"".join(records), SCHEMA)
    assert columns.rows == len(records)
    assert columns.known == {}
    expected = [SCHEMA.unpack(record) for record in records]
    for field in SCHEMA.fields:
        found = [field.scalar.encode(value) for value in columns.values[field.name].tolist()]
        wanted = [values[field.name] for values in expected]
        if not any(isinstance(value, float) and math.isnan(value) for value in wanted):
            assert found == [field.scalar.encode(value) for value in wanted]


def test_many_blocks_are_decoded_in_order():
    data = b"".join(packed(rows=row) for row in range(5000))
    assert decode_columns(data, SCHEMA).values["rows"].tolist() == list(range(5000))


def test_an_array_of_bytes_is_as_good_as_bytes():
    data = np.frombuffer(packed(rows=1) + packed(rows=2), np.uint8).reshape(2, SIZE)
    assert decode_columns(data, SCHEMA).values["rows"].tolist() == [1, 2]


def test_a_value_of_which_a_byte_is_unknown_is_unknown_and_zero():
    known = bytearray(b"\1" * (2 * SIZE))
    known[SCHEMA.offset("rows") + SIZE + 3] = 0
    columns = decode_columns(packed() + packed(), SCHEMA, known=bytes(known))
    assert columns.values["rows"].tolist() == [7, 0]
    assert {name: mask.tolist() for name, mask in columns.known.items()} == {"rows": [True, False]}


@pytest.mark.parametrize(
    ("data", "known", "message"),
    [
        (bytes(SIZE + 5), None, "mixed: expected records of 31 bytes, found 36 bytes, 5 too many"),
        (bytes(SIZE), bytes(3), "mixed: expected a mask of 31 bytes, found 3"),
    ],
)
def test_what_is_no_whole_number_of_records_is_refused(data, known, message):
    with pytest.raises(InputError) as refused:
        decode_columns(data, SCHEMA, known=known)
    assert str(refused.value) == message


def test_a_summary_counts_different_values():
    columns = decode_columns(packed(rows=3) + packed(rows=9) + packed(rows=3, alpha=-2.0), SCHEMA)
    found = {field.name: field[1:] for field in summarise(columns)}
    assert found["rows"] == (3, 2, 3, 9)
    assert found["alpha"] == (3, 2, -2.0, 1.0)
    assert found["wide"] == (3, 1, -2, -2)


def test_a_summary_leaves_out_what_is_unknown():
    known = bytearray(b"\1" * (2 * SIZE))
    start = SCHEMA.offset("rows")
    known[start : start + 4] = bytes(4)
    columns = decode_columns(packed(rows=3) + packed(rows=9), SCHEMA, known=bytes(known))
    assert {field.name: field[1:] for field in summarise(columns)}["rows"] == (1, 1, 9, 9)
    none = decode_columns(packed(), SCHEMA, known=bytes(SIZE))
    assert {field[1:] for field in summarise(none)} == {(0, 0, None, None)}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2), st.sampled_from([0.5, 1.0])), max_size=30))
def test_groups_are_every_combination_with_its_count(rows):
    data = b"".join(packed(rows=a, small=b, alpha=c) for a, b, c in rows)
    groups = group_by(decode_columns(data, SCHEMA), ["rows", "small", "alpha"])
    assert {group.values: group.records for group in groups} == {row: rows.count(row) for row in rows}
    assert [group.records for group in groups] == sorted((g.records for g in groups), reverse=True)


def test_groups_leave_out_records_with_an_unknown_value():
    known = bytearray(b"\1" * (2 * SIZE))
    known[SCHEMA.offset("rows")] = 0
    columns = decode_columns(packed(rows=3) + packed(rows=9), SCHEMA, known=bytes(known))
    assert group_by(columns, ["rows"]) == [((9,), 1)]
    assert group_by(columns, []) == []


def test_an_unknown_column_is_refused_by_name():
    with pytest.raises(
        InputError, match="no column is named 'M'; there are out, alpha, half, small, rows, wide"
    ):
        group_by(decode_columns(packed(), SCHEMA), ["M"])
