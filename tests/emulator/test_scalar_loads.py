"""Scalar loads: sizes, offsets of every form, over-reads and faults."""

import numpy as np
import pytest
from emulator_harness import execute, memory_with, over_read, set_pair, start

from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.waves import M0
from argpack.errors import UnsupportedError

WORDS = np.arange(1, 65, dtype=np.uint32) * 0x01010101


def loaded(assembler, text, *, offset=0, **registers):
    """Runs `text` with s[0:1] = A + offset (+ 4 for the second wave)."""
    memory = memory_with({"A": WORDS, "B": np.zeros(4, np.uint32)})
    waves = start(2)
    set_pair(waves, 0, [memory.allocations["A"].address + offset + 4 * wave for wave in range(2)])
    for name, value in registers.items():
        waves.sgpr[M0 if name == "m0" else int(name[1:])] = value
    return execute(assembler.code(text), waves, memory=memory), memory


@pytest.mark.parametrize(("form", "count"), [("", 1), ("x2", 2), ("x4", 4), ("x8", 8), ("x16", 16)])
def test_sizes(assembler, form, count):
    destination = f"s[16:{15 + count}]" if count > 1 else "s16"
    waves, _ = loaded(assembler, f"s_load_dword{form} {destination}, s[0:1], 0x10")
    for wave in range(2):
        assert waves.sgpr[16 : 16 + count, wave].tolist() == WORDS[4 + wave : 4 + wave + count].tolist()
    assert not waves.sgpr[16 + count :, 0][:8].any()


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ("s[0:1], 0x0", 16),
        ("s[0:1], -0x40", 0),
        ("s[0:1], s5", 18),
        ("s[0:1], m0", 20),
        ("s[0:1], s5 offset:0x14", 23),
        ("s[0:1], 0x7", 17),  # the low two bits of an address do not count
    ],
)
def test_offsets(assembler, operands, expected):
    waves, _ = loaded(assembler, f"s_load_dword s16, {operands}", offset=64, s5=8, m0=16)
    assert waves.sgpr[16].tolist() == WORDS[[expected, expected + 1]].tolist()


def test_a_destination_over_the_base(assembler):
    waves, _ = loaded(assembler, "s_load_dwordx4 s[0:3], s[0:1], 0x0")
    assert waves.sgpr[0:4, 0].tolist() == WORDS[:4].tolist()


def test_an_over_read_gives_what_lies_inside(assembler):
    waves, memory = loaded(assembler, "s_load_dwordx4 s[16:19], s[0:1], 0xf4")
    assert waves.sgpr[16:20].tolist() == [
        [WORDS[61], WORDS[62]],
        [WORDS[62], WORDS[63]],
        [WORDS[63], 0],
        [0, 0],
    ]
    assert memory.findings() == (over_read(12, "A", "s_load_dwordx4 (SMEM) at 0x1000"),)


def test_a_null_pointer_is_a_fault(assembler):
    message = r"4-byte read from 0x8, below every buffer, by s_load_dwordx2 \(SMEM\) at 0x1000"
    with pytest.raises(MemoryFaultError, match=message):
        loaded(assembler, "s_load_dwordx2 s[16:17], s[2:3], 0x8")


def test_cache_control_does_nothing(assembler):
    waves, _ = loaded(assembler, "s_dcache_inv\ns_load_dword s16, s[0:1], 0x0\ns_dcache_wb")
    assert waves.sgpr[16, 0] == WORDS[0]


@pytest.mark.parametrize("name", ["s_store_dword", "s_buffer_load_dword", "s_atomic_add"])
def test_other_scalar_memory_instructions_are_refused(assembler, name):
    base = "s[0:3]" if "buffer" in name else "s[0:1]"
    with pytest.raises(UnsupportedError, match=f"does not execute {name} "):
        loaded(assembler, f"{name} s4, {base}, 0x0")
