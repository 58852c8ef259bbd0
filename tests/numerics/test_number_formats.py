"""FP4, E8M0 and bfloat16 against ml_dtypes, exhaustively where the format is small enough."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.numerics import (
    Rounding,
    bf16_to_float32,
    bf16_ulp,
    decode_e8m0,
    decode_e8m0_float64,
    decode_fp4,
    encode_e8m0,
    encode_fp4,
    float32_to_bf16,
    float64_to_bf16,
    pack_fp4,
    ulp_distance,
    unpack_fp4,
)

ALL_BITS = np.arange(65536, dtype=np.uint16)
ALL_SCALES = np.arange(256, dtype=np.uint8)


def bf16(*values: float) -> list[int]:
    return np.array(values, ml_dtypes.bfloat16).view(np.uint16).tolist()


def bf16_values(bits: np.ndarray) -> np.ndarray:
    return bits.view(ml_dtypes.bfloat16).astype(np.float32)


# FP4


def test_fp4_codes_decode_like_ml_dtypes_down_to_the_sign_of_zero() -> None:
    codes = np.arange(16, dtype=np.uint8)
    expected = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    assert np.array_equal(decode_fp4(codes).view(np.uint32), expected.view(np.uint32))


def test_fp4_values_times_every_scale_equal_ml_dtypes() -> None:
    codes, scales = np.meshgrid(np.arange(16, dtype=np.uint8), ALL_SCALES, indexing="ij")
    expected = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    expected = expected * scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    assert np.array_equal(decode_fp4(codes) * decode_e8m0_float64(scales), expected, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_encoding_fp4_rounds_to_nearest_even_and_saturates(dtype: type) -> None:
    halfway = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]
    values = np.array([*np.arange(0, 9, 0.125), *halfway, 6.5, 1e4], dtype)
    values = np.concatenate([values, -values])
    expected = values.astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    assert encode_fp4(values).tolist() == expected.tolist()
    assert encode_fp4(np.array([np.inf, -np.inf], dtype)).tolist() == [7, 15]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_one_step_off_halfway_goes_to_the_nearer_fp4_code(dtype: type) -> None:
    # Not against ml_dtypes: it rounds float64 to float32 first.
    halfway = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], dtype)
    assert encode_fp4(np.nextafter(halfway, dtype(0))).tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert encode_fp4(np.nextafter(halfway, dtype(9))).tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0.25, 0),
        (0.75, 2),
        (1.25, 2),
        (1.75, 4),
        (2.5, 4),
        (3.5, 6),
        (5.0, 6),
        (5.01, 7),
        (-0.0, 8),
        (-9.0, 15),
    ],
)
def test_fp4_ties_and_ends(value: float, code: int) -> None:
    assert encode_fp4(np.array([value])).tolist() == [code]


def test_encoding_nan_as_fp4_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"cannot encode NaN, first at \[0, 1\]"):
        encode_fp4(np.array([[1.0, np.nan]]))


def test_packing_puts_the_even_element_in_the_low_nibble() -> None:
    # Byte 0x2A is (-1.0, 1.0) in MX order; read high nibble first it would be (1.0, -1.0).
    assert decode_fp4(unpack_fp4(np.array([0x2A], np.uint8))).tolist() == [-1.0, 1.0]
    assert pack_fp4(np.array([10, 2], np.uint8)).tolist() == [0x2A]


@given(st.lists(st.lists(st.integers(0, 15), min_size=6, max_size=6), max_size=5))
def test_unpacking_undoes_packing(codes: list[list[int]]) -> None:
    array = np.array(codes, np.uint8).reshape(len(codes), 6)
    assert np.array_equal(unpack_fp4(pack_fp4(array)), array)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pack_fp4(np.zeros(3, np.uint8)), "expected an even number of codes"),
        (lambda: pack_fp4(np.array([16, 0], np.uint8)), r"expected codes 0\.\.15, found 16 \(packed bytes\?"),
        (lambda: decode_fp4(np.zeros(2, np.int64)), "expected a uint8 array of codes, found int64"),
        (lambda: decode_fp4([1]), "expected a uint8 array of codes, found list"),
        (lambda: unpack_fp4(np.zeros(2, np.int8)), "expected a uint8 array of packed codes, found int8"),
        (
            lambda: encode_fp4(np.zeros(2, np.int32)),
            "expected a float16, float32 or float64 array, found int32",
        ),
        (lambda: decode_e8m0(np.zeros(2)), "e8m0: expected a uint8 array of scales, found float64"),
        (lambda: decode_e8m0_float64(7), "e8m0: expected a uint8 array of scales, found int"),
        (lambda: encode_e8m0(np.array([[1.0, 3.0]])), r"expected powers of two .* found 3.0 at \[0, 1\]"),
        (lambda: encode_e8m0(np.array([2.0**-128])), "expected powers of two"),
        (lambda: encode_e8m0(np.array([2.0**128])), "expected powers of two"),
        (lambda: encode_e8m0(np.array([0.0])), "expected powers of two"),
        (lambda: encode_e8m0(np.array([-1.0])), "expected powers of two"),
        (lambda: encode_e8m0(np.array([np.inf])), "expected powers of two"),
        (lambda: float32_to_bf16(np.zeros(2)), "expected a float32 array, found float64"),
        (lambda: float64_to_bf16(np.zeros(2, np.float32)), "expected a float64 array, found float32"),
        (lambda: bf16_to_float32(np.zeros(2, np.int16)), "expected a uint16 array of bits, found int16"),
        (lambda: ulp_distance(ALL_BITS[:2], np.array([0x7FC0, 0], np.uint16)), "NaN has no distance"),
    ],
)
def test_wrong_arrays_are_refused(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# E8M0


def test_every_scale_byte_decodes_like_ml_dtypes() -> None:
    expected = ALL_SCALES.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    assert np.array_equal(decode_e8m0_float64(ALL_SCALES), expected, equal_nan=True)
    assert np.array_equal(decode_e8m0(ALL_SCALES).astype(np.float64), expected, equal_nan=True)


def test_scale_0_is_a_subnormal_and_is_not_flushed() -> None:
    assert decode_e8m0(np.array([0], np.uint8)).view(np.uint32).tolist() == [0x0040_0000]


def test_scale_134_is_128_and_only_255_is_nan() -> None:
    assert decode_e8m0(np.array([134], np.uint8)).tolist() == [128.0]
    assert np.flatnonzero(np.isnan(decode_e8m0(ALL_SCALES))).tolist() == [255]


def test_encoding_a_scale_undoes_decoding() -> None:
    assert np.array_equal(encode_e8m0(decode_e8m0(ALL_SCALES)), ALL_SCALES)
    assert np.array_equal(encode_e8m0(decode_e8m0_float64(ALL_SCALES)), ALL_SCALES)


# bfloat16


def test_all_65536_bit_patterns_decode_like_ml_dtypes() -> None:
    assert np.array_equal(bf16_to_float32(ALL_BITS).view(np.uint32), bf16_values(ALL_BITS).view(np.uint32))


def test_rounding_a_bf16_value_changes_nothing() -> None:
    values = bf16_to_float32(ALL_BITS)
    numbers = ~np.isnan(values)
    for rounding in Rounding:
        assert np.array_equal(float32_to_bf16(values[numbers], rounding=rounding), ALL_BITS[numbers])
        wide = values[numbers].astype(np.float64)
        assert np.array_equal(float64_to_bf16(wide, rounding=rounding), ALL_BITS[numbers])


def test_nan_of_either_sign_stays_nan() -> None:
    nans = np.array([0x7F80_0001, 0xFF80_0001, 0x7FFF_FFFF, 0xFFFF_FFFF], np.uint32).view(np.float32)
    for rounding in Rounding:
        assert float32_to_bf16(nans, rounding=rounding).tolist() == [0x7FC0, 0xFFC0, 0x7FC0, 0xFFC0]
        assert float64_to_bf16(np.array([np.nan]), rounding=rounding).tolist() == [0x7FC0]


def test_float32_rounding_equals_ml_dtypes_on_halfway_and_just_off_halfway() -> None:
    bits = np.arange(0x7F80, dtype=np.uint32)[:, None] << np.uint32(16)
    low = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    values = (bits | low).view(np.float32).reshape(-1)
    values = np.concatenate([values, -values])
    expected = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    assert np.array_equal(float32_to_bf16(values), expected)
    assert np.array_equal(float64_to_bf16(values.astype(np.float64)), expected)


def test_random_float32_rounding_equals_ml_dtypes() -> None:
    values = np.random.default_rng(5).integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    values = values[~np.isnan(values)]
    expected = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    assert np.array_equal(float32_to_bf16(values), expected)


def test_float64_is_rounded_once_not_through_float32() -> None:
    # 1 + 2^-8 + 2^-40 lies above the middle of 1 and 1 + 2^-7; as float32 it is the middle and goes down.
    value = np.array([1 + 2.0**-8 + 2.0**-40])
    assert float64_to_bf16(value).tolist() == [0x3F81]
    assert float32_to_bf16(value.astype(np.float32)).tolist() == [0x3F80]


def nearest_even_by_fractions(value: float) -> int:
    """Independent of all binary tricks: the nearest of all finite values, by exact fractions."""
    sign = 0x8000 if np.signbit(value) else 0
    magnitude = Fraction(abs(value))
    positive = bf16_values(ALL_BITS[:0x7F80])
    above = int(np.searchsorted(positive.astype(np.float64), abs(value), side="right"))
    low, high = above - 1, above
    distance_low = magnitude - Fraction(float(positive[low]))
    high_value = Fraction(float(positive[high])) if high < 0x7F80 else Fraction(2) ** 128
    distance_high = high_value - magnitude
    if distance_low == distance_high:
        return sign | (low if low % 2 == 0 else high)
    return sign | (low if distance_low < distance_high else high)


@settings(deadline=None)
@given(st.floats(min_value=-3e38, max_value=3e38, allow_subnormal=True), st.integers(-3, 3))
def test_float64_rounding_is_to_the_nearest(value: float, steps: int) -> None:
    middle = float(np.ldexp(np.round(np.frexp(value)[0] * 512) / 512, np.frexp(value)[1]))
    for candidate in (value, middle, float(middle + steps * np.spacing(middle))):
        assert float64_to_bf16(np.array([candidate])).tolist() == [nearest_even_by_fractions(candidate)]


@pytest.mark.parametrize(
    ("value", "nearest_even", "away", "toward_zero"),
    [
        (1.00390625, 0x3F80, 0x3F81, 0x3F80),
        (1.01171875, 0x3F82, 0x3F82, 0x3F81),
        (-1.00390625, 0xBF80, 0xBF81, 0xBF80),
        (1e39, 0x7F80, 0x7F80, 0x7F7F),
        (2.0**128 - 2.0**119, 0x7F80, 0x7F80, 0x7F7F),
        (2.0**-134, 0x0000, 0x0001, 0x0000),
        (1e-300, 0x0000, 0x0000, 0x0000),
        (-np.inf, 0xFF80, 0xFF80, 0xFF80),
    ],
)
def test_rounding_modes(value: float, nearest_even: int, away: int, toward_zero: int) -> None:
    found = [float64_to_bf16(np.array([value]), rounding=r)[0] for r in Rounding]
    assert found == [nearest_even, away, toward_zero]


def test_ulp_distance_counts_numbers_between() -> None:
    a = np.array([*bf16(1.0, 0.0, 1.0, -1.0), 0x0001, 0x7F7F], np.uint16)
    b = np.array([*bf16(1.0078125, -0.0, 2.0, 1.0), 0x8001, 0x7F80], np.uint16)
    assert ulp_distance(a, b).tolist() == [1, 0, 128, 2 * 0x3F80, 2, 1]
    assert ulp_distance(b, a).tolist() == [1, 0, 128, 2 * 0x3F80, 2, 1]


def test_ulp_size_is_the_gap_to_the_next_number() -> None:
    values = bf16_values(ALL_BITS[:0x7F7F]).astype(np.float64)
    gaps = bf16_values(ALL_BITS[1:0x7F80]).astype(np.float64) - values
    assert np.array_equal(bf16_ulp(values), gaps)
    assert np.array_equal(bf16_ulp(-values.astype(np.float32)), gaps)
