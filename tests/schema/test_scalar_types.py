import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.schema import TYPES


@pytest.mark.parametrize(
    ("type_name", "value", "data"),
    [
        ("ptr", 0x7FAB6D200000, "0000206dab7f0000"),
        ("ptr", None, "0000000000000000"),
        ("u8", 255, "ff"),
        ("u16", 0x1234, "3412"),
        ("u32", 2**32 - 1, "ffffffff"),
        ("u64", 2**64 - 1, "ffffffffffffffff"),
        ("i8", -128, "80"),
        ("i16", -2, "feff"),
        ("i32", -1, "ffffffff"),
        ("i64", -(2**63), "0000000000000080"),
        ("f16", 1.0, "003c"),
        ("f32", 0.5, "0000003f"),
        ("f32", -0.0, "00000080"),
        ("f32", float("inf"), "0000807f"),
        ("f32", 3, "00004040"),
        ("f64", 1.5, "000000000000f83f"),
        ("u32", np.int64(7), "07000000"),
        ("f32", np.float32(0.25), "0000803e"),
        ("f32", np.float64(0.25), "0000803e"),
    ],
)
def test_values_become_little_endian_bytes(type_name, value, data):
    assert TYPES[type_name].encode(value).hex() == data


@pytest.mark.parametrize(
    ("type_name", "value", "message"),
    [
        ("u32", 2**32 + 8, "expected 0 to 4294967295 (u32), found 4294967304"),
        ("u32", -1, "expected 0 to 4294967295 (u32), found -1"),
        ("i32", 2**31, "expected -2147483648 to 2147483647 (i32), found 2147483648"),
        ("ptr", 2**64, "expected 0 to 18446744073709551615 (ptr), found 18446744073709551616"),
        ("ptr", 1.0, "expected an address or None (ptr), found float 1.0"),
        ("ptr", True, "expected an address or None (ptr), found bool True"),
        ("u32", None, "expected an integer (u32), found None"),
        ("u32", True, "expected an integer (u32), found bool True"),
        ("u32", "8", "expected an integer (u32), found str '8'"),
        ("u32", 8.0, "expected an integer (u32), found float 8.0"),
        ("u32", np.array([8, 9]), "expected an integer (u32), found ndarray array([8, 9])"),
        ("f32", 1e39, "expected a number within the range of f32, found float 1e+39"),
        ("f32", 10**400, "expected a number within the range of f32, found int 1" + "0" * 36 + "..."),
        ("f16", 65520.0, "expected a number within the range of f16, found float 65520.0"),
        ("f32", 2**24 + 1, "expected an integer that f32 holds exactly, found 16777217"),
        ("f32", None, "expected a number (f32), found None"),
        ("f32", False, "expected a number (f32), found bool False"),
        ("f32", "1.0", "expected a number (f32), found str '1.0'"),
        ("f32", 1j, "expected a number (f32), found complex 1j"),
    ],
)
def test_values_that_do_not_fit_are_refused(type_name, value, message):
    with pytest.raises(InputError) as error:
        TYPES[type_name].encode(value)
    assert str(error.value) == message


@pytest.mark.parametrize(("type_name", "size"), [("f32", 3), ("u64", 9), ("ptr", 0)])
def test_wrong_number_of_bytes_is_refused(type_name, size):
    with pytest.raises(InputError, match=f"{type_name}: expected [48] bytes, found {size}"):
        TYPES[type_name].decode(bytes(size))


@given(st.sampled_from(sorted(TYPES)), st.data())
def test_every_bit_pattern_survives(type_name, data):
    scalar = TYPES[type_name]
    content = data.draw(st.binary(min_size=scalar.size, max_size=scalar.size))
    assert scalar.encode(scalar.decode(content)) == content


@pytest.mark.parametrize(
    ("type_name", "bits"),
    [
        ("f16", 0x7C01), ("f16", 0xFE00), ("f32", 0x7F800001), ("f32", 0xFF800001), ("f32", 0x7FC00000),
        ("f32", 0x7FFFFFFF), ("f64", 0x7FF0000000000001), ("f64", 0xFFF8000000000123),
    ],
)  # fmt: skip
def test_nan_keeps_sign_payload_and_signalling_bit(type_name, bits):
    scalar = TYPES[type_name]
    content = bits.to_bytes(scalar.size, "little")
    value = scalar.decode(content)
    assert math.isnan(value)
    assert scalar.encode(value) == content


def test_nan_payload_too_fine_for_the_type_does_not_become_infinity():
    fine = struct.unpack("<d", (0x7FF0000000000001).to_bytes(8, "little"))[0]
    assert TYPES["f32"].encode(fine).hex() == "0000c07f"


@given(st.floats(width=32, allow_nan=False))
def test_f32_agrees_with_numpy(value):
    assert TYPES["f32"].encode(value) == np.float32(value).tobytes()
