"""Float vector instructions against exact fractions: one rounding, denormals by the mode, NaN, zeros' signs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from emulator_harness import FLOAT_EDGES, execute, pair, set_exec, start
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_float import (
    INFINITY,
    SIGN,
    add,
    flushed,
    fma,
    is_nan,
    larger,
    mul,
    nearest,
    rounded,
    smaller,
    steps_apart,
    value,
)

from argpack.emulator import vector
from argpack.emulator.waves import EXEC, LANES, VCC

M32 = 0xFFFFFFFF
EXACT = {
    "v_add_f32": (2, add),
    "v_sub_f32": (2, lambda a, b: add(a, b ^ SIGN)),
    "v_subrev_f32": (2, lambda a, b: add(b, a ^ SIGN)),
    "v_mul_f32": (2, mul),
    "v_min_f32": (2, smaller),
    "v_max_f32": (2, larger),
    "v_fma_f32": (3, fma),
    "v_rndne_f32": (1, lambda a: rounded(a, "rndne")),
    "v_floor_f32": (1, lambda a: rounded(a, "floor")),
    "v_ceil_f32": (1, lambda a: rounded(a, "ceil")),
    "v_trunc_f32": (1, lambda a: rounded(a, "trunc")),
}
# Computed with at most one step of error; these flush denormals in every mode (LLVM scales around them).
APPROXIMATE = {
    "v_rcp_f32": lambda x: math.copysign(math.inf, x) if x == 0 else 1 / x,
    "v_rcp_iflag_f32": lambda x: math.copysign(math.inf, x) if x == 0 else 1 / x,
    "v_sqrt_f32": lambda x: math.nan if x < 0 else math.copysign(math.sqrt(abs(x)), x),
    "v_rsq_f32": lambda x: math.nan if x < 0 else math.copysign(math.inf, x) if x == 0 else 1 / math.sqrt(x),
    "v_exp_f32": lambda x: math.inf if x >= 1024 else math.exp2(x),
    "v_log_f32": lambda x: math.nan if x < 0 else -math.inf if x == 0 else math.log2(x),
}
CONVERSIONS = {"v_cvt_f32_u32", "v_cvt_f32_i32", "v_cvt_u32_f32", "v_cvt_i32_f32", "v_cvt_pk_bf16_f32"}

BITS = st.one_of(st.sampled_from(FLOAT_EDGES), st.integers(0, M32))
# Sums that cancel, and those that end half way between two float32, are rare among random bits.
NEAR_ONE = st.integers(0x3F7FFF00, 0x3F8000FF)
TRIPLES = st.lists(
    st.one_of(st.tuples(BITS, BITS, BITS), st.tuples(NEAR_ONE, NEAR_ONE, NEAR_ONE.map(lambda b: b ^ SIGN))),
    min_size=8,
    max_size=128,
)


def run(machine_code, cases, *, flush_f32=False, old=0):
    """The bits that one VGPR holds afterwards, for each case of three sources."""
    count = -(-len(cases) // LANES)
    columns = np.array(cases + cases[:1] * (count * LANES - len(cases)), dtype=np.uint32)
    waves = start(count)
    for position, register in enumerate((0, 1, 2)):
        waves.v[register][...] = columns[:, position].reshape(count, LANES)
    waves.v[8][...] = old
    execute(machine_code, waves, flush_f32=flush_f32)
    return waves.v[8].ravel()[: len(cases)].tolist()


def same(found, expected):
    """Equal bits, or both NaN."""
    return found == expected or (is_nan(found) and is_nan(expected))


def wrong(found, expected, cases):
    return [
        (list(map(hex, case)), hex(f), hex(e))
        for f, e, case in zip(found, expected, cases, strict=True)
        if not same(f, e)
    ]


@pytest.fixture(scope="module")
def code(assembler):
    texts = {
        name: f"{name} v8, " + ", ".join(["v0", "v1", "v2"][:count]) for name, (count, _) in EXACT.items()
    }
    texts |= {name: f"{name} v8, v0" for name in APPROXIMATE}
    texts["v_cvt_pk_bf16_f32"] = "v_cvt_pk_bf16_f32 v8, v0, v1"
    return assembler.snippets(texts)


def test_the_models_cover_every_row_of_the_tables():
    assert EXACT.keys() | APPROXIMATE.keys() | {"v_fmac_f32"} == vector.FLOAT.keys()
    assert vector.CONVERT.keys() == CONVERSIONS


def expectation(name, cases, *, flush_f32):
    count, compute = EXACT[name]
    if not flush_f32:
        return [compute(*case[:count]) for case in cases]
    return [flushed(compute(*map(flushed, case[:count]))) for case in cases]


@pytest.mark.parametrize("flush_f32", [False, True])
@pytest.mark.parametrize("name", EXACT)
def test_one_rounding_on_edge_values(code, name, flush_f32):
    third = itertools.cycle(FLOAT_EDGES[::3])
    cases = [
        (a, b, next(third)) for a, b in itertools.product(FLOAT_EDGES, FLOAT_EDGES[::2] + FLOAT_EDGES[1:2])
    ]
    if EXACT[name][0] == 1:
        cases = [(a, 0, 0) for a in FLOAT_EDGES]
    found = run(code[name], cases, flush_f32=flush_f32)
    assert not wrong(found, expectation(name, cases, flush_f32=flush_f32), cases)


@settings(max_examples=60)
@given(name=st.sampled_from(sorted(EXACT)), cases=TRIPLES, flush_f32=st.booleans())
def test_one_rounding_on_any_values(code, name, cases, flush_f32):
    found = run(code[name], cases, flush_f32=flush_f32)
    assert not wrong(found, expectation(name, cases, flush_f32=flush_f32), cases)


@settings(max_examples=60)
@given(cases=TRIPLES)
def test_fused_multiply_add_rounds_once(code, cases):
    assert not wrong(run(code["v_fma_f32"], cases), [fma(*case) for case in cases], cases)


def test_fused_multiply_add_where_rounding_twice_goes_wrong(code):
    # (1 + 2^-12)^2 + 2^-80 lies just above the middle of two float32; float64 alone drops the 2^-80.
    a, tiny = 0x3F800800, 0x17800000
    assert run(code["v_fma_f32"], [(a, a, tiny), (a, a, tiny | SIGN)]) == [0x3F801001, 0x3F801000]


@pytest.mark.parametrize("form", ["e32", "e64"])
def test_multiply_accumulate_adds_to_its_destination(assembler, form):
    cases = [(0x40000000, 0x40400000, 0), (0x3F800800, 0x3F800800, 0)]
    found = run(assembler.code(f"v_fmac_f32_{form} v8, v0, v1"), cases, old=0x3F800000)
    assert found == [fma(a, b, 0x3F800000) for a, b, _ in cases]


@pytest.mark.parametrize(
    ("name", "expected"), [("v_min_f32", [SIGN, SIGN, 0, SIGN]), ("v_max_f32", [0, 0, 0, SIGN])]
)
def test_minus_zero_is_less_than_plus_zero(code, name, expected):
    assert run(code[name], [(0, SIGN, 0), (SIGN, 0, 0), (0, 0, 0), (SIGN, SIGN, 0)]) == expected


@pytest.mark.parametrize("flush_f32", [False, True])
@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximations_err_by_one_step_at_most(code, name, flush_f32):
    random = np.random.default_rng(7).integers(0, 1 << 32, 400).tolist()
    cases = [(bits, 0, 0) for bits in FLOAT_EDGES + random]
    for found, (bits, *_) in zip(run(code[name], cases, flush_f32=flush_f32), cases, strict=True):
        exact = math.nan if is_nan(bits) else APPROXIMATE[name](value(flushed(bits)))
        if math.isnan(exact):
            assert is_nan(found), hex(bits)
        elif math.isinf(exact):
            assert found == INFINITY | (SIGN if exact < 0 else 0), hex(bits)
        else:
            expected = flushed(nearest(Fraction(exact), negative_zero=math.copysign(1, exact) < 0))
            assert steps_apart(found, expected) <= 1, (hex(bits), hex(found), hex(expected))


@pytest.mark.parametrize("name", ["v_rcp_f32", "v_sqrt_f32"])
def test_approximations_flush_denormals_in_every_mode(code, name):
    expected = {"v_rcp_f32": [INFINITY, INFINITY | SIGN, 0], "v_sqrt_f32": [0, SIGN, 0x5F7FFFFF]}
    cases = [(1, 0, 0), (0x80000001, 0, 0), (0x7F7FFFFF, 0, 0)]
    assert run(code[name], cases, flush_f32=False) == expected[name]


def test_integers_to_float_round_to_nearest_even(assembler):
    edges = [0, 1, M32, 1 << 31, (1 << 31) - 1, 0x1000001, 0x1000002, 0x1000003, 0xFFFFFF80, 0x80000080, 7]
    cases = [(value_, 0, 0) for value_ in edges]
    codes = assembler.snippets({kind: f"v_cvt_f32_{kind} v8, v0" for kind in ("u32", "i32")})
    assert run(codes["u32"], cases) == [nearest(Fraction(a)) for a in edges]
    assert run(codes["i32"], cases) == [nearest(Fraction(a - (1 << 32) if a >> 31 else a)) for a in edges]


@pytest.mark.parametrize(("kind", "low", "high"), [("u32", 0, M32), ("i32", -(1 << 31), (1 << 31) - 1)])
def test_float_to_integer_goes_towards_zero_and_saturates(assembler, kind, low, high):
    cases = [(bits, 0, 0) for bits in FLOAT_EDGES]
    found = run(assembler.code(f"v_cvt_{kind}_f32 v8, v0"), cases)
    for bits, result in zip(FLOAT_EDGES, found, strict=True):
        x = value(bits)
        if math.isnan(x):
            expected = 0
        elif math.isinf(x):
            expected = high if x > 0 else low
        else:
            expected = min(max(math.trunc(x), low), high)
        assert result == expected & M32, hex(bits)


@settings(max_examples=20)
@given(cases=TRIPLES)
def test_packed_bf16_rounds_to_nearest_even_and_keeps_nan(code, cases):
    found = run(code["v_cvt_pk_bf16_f32"], cases)
    for packed, (low, high, _) in zip(found, cases, strict=True):
        for bits, half in ((low, packed & 0xFFFF), (high, packed >> 16)):
            if is_nan(bits):
                assert half & 0x7FC0 == 0x7FC0
                assert half >> 15 == bits >> 31
            elif bits & INFINITY == INFINITY:
                assert half << 16 == bits
            else:
                exact = Fraction(value(bits))
                assert half << 16 == nearest(exact, precision=8, negative_zero=bool(bits & SIGN))


def test_packed_bf16_where_truncation_would_lose_the_nan(assembler):
    assert run(assembler.code("v_cvt_pk_bf16_f32 v8, v0, v1"), [(0x7F800001, 0xFFFFFFFF, 0)]) == [0xFFFF7FC0]


@pytest.mark.parametrize(
    ("operand", "change"),
    [
        ("v0", lambda bits: bits),
        ("-v0", lambda bits: bits ^ SIGN),
        ("|v0|", lambda bits: bits & ~SIGN),
        ("-|v0|", lambda bits: bits | SIGN),
    ],
)
def test_source_modifiers(assembler, operand, change):
    cases = [(bits, 0x3F800000, 0) for bits in FLOAT_EDGES]
    for text in (f"v_mul_f32_e64 v8, {operand}, v1", f"v_mul_f32_e64 v8, v1, {operand}"):
        found = run(assembler.code(text), cases)
        assert not wrong(found, [mul(change(a), b) for a, b, _ in cases], cases)


def test_constants_with_modifiers(assembler):
    assert run(assembler.code("v_fma_f32 v8, -2.0, |v0|, -1.0"), [(0xC0000000, 0, 0)]) == [0xC0A00000]
    assert run(assembler.code("v_fma_f32 v8, 1.0, 2.0, -4.0"), [(0, 0, 0)]) == [0xC0000000]


def test_integer_division_as_compilers_write_it(assembler):
    # The sequence that the f4gemm kernels use: reciprocal by float, then two corrections.
    text = """
    v_cvt_f32_u32 v3, v1
    v_rcp_iflag_f32 v3, v3
    v_mul_f32 v3, 0x4f7ffffe, v3
    v_cvt_u32_f32 v3, v3
    v_sub_u32 v4, 0, v1
    v_mul_lo_u32 v4, v4, v3
    v_mul_hi_u32 v4, v3, v4
    v_add_u32 v3, v3, v4
    v_mul_hi_u32 v3, v0, v3
    v_mul_lo_u32 v4, v3, v1
    v_sub_u32 v4, v0, v4
    v_add_u32 v5, 1, v3
    v_cmp_le_u32 vcc, v1, v4
    v_cndmask_b32 v3, v3, v5, vcc
    v_sub_u32 v5, v4, v1
    v_cndmask_b32 v4, v4, v5, vcc
    v_add_u32 v5, 1, v3
    v_cmp_le_u32 vcc, v1, v4
    v_cndmask_b32 v8, v3, v5, vcc
    """
    numbers = [0, 1, 2, 3, 7, 255, 256, 65535, 1000003, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, M32]
    cases = [(a, b, 0) for a, b in itertools.product(numbers, numbers[1:])]
    assert run(assembler.code(text), cases, flush_f32=True) == [a // b for a, b, _ in cases]


RELATIONS = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a < b or a > b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "o": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "u": lambda a, b: math.isnan(a) or math.isnan(b),
    "neq": lambda a, b: a != b,
    "ngt": lambda a, b: not a > b,
    "nge": lambda a, b: not a >= b,
    "nlt": lambda a, b: not a < b,
    "nle": lambda a, b: not a <= b,
}


@pytest.mark.parametrize("flush_f32", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
def test_comparison_sets_a_bit_per_enabled_lane(assembler, relation, flush_f32):
    cases = list(itertools.product(FLOAT_EDGES, FLOAT_EDGES[::5]))
    count = -(-len(cases) // LANES)
    cases += cases[:1] * (count * LANES - len(cases))
    columns = np.array(cases, dtype=np.uint32).reshape(count, LANES, 2)
    enabled = np.arange(LANES) % 7 != 3
    forms = {f"v_cmp_{relation}_f32_e32 vcc": VCC, f"v_cmp_{relation}_f32_e64 s[10:11]": 10}
    forms[f"v_cmpx_{relation}_f32_e64 s[12:13]"] = 12
    codes = assembler.snippets({text: f"{text}, v0, v1" for text in forms})
    numbers = [tuple(value(flushed(bits) if flush_f32 else bits) for bits in case) for case in cases]
    results = np.array([RELATIONS[relation](a, b) for a, b in numbers]).reshape(count, LANES) & enabled
    expected = [sum(int(bit) << lane for lane, bit in enumerate(row)) for row in results]
    for text, register in forms.items():
        waves = start(count)
        waves.v[0][...], waves.v[1][...] = columns[..., 0], columns[..., 1]
        set_exec(waves, enabled)
        execute(codes[text], waves, flush_f32=flush_f32)
        assert pair(waves, register).tolist() == expected
        if "cmpx" in text:
            assert pair(waves, EXEC).tolist() == expected


def test_comparison_honours_modifiers(assembler):
    waves = start()
    waves.v[0][...] = 0xC0000000
    execute(
        assembler.code("v_cmp_eq_f32_e64 s[10:11], |v0|, 2.0\nv_cmp_eq_f32_e64 s[12:13], v0, -4.0"), waves
    )
    assert [int(pair(waves, register)[0]) for register in (10, 12)] == [(1 << 64) - 1, 0]
