"""Packed bf16 atomic adds: one rounding per addition, lanes that hit one word one after another, in lane order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from emulator_harness import execute, memory_with, set_exec, start
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_float import SIGN, is_nan, nearest, value

from argpack.emulator.atomics import add_packed_bf16
from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.waves import LANES

WORDS = 32


def add_halves(a, b):
    """Sum of two bf16 patterns: exact, then rounded to 8 significant bits."""
    x, y = a << 16, b << 16
    total = value(x) + value(y)  # exact enough to tell infinities and NaN
    if math.isnan(total):
        return 0x7FC0
    if math.isinf(total):
        return 0xFF80 if total < 0 else 0x7F80
    both_negative = bool(x & y & SIGN)
    return nearest(Fraction(value(x)) + Fraction(value(y)), precision=8, negative_zero=both_negative) >> 16


def expected_after(words, index, values):
    result = [int(word) for word in words]
    for i, v in zip(index, values, strict=True):
        low = add_halves(result[i] & 0xFFFF, int(v) & 0xFFFF)
        high = add_halves(result[i] >> 16, int(v) >> 16)
        result[i] = high << 16 | low
    return result


def same_halves(found, expected):
    return all(
        f == e or (is_nan(f << 16) and is_nan(e << 16))
        for found_word, word in zip(found, expected, strict=True)
        for f, e in ((found_word & 0xFFFF, word & 0xFFFF), (found_word >> 16, word >> 16))
    )


FINITE = st.integers(0, 0x7F7F).flatmap(lambda bits: st.sampled_from([bits, bits | 0x8000]))
HALF = st.one_of(FINITE, st.integers(0x3F00, 0x4100), st.sampled_from([0, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 1]))
WORD = st.tuples(HALF, HALF).map(lambda pair: pair[0] << 16 | pair[1])


@settings(max_examples=100)
@given(data=st.data(), words=st.lists(WORD, min_size=WORDS, max_size=WORDS))
def test_additions_happen_one_after_another_in_order(data, words):
    few = data.draw(st.integers(1, WORDS))
    adds = data.draw(st.lists(st.tuples(st.integers(0, few - 1), WORD), max_size=80))
    index, values = [i for i, _ in adds], [v for _, v in adds]
    memory = np.array(words, dtype=np.uint32)
    with np.errstate(all="ignore"):
        add_packed_bf16(memory, np.array(index, dtype=np.int64), np.array(values, dtype=np.uint32))
    assert same_halves(memory.tolist(), expected_after(words, index, values))


def test_the_order_of_lanes_decides_the_rounding():
    # 256 + 1 + 1 loses both ones, 1 + 1 + 256 keeps them.
    one, large = 0x3F80, 0x4380
    memory = np.array([large, 0], dtype=np.uint32)
    index = np.array([0, 1, 0, 1, 1], dtype=np.int64)
    add_packed_bf16(memory, index, np.array([one, one, one, one, large], dtype=np.uint32))
    assert memory.tolist() == [large, 0x4381]


@pytest.fixture(scope="module")
def code(assembler):
    return assembler.code("buffer_atomic_pk_add_bf16 v10, v0, s[4:7], 0 offen offset:4")


def launch(code, offsets, *, records, enabled=True, waves=2):
    words = np.random.default_rng(5).integers(0x3F000000, 0x40004000, WORDS).astype(np.uint32)
    memory = memory_with({"A": words})
    group = start(waves)
    address = memory.allocations["A"].address
    group.sgpr[4], group.sgpr[5], group.sgpr[6] = address & 0xFFFFFFFF, address >> 32, records
    group.v[0][...] = offsets
    group.v[10][...] = np.random.default_rng(6).integers(0x3C003C00, 0x3F803F80, (waves, LANES))
    set_exec(group, np.broadcast_to(enabled, LANES))
    execute(code, group, memory=memory)
    return words, memory.view("A").view(np.uint32).tolist(), group.v[10]


def test_lanes_of_several_waves_add_to_the_same_words(code):
    offsets = np.random.default_rng(7).integers(0, 20, (2, LANES)) * 4
    enabled = np.arange(LANES) % 3 != 0
    words, found, values = launch(code, offsets, records=64, enabled=enabled)
    active = np.broadcast_to(enabled, offsets.shape) & (offsets + 4 < 64)
    assert same_halves(found, expected_after(words, (offsets[active] + 4) // 4, values[active]))


def test_all_lanes_out_of_range_change_nothing(code):
    words, found, _ = launch(code, 64, records=64)
    assert found == words.tolist()


def test_an_atomic_past_the_buffer_is_a_fault(code):
    message = (
        r"4-byte write to 0x[0-9a-f]+, 4 bytes past the end of A, by buffer_atomic_pk_add_bf16 \(MUBUF\) at"
    )
    with pytest.raises(MemoryFaultError, match=message):
        launch(code, 4 * WORDS, records=1024)


def test_a_misaligned_atomic_is_a_fault(code):
    message = r"atomic at 0x[0-9a-f]+6, not a multiple of 4, by buffer_atomic_pk_add_bf16 \(MUBUF\) at 0x1000"
    with pytest.raises(MemoryFaultError, match=message):
        launch(code, 2, records=64)
