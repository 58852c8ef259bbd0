"""Matrix products wait in a queue: whatever happens meanwhile, each uses the operands it was issued with.

Programs of products, overwritten operands and accumulators that are read or written mid-way run with queues of several
sizes and are compared with the same program done in order in float64.
"""

import dataclasses

import numpy as np
import pytest
from emulator_harness import execute, start
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_model import NAME, accumulator_lanes, fragment, zero

from argpack.emulator import captures, matrix, products
from argpack.emulator.waves import LANES

# Operands of rows start at v0, v4 and v8, of columns at v16, v20 and v24; scales lie in v32 to v35; data that may be
# copied over them lies 100 registers further.
ROWS, COLUMNS, SCALES, STORE = (0, 4, 8), (16, 20, 24), (32, 33, 34, 35), 100
READ = 200


@dataclasses.dataclass(frozen=True)
class Product:
    accumulator: int
    rows: int
    columns: int
    scales: tuple[int, int]
    byte: int = 0

    def text(self):
        first = 4 * self.accumulator
        operands = ", ".join(f"v[{r}:{r + 3}]" for r in (self.rows, self.columns))
        scales = ", ".join(f"v{s}" for s in self.scales)
        select = f"op_sel:[{self.byte & 1},{self.byte & 1},0] op_sel_hi:[{self.byte >> 1},{self.byte >> 1},0]"
        return f"{NAME} a[{first}:{first + 3}], {operands}, a[{first}:{first + 3}], {scales} {select} cbsz:4 blgp:4"

    def apply(self, state):
        def operand(first, scale):
            packed = np.stack([state.v[first + r] for r in range(4)])
            return fragment(packed, state.v[scale] >> np.uint32(8 * self.byte) & np.uint32(255))

        key = self.accumulator
        state.sums[key] = state.sums[key].plus(
            operand(self.rows, self.scales[0]), operand(self.columns, self.scales[1])
        )


@dataclasses.dataclass(frozen=True)
class Copy:
    """Overwrite an operand or a scale with other data."""

    register: int
    source: int

    def text(self):
        return f"v_mov_b32 v{self.register}, v{self.source}"

    def apply(self, state):
        state.v[self.register] = state.v[self.source]


@dataclasses.dataclass(frozen=True)
class Clear:
    """Set an accumulator to zero."""

    accumulator: int

    def text(self):
        return "\n".join(f"v_accvgpr_write_b32 a{4 * self.accumulator + r}, 0" for r in range(4))

    def apply(self, state):
        state.sums[self.accumulator] = zero()


@dataclasses.dataclass(frozen=True)
class Read:
    """Copy an accumulator to VGPRs; it is compared at the end."""

    accumulator: int
    number: int

    def text(self):
        first = READ + 4 * self.number
        return "\n".join(f"v_accvgpr_read_b32 v{first + r}, a{4 * self.accumulator + r}" for r in range(4))

    def apply(self, state):
        state.reads[self.number] = state.sums[self.accumulator]


@dataclasses.dataclass(frozen=True)
class Barrier:
    """Ends a block of straight-line code."""

    def text(self):
        return "s_barrier"

    def apply(self, state):
        """Nothing."""


class State:
    """The reference: one wave's VGPRs and its accumulators in float64."""

    def __init__(self, registers):
        self.v = dict(registers)
        self.sums = {accumulator: zero() for accumulator in range(64)}
        self.reads = {}


def waves_with_data(seed, count=2):
    random = np.random.default_rng(seed)
    waves = start(count)
    for register in [*range(28), *range(STORE, STORE + 28)]:
        waves.v[register][...] = random.integers(0, 1 << 32, (count, LANES), dtype=np.uint32)
    for register in [*SCALES, *(STORE + s for s in SCALES)]:
        octets = random.integers(118, 136, (count, LANES, 4)).astype(np.uint8)
        waves.v[register][...] = octets.view(np.uint32)[..., 0]
    return waves


def observed(program):
    """Accumulators that a program uses, and the numbers of its reads."""
    accumulators = {step.accumulator for step in program if isinstance(step, Product | Clear | Read)}
    return sorted(accumulators), sorted({step.number for step in program if isinstance(step, Read)})


def run(assembler, program, seed):
    """Results of all accumulators and reads: float32 (wave, number, 4, lane)."""
    waves = waves_with_data(seed)
    execute(assembler.code("\n".join(step.text() for step in program)), waves)
    accumulators, reads = observed(program)
    firsts = [256 + 4 * a for a in accumulators] + [READ + 4 * number for number in reads]
    registers = np.stack([waves.v[first + r] for first in firsts for r in range(4)], axis=1)
    return registers.view(np.float32).reshape(waves.count, -1, 4, LANES)


def reference(program, seed):
    """Value and bound, float64 (wave, number, 4, lane) each, of what `run` gives."""
    waves = waves_with_data(seed)
    accumulators, reads = observed(program)
    values, bounds = [], []
    for wave in range(waves.count):
        state = State({register: waves.v[register][wave] for register in range(256)})
        for step in program:
            step.apply(state)
        sums = [state.sums[a] for a in accumulators] + [state.reads[number] for number in reads]
        values.append([accumulator_lanes(total.value) for total in sums])
        bounds.append([accumulator_lanes(total.bound()) for total in sums])
    return np.array(values), np.array(bounds)


def check(assembler, program, seed=0, limits=(None,)):
    value, bound = reference(program, seed)
    for enough in limits:
        with pytest.MonkeyPatch.context() as patch:
            if enough is not None:
                patch.setattr(matrix, "_ENOUGH", enough)
                patch.setattr(matrix, "_DEPTH", min(enough, 2))
            found = run(assembler, program, seed).astype(np.float64)
        assert not (np.abs(found - value) > bound).any(), f"with a limit of {enough} bytes"


SIZES = (0, 4 * 1024, 1 << 40)  # every product at once, a few together, all at the end


def grid(rows, columns, *, depth, accumulator=0, order=1):
    """depth × rows × columns products; the operands are overwritten between the steps of K."""
    program = []
    for t in range(depth):
        accumulators = range(rows * columns)[::order]
        program += [
            Product(accumulator + a, ROWS[a // columns], COLUMNS[a % columns], (SCALES[0], SCALES[1]), t % 4)
            for a in accumulators
        ]
        program += [
            Copy(first + r, STORE + (first + r + 5 * t) % 28) for first in ROWS + COLUMNS for r in (0, 3)
        ]
        program.append(Copy(SCALES[0], STORE + SCALES[t % 4]))
    return program


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (3, 3)])
def test_grid_of_accumulators(assembler, shape):
    check(assembler, grid(*shape, depth=3), limits=SIZES)


@pytest.mark.parametrize("enough", SIZES)
@pytest.mark.parametrize("byte", [100, 127, 150])
def test_sums_that_float32_holds_are_exact_in_any_order(assembler, monkeypatch, enough, byte):
    # With one scale for all, every sum is a multiple of a quarter of its square, and less than 2^24 times that.
    def one_scale(seed):
        waves = waves_with_data(seed)
        for register in [*SCALES, *(STORE + s for s in SCALES)]:
            waves.v[register][...] = byte * 0x01010101
        return waves

    monkeypatch.setattr(matrix, "_ENOUGH", enough)
    monkeypatch.setattr(matrix, "_DEPTH", min(enough, 2))
    program = grid(2, 3, depth=7)
    found = accumulators_of(execute(assembler.code("\n".join(s.text() for s in program)), one_scale(5)), 6)
    waves = one_scale(5)
    for wave in range(waves.count):
        state = State({register: waves.v[register][wave] for register in range(256)})
        for step in program:
            step.apply(state)
        exact = np.concatenate([accumulator_lanes(state.sums[a].value) for a in range(6)])
        assert np.array_equal(found[wave].view(np.float32), exact)


def test_blocks_share_operands_that_are_not_overwritten(assembler):
    program = [
        *grid(2, 2, depth=1),
        Barrier(),
        *grid(2, 2, depth=2, order=-1),
        Barrier(),
        *grid(2, 2, depth=1),
    ]
    check(assembler, program, limits=SIZES)


def test_an_operand_overwritten_in_another_block_is_captured_anew(assembler):
    product = Product(0, 0, 16, (32, 33))
    for changed in (0, 3, 16, 32, 33):
        change = Copy(changed, STORE + changed)
        check(assembler, [product, Barrier(), change, Barrier(), product, Barrier(), product], limits=SIZES)
        check(assembler, [product, Barrier(), change, product], limits=SIZES)


def test_two_sets_of_accumulators_in_turns(assembler):
    first, second = grid(2, 2, depth=2), grid(2, 2, depth=2, accumulator=4, order=-1)
    mixed = [step for pair in zip(first, second, strict=True) for step in pair]
    check(assembler, mixed, limits=SIZES)


def test_one_accumulator_ahead_of_the_others(assembler):
    ahead = [Product(0, 0, 16, (32, 33), t) for t in range(4)]
    check(assembler, [*ahead, *grid(2, 2, depth=2), *ahead], limits=SIZES)


def test_reading_and_clearing_an_accumulator_between_products(assembler):
    program = grid(2, 2, depth=2)
    program = [*program, Read(3, 0), *program, Clear(3), Clear(5), *program, Read(3, 1), Read(0, 2), *program]
    check(assembler, program, limits=SIZES)


def test_the_same_product_twice_in_a_row(assembler):
    product = Product(2, 4, 20, (34, 35))
    check(assembler, [product] * 5, limits=SIZES)


def test_operands_at_any_register(assembler):
    # v2 to v5 lie across two aligned quads.
    check(assembler, [Product(0, 2, 18, (32, 33)), Copy(4, STORE), Product(0, 2, 18, (32, 33))], limits=SIZES)


def test_many_waves_in_small_parts(assembler, monkeypatch):
    program = grid(2, 3, depth=3)
    found = run(assembler, program, 1)
    monkeypatch.setattr(products, "_SHARED_BYTES", 0)
    monkeypatch.setattr(products, "_ALONE_BYTES", 1)  # one wave at a time
    assert np.array_equal(run(assembler, program, 1), found)


def sharing_waves(*, large_scale=False):
    """Six waves: waves 2i and 2i + 1 have the same rows, waves i and i + 2 the same columns."""
    waves = waves_with_data(2, count=6)
    for wave in range(6):
        for register in [*range(12), *range(STORE, STORE + 12), 32, STORE + 32]:
            waves.v[register][wave] = waves.v[register][wave // 2]
        for register in [*range(16, 28), *range(STORE + 16, STORE + 28), 33]:
            waves.v[register][wave] = waves.v[register][wave % 2]
    if large_scale:
        waves.v[33][3] = waves.v[33][3] & np.uint32(0xFFFFFF00) | np.uint32(254)
    return waves


def accumulators_of(waves, count):
    return np.stack([waves.v[256 + register] for register in range(4 * count)], axis=1)


@pytest.mark.parametrize("large_scale", [False, True])
def test_results_of_a_wave_do_not_depend_on_its_neighbours(assembler, large_scale):
    code = assembler.code("\n".join(step.text() for step in grid(2, 3, depth=3)))
    together = accumulators_of(execute(code, sharing_waves(large_scale=large_scale)), 6)
    for wave in range(6):
        alone = sharing_waves(large_scale=large_scale).take(np.arange(6) == wave, pc=0)
        assert np.array_equal(accumulators_of(execute(code, alone), 6)[0], together[wave])


def test_operands_that_only_seem_to_be_shared_are_told_apart(assembler, monkeypatch):
    code = assembler.code("\n".join(step.text() for step in grid(2, 2, depth=2)))
    expected = accumulators_of(execute(code, waves_with_data(3, count=4)), 4)
    monkeypatch.setattr(captures, "_WEIGHTS", np.zeros_like(captures._WEIGHTS))  # all marks are equal
    assert np.array_equal(accumulators_of(execute(code, waves_with_data(3, count=4)), 4), expected)


STEPS = st.one_of(
    st.builds(
        Product,
        accumulator=st.integers(0, 5),
        rows=st.sampled_from(ROWS),
        columns=st.sampled_from(COLUMNS),
        scales=st.tuples(st.sampled_from(SCALES), st.sampled_from(SCALES)),
        byte=st.integers(0, 3),
    ),
    st.builds(Copy, register=st.integers(0, 27), source=st.integers(STORE, STORE + 27)),
    st.builds(Copy, register=st.sampled_from(SCALES), source=st.sampled_from([STORE + s for s in SCALES])),
    st.builds(Clear, accumulator=st.integers(0, 5)),
    st.builds(Read, accumulator=st.integers(0, 5), number=st.integers(0, 2)),
    st.just(Barrier()),
)


@settings(max_examples=40)
@given(program=st.lists(STEPS, min_size=1, max_size=40), size=st.sampled_from([0, 2048, 8192, 1 << 40]))
def test_any_program(assembler, program, size):
    check(assembler, [*program, Product(0, 0, 16, (32, 33))], limits=(size,))
