"""Packing takes a quick way where it may. It must give construct's bytes and the declared form's errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.schema import TYPES, Field, KernargSchema, Role
from argpack.schema.packer import Packer

PAIR = KernargSchema("pair", (Field("n", "u32", pad=4), Field("x", "f32")))
ODD_VALUES = [
    True, False, None, "1", b"1", 1.5, -1, 2**31, 2**32, 2**64, math.inf, -math.inf, math.nan, 1e39, 16777217,
    np.int32(7), np.float32(0.5), np.float64(0.1), np.bool_(True), [], 1 + 0j,
]  # fmt: skip


def value_of(kind):
    scalar = TYPES[kind]
    if scalar.kind == "float":
        return st.floats(width=8 * scalar.size, allow_nan=False)
    return st.integers(*scalar.bounds)


@st.composite
def schemas_and_values(draw):
    types = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=6))
    fields = tuple(
        Field(
            f"f{i}", kind, role=Role.POINTER if kind == "ptr" else Role.SCALAR, pad=draw(st.integers(0, 12))
        )
        for i, kind in enumerate(types)
    )
    return KernargSchema("drawn", fields), {field.name: draw(value_of(field.type)) for field in fields}


@given(schemas_and_values())
def test_the_quick_way_gives_the_bytes_of_construct(drawn):
    schema, values = drawn
    pads = {slot.name: bytes(slot.size) for slot in schema.slots if slot.field is None}
    built = schema.construct.build({**values, **pads})
    assert Packer(schema).pack(values) == built
    assert schema.pack(values) == built


@given(schemas_and_values(), st.randoms())
def test_the_order_of_the_values_does_not_matter(drawn, random):
    schema, values = drawn
    items = list(values.items())
    random.shuffle(items)
    assert schema.pack(dict(items)) == schema.pack(values)


def outcome(action):
    try:
        return action()
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("field", ["n", "x"])
@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
def test_odd_values_end_as_without_the_quick_way(field, value, monkeypatch):
    values = {"n": 1, "x": 1.0, field: value}
    quick = outcome(lambda: PAIR.pack(values))
    monkeypatch.setattr(Packer, "pack", lambda self, values: None)
    assert quick == outcome(lambda: PAIR.pack(values))


@pytest.mark.parametrize(
    "values",
    [{"n": 1}, {"n": 1, "x": 1.0, "y": 1}, {"n": 1, "y": 1.0}, {}],
    ids=["missing", "more", "other", "none"],
)
def test_wrong_names_are_left_to_the_declared_form(values):
    assert Packer(PAIR).pack(values) is None
    with pytest.raises(InputError):
        PAIR.pack(values)


def test_booleans_and_nans_are_left_to_the_declared_form():
    packer = Packer(PAIR)
    assert packer.pack({"n": True, "x": 1.0}) is None
    assert packer.pack({"n": 1, "x": math.nan}) is None
    assert packer.pack({"n": 1, "x": 1}) is None
    assert packer.pack({"n": 1, "x": 1.0}) == bytes.fromhex("01000000 00000000 0000803f")
