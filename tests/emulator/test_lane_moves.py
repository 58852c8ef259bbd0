"""Comparisons into lane masks, moves between lanes, and register operands relative to an index."""

import itertools

import numpy as np
import pytest
from emulator_harness import EDGES, EDGES_64, execute, pair, set_exec, start
from isa_scalar import RELATIONS, signed

from argpack.emulator.waves import EXEC, LANES, M0, VCC
from argpack.errors import UnsupportedError

INTEGER_KINDS = {"u32": (32, False), "i32": (32, True), "u64": (64, False), "i64": (64, True)}


@pytest.mark.parametrize("kind", INTEGER_KINDS)
@pytest.mark.parametrize("relation", ["eq", "ne", "gt", "ge", "lt", "le"])
def test_integer_comparison_sets_a_bit_per_enabled_lane(assembler, relation, kind):
    bits, is_signed = INTEGER_KINDS[kind]
    edges = EDGES_64[::3] if bits == 64 else EDGES[::2]
    cases = list(itertools.product(edges, edges))
    count = -(-len(cases) // LANES)
    cases += cases[:1] * (count * LANES - len(cases))
    enabled = np.arange(LANES) % 5 != 1
    operands = "v[0:1], v[2:3]" if bits == 64 else "v0, v2"
    forms = {f"v_cmp_{relation}_{kind}_e32 vcc": VCC, f"v_cmp_{relation}_{kind}_e64 s[10:11]": 10}
    forms[f"v_cmpx_{relation}_{kind}_e64 s[12:13]"] = 12
    codes = assembler.snippets({text: f"{text}, {operands}" for text in forms})
    compare = RELATIONS[{"ne": "lg"}.get(relation, relation)]
    numbers = [(signed(a, bits), signed(b, bits)) if is_signed else (a, b) for a, b in cases]
    results = np.array(list(itertools.starmap(compare, numbers))).reshape(count, LANES) & enabled
    expected = [sum(int(bit) << lane for lane, bit in enumerate(row)) for row in results]
    for text, register in forms.items():
        waves = start(count)
        for position in range(2):
            column = np.array([case[position] for case in cases], dtype=np.uint64).reshape(count, LANES)
            waves.v[2 * position][...] = column & np.uint64(0xFFFFFFFF)
            waves.v[2 * position + 1][...] = column >> np.uint64(32)
        set_exec(waves, enabled)
        execute(codes[text], waves)
        assert pair(waves, register).tolist() == expected
        mask = sum(int(bit) << lane for lane, bit in enumerate(enabled))
        assert pair(waves, EXEC).tolist() == (expected if "cmpx" in text else [mask] * count)


def numbered(count=1):
    """Waves where v0 holds lane + 1000 · wave and v1 a hundred more."""
    waves = start(count)
    waves.v[0][...] = np.arange(LANES) + 1000 * np.arange(count)[:, None]
    waves.v[1][...] = waves.v[0] + 100
    return waves


@pytest.mark.parametrize(
    ("enabled", "lane"),
    [
        (np.ones(LANES, bool), 0),
        (np.arange(LANES) > 36, 37),
        (np.arange(LANES) == 63, 63),
        (np.zeros(LANES, bool), 0),
    ],
)
def test_first_lane_is_the_lowest_enabled_or_lane_0(assembler, enabled, lane):
    waves = numbered(2)
    set_exec(waves, enabled)
    execute(assembler.code("v_readfirstlane_b32 s4, v0"), waves)
    assert waves.sgpr[4].tolist() == [lane, 1000 + lane]


def test_first_lane_differs_between_waves(assembler):
    waves = numbered(2)
    set_exec(waves, np.stack([np.arange(LANES) >= 5, np.arange(LANES) >= 6]))
    execute(assembler.code("v_readfirstlane_b32 s4, v0"), waves)
    assert waves.sgpr[4].tolist() == [5, 1006]


def test_lane_moves_ignore_exec_and_take_the_lane_modulo_64(assembler):
    waves = numbered(2)
    waves.sgpr[5] = [70, 3]
    waves.sgpr[M0] = [65, 62]
    set_exec(waves, np.zeros(LANES, bool))
    text = """
    v_readlane_b32 s6, v0, s5
    v_readlane_b32 s7, v0, 63
    v_readlane_b32 s8, v0, m0
    v_writelane_b32 v2, s6, m0
    v_writelane_b32 v3, 7, 9
    """
    execute(assembler.code(text), waves)
    assert waves.sgpr[6:9].tolist() == [[6, 1003], [63, 1063], [1, 1062]]
    assert [row.tolist() for row in np.nonzero(waves.v[2])] == [[0, 1], [1, 62]]
    assert waves.v[2][[0, 1], [1, 62]].tolist() == [6, 1003]
    assert (waves.v[3][:, 9] == 7).all()
    assert np.count_nonzero(waves.v[3]) == 2


@pytest.mark.parametrize("row", [16, 32])
def test_swap_exchanges_odd_rows_with_even_rows(assembler, row):
    waves = numbered()
    before = {register: waves.v[register][0].tolist() for register in (0, 1)}
    execute(assembler.code(f"v_permlane{row}_swap_b32 v0, v1"), waves)
    for lane in range(LANES):
        odd = lane // row % 2
        assert waves.v[0][0, lane] == (before[1][lane - row] if odd else before[0][lane])
        assert waves.v[1][0, lane] == (before[1][lane] if odd else before[0][lane + row])


@pytest.mark.parametrize("row", [16, 32])
def test_swap_of_a_register_with_itself_exchanges_its_rows(assembler, row):
    waves = numbered()
    execute(assembler.code(f"v_permlane{row}_swap_b32 v0, v0"), waves)
    assert waves.v[0][0].tolist() == [lane ^ row for lane in range(LANES)]


def test_swap_with_disabled_lanes_is_refused(assembler):
    waves = numbered()
    set_exec(waves, np.arange(LANES) < 5)
    with pytest.raises(
        UnsupportedError, match=r"v_permlane16_swap_b32 \(VOP1\) at 0x1000: 7e02b300: EXEC is not"
    ):
        execute(assembler.code("v_permlane16_swap_b32 v1, v0"), waves)


def test_register_index_selects_an_accumulation_register_per_wave(assembler):
    waves = start(3)
    for register in range(256):
        waves.v[256 + register][...] = register + 1000 * np.arange(LANES)
    waves.sgpr[4] = [0, 7, 0x1FF]  # the index is the low byte
    waves.sgpr[M0] = 0xABCD0F55
    text = """
    s_set_gpr_idx_on s4, gpr_idx(SRC0)
    v_accvgpr_read_b32 v0, a0
    v_mul_f32 v5, 2.0, v6
    s_set_gpr_idx_off
    v_accvgpr_read_b32 v1, a9
    """
    execute(assembler.code(text), waves)
    assert waves.v[0][:, 3].tolist() == [3000, 3007, 3255]
    assert waves.v[1][:, 3].tolist() == [3009] * 3
    assert waves.sgpr[M0].tolist() == [0xABCD1F00, 0xABCD1F07, 0xABCD1FFF]


@pytest.mark.parametrize(
    "text",
    [
        "v_mov_b32 v0, v1",  # its source would be relative
        "v_accvgpr_write_b32 a0, v1",
        "v_readfirstlane_b32 s8, v1",
        "v_cmp_eq_u32 vcc, v1, v2",
        "v_permlane16_swap_b32 v0, v1",
        "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[0:3], v[4:7], a[0:3], v8, v9 cbsz:4 blgp:4",
    ],
)
def test_other_relative_sources_are_refused(assembler, text):
    on = "s_set_gpr_idx_on s4, gpr_idx(SRC0)"
    with pytest.raises(UnsupportedError, match=r"at 0x1004: .*relative"):
        execute(assembler.code(f"{on}\n{text}\ns_set_gpr_idx_off"), start())


def test_relative_destinations_are_refused(assembler):
    with pytest.raises(UnsupportedError, match=r"s_set_gpr_idx_on .* at 0x1000: .*relative operands 0x9"):
        execute(assembler.code("s_set_gpr_idx_on s4, gpr_idx(SRC0,DST)"), start())


def test_a_register_index_past_the_register_file_is_refused(assembler):
    waves = start()
    waves.sgpr[4] = 200
    text = "s_set_gpr_idx_on s4, gpr_idx(SRC0)\nv_accvgpr_read_b32 v0, a60\ns_set_gpr_idx_off"
    with pytest.raises(UnsupportedError, match="register index 516 beyond"):
        execute(assembler.code(text), waves)


def test_an_index_left_on_at_the_end_of_a_block_is_refused(assembler):
    with pytest.raises(UnsupportedError, match=r"s_endpgm .* relative operands are still on"):
        execute(assembler.code("s_set_gpr_idx_on s4, gpr_idx(SRC0)"), start())
