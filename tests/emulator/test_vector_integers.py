"""Every row of the integer vector tables against the manual's meaning, with all lanes enabled and with some."""

import itertools

import numpy as np
import pytest
from emulator_harness import EDGES, EDGES_64, execute, pair, set_exec, set_pair, start
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_scalar import M32, M64
from isa_vector import CARRY, LANE_COUNTS, LONG, MAD_64, SHORT, WIDE

from argpack.emulator import vector
from argpack.emulator.waves import EXEC, LANES, VCC

FORMS = {f"{name}_{form}": row for name, row in SHORT.items() for form in ("e32", "e64")} | LONG
OLD = 0xDEADBEEF


def triples(count, bits, seed=0):
    """`count` triples of edge values, or all pairs of them with a random third."""
    random = np.random.default_rng(seed)

    def chosen(values):
        return values[random.integers(len(values))]

    edges = [EDGES_64 if width == 64 else EDGES for width in bits]
    pairs = itertools.product(edges[0], edges[1])
    mixed = [tuple(chosen(values) for values in edges) for _ in range(count)]
    return [(a, b, chosen(edges[2])) for a, b in pairs] + mixed


def load(cases, registers):
    """Waves whose lanes hold the cases, each source in its VGPR pair; the first case fills the last wave."""
    count = -(-len(cases) // LANES)
    waves = start(count)
    padded = cases + cases[:1] * (count * LANES - len(cases))
    for position, register in enumerate(registers):
        column = np.array([case[position] for case in padded], dtype=np.uint64).reshape(count, LANES)
        waves.v[register][...] = column & np.uint64(M32)
        waves.v[register + 1][...] = column >> np.uint64(32)
    return waves, padded


def lanes(waves, register, bits=32):
    low = waves.v[register].astype(np.uint64)
    high = waves.v[register + 1].astype(np.uint64) << np.uint64(32)
    return [int(value) for value in ((low | high) if bits == 64 else low).ravel()]


def text(name, count):
    return f"{name} v8, " + ", ".join(["v0", "v2", "v4"][:count])


@pytest.fixture(scope="module")
def code(assembler):
    return assembler.snippets({name: text(name, count) for name, (count, _) in FORMS.items()})


def test_the_models_cover_every_row_of_the_tables():
    assert SHORT.keys() | LONG.keys() | LANE_COUNTS.keys() == set(vector.INTEGER)
    assert WIDE.keys() == set(vector.INTEGER_64)
    assert CARRY.keys() == set(vector.CARRY)


@pytest.mark.parametrize("name", FORMS)
def test_result_on_edge_values(code, name):
    count, compute = FORMS[name]
    waves, cases = load(triples(500, (32, 32, 32)), (0, 2, 4))
    execute(code[name], waves)
    assert lanes(waves, 8) == [compute(*case[:count]) for case in cases]


VALUE = st.one_of(st.sampled_from(EDGES), st.integers(0, M32))


@settings(max_examples=100)
@given(
    name=st.sampled_from(sorted(FORMS)),
    cases=st.lists(st.tuples(VALUE, VALUE, VALUE), min_size=2, max_size=80),
    enabled=st.integers(0, M64),
)
def test_disabled_lanes_keep_their_value(code, name, cases, enabled):
    count, compute = FORMS[name]
    waves, cases = load(cases, (0, 2, 4))
    waves.v[8][...] = OLD
    set_exec(waves, np.array([enabled >> lane & 1 for lane in range(LANES)], dtype=bool))
    execute(code[name], waves)
    assert lanes(waves, 8) == [
        compute(*case[:count]) if enabled >> number % LANES & 1 else OLD for number, case in enumerate(cases)
    ]


def test_byte_permute_with_sign_and_constant_selectors(code):
    waves, _ = load([(0x80FF7F01, 0x0080C040, 0x0D0C0B0A), (0x80FF7F01, 0x0080C040, 0x0809FF04)], (0, 2, 4))
    execute(code["v_perm_b32"], waves)
    assert lanes(waves, 8)[:2] == [0xFF00FF00, 0xFF00FF01]


@pytest.mark.parametrize("name", LANE_COUNTS)
def test_count_of_lower_lanes(assembler, name):
    waves, cases = load(triples(0, (32, 32, 32)), (0, 2, 4))
    execute(assembler.code(text(name, 2)), waves)
    assert lanes(waves, 8) == [
        LANE_COUNTS[name](a, b, number % LANES) for number, (a, b, _) in enumerate(cases)
    ]


@pytest.mark.parametrize("name", WIDE)
def test_64_bit_result(assembler, name):
    widths, compute = WIDE[name]
    bits = (*widths, 32, 32)[:3]
    waves, cases = load(triples(300, bits), (0, 2, 4))
    operands = [f"v[{r}:{r + 1}]" if b == 64 else f"v{r}" for r, b in zip((0, 2, 4), widths, strict=False)]
    execute(assembler.code(f"{name} v[8:9], {', '.join(operands)}"), waves)
    assert lanes(waves, 8, 64) == [compute(*case[: len(widths)]) for case in cases]


def test_64_bit_operand_forms(assembler):
    forms = {"-1": M64, "64": 64, "s[4:5]": 5 << 32 | 4}
    codes = assembler.snippets({form: f"v_lshl_add_u64 v[8:9], {form}, 0, v[0:1]" for form in forms})
    for form, value in forms.items():
        waves = start(2)
        set_pair(waves, 4, [5 << 32 | 4] * 2)
        assert set(lanes(execute(codes[form], waves), 8, 64)) == {value}


def test_result_over_its_own_source(assembler):
    waves, _ = load([(M64, 3, 0)], (0, 2, 4))
    execute(assembler.code("v_lshlrev_b64 v[0:1], v0, v[0:1]\nv_lshrrev_b64 v[2:3], v2, v[0:1]"), waves)
    assert lanes(waves, 0, 64)[0] == 1 << 63
    assert lanes(waves, 2, 64)[0] == 1 << 60


@pytest.mark.parametrize("form", ["e32", "e64"])
@pytest.mark.parametrize("name", CARRY)
def test_carry_in_and_out(assembler, name, form):
    takes_carry = name in {"v_addc_co_u32", "v_subb_co_u32", "v_subbrev_co_u32"}
    out, into = ("vcc", "vcc") if form == "e32" else ("s[10:11]", "s[12:13]")
    machine_code = assembler.code(
        f"{name}_{form} v8, {out}, v0, v2" + (f", {into}" if takes_carry else "") + "\n"
    )
    waves, cases = load(triples(200, (32, 32, 32)), (0, 2, 4))
    masks = np.random.default_rng(1).integers(0, M64, waves.count, dtype=np.uint64).tolist()
    enabled = 0xFFFF0F0FFFFFFFF3
    set_pair(waves, VCC if form == "e32" else 12, masks)
    set_exec(waves, np.array([enabled >> lane & 1 for lane in range(LANES)], dtype=bool))
    execute(machine_code, waves)
    carries = pair(waves, VCC if form == "e32" else 10)
    for wave, mask in enumerate(masks):
        of_wave = cases[wave * LANES : (wave + 1) * LANES]
        results = [
            CARRY[name](a, b, mask >> lane & 1) if enabled >> lane & 1 else (0, False)
            for lane, (a, b, _) in enumerate(of_wave)
        ]
        assert waves.v[8][wave].tolist() == [value for value, _ in results]
        assert int(carries[wave]) == sum(carry << lane for lane, (_, carry) in enumerate(results))


@pytest.mark.parametrize("name", MAD_64)
def test_multiply_add_of_64_bits_with_carry(assembler, name):
    waves, cases = load(triples(600, (32, 32, 64)), (0, 2, 4))
    execute(assembler.code(f"{name} v[8:9], s[10:11], v0, v2, v[4:5]"), waves)
    results = list(itertools.starmap(MAD_64[name], cases))
    assert lanes(waves, 8, 64) == [value for value, _ in results]
    bits = [carry for _, carry in results]
    assert [[int(p) >> lane & 1 for lane in range(LANES)] for p in pair(waves, 10)] == (
        np.array(bits, dtype=int).reshape(-1, LANES).tolist()
    )


def test_a_negative_64_bit_sum_has_its_sign_as_carry(assembler):
    waves, _ = load([(M32, 1, 0)], (0, 2, 4))
    execute(assembler.code("v_mad_i64_i32 v[8:9], s[10:11], v0, v2, v[4:5]"), waves)
    assert (lanes(waves, 8, 64)[0], int(pair(waves, 10)[0]) & 1) == (M64, 1)


@pytest.mark.parametrize("form", ["e32", "e64"])
def test_select_by_a_lane_mask(assembler, form):
    mask = 0xF0F0123456789ABC
    waves, _ = load([(1, 2, 3)], (0, 2, 4))
    set_pair(waves, VCC if form == "e32" else 10, [mask])
    execute(
        assembler.code(f"v_cndmask_b32_{form} v8, v0, v2, {'vcc' if form == 'e32' else 's[10:11]'}"), waves
    )
    assert lanes(waves, 8) == [2 if mask >> lane & 1 else 1 for lane in range(LANES)]


@pytest.mark.parametrize(
    ("machine_text", "lane"),
    [
        ("v_add_co_u32 v8, exec, v0, v2", 1),
        ("v_mad_u64_u32 v[8:9], exec, v0, v2, v[4:5]", 1),
        ("v_cmp_eq_u32_e64 exec, v0, v2", 2),
    ],
)
def test_a_mask_written_to_exec_enables_exactly_its_lanes(assembler, machine_text, lane):
    waves, _ = load([(0, 0, 0)], (0, 2, 4))
    waves.v[0][0, :3], waves.v[2][0, :3] = [1, M32, 7], [2, M32, 7]
    waves.v[4][0, 1], waves.v[5][0, 1] = M32, M32
    waves.v[0][0, 3:] = 1
    execute(assembler.code(f"{machine_text}\nv_mov_b32 v20, 1"), waves)
    mask = int(pair(waves, EXEC)[0])
    assert mask >> lane & 1
    assert not mask & 1
    assert waves.v[20][0].tolist() == [mask >> number & 1 for number in range(LANES)]


def test_accumulation_registers_are_a_file_of_their_own(assembler):
    waves, _ = load([(5, 6, 7)], (0, 2, 4))
    text_ = """
    v_accvgpr_write_b32 a0, v2
    v_accvgpr_write_b32 a255, 64
    v_accvgpr_mov_b32 a3, a255
    v_accvgpr_read_b32 v8, a0
    v_accvgpr_read_b32 v9, a3
    """
    execute(assembler.code(text_), waves)
    assert [set(lanes(waves, register)) for register in (0, 8, 9)] == [{5}, {6}, {64}]
