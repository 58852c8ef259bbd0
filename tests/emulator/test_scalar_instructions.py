"""Every row of the scalar tables against the manual's meaning, on edge values and on any values."""

import itertools

import numpy as np
import pytest
from emulator_harness import EDGES, EDGES_64, execute, pair, set_exec, set_pair, start
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_scalar import (
    M32,
    M64,
    RELATIONS,
    SAVEEXEC,
    SOP1,
    SOP1_64,
    SOP2,
    SOP2_64,
    SOP2_SHIFT,
    SOPK,
    signed,
)

from argpack.emulator import scalar
from argpack.emulator.waves import EXEC, M0, VCC

IMMEDIATES = [0, 1, 5, 64, 0x7FFF, 0x8000, 0xABCD, 0xFFFF]
BIT_TESTS = {"s_bitcmp0_b32": 0, "s_bitcmp1_b32": 1}
ROWS = SOP2 | SOP2_64 | SOP2_SHIFT | SOP1 | SOP1_64

# Bits of the sources and the destination.
WIDTHS = (
    dict.fromkeys(SOP2, (32, 32, 32))
    | dict.fromkeys(SOP2_64, (64, 64, 64))
    | dict.fromkeys(SOP2_SHIFT, (64, 32, 64))
    | dict.fromkeys(SOP1, (32, 0, 32))
    | dict.fromkeys(SOP1_64, (64, 0, 64))
)


def operand(register, bits):
    return f"s[{register}:{register + 1}]" if bits == 64 else f"s{register}"


def text(name):
    a, b, d = WIDTHS[name]
    sources = [operand(4, a)] + ([operand(6, b)] if b else [])
    return f"{name} {operand(8, d)}, {', '.join(sources)}"


@pytest.fixture(scope="module")
def code(assembler):
    return assembler.snippets({name: text(name) for name in ROWS})


def run(machine_code, cases, bits):
    waves = start(len(cases))
    set_pair(waves, 4, [a for a, _, _ in cases])
    set_pair(waves, 6, [b for _, b, _ in cases])
    set_pair(waves, 8, [0xDEADBEEFDEADBEEF] * len(cases))
    waves.scc[:] = [scc for *_, scc in cases]
    execute(machine_code, waves)
    values = pair(waves, 8) if bits == 64 else waves.sgpr[8]
    return list(zip(map(int, values), map(bool, waves.scc), strict=True))


def expected(name, cases):
    results = [ROWS[name](a, b, scc) for a, b, scc in cases]
    return [
        (value, scc if new is None else new) for (value, new), (_, _, scc) in zip(results, cases, strict=True)
    ]


def test_the_models_cover_every_row_of_the_tables():
    assert set(SOP2) == set(scalar.SOP2)
    assert set(SOP2_64) == set(scalar.SOP2_64)
    assert set(SOP2_SHIFT) == set(scalar.SOP2_SHIFT)
    assert set(SOP1) == set(scalar.SOP1)
    assert set(SOP1_64) == set(scalar.SOP1_64)
    assert set(SAVEEXEC) == set(scalar.SAVEEXEC)
    assert set(RELATIONS) == set(scalar.COMPARE)


@pytest.mark.parametrize("name", ROWS)
def test_result_and_scc_on_edge_values(code, name):
    a_bits, b_bits, d_bits = WIDTHS[name]
    edges = {64: EDGES_64, 32: EDGES, 0: [0]}
    # Half of the first sources, all of the second: those may be counts of bits.
    first, second = edges[a_bits][::2] + edges[a_bits][-1:], edges[b_bits]
    if a_bits == b_bits == 64:
        second = second[::3]
    cases = [(a, b, scc) for a, b in itertools.product(first, second) for scc in (False, True)]
    assert run(code[name], cases, d_bits) == expected(name, cases)


VALUE = st.one_of(st.sampled_from(EDGES_64), st.integers(0, M64))


@settings(max_examples=100)
@given(name=st.sampled_from(sorted(ROWS)), cases=st.lists(st.tuples(VALUE, VALUE, st.booleans()), min_size=5))
def test_result_and_scc_on_any_values(code, name, cases):
    a_bits, b_bits, d_bits = WIDTHS[name]
    cases = [(a & ((1 << a_bits) - 1), b & ((1 << b_bits) - 1), scc) for a, b, scc in cases]
    assert run(code[name], cases, d_bits) == expected(name, cases)


def test_a_carry_out_of_the_shift_sets_scc(code):
    assert run(code["s_lshl1_add_u32"], [(0x80000000, 1, False)], 32) == [(1, True)]
    assert run(code["s_lshl4_add_u32"], [(0x10000000, 0, False), (0x0FFFFFFF, 0xF, True)], 32) == [
        (0, True),
        (0xFFFFFFFF, False),
    ]


@pytest.mark.parametrize("name", SAVEEXEC)
def test_saveexec_keeps_the_old_mask_and_sets_the_new(assembler, name):
    masks = [0, 1, 0xFFFFFFFF, 0xFFFFFFFF00000000, 0x5555555555555555, M64, 1 << 63]
    cases = list(itertools.product(masks, masks))
    waves = start(len(cases))
    set_pair(waves, 4, [source for source, _ in cases])
    set_pair(waves, EXEC, [old for _, old in cases])
    waves.exec_changed()
    execute(assembler.code(f"{name} s[8:9], s[4:5]\nv_mov_b32 v0, 1"), waves)
    new = [SAVEEXEC[name](source, old) for source, old in cases]
    assert pair(waves, 8).tolist() == [old for _, old in cases]
    assert pair(waves, EXEC).tolist() == new
    assert waves.scc.tolist() == [mask != 0 for mask in new]
    assert waves.v[0].tolist() == [[mask >> lane & 1 for lane in range(64)] for mask in new]


COMPARISONS = [*itertools.product(RELATIONS, ["u32", "i32"]), ("eq", "u64"), ("lg", "u64")]


@pytest.mark.parametrize(("relation", "kind"), COMPARISONS)
def test_comparison_sets_scc(assembler, relation, kind):
    bits = int(kind[1:])
    edges = EDGES_64[::2] if bits == 64 else EDGES
    cases = list(itertools.product(edges, edges))
    waves = start(len(cases))
    set_pair(waves, 4, [a for a, _ in cases])
    set_pair(waves, 6, [b for _, b in cases])
    execute(assembler.code(f"s_cmp_{relation}_{kind} {operand(4, bits)}, {operand(6, bits)}"), waves)
    values = [(signed(a), signed(b)) if kind == "i32" else (a, b) for a, b in cases]
    assert waves.scc.tolist() == [RELATIONS[relation](a, b) for a, b in values]


@pytest.mark.parametrize("name", BIT_TESTS)
def test_bit_test_counts_bits_modulo_32(assembler, name):
    cases = list(itertools.product(EDGES, [0, 1, 15, 31, 32, 33, 63]))
    waves = start(len(cases))
    waves.sgpr[4], waves.sgpr[6] = zip(*cases, strict=True)
    execute(assembler.code(f"{name} s4, s6"), waves)
    assert waves.scc.tolist() == [(a >> (b % 32) & 1) == BIT_TESTS[name] for a, b in cases]


@pytest.mark.parametrize("name", SOPK)
def test_16_bit_immediate_is_sign_extended(assembler, name):
    codes = assembler.snippets({raw: f"{name} s8, {raw:#x}" for raw in IMMEDIATES})
    for raw, machine_code in codes.items():
        cases = [(value, scc) for value in EDGES for scc in (False, True)]
        waves = start(len(cases))
        waves.sgpr[8] = [value for value, _ in cases]
        waves.scc[:] = [scc for _, scc in cases]
        execute(machine_code, waves)
        results = [SOPK[name](value, signed(raw, 16), scc) for value, scc in cases]
        assert waves.sgpr[8].tolist() == [value for value, _ in results]
        assert waves.scc.tolist() == [
            scc if new is None else new for (_, new), (_, scc) in zip(results, cases, strict=True)
        ]


@pytest.mark.parametrize("kind", ["u32", "i32"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_comparison_with_a_16_bit_immediate(assembler, relation, kind):
    codes = assembler.snippets({raw: f"s_cmpk_{relation}_{kind} s8, {raw:#x}" for raw in IMMEDIATES})
    for raw, machine_code in codes.items():
        waves = start(len(EDGES))
        waves.sgpr[8] = EDGES
        execute(machine_code, waves)
        values = [(signed(a), signed(raw, 16)) if kind == "i32" else (a, raw) for a in EDGES]
        assert waves.scc.tolist() == [RELATIONS[relation](a, b) for a, b in values]


CONSTANTS_32 = {
    "0": 0,
    "64": 64,
    "-1": M32,
    "-16": M32 - 15,
    "0.5": 0x3F000000,
    "-0.5": 0xBF000000,
    "1.0": 0x3F800000,
    "-1.0": 0xBF800000,
    "2.0": 0x40000000,
    "-2.0": 0xC0000000,
    "4.0": 0x40800000,
    "-4.0": 0xC0800000,
    "0.15915494": 0x3E22F983,
    "0x12345678": 0x12345678,
    "s7": 77,
    "vcc_lo": 106,
    "vcc_hi": 107,
    "m0": 124,
    "exec_lo": M32,
    "exec_hi": M32,
    "src_scc": 1,
}


def test_32_bit_operand_forms(assembler):
    codes = assembler.snippets({form: f"s_mov_b32 s8, {form}" for form in CONSTANTS_32})
    found = {}
    for form, machine_code in codes.items():
        waves = start(2)
        waves.sgpr[7], waves.sgpr[VCC], waves.sgpr[VCC + 1], waves.sgpr[M0] = 77, 106, 107, 124
        waves.scc[:] = True
        found[form] = int(execute(machine_code, waves).sgpr[8][1])
    assert found == CONSTANTS_32


CONSTANTS_64 = {
    "0": 0,
    "64": 64,
    "-1": M64,
    "-16": M64 - 15,
    "0x12345678": 0x12345678,
    "vcc": 107 << 32 | 106,
}


def test_64_bit_operand_forms(assembler):
    codes = assembler.snippets({form: f"s_mov_b64 s[8:9], {form}" for form in CONSTANTS_64})
    found = {}
    for form, machine_code in codes.items():
        waves = start(2)
        set_pair(waves, VCC, [107 << 32 | 106] * 2)
        found[form] = int(pair(execute(machine_code, waves), 8)[1])
    assert found == CONSTANTS_64


@pytest.mark.parametrize("form", ["s8", "vcc_lo", "vcc_hi", "m0", "exec_lo", "exec_hi"])
def test_every_scalar_destination(assembler, form):
    waves = start(3)
    waves.sgpr[4] = [1, 2, 0x80000000]
    execute(assembler.code(f"s_mov_b32 {form}, s4\ns_mov_b32 s9, {form}\nv_mov_b32 v0, 1"), waves)
    assert waves.sgpr[9].tolist() == [1, 2, 0x80000000]
    full = np.ones((3, 64), np.uint32)
    if form.startswith("exec"):
        half = slice(0, 32) if form == "exec_lo" else slice(32, 64)
        full[:, half] = [[value >> lane & 1 for lane in range(32)] for value in (1, 2, 0x80000000)]
    assert np.array_equal(waves.v[0], full)


def test_writing_exec_as_a_pair_changes_the_enabled_lanes(assembler):
    waves = start()
    set_exec(waves, np.arange(64) < 5)
    execute(assembler.code("v_mov_b32 v0, 1\ns_mov_b64 exec, -1\nv_add_u32 v0, 1, v0"), waves)
    assert waves.v[0][0].tolist() == [2] * 5 + [1] * 59
