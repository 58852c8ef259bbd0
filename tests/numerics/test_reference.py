"""The float64 reference against exact rational arithmetic, and its tolerance against simulated kernels."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.numerics import float32_to_bf16, mxfp4_gemm_reference, pack_fp4, sgemm_reference

VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]


def random_operand(
    rng: np.random.Generator, rows: int, k: int, low: int = 120, high: int = 134
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unpacked codes, packed codes, scales."""
    codes = rng.integers(0, 16, (rows, k), dtype=np.uint8)
    scales = rng.integers(low, high, (rows, -(-k // 32)), dtype=np.uint8)
    return codes, pack_fp4(codes), scales


def exact(codes: np.ndarray, scales: np.ndarray) -> list[list[Fraction]]:
    return [
        [Fraction(VALUES[c]) * Fraction(2) ** (int(row_scales[i // 32]) - 127) for i, c in enumerate(row)]
        for row, row_scales in zip(codes.tolist(), scales, strict=True)
    ]


def dequantised(codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    return np.array(exact(codes, scales), float).astype(np.float32)


@settings(deadline=None)
@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 45),
    st.integers(0, 2**32),
    st.sampled_from([1.0, -0.75]),
)
def test_values_equal_exact_arithmetic(m: int, n: int, half_k: int, seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    a, a_packed, a_scales = random_operand(rng, m, 2 * half_k)
    b, b_packed, b_scales = random_operand(rng, n, 2 * half_k)
    found = mxfp4_gemm_reference(a_packed, a_scales, b_packed, b_scales, alpha=alpha)
    for i, row_a in enumerate(exact(a, a_scales)):
        for j, row_b in enumerate(exact(b, b_scales)):
            products = [x * y for x, y in zip(row_a, row_b, strict=True)]
            value = Fraction(alpha) * sum(products, Fraction(0))
            magnitude = abs(Fraction(alpha)) * sum((abs(p) for p in products), Fraction(0))
            assert abs(Fraction(float(found.values[i, j])) - value) <= magnitude * Fraction(1, 2**45)
            # At least half a unit of bfloat16, at most that and twice the float32 bound.
            tolerance = Fraction(float(found.tolerance[i, j]))
            assert tolerance >= abs(value) / 2**9
            assert tolerance <= abs(value) / 2**8 + magnitude * (2 * half_k + 1) * Fraction(
                3, 2**24
            ) + Fraction(1, 2**100)


def test_a_partial_last_block_of_k_has_its_own_scale() -> None:
    # K=136: five scale columns, the last covers 8 elements.
    codes = np.full((1, 136), 2, np.uint8)  # 1.0
    scales = np.array([[127, 127, 127, 127, 130]], np.uint8)
    ones = np.full((1, 5), 127, np.uint8)
    found = mxfp4_gemm_reference(pack_fp4(codes), scales, pack_fp4(codes), ones)
    assert found.values.tolist() == [[128.0 + 8 * 8]]


def test_large_shapes_are_computed_in_blocks_with_the_same_result() -> None:
    rng = np.random.default_rng(2)
    a, a_packed, a_scales = random_operand(rng, 5, 32)
    b, b_packed, b_scales = random_operand(rng, 2500, 32)
    found = mxfp4_gemm_reference(a_packed, a_scales, b_packed, b_scales).values
    expected = dequantised(a, a_scales).astype(float) @ dequantised(b, b_scales).astype(float).T
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-9)
    transposed = mxfp4_gemm_reference(b_packed, b_scales, a_packed, a_scales).values
    assert np.allclose(transposed, expected.T, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("order", ["forward", "backward", "small first", "large first"])
@pytest.mark.parametrize("k", [32, 416, 2048])
def test_float32_sums_in_any_order_stay_within_tolerance(order: str, k: int) -> None:
    rng = np.random.default_rng(k)
    a, a_packed, a_scales = random_operand(rng, 6, k, 110, 140)
    b, b_packed, b_scales = random_operand(rng, 6, k, 110, 140)
    found = mxfp4_gemm_reference(a_packed, a_scales, b_packed, b_scales, alpha=0.3)
    products = dequantised(a, a_scales)[:, None, :] * dequantised(b, b_scales)[None, :, :]
    if order == "backward":
        products = products[..., ::-1]
    elif order != "forward":
        largest = np.argsort(np.abs(products), axis=-1)
        products = np.take_along_axis(products, largest if order == "small first" else largest[..., ::-1], -1)
    total = np.zeros((6, 6), np.float32)
    for i in range(k):
        total += products[..., i]
    output = (total * np.float32(0.3)).astype(ml_dtypes.bfloat16).astype(float)
    assert (np.abs(output - found.values) <= found.tolerance).all()


@pytest.mark.parametrize("slices", [2, 3])
def test_split_k_in_any_order_stays_within_tolerance(slices: int) -> None:
    rng = np.random.default_rng(slices)
    k = 256 * slices
    a, a_packed, a_scales = random_operand(rng, 16, k)
    b, b_packed, b_scales = random_operand(rng, 16, k)
    cuts = [(256 * i, 256 * (i + 1)) for i in range(slices)]
    found = mxfp4_gemm_reference(a_packed, a_scales, b_packed, b_scales, k_slices=cuts)
    a_values, b_values = dequantised(a, a_scales), dequantised(b, b_scales)
    for _ in range(4):
        output = np.zeros((16, 16), ml_dtypes.bfloat16)
        for start, stop in rng.permutation(cuts):
            partial = (a_values[:, start:stop] @ b_values[:, start:stop].T).astype(ml_dtypes.bfloat16)
            output = (output.astype(np.float32) + partial.astype(np.float32)).astype(ml_dtypes.bfloat16)
        assert (np.abs(output.astype(float) - found.values) <= found.tolerance).all()


def test_split_k_tolerance_counts_partials_that_cancel() -> None:
    # Slices of +1 and -1 cancel: each was rounded on the way, so the tolerance is that of the partials.
    a = pack_fp4(np.full((1, 512), 2, np.uint8))
    b = pack_fp4(np.repeat(np.array([[2, 10]], np.uint8), 256, axis=1))
    ones = np.full((1, 16), 127, np.uint8)
    whole = mxfp4_gemm_reference(a, ones, b, ones)
    split = mxfp4_gemm_reference(a, ones, b, ones, k_slices=[(0, 256), (256, 512)])
    assert whole.values.tolist() == split.values.tolist() == [[0.0]]
    assert 2 * 512 / 256 <= split.tolerance[0, 0] <= 1.02 * 2 * 512 / 256
    assert whole.tolerance[0, 0] < 0.05


def test_a_nan_scale_makes_its_row_nan() -> None:
    rng = np.random.default_rng(3)
    _, a_packed, a_scales = random_operand(rng, 3, 64)
    _, b_packed, b_scales = random_operand(rng, 2, 64)
    a_scales[1, 0] = 255
    found = mxfp4_gemm_reference(a_packed, a_scales, b_packed, b_scales)
    assert np.isnan(found.values).tolist() == [[False, False], [True, True], [False, False]]
    assert np.isfinite(found.tolerance[[0, 2]]).all()


def test_extreme_scales_overflow_neither_value_nor_tolerance() -> None:
    sixes = pack_fp4(np.full((1, 32), 7, np.uint8))
    top, bottom = np.full((1, 1), 254, np.uint8), np.full((1, 1), 0, np.uint8)
    high = mxfp4_gemm_reference(sixes, top, sixes, top)
    assert high.values.tolist() == [[32 * 36 * 2.0**254]]
    assert np.isfinite(high.tolerance).all()
    low = mxfp4_gemm_reference(sixes, bottom, sixes, bottom)
    assert low.values.tolist() == [[32 * 36 * 2.0**-254]]
    assert low.tolerance[0, 0] >= 2.0**-126  # flushed float32 subnormals are allowed
    mixed = mxfp4_gemm_reference(sixes, top, sixes, bottom)
    assert mixed.values.tolist() == [[32 * 36.0]]
    assert 4 < mixed.tolerance[0, 0] < 4.01  # half a bfloat16 ulp at 1152


def test_alpha_is_the_float32_the_kernel_gets() -> None:
    one = pack_fp4(np.array([[2, 0]], np.uint8))
    scale = np.full((1, 1), 127, np.uint8)
    found = mxfp4_gemm_reference(one, scale, one, scale, alpha=0.1)
    assert found.values[0, 0] == 0.100000001490116119384765625


def test_sgemm_equals_exact_arithmetic_and_bounds_float32() -> None:
    rng = np.random.default_rng(4)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((7, 33), (5, 33), (7, 5)))
    found = sgemm_reference(a, b, c, alpha=1.5, beta=-0.25)
    exact_sum = [
        [
            sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(ra, rb, strict=True)), Fraction(0))
            for rb in b
        ]
        for ra in a
    ]
    for i, row in enumerate(exact_sum):
        for j, total in enumerate(row):
            value = Fraction(3, 2) * total - Fraction(float(c[i, j])) / 4
            assert abs(float(Fraction(float(found.values[i, j])) - value)) < 1e-13
    total32 = np.zeros((7, 5), np.float32)
    for i in range(33):
        total32 += a[:, None, i] * b[None, :, i]
    output = np.float32(1.5) * total32 + np.float32(-0.25) * c
    assert (np.abs(output - found.values) <= found.tolerance).all()
    assert found.tolerance.max() < 1e-3
    without_c = sgemm_reference(a, b, None, alpha=1.5)
    assert np.allclose(without_c.values + c * -0.25, found.values, rtol=1e-12)


def operands(m: int = 2, n: int = 3, k: int = 64) -> list[np.ndarray]:
    blocks = -(-k // 32)
    return [
        np.zeros((m, k // 2), np.uint8),
        np.zeros((m, blocks), np.uint8),
        np.zeros((n, k // 2), np.uint8),
        np.zeros((n, blocks), np.uint8),
    ]


@pytest.mark.parametrize(
    ("position", "replacement", "message"),
    [
        (0, np.zeros((2, 32)), r"A codes: expected uint8 \(rows, K/2\), found float64"),
        (0, np.zeros((0, 32), np.uint8), r"A codes: expected uint8 \(rows, K/2\), found uint8 \(0, 32\)"),
        (1, np.zeros((2, 8), np.uint8), r"A scales: expected uint8 \(2, 2\), found uint8 \(2, 8\)"),
        (3, np.zeros((32, 2), np.uint8), r"B scales: expected uint8 \(3, 2\), found uint8 \(32, 2\)"),
    ],
)
def test_operands_that_do_not_fit_are_refused(position: int, replacement: np.ndarray, message: str) -> None:
    arrays = operands()
    arrays[position] = replacement
    with pytest.raises(InputError, match=message):
        mxfp4_gemm_reference(*arrays)


def test_different_k_is_refused() -> None:
    a_codes, a_scales = operands()[:2]
    b_codes, b_scales = operands(k=96)[2:]
    with pytest.raises(InputError, match="A has K=64, B has K=96"):
        mxfp4_gemm_reference(a_codes, a_scales, b_codes, b_scales)


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ([(0, 32)], "expected slices up to K=64, found 32"),
        ([(0, 32), (16, 64)], r"expected a slice from 32, found \(16, 64\)"),
        ([(0, 64), (64, 64)], r"expected a slice from 64, found \(64, 64\)"),
        ([], "expected slices up to K=64, found 0"),
    ],
)
def test_slices_that_do_not_tile_k_are_refused(slices: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mxfp4_gemm_reference(*operands(), k_slices=slices)


def test_a_sum_too_long_for_any_bound_is_refused() -> None:
    codes, scales = np.zeros((1, 1 << 22), np.uint8), np.zeros((1, 1 << 18), np.uint8)
    with pytest.raises(InputError, match="no useful error bound"):
        mxfp4_gemm_reference(codes, scales, codes, scales)


@pytest.mark.parametrize(
    ("arrays", "beta", "message"),
    [
        (((2, 3), (4, 5), None), 0.0, "A has K=3, B has K=5"),
        (((2, 3), (4, 3), None), 1.0, r"C: expected shape \(2, 4\), found None"),
        (((2, 3), (4, 3), (4, 2)), 1.0, r"C: expected shape \(2, 4\), found \(4, 2\)"),
        (((2, 0), (4, 0), None), 0.0, r"A: expected float32 \(rows, K\), found float32 \(2, 0\)"),
    ],
)
def test_sgemm_shapes_that_do_not_fit_are_refused(arrays: tuple, beta: float, message: str) -> None:
    a, b, c = (None if shape is None else np.zeros(shape, np.float32) for shape in arrays)
    with pytest.raises(InputError, match=message):
        sgemm_reference(a, b, c, beta=beta)


def test_float32_to_bf16_is_what_ml_dtypes_rounds_in_these_tests() -> None:
    values = np.random.default_rng(6).standard_normal(1000).astype(np.float32)
    assert float32_to_bf16(values).tolist() == values.astype(ml_dtypes.bfloat16).view(np.uint16).tolist()
