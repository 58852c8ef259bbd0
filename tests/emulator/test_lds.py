"""LDS instructions against a bytearray per workgroup: sizes, offsets, alignment, masks, and accesses out of range."""

import numpy as np
import pytest
from emulator_harness import execute, memory_with, set_exec, start
from hypothesis import given
from hypothesis import strategies as st

from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.waves import LANES
from argpack.errors import UnsupportedError

SIZE = 8192
DWORDS = {"b32": 1, "b64": 2, "b96": 3, "b128": 4}
# Bytes per access and bytes per step of an offset.
PAIRS = {"b32": (4, 4), "b64": (8, 8), "st64_b32": (4, 256), "st64_b64": (8, 512)}
NARROW = {"u8": (1, False), "i8": (1, True), "u16": (2, False), "i16": (2, True)}
OLD = 0xDEADBEEF


def registers(first, count):
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def filled(workgroups=(0,), seed=0):
    """Waves with random LDS and random data in v4 to v11; the LDS images as bytearrays."""
    random = np.random.default_rng(seed)
    waves = start(len(workgroups), lds=SIZE, workgroups=workgroups)
    waves.lds._bytes[:] = random.integers(0, 256, waves.lds._bytes.size, dtype=np.uint8)
    for register in range(4, 12):
        waves.v[register][...] = random.integers(0, 1 << 32, (waves.count, LANES), dtype=np.uint32)
    return waves, [bytearray(image_of(waves, number)) for number in range(max(workgroups) + 1)]


def image_of(waves, workgroup):
    """All bytes of a workgroup's LDS."""
    return waves.lds._bytes.reshape(-1, SIZE)[workgroup].tobytes()


def at(data, offset, size):
    return int.from_bytes(data[offset : offset + size], "little")


@pytest.mark.parametrize("align", [16, 4, 1])
@pytest.mark.parametrize("form", DWORDS)
def test_read(assembler, form, align):
    count, offset = DWORDS[form], 48
    waves, images = filled((0, 1, 1))
    waves.v[0][...] = np.random.default_rng(align).integers(0, (SIZE - 64) // align, waves.v[0].shape) * align
    execute(assembler.code(f"ds_read_{form} {registers(12, count)}, v0 offset:{offset}"), waves)
    for wave, workgroup in enumerate((0, 1, 1)):
        for i in range(count):
            expected = [at(images[workgroup], int(a) + offset + 4 * i, 4) for a in waves.v[0][wave]]
            assert waves.v[12 + i][wave].tolist() == expected


@pytest.mark.parametrize("align", [16, 4, 1])
@pytest.mark.parametrize("form", DWORDS)
def test_write(assembler, form, align):
    count, offset = DWORDS[form], 260
    if align == 16:
        offset = 256
    waves, images = filled((1, 0))
    # No two lanes write the same place: which one stays is not defined.
    waves.v[0][...] = np.random.default_rng(align).permutation(120)[:LANES] * 64 + (3 if align == 1 else 0)
    enabled = np.arange(LANES) % 3 != 1
    set_exec(waves, enabled)
    execute(assembler.code(f"ds_write_{form} v0, {registers(6, count)} offset:{offset}"), waves)
    for wave, workgroup in enumerate((1, 0)):
        for lane in np.flatnonzero(enabled):
            start_ = int(waves.v[0][wave, lane]) + offset
            data = b"".join(int(waves.v[6 + i][wave, lane]).to_bytes(4, "little") for i in range(count))
            images[workgroup][start_ : start_ + 4 * count] = data
    assert [image_of(waves, workgroup) for workgroup in (0, 1)] == list(map(bytes, images))


@pytest.mark.parametrize("form", PAIRS)
def test_two_reads_in_one(assembler, form):
    size, unit = PAIRS[form]
    waves, images = filled()
    waves.v[0][...] = np.arange(LANES) * 8
    text = f"ds_read2{form if form[0] == 's' else '_' + form} {registers(12, size // 2)}, v0 offset0:3 offset1:10"
    execute(assembler.code(text), waves)
    for half, offset in enumerate((3, 10)):
        for i in range(size // 4):
            expected = [at(images[0], 8 * lane + offset * unit + 4 * i, 4) for lane in range(LANES)]
            assert waves.v[12 + half * size // 4 + i][0].tolist() == expected


@pytest.mark.parametrize(
    "write",
    [
        "v_mov_b32 v0, v4",
        "v_mov_b64 v[0:1], v[4:5]",
        "s_mov_b32 exec_lo, 0xff00ff\nv_mov_b32 v0, v4\ns_mov_b32 exec_lo, -1",
        "v_writelane_b32 v0, 16, 5",
        "v_permlane16_swap_b32 v0, v4",
        "v_permlane32_swap_b32 v4, v0",
        "ds_read_b32 v0, v8",
        "ds_read_b128 v[0:3], v8",
        "ds_bpermute_b32 v0, v9, v4",
        "buffer_load_dword v0, v8, s[4:7], 0 offen",
        "buffer_load_dwordx4 v[0:3], v8, s[4:7], 0 offen",
        "global_load_dwordx4 v[0:3], v8, s[4:5]",
        "v_accvgpr_write_b32 a4, v4\nv_accvgpr_read_b32 v0, a4",
    ],
)
def test_an_address_register_written_between_two_reads(assembler, write):
    waves, _ = filled((0, 1))
    words = np.arange(SIZE // 4, dtype=np.uint32).reshape(1, -1) * np.uint32(16) % np.uint32(SIZE)
    waves.lds._bytes.view(np.uint32).reshape(2, -1)[...] = words
    memory = memory_with({"A": words * np.uint32(2) % np.uint32(SIZE)})
    address = memory.allocations["A"].address
    waves.sgpr[4:8] = np.array([[address & 0xFFFFFFFF], [address >> 32], [SIZE], [0x00020000]])
    lane = np.arange(LANES)
    for register, value in {0: 16 * lane, 4: 4096 + 4 * lane, 8: 1024 + 16 * lane, 9: 4 * (lane ^ 1)}.items():
        waves.v[register][...] = value
    waves.v[5][...] = 0
    execute(
        assembler.code(f"ds_read_b128 v[12:15], v0\n{write}\nds_read_b128 v[16:19], v0"), waves, memory=memory
    )
    assert not np.array_equal(waves.v[0], np.broadcast_to(16 * lane, (2, LANES)))
    for first, register in ((12, 16 * lane), (16, waves.v[0].astype(np.int64))):
        for i in range(4):
            assert np.array_equal(
                waves.v[first + i], np.broadcast_to(words[0, register // 4 + i], (2, LANES))
            )


@pytest.mark.parametrize("address", [12, 13])
def test_two_reads_over_their_own_address(assembler, address):
    waves, images = filled()
    waves.v[address][...] = np.arange(LANES) * 4
    execute(assembler.code(f"ds_read2_b32 v[12:13], v{address} offset0:1 offset1:65"), waves)
    assert waves.v[12][0].tolist() == [at(images[0], 4 * lane + 4, 4) for lane in range(LANES)]
    assert waves.v[13][0].tolist() == [at(images[0], 4 * lane + 260, 4) for lane in range(LANES)]


@pytest.mark.parametrize("form", PAIRS)
def test_two_writes_in_one(assembler, form):
    size, unit = PAIRS[form]
    count = size // 4
    waves, images = filled()
    waves.v[0][...] = np.arange(LANES) * size
    name = f"ds_write2{form if form[0] == 's' else '_' + form}"
    text = f"{name} v0, {registers(4, count)}, {registers(8, count)} offset0:1 offset1:129"
    if unit > 8:
        text = text.replace("129", "9")
    execute(assembler.code(text), waves)
    for register, offset in ((4, 1), (8, 9 if unit > 8 else 129)):
        for lane in range(LANES):
            data = b"".join(int(waves.v[register + i][0, lane]).to_bytes(4, "little") for i in range(count))
            images[0][lane * size + offset * unit : lane * size + offset * unit + size] = data
    assert image_of(waves, 0) == bytes(images[0])


@pytest.mark.parametrize("form", NARROW)
def test_narrow_read_extends(assembler, form):
    size, is_signed = NARROW[form]
    waves, images = filled()
    waves.v[0][...] = np.arange(LANES) * 3
    waves.v[12][...] = OLD
    set_exec(waves, np.arange(LANES) != 9)
    execute(assembler.code(f"ds_read_{form} v12, v0 offset:7"), waves)
    values = [
        int.from_bytes(images[0][3 * lane + 7 : 3 * lane + 7 + size], "little", signed=is_signed)
        for lane in range(LANES)
    ]
    assert waves.v[12][0].tolist() == [v & 0xFFFFFFFF if lane != 9 else OLD for lane, v in enumerate(values)]


@pytest.mark.parametrize(("form", "size"), [("b8", 1), ("b16", 2)])
def test_narrow_write_takes_the_low_bits(assembler, form, size):
    waves, images = filled()
    waves.v[0][...] = np.arange(LANES) * 3
    execute(assembler.code(f"ds_write_{form} v0, v4 offset:5"), waves)
    for lane in range(LANES):
        data = int(waves.v[4][0, lane]).to_bytes(4, "little")[:size]
        images[0][3 * lane + 5 : 3 * lane + 5 + size] = data
    assert image_of(waves, 0) == bytes(images[0])


def test_data_in_accumulation_registers(assembler):
    waves, images = filled()
    waves.v[0][...] = np.arange(LANES) * 16
    text = """
    ds_read_b128 a[4:7], v0
    ds_read2_b32 a[8:9], v0 offset0:1 offset1:2
    ds_read_u8 a10, v0
    ds_bpermute_b32 a11, v0, a4
    ds_write_b64 v0, a[4:5] offset:4096
    """
    execute(assembler.code(text), waves)
    lanes = range(LANES)
    assert waves.v[256 + 6][0].tolist() == [at(images[0], 16 * lane + 8, 4) for lane in lanes]
    assert waves.v[256 + 9][0].tolist() == [at(images[0], 16 * lane + 8, 4) for lane in lanes]
    assert waves.v[256 + 10][0].tolist() == [at(images[0], 16 * lane, 1) for lane in lanes]
    assert waves.v[256 + 11][0].tolist() == [at(images[0], 64 * lane % 1024, 4) for lane in lanes]
    assert image_of(waves, 0)[4096:4104] == bytes(images[0][:8])


@given(
    addresses=st.lists(st.integers(0, 0xFFFFFFFF), min_size=LANES, max_size=LANES),
    mask=st.integers(0, (1 << 64) - 1),
)
def test_bpermute_reads_enabled_lanes_and_zero_of_others(bpermute, addresses, mask):
    waves = start()
    waves.v[0][0] = addresses
    waves.v[1][0] = np.arange(LANES) + 500
    waves.v[2][...] = OLD
    set_exec(waves, np.array([mask >> lane & 1 for lane in range(LANES)], dtype=bool))
    execute(bpermute, waves)
    chosen = [address // 4 % LANES for address in addresses]
    expected = [500 + lane if mask >> lane & 1 else 0 for lane in chosen]
    assert waves.v[2][0].tolist() == [e if mask >> lane & 1 else OLD for lane, e in enumerate(expected)]


@pytest.fixture(scope="module")
def bpermute(assembler):
    return assembler.code("ds_bpermute_b32 v2, v0, v1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ds_read_b32 v1, v0 offset:8", r"byte 0x2004 \+ 4 of 0x2000 by ds_read_b32 \(DS\) at 0x1000"),
        ("ds_write_b128 v0, v[4:7]", r"byte 0x1ffc \+ 16 of 0x2000 by ds_write_b128 \(DS\) at 0x1000"),
        ("ds_read_u8 v1, v0 offset:4", r"byte 0x2000 \+ 1 of 0x2000 by ds_read_u8 \(DS\) at 0x1000"),
        ("ds_write2_b32 v0, v1, v2 offset0:0 offset1:1", r"byte 0x2000 \+ 4 of 0x2000 by ds_write2_b32"),
    ],
)
def test_access_past_the_end_is_a_fault(assembler, text, message):
    waves = start(1, lds=SIZE)
    waves.v[0][0, 63] = SIZE - 4
    with pytest.raises(MemoryFaultError, match=f"LDS access out of range: {message}"):
        execute(assembler.code(text), waves)


def test_a_disabled_lane_may_hold_any_address(assembler):
    waves, images = filled()
    waves.v[0][0, 5] = 0xFFFFFFF0
    set_exec(waves, np.arange(LANES) != 5)
    execute(
        assembler.code("ds_read_b128 v[12:15], v0\nds_read_u16 v16, v0\nds_write_b32 v0, v4 offset:64"), waves
    )
    assert waves.v[12][0, 4] == at(images[0], 0, 4)
    assert waves.v[12][0, 5] == 0


def test_forms_that_are_not_executed(assembler):
    with pytest.raises(
        UnsupportedError, match=r"does not execute ds_bpermute_b32 .* at 0x1000: .*: offset0 = 4"
    ):
        execute(assembler.code("ds_bpermute_b32 v2, v0, v1 offset:4"), start(1, lds=64))
    with_gds = bytearray(assembler.code("ds_read_b32 v0, v1"))
    with_gds[2] |= 1
    with pytest.raises(UnsupportedError, match=r"does not execute ds_read_b32 .* at 0x1000: .*: gds = 1"):
        execute(bytes(with_gds), start(1, lds=64))
