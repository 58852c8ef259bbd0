"""Buffer and global loads, stores and atomics against bytes moved one by one: ranges, addressing forms, masks, LDS."""

import numpy as np
import pytest
from emulator_harness import execute, memory_with, over_read, set_exec, set_pair, start
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.waves import LANES, M0
from argpack.errors import UnsupportedError

SIZE = 4096
OLD = 0xDEADBEEF
COUNTS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4}
RAW = 0x00020000  # word 3 of a raw buffer resource


def registers(first, count, file="v"):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


class Bench:
    """One wave with a buffer A of random bytes behind the resource s[4:7], and the bytes themselves."""

    def __init__(self, *, num_records=SIZE, stride=0, base=0, lds=0, word3=RAW):
        self.before = np.random.default_rng(3).integers(0, 256, SIZE, dtype=np.uint8)
        self.memory = memory_with({"A": self.before, "B": np.zeros(64, np.uint8)})
        self.waves = start(1, lds=lds)
        self.address = self.memory.allocations["A"].address
        self.waves.sgpr[4] = self.address + base & 0xFFFFFFFF
        self.waves.sgpr[5] = (self.address + base) >> 32 | stride << 16
        self.waves.sgpr[6] = num_records
        self.waves.sgpr[7] = word3
        random = np.random.default_rng(4)
        for register in range(10, 14):
            self.waves.v[register][...] = random.integers(0, 1 << 32, LANES, dtype=np.uint32)
        for register in range(20, 24):
            self.waves.v[register][...] = OLD

    def run(self, machine_code):
        execute(machine_code, self.waves, memory=self.memory)
        return self

    def dword(self, offset):
        return int.from_bytes(self.before[offset : offset + 4].tobytes(), "little")

    def column(self, register):
        return self.waves.v[register][0].tolist()

    @property
    def after(self):
        return self.memory.view("A")


@pytest.fixture(scope="module")
def code(assembler):
    texts = {}
    for form, count in COUNTS.items():
        texts["load", form] = f"buffer_load_{form} {registers(20, count)}, v0, s[4:7], s8 offen offset:20"
        texts["store", form] = f"buffer_store_{form} {registers(10, count)}, v0, s[4:7], s8 offen offset:20"
    return assembler.snippets(texts)


CASES = {
    "form": st.sampled_from(sorted(COUNTS)),
    "offsets": st.lists(
        st.integers(0, 255).map(lambda n: 4 * n), min_size=LANES, max_size=LANES, unique=True
    ),
    "records": st.integers(0, 300).map(lambda n: 4 * n),
    # With the 20 of the instruction, 12 and 44 make multiples of 16.
    "soffset": st.sampled_from([0, 4, 12, 44, 1024]),
    "mask": st.one_of(st.just((1 << 64) - 1), st.integers(0, (1 << 64) - 1)),
}


@settings(max_examples=60)
@given(**CASES, grain=st.sampled_from([1, 4]))
def test_each_dword_out_of_range_loads_zero(code, form, offsets, records, soffset, grain, mask):
    bench = Bench(num_records=records)
    offsets = [offset * grain % 1024 for offset in offsets]
    bench.waves.v[0][0], bench.waves.sgpr[8] = offsets, soffset
    set_exec(bench.waves, np.array([mask >> lane & 1 for lane in range(LANES)], dtype=bool))
    bench.run(code["load", form])
    for k in range(4):
        expected = []
        for lane, offset in enumerate(offsets):
            if not mask >> lane & 1 or k >= COUNTS[form]:
                expected.append(OLD)
            elif offset + 20 + 4 * k < records - soffset:
                expected.append(bench.dword(soffset + offset + 20 + 4 * k))
            else:
                expected.append(0)
        assert bench.column(20 + k) == expected
    assert bench.memory.findings() == ()


@settings(max_examples=60)
@given(**CASES)
def test_each_dword_out_of_range_is_not_stored(code, form, offsets, records, soffset, mask):
    bench = Bench(num_records=records)
    offsets = [4 * o for o in offsets]  # apart, so that no order of lanes matters
    bench.waves.v[0][0], bench.waves.sgpr[8] = [o % 2880 for o in offsets], soffset
    offsets = bench.column(0)
    expected = bench.before.copy()
    for lane, offset in enumerate(offsets):
        for k in range(COUNTS[form]):
            at = offset + 20 + 4 * k
            if mask >> lane & 1 and at < records - soffset:
                data = int(bench.waves.v[10 + k][0, lane]).to_bytes(4, "little")
                expected[soffset + at : soffset + at + 4] = np.frombuffer(data, np.uint8)
    set_exec(bench.waves, np.array([mask >> lane & 1 for lane in range(LANES)], dtype=bool))
    bench.run(code["store", form])
    assert np.array_equal(bench.after, expected)


def test_without_offen_all_lanes_read_the_same_place(assembler):
    bench = Bench(base=64).run(assembler.code("buffer_load_dword v20, off, s[4:7], 32 offset:12"))
    assert bench.column(20) == [bench.dword(64 + 32 + 12)] * LANES


def test_a_range_larger_than_the_buffer_is_an_over_read(assembler):
    bench = Bench(num_records=SIZE + 64)
    bench.waves.v[0][0] = SIZE - 16 * LANES + 32 + np.arange(LANES) * 16
    bench.run(assembler.code("buffer_load_dwordx4 v[20:23], v0, s[4:7], 0 offen"))
    assert bench.column(20)[-3:] == [bench.dword(SIZE - 16), 0, 0]
    assert bench.memory.findings() == (over_read(32, "A", "buffer_load_dwordx4 (MUBUF) at 0x1000"),)


def test_a_store_past_the_buffer_names_instruction_and_buffer(assembler):
    bench = Bench(num_records=SIZE + 64)
    bench.waves.v[0][0] = np.arange(LANES) * 4
    bench.waves.v[0][0, 9] = SIZE + 8
    message = (
        r"4-byte write to 0x[0-9a-f]+, 8 bytes past the end of A, by buffer_store_dword \(MUBUF\) at 0x1000"
    )
    with pytest.raises(MemoryFaultError, match=message):
        bench.run(assembler.code("buffer_store_dword v10, v0, s[4:7], 0 offen"))


def test_a_null_resource_with_a_range_is_a_fault(assembler):
    bench = Bench()
    bench.waves.sgpr[4:6] = 0
    with pytest.raises(
        MemoryFaultError, match=r"4-byte read from 0x0, below every buffer, by buffer_load_dword"
    ):
        bench.run(assembler.code("buffer_load_dword v20, off, s[4:7], 0"))


def test_index_times_stride_and_range_by_index(assembler):
    bench = Bench(stride=48, num_records=60)
    bench.waves.v[0][0] = np.arange(LANES)
    bench.waves.sgpr[8] = 96
    bench.run(assembler.code("buffer_load_dwordx2 v[20:21], v0, s[4:7], s8 idxen offset:8"))
    for k in range(2):
        expected = [bench.dword(96 + 48 * i + 8 + 4 * k) if i < 60 else 0 for i in range(LANES)]
        assert bench.column(20 + k) == expected
    bench.waves.sgpr[6] = 64
    bench.run(assembler.code("buffer_store_dword v10, v0, s[4:7], 0 idxen"))
    assert bench.after.view(np.uint32)[::12][:LANES].tolist() == bench.column(10)


@pytest.mark.parametrize(
    ("form", "size", "signed"), [("ubyte", 1, 0), ("sbyte", 1, 1), ("ushort", 2, 0), ("sshort", 2, 1)]
)
@pytest.mark.parametrize("kind", ["buffer", "global"])
def test_narrow_loads_extend(assembler, kind, form, size, signed):
    bench = Bench(num_records=150)
    bench.waves.v[0][0] = np.arange(LANES) * 3
    set_pair(bench.waves, 8, [bench.address])
    set_exec(bench.waves, np.arange(LANES) != 7)
    where = "v0, s[4:7], 0 offen" if kind == "buffer" else "v0, s[8:9]"
    bench.run(assembler.code(f"{kind}_load_{form} v20, {where} offset:2"))
    for lane in range(LANES):
        offset = 3 * lane + 2
        value = int.from_bytes(bench.before[offset : offset + size].tobytes(), "little", signed=bool(signed))
        if kind == "buffer" and offset >= 150:
            value = 0
        assert bench.column(20)[lane] == (OLD if lane == 7 else value & 0xFFFFFFFF)


@pytest.mark.parametrize(("form", "size"), [("byte", 1), ("short", 2)])
def test_narrow_stores_take_the_low_bits(assembler, form, size):
    bench = Bench()
    bench.waves.v[0][0] = np.arange(LANES) * 5
    bench.run(assembler.code(f"buffer_store_{form} v10, v0, s[4:7], 0 offen offset:1"))
    expected = bench.before.copy()
    for lane in range(LANES):
        data = np.frombuffer(int(bench.waves.v[10][0, lane]).to_bytes(4, "little")[:size], np.uint8)
        expected[5 * lane + 1 : 5 * lane + 1 + size] = data
    assert np.array_equal(bench.after, expected)


def test_data_in_accumulation_registers_and_odd_registers(assembler):
    bench = Bench()
    bench.waves.v[0][0] = np.arange(LANES) * 16
    text = """
    buffer_load_dwordx4 a[4:7], v0, s[4:7], 0 offen
    buffer_store_dwordx4 a[4:7], v0, s[4:7], 0 offen offset:2048
    buffer_load_dwordx4 v[22:25], v0, s[4:7], 0 offen
    buffer_store_dwordx4 v[22:25], v0, s[4:7], 0 offen offset:1024
    """
    bench.run(assembler.code(text))
    assert np.array_equal(bench.after[1024:3072], np.tile(bench.before[:1024], 2))
    assert bench.column(256 + 5) == [bench.dword(16 * lane + 4) for lane in range(LANES)]
    assert bench.column(25) == [bench.dword(16 * lane + 12) for lane in range(LANES)]


@pytest.mark.parametrize(("form", "count"), COUNTS.items())
def test_global_load_and_store(assembler, form, count):
    bench = Bench()
    set_pair(bench.waves, 8, [bench.address + 2048])
    whole = bench.address + 16 * np.arange(LANES)
    bench.waves.v[0][0], bench.waves.v[1][0] = whole & 0xFFFFFFFF, whole >> 32
    bench.waves.v[2][0] = 16 * np.arange(LANES)
    set_exec(bench.waves, np.arange(LANES) != 11)
    text = f"""
    global_load_{form} {registers(20, count)}, v[0:1], off offset:48
    global_store_{form} v2, {registers(20, count)}, s[8:9] offset:-1024
    """
    bench.run(assembler.code(text))
    expected = bench.before.copy()
    for lane in range(LANES):
        for k in range(count):
            value = OLD if lane == 11 else bench.dword(16 * lane + 48 + 4 * k)
            assert bench.column(20 + k)[lane] == value
            if lane != 11:
                at = 1024 + 16 * lane + 4 * k
                expected[at : at + 4] = np.frombuffer(value.to_bytes(4, "little"), np.uint8)
    assert np.array_equal(bench.after, expected)


def test_global_offset_register_is_unsigned(assembler):
    bench = Bench()
    set_pair(bench.waves, 8, [bench.address - 0xFFFFFFF0])
    bench.waves.v[2][...] = 0xFFFFFFF0
    bench.run(assembler.code("global_load_dword v20, v2, s[8:9]"))
    assert bench.column(20) == [bench.dword(0)] * LANES


def test_a_pointer_into_nowhere_is_a_fault(assembler):
    bench = Bench()
    bench.waves.v[1][...] = 0xFFFFFFFF
    message = "16-byte write to 0xffffffff00000000, far above every buffer, by global_store_dwordx4"
    with pytest.raises(MemoryFaultError, match=message):
        bench.run(assembler.code("global_store_dwordx4 v[0:1], v[10:13], off"))


@pytest.mark.parametrize(("form", "count"), [("dword", 1), ("dwordx3", 3), ("dwordx4", 4)])
def test_load_to_lds_with_a_base_above_16_bits(assembler, form, count):
    m0 = 0x21000
    bench = Bench(num_records=600, lds=0x22000)
    bench.waves.v[0][0] = 16 * np.arange(LANES)[::-1]
    bench.waves.sgpr[M0] = m0
    bench.waves.lds._bytes[:] = 0xCC
    enabled = np.arange(LANES) % 4 != 2
    set_exec(bench.waves, enabled)
    bench.run(assembler.code(f"buffer_load_{form} v0, s[4:7], 0 offen offset:32 lds"))
    expected = np.full(bench.waves.lds._bytes.size, 0xCC, np.uint8)
    for lane in np.flatnonzero(enabled):
        for k in range(count):
            offset = 16 * (63 - int(lane)) + 32 + 4 * k
            value = bench.dword(offset) if offset < 600 else 0
            at = m0 + 32 + 4 * count * lane + 4 * k
            expected[at : at + 4] = np.frombuffer(value.to_bytes(4, "little"), np.uint8)
    assert np.array_equal(bench.waves.lds._bytes, expected)


@pytest.mark.parametrize("records", [[SIZE, 48, 16, 1008], [SIZE, 40, 16, 1008], [SIZE, 48, 4, 0]])
@pytest.mark.parametrize(("form", "count"), [("dword", 1), ("dwordx4", 4)])
def test_load_to_lds_of_several_waves_with_ranges_of_their_own(assembler, form, count, records):
    workgroups, starts = [0, 1, 1, 0], [64, 4, 2064, 1088]
    memory = memory_with({"A": np.random.default_rng(3).integers(0, 256, SIZE, dtype=np.uint8)})
    data, address = memory.view("A").copy(), memory.allocations["A"].address
    waves = start(4, lds=4096, workgroups=workgroups)
    waves.v[0][...] = 16 * np.arange(LANES)[::-1]
    waves.sgpr[4], waves.sgpr[5], waves.sgpr[7] = address & 0xFFFFFFFF, address >> 32, RAW
    waves.sgpr[6], waves.sgpr[M0] = records, starts
    expected = np.zeros((2, 4096), np.uint8)
    for workgroup, first, limit in zip(workgroups, starts, records, strict=True):
        for lane in range(LANES):
            for k in range(4 * count):
                offset = 16 * (63 - lane) + k
                expected[workgroup, first + 4 * count * lane + k] = data[offset] if offset < limit else 0
    execute(assembler.code(f"buffer_load_{form} v0, s[4:7], 0 offen lds"), waves, memory=memory)
    assert np.array_equal(waves.lds._bytes.reshape(2, 4096), expected)


def test_load_to_lds_past_its_end_is_a_fault(assembler):
    bench = Bench(lds=1024)
    bench.waves.sgpr[M0] = 768 + 4
    with pytest.raises(
        MemoryFaultError, match=r"LDS access out of range: byte 0x400 \+ 4 of 0x400 by buffer_load_dword"
    ):
        bench.run(assembler.code("buffer_load_dword off, s[4:7], 0 lds"))


@pytest.mark.parametrize(
    ("text", "setup", "message"),
    [
        ("buffer_load_dword v20, v[0:1], s[4:7], 0 idxen offen", {}, "offen with idxen"),
        ("buffer_load_dword v20, off, s[4:7], 0", {"stride": 1 << 15}, "swizzled"),
        ("buffer_load_dword v20, off, s[4:7], 0", {"word3": RAW | 1 << 23}, "adds the lane number"),
        ("buffer_load_dword v20, v0, s[4:7], 0 idxen", {}, "idxen with a buffer resource of stride 0"),
        ("buffer_load_ubyte off, s[4:7], 0 lds", {}, "a load to LDS narrower than a dword"),
        ("buffer_atomic_pk_add_bf16 v10, off, s[4:7], 0 sc0", {}, "an atomic that returns the old value"),
        ("buffer_load_short_d16 v20, off, s[4:7], 0", {}, "does not execute buffer_load_short_d16"),
        ("buffer_atomic_add v10, off, s[4:7], 0", {}, "does not execute buffer_atomic_add"),
        ("global_load_lds_dword v[0:1], off", {}, "does not execute global_load_lds_dword"),
        ("flat_load_dword v20, v[0:1]", {}, "does not execute flat_load_dword"),
    ],
)
def test_forms_that_are_not_executed(assembler, text, setup, message):
    with pytest.raises(
        UnsupportedError, match=f"does not execute .* at 0x1000: .*{message}|{message} .* at 0x1000"
    ):
        Bench(**setup).run(assembler.code(text))


@pytest.mark.parametrize(
    "text", ["buffer_wbl2 sc1", "buffer_inv sc1", "s_waitcnt vmcnt(0)", "s_nop 3", "s_sleep 1"]
)
def test_waits_and_cache_control_do_nothing(assembler, text):
    bench = Bench().run(assembler.code(text))
    assert np.array_equal(bench.after, bench.before)
