"""The verdict can fail: every mutation here was a way for a wrong output to pass somewhere."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.numerics import (
    Reference,
    Verdict,
    bf16_ulp,
    compare,
    mxfp4_gemm_reference,
    pack_fp4,
    sgemm_reference,
)


def gemm(m: int = 37, n: int = 50, k: int = 256, seed: int = 0) -> tuple[Reference, np.ndarray]:
    """A reference and the right output: bfloat16 bits of float32 sums."""
    rng = np.random.default_rng(seed)
    operands = []
    for rows in (m, n):
        operands.append(rng.integers(0, 256, (rows, k // 2), dtype=np.uint8))
        operands.append(rng.integers(122, 132, (rows, k // 32), dtype=np.uint8))
    reference = mxfp4_gemm_reference(*operands)
    return reference, to_bits(reference.values.astype(np.float32))


def to_bits(values: np.ndarray) -> np.ndarray:
    return values.astype(ml_dtypes.bfloat16).view(np.uint16)


def fixed(values: list[list[float]], tolerance: float = 0.0) -> Reference:
    array = np.array(values, float)
    return Reference(array, np.full(array.shape, tolerance))


def bf16(actual: np.ndarray, reference: Reference) -> Verdict:
    return compare(actual, reference, dtype="bfloat16")


def test_the_right_output_passes_with_its_numbers() -> None:
    reference, actual = gemm()
    verdict = bf16(actual, reference)
    assert (verdict.passed, verdict.elements, verdict.wrong, verdict.non_finite) == (True, 1850, 0, 0)
    assert verdict.bit_equal >= 1849  # float32 between float64 and bfloat16 may round twice
    assert verdict.max_ulp <= 1
    assert 1e-4 < verdict.norm_error < 2.0**-8
    assert (verdict.first_bad, verdict.expected, verdict.found) == (None, None, None)
    assert (verdict.reason, verdict.hint) == ("", "")


def test_numbers_that_can_be_counted_by_hand() -> None:
    reference = fixed([[1.0, 2.0], [4.0, 8.0]], tolerance=0.5)
    verdict = bf16(to_bits(np.array([[1.0, 2.25], [4.0, 9.0]], np.float32)), reference)
    assert (verdict.elements, verdict.bit_equal, verdict.wrong, verdict.first_bad) == (4, 2, 1, (1, 1))
    assert verdict.max_ulp == 16
    assert verdict.norm_error == pytest.approx((0.25**2 + 1) ** 0.5 / 85**0.5)
    assert (verdict.expected, verdict.found) == (8.0, 9.0)
    assert (
        verdict.reason == "1 of 4 outputs are beyond tolerance, first at row 1, column 1: expected 8, found 9"
    )


@settings(deadline=None)
@given(st.integers(0, 36), st.integers(0, 49), st.sampled_from([-1, 1]))
def test_one_element_beyond_tolerance_fails_there(row: int, column: int, sign: int) -> None:
    reference, actual = gemm()
    off = reference.tolerance[row, column] + 2 * bf16_ulp(
        np.abs(reference.values[row, column]) + reference.tolerance[row, column]
    )
    actual[row, column] = to_bits(np.float32(reference.values[row, column] + sign * off))
    verdict = bf16(actual, reference)
    assert (verdict.passed, verdict.wrong, verdict.first_bad) == (False, 1, (row, column))
    assert verdict.max_ulp >= 2


def test_two_swapped_rows_fail() -> None:
    reference, actual = gemm()
    actual[[3, 19]] = actual[[19, 3]]
    verdict = bf16(actual, reference)
    assert not verdict.passed
    assert verdict.first_bad is not None
    assert verdict.first_bad[0] == 3
    assert verdict.wrong > 80


def test_zeros_fail_and_are_called_so() -> None:
    reference, actual = gemm()
    verdict = bf16(np.zeros_like(actual), reference)
    assert not verdict.passed
    assert verdict.hint == "all outputs are zero"
    assert verdict.norm_error == 1.0


def test_one_unwritten_row_fails() -> None:
    reference, actual = gemm()
    actual[-1] = 0
    verdict = bf16(actual, reference)
    assert verdict.first_bad is not None
    assert verdict.first_bad[0] == 36
    assert verdict.hint == ""


@pytest.mark.parametrize(
    ("factor", "hint"),
    [
        (2.0, "outputs are 2× the reference everywhere: alpha, a scale read one step off, or float8 fnuz"),
        (0.5, "outputs are 0.5× the reference everywhere: alpha, a scale read one step off, or float8 fnuz"),
        (3.0, "outputs are 3× the reference everywhere: alpha?"),
        (-1.0, "outputs are -1× the reference everywhere: alpha?"),
    ],
)
def test_a_uniform_factor_is_named(factor: float, hint: str) -> None:
    reference, actual = gemm()
    scaled = to_bits(actual.view(ml_dtypes.bfloat16).astype(np.float32) * np.float32(factor))
    verdict = bf16(scaled, reference)
    assert not verdict.passed
    assert verdict.hint.startswith(hint)


def test_unrelated_outputs_get_no_hint() -> None:
    reference, _ = gemm()
    _, other = gemm(seed=1)
    verdict = bf16(other, reference)
    assert (verdict.passed, verdict.hint) == (False, "")


def test_cancelling_sums_pass() -> None:
    # 4096 products of both signs, sum near 0: an error far above |reference| is right if sum |a·b| allows it.
    rng = np.random.default_rng(1)
    codes = rng.integers(1, 8, (1, 2048), dtype=np.uint8)
    a = pack_fp4(np.concatenate([codes, codes], axis=1))
    b = pack_fp4(np.concatenate([codes, codes | 8], axis=1))
    scales = rng.integers(120, 134, (1, 64), dtype=np.uint8)
    scales = np.concatenate([scales, scales], axis=1)
    reference = mxfp4_gemm_reference(a, scales, b, scales)
    assert reference.values.tolist() == [[0.0]]
    sum_in_float32 = np.float32(0.25)
    assert bf16(to_bits(np.array([[sum_in_float32]])), reference).passed
    assert not bf16(to_bits(np.array([[1e9]], np.float32)), reference).passed


@pytest.mark.parametrize("bits", [0x7FC0, 0xFFC0, 0x7F81, 0xFFFF, 0x7F80, 0xFF80])
def test_nan_and_infinity_never_pass(bits: int) -> None:
    reference, actual = gemm()
    actual[2, 7] = bits
    verdict = bf16(actual, reference)
    assert (verdict.passed, verdict.wrong, verdict.non_finite, verdict.first_bad) == (False, 1, 1, (2, 7))
    assert verdict.reason.startswith(
        "1 of 1850 outputs are NaN or infinite, first at row 2, column 7: expected "
    )
    assert np.isfinite(verdict.norm_error)
    assert verdict.max_ulp <= 1


def test_all_nan_fails() -> None:
    reference, actual = gemm()
    verdict = bf16(np.full_like(actual, 0x7FC0), reference)
    assert (verdict.passed, verdict.wrong, verdict.non_finite) == (False, 1850, 1850)


def test_nan_and_plain_errors_are_told_apart() -> None:
    reference, actual = gemm()
    actual[1, 1] = 0x7FC0
    actual[0, 5] = to_bits(np.float32(reference.values[0, 5] * 3))
    verdict = bf16(actual, reference)
    assert (verdict.wrong, verdict.non_finite, verdict.first_bad) == (2, 1, (0, 5))
    assert verdict.reason.startswith(
        "2 of 1850 outputs are wrong, 1 of them NaN or infinite, first at row 0, column 5"
    )


def test_expected_nan_must_be_nan() -> None:
    reference = fixed([[np.nan, 1.0], [np.nan, 2.0]])
    right = np.array([[0x7FC0, 0x3F80], [0xFFFF, 0x4000]], np.uint16)
    verdict = bf16(right, reference)
    assert (verdict.passed, verdict.non_finite) == (True, 0)
    right[1, 0] = 0x3F80
    verdict = bf16(right, reference)
    assert (verdict.passed, verdict.wrong, verdict.non_finite, verdict.first_bad) == (False, 1, 0, (1, 0))
    assert "expected nan, found 1" in verdict.reason
    right[1, 0] = 0x7F80
    assert bf16(right, reference).wrong == 1


def test_all_expected_nan_passes_but_says_that_it_shows_nothing() -> None:
    verdict = bf16(np.full((2, 2), 0x7FC0, np.uint16), fixed([[np.nan] * 2] * 2))
    assert verdict.passed
    assert verdict.hint == "every expected value is NaN: this comparison shows nothing else"
    assert not bf16(np.zeros((2, 2), np.uint16), fixed([[np.nan] * 2] * 2)).passed


def test_overflow_to_infinity_is_expected_where_the_reference_overflows() -> None:
    reference = fixed([[1e39, -1e39, 3.39e38]], tolerance=1e35)
    infinity, minus_infinity, largest = 0x7F80, 0xFF80, 0x7F7F
    assert bf16(np.array([[infinity, minus_infinity, largest]], np.uint16), reference).passed
    assert bf16(np.array([[infinity, infinity, largest]], np.uint16), reference).first_bad == (0, 1)
    assert bf16(np.array([[infinity, minus_infinity, minus_infinity]], np.uint16), reference).first_bad == (
        0,
        2,
    )
    assert not bf16(np.array([[0x7FC0, minus_infinity, largest]], np.uint16), reference).passed
    near_the_top = fixed([[3.395e38]], tolerance=2e35)
    assert bf16(np.array([[infinity]], np.uint16), near_the_top).passed


def test_negative_zero_is_zero() -> None:
    verdict = bf16(np.array([[0x8000, 0x3F80]], np.uint16), fixed([[0.0, 1.0]]))
    assert (verdict.passed, verdict.bit_equal, verdict.max_ulp) == (True, 1, 0)


def test_truncation_is_named_when_it_matches_exactly() -> None:
    reference, _ = gemm()
    rounded_down = (reference.values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    verdict = bf16(rounded_down, reference)
    assert not verdict.passed
    assert (
        verdict.hint
        == "every output equals the reference rounded toward zero (truncation), not to nearest even"
    )


def test_ties_away_from_zero_pass_and_are_named() -> None:
    # 1.00390625 is a tie: 0x3F80 to even, 0x3F81 away from zero. 1.01171875 is a tie where both give 0x3F82.
    reference = fixed([[1.00390625, 1.01171875]], tolerance=2.0**-8)
    verdict = bf16(np.array([[0x3F81, 0x3F82]], np.uint16), reference)
    assert (verdict.passed, verdict.bit_equal) == (True, 1)
    assert verdict.hint == (
        "every output equals the reference rounded nearest, ties away from zero, not to nearest even"
    )
    truncated = bf16(np.array([[0x3F80, 0x3F81]], np.uint16), reference)
    assert truncated.hint.startswith("every output equals the reference rounded toward zero")


def test_a_tolerance_that_lets_zeros_pass_is_pointed_out() -> None:
    verdict = bf16(to_bits(np.array([[0.5, 0.25]], np.float32)), fixed([[0.5, 0.25]], tolerance=1.0))
    assert verdict.passed
    assert verdict.hint == "the tolerance exceeds every reference value: an output of zeros would pass too"


def test_a_reference_of_zeros_has_a_norm_error_all_the_same() -> None:
    reference = fixed([[0.0, 0.0]], tolerance=0.5)
    assert bf16(np.zeros((1, 2), np.uint16), reference).norm_error == 0.0
    assert bf16(to_bits(np.array([[0.25, 0.0]], np.float32)), reference).norm_error == float("inf")


def test_float32_outputs() -> None:
    rng = np.random.default_rng(8)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((40, 64), (30, 64), (40, 30)))
    reference = sgemm_reference(a, b, c, alpha=2.0, beta=0.5)
    actual = np.float32(2) * (a @ b.T) + np.float32(0.5) * c
    verdict = compare(actual, reference, dtype="float32")
    assert verdict.passed
    assert 0 < verdict.bit_equal < 1200
    actual[39, 29] += np.float32(0.01)
    verdict = compare(actual, reference, dtype="float32")
    assert (verdict.wrong, verdict.first_bad) == (1, (39, 29))
    actual[39, 29] = np.nan
    assert compare(actual, reference, dtype="float32").non_finite == 1


def test_a_window_of_a_larger_buffer_is_compared_in_place() -> None:
    reference, actual = gemm()
    padded = np.full((64, 64), 0x7FC0, np.uint16)
    padded[:37, :50] = actual
    assert bf16(padded[:37, :50], reference).passed
    as_float = np.full((8, 8), np.nan, np.float32)
    as_float[:2, :3] = 1
    assert compare(as_float[:2, :3], fixed([[1.0] * 3] * 2), dtype="float32").passed


def test_more_rows_than_one_block_report_the_right_row() -> None:
    values = np.arange(1, 3001, dtype=float)[:, None] * np.ones((1, 64))
    reference = Reference(values, np.full(values.shape, 8.0))
    actual = to_bits(values.astype(np.float32))
    actual[2900, 63] = 0
    verdict = bf16(actual, reference)
    assert (verdict.first_bad, verdict.expected) == ((2900, 63), 2901.0)


@pytest.mark.parametrize(
    ("actual", "dtype", "message"),
    [
        (np.zeros((3, 2), np.uint16), "bfloat16", r"output: expected shape \(2, 3\), found \(3, 2\)"),
        (np.zeros(6, np.uint16), "bfloat16", r"expected shape \(2, 3\), found \(6,\)"),
        (
            np.zeros((2, 3), np.float32),
            "bfloat16",
            "bfloat16 output: expected an array of uint16, found float32",
        ),
        (
            np.zeros((2, 3), np.uint16),
            "float32",
            "float32 output: expected an array of float32, found uint16",
        ),
        ([[0]], "float32", "expected an array of float32, found list"),
        (np.zeros((2, 3), np.uint16), "float16", "dtype: expected 'bfloat16' or 'float32', found 'float16'"),
    ],
)
def test_outputs_that_do_not_fit_are_refused(actual: object, dtype: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(actual, fixed([[0.0] * 3] * 2), dtype=dtype)


def test_an_output_without_elements_is_refused() -> None:
    with pytest.raises(InputError, match=r"an output of shape \(0, 4\) has no elements to check"):
        bf16(np.zeros((0, 4), np.uint16), Reference(np.zeros((0, 4)), np.zeros((0, 4))))
