"""The comparison in float32 decides about every output as the one in float64 does, and says where it cannot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.numerics import (
    Mxfp4,
    OutputPart,
    bf16_to_float32,
    compare,
    float32_to_bf16,
    float64_to_bf16,
    mxfp4_gemm_reference,
    tally_mxfp4_gemm,
    verdict_of,
)
from argpack.numerics.bfloat16 import Rounding
from argpack.numerics.reference import mxfp4_elements
from argpack.numerics.screen import screen


def operand(rows: int, k: int, seed: int, low: int = 120, high: int = 135) -> Mxfp4:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (rows, k // 2), np.uint8)
    return Mxfp4(codes, rng.integers(low, high, (rows, k // 32), np.uint8))


def reference(a, b, *, alpha=1.0, k_slices=None):
    return mxfp4_gemm_reference(a.codes, a.scales, b.codes, b.scales, alpha=alpha, k_slices=k_slices)


def both(bits, a, b, *, alpha=1.0, k_slices=None):
    """What float32 and what float64 say."""
    slices = [(0, 2 * a.codes.shape[1])] if k_slices is None else k_slices
    tally = screen(bits, a, b, alpha=alpha, k_slices=slices)
    assert tally is not None
    exact = compare(bits, reference(a, b, alpha=alpha, k_slices=k_slices), dtype="bfloat16")
    return verdict_of(tally), exact


def decided(verdict):
    return verdict.passed, verdict.wrong, verdict.non_finite, verdict.first_bad, verdict.found


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.sampled_from([32, 96, 512, 1664]),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([1.0, -0.3, 1000.0]),
    st.floats(0, 3),
)
def test_outputs_around_their_tolerance_are_decided_as_in_float64(seed, k, m, n, alpha, scale):
    """Each output is up to 3 tolerances away from the exact value: a third of them or all are right."""
    a, b = operand(m, k, seed), operand(n, k, seed + 1)
    exact = reference(a, b, alpha=alpha)
    off = np.random.default_rng(seed).uniform(-scale, scale, (m, n)) * exact.tolerance
    found, expected = both(float64_to_bf16(exact.values + off), a, b, alpha=alpha)
    assert decided(found) == decided(expected)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(2, 7), st.floats(0, 3))
def test_slices_of_k_are_decided_as_in_float64(seed, count, scale):
    a, b = operand(9, 256 * count, seed), operand(33, 256 * count, seed + 1)
    slices = [(256 * i, 256 * (i + 1)) for i in range(count)]
    exact = reference(a, b, k_slices=slices)
    off = np.random.default_rng(seed).uniform(-scale, scale, (9, 33)) * exact.tolerance
    found, expected = both(float64_to_bf16(exact.values + off), a, b, k_slices=slices)
    assert decided(found) == decided(expected)


def right(m=300, n=200, k=1024, seed=0):
    a, b = operand(m, k, seed), operand(n, k, seed + 1)
    return float64_to_bf16(reference(a, b).values), a, b


def test_numbers_are_those_of_float64_but_for_neighbours():
    bits, a, b = right()
    found, expected = both(bits, a, b)
    assert (found.elements, found.passed, found.reason, found.hint) == (60000, True, "", "")
    assert expected.bit_equal == 60000
    assert found.bit_equal >= 59990
    assert found.norm_error == pytest.approx(expected.norm_error, rel=1e-4)


@pytest.mark.parametrize("value", [0x7FC0, 0x7F81, 0xFF80, 0x0000, 0x4B00])
def test_one_wrong_output_is_found_where_it_is(value):
    bits, a, b = right()
    bits[170, 41] = value
    found, expected = both(bits, a, b)
    assert decided(found)[:4] == decided(expected)[:4] == (False, 1, value >= 0x7F80, (170, 41))
    assert found.expected == pytest.approx(expected.expected, rel=1e-12)
    assert found.max_ulp == pytest.approx(expected.max_ulp, abs=1)


def test_an_output_one_step_beyond_its_tolerance_is_found():
    bits, a, b = right(40, 40, 512)
    exact = reference(a, b)
    row, column = np.unravel_index(np.abs(exact.values).argmax(), exact.values.shape)
    step = 0
    while (
        abs(float(bf16_to_float32(bits)[row, column]) - exact.values[row, column])
        <= exact.tolerance[row, column]
    ):
        bits[row, column] += 1
        step += 1
    assert step >= 1
    assert both(bits, a, b)[0].first_bad == (row, column)
    bits[row, column] -= 1
    assert both(bits, a, b)[0].passed


def test_outputs_that_are_all_wrong_are_counted_without_float64():
    _, a, b = right()
    other = float64_to_bf16(reference(operand(300, 1024, 5), b).values)
    found, expected = both(other, a, b)
    assert decided(found) == decided(expected)
    assert found.norm_error == pytest.approx(expected.norm_error, rel=1e-3)
    assert (found.wrong > 50000, found.hint) == (True, "")


def test_hints_are_those_of_float64(monkeypatch):
    monkeypatch.setattr("argpack.numerics.gemm._SMALL", 0)
    bits, a, b = right()
    doubled = float32_to_bf16(bf16_to_float32(bits) * np.float32(2))
    cut = float64_to_bf16(reference(a, b).values, rounding=Rounding.TOWARD_ZERO)
    for output, hint in (
        (doubled, "outputs are 2× the reference everywhere"),
        (np.zeros_like(bits), "all outputs are zero"),
        (cut, "every output equals the reference rounded toward zero"),
    ):
        rows = map(rows_of, (a, b))
        tally = tally_mxfp4_gemm([OutputPart(0, 0, output)], *rows, k=1024, alpha=1.0, k_slices=[(0, 1024)])
        assert verdict_of(tally).hint.startswith(hint)


@pytest.mark.parametrize(
    ("a", "b", "alpha", "slices"),
    [
        (operand(4, 64, 0, 250, 255), operand(4, 64, 1), 1.0, [(0, 64)]),
        (operand(4, 64, 0, 0, 10), operand(4, 64, 1), 1.0, [(0, 64)]),
        (operand(4, 64, 0, 255, 256), operand(4, 64, 1), 1.0, [(0, 64)]),
        (operand(4, 64, 0), operand(4, 64, 1), 1e-20, [(0, 64)]),
        (operand(4, 64, 0), operand(4, 64, 1), 0.0, [(0, 64)]),
        (operand(4, 64, 0), operand(4, 64, 1), 1.0, [(0, 16), (16, 64)]),
    ],
    ids=[
        "large scales",
        "small scales",
        "NaN scales",
        "tiny alpha",
        "alpha 0",
        "slices inside a scale block",
    ],
)
def test_what_float32_does_not_hold_is_left_to_float64(a, b, alpha, slices):
    assert screen(np.zeros((4, 4), np.uint16), a, b, alpha=alpha, k_slices=slices) is None


def test_too_many_doubtful_outputs_are_left_to_float64():
    """Rows of A begin with zeros, so that the lower bound of sum |a·b| is 0, and outputs are one step off."""
    a, b = operand(200, 2048, 0), operand(200, 2048, 1)
    a.codes[:, :32] = 0
    exact = reference(a, b)
    bits = float64_to_bf16(exact.values) + np.uint16(1)
    assert screen(bits, a, b, alpha=1.0, k_slices=[(0, 2048)]) is None
    assert (
        tally_mxfp4_gemm(
            [OutputPart(0, 0, bits)], *map(rows_of, (a, b)), k=2048, alpha=1.0, k_slices=[(0, 2048)]
        ).wrong
        == compare(bits, exact, dtype="bfloat16").wrong
    )


def test_a_tolerance_that_admits_zero_is_said_by_float64():
    a, b = operand(2, 64, 0), operand(2, 64, 1)
    a.codes[...] = 0
    assert screen(np.zeros((2, 2), np.uint16), a, b, alpha=1.0, k_slices=[(0, 64)]) is None


def test_single_elements_are_those_of_the_whole_reference():
    a, b = operand(20, 320, 3, 0, 255), operand(30, 320, 4)
    slices = [(0, 256), (256, 320)]
    whole = reference(a, b, alpha=0.7, k_slices=slices)
    rows, columns = np.divmod(np.arange(600)[::-7], 30)
    value, tolerance = mxfp4_elements(
        (a.codes, a.scales), (b.codes, b.scales), (rows, columns), alpha=0.7, k_slices=slices
    )
    np.testing.assert_allclose(value, whole.values[rows, columns], rtol=1e-10)
    np.testing.assert_allclose(tolerance, whole.tolerance[rows, columns], rtol=1e-3)


def rows_of(whole):
    return lambda start, stop: Mxfp4(whole.codes[start:stop], whole.scales[start:stop])


@pytest.mark.parametrize("small", [0, 1 << 40])
def test_parts_add_up_to_the_whole(monkeypatch, small):
    monkeypatch.setattr("argpack.numerics.gemm._SMALL", small)
    monkeypatch.setattr("argpack.numerics.gemm._ROWS", 64)
    monkeypatch.setattr("argpack.numerics.gemm._COLUMNS", 48)
    bits, a, b = right()
    bits[250, 150], bits[100, 199], bits[299, 0] = 0x7FC0, 0x7F80, 0
    parts = [OutputPart(row, column, bits[row : row + 100, column : column + 90])
             for row in (200, 0, 100) for column in (0, 90, 180)]  # fmt: skip
    found = verdict_of(
        tally_mxfp4_gemm(parts, *map(rows_of, (a, b)), k=1024, alpha=1.0, k_slices=[(0, 1024)])
    )
    assert decided(found)[:4] == (False, 3, 2, (100, 199))
    assert found.elements == 60000
    assert found.reason.startswith(
        "3 of 60000 outputs are wrong, 2 of them NaN or infinite, first at row 100, column 199"
    )
