"""Device memory: buffers between guard zones, over-reads that are counted, accesses that are faults."""

import numpy as np
import pytest
from emulator_harness import over_read

from argpack.emulator.memory import BASE, GUARD, DeviceMemory, MemoryFaultError
from argpack.errors import InputError

WHERE = "an instruction at 0x40"


def memory():
    """A: 64 bytes, 0 to 63; B: exactly one guard zone long, of 0x42."""
    found = DeviceMemory({"A": 64, "B": GUARD})
    found.view("A")[...] = np.arange(64)
    found.view("B")[...] = 0x42
    return found


def address(memory_, name, *offsets):
    return np.array([memory_.allocations[name].address + offset for offset in offsets], dtype=np.int64)


def test_buffers_are_apart_and_look_like_device_addresses():
    found = memory()
    a, b = found.allocations["A"], found.allocations["B"]
    assert (a.size, b.size) == (64, GUARD)
    assert a.address % 4096 == b.address % 4096 == 0
    assert BASE < a.address < b.address < 1 << 48
    assert b.address - (a.address + a.size) >= 2 * GUARD


def test_loads_of_any_alignment():
    found = memory()
    for offset in (0, 4, 8, 1, 19):
        data = found.load(address(found, "A", offset, offset + 16), None, 4, where=WHERE)
        expected = np.r_[offset : offset + 32].astype(np.uint8).view(np.uint32).reshape(2, 4)
        assert np.array_equal(data, expected)


def test_lanes_in_several_buffers_are_no_over_read():
    found = memory()
    data = found.load(np.r_[address(found, "A", 0), address(found, "B", 0)], None, 1, where=WHERE)
    assert data.tolist() == [[0x03020100], [0x42424242]]
    assert found.findings() == ()


def test_an_over_read_gives_zero_for_exactly_the_dwords_outside_and_is_counted():
    found = memory()
    for _ in range(2):
        data = found.load(address(found, "A", 56, 64, 0), None, 4, where=WHERE)
        assert data.tolist() == [
            [0x3B3A3938, 0x3F3E3D3C, 0, 0],
            [0, 0, 0, 0],
            [0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C],
        ]
    assert found.findings() == (over_read(48, "A", WHERE),)


def test_disabled_lanes_read_nothing_and_may_point_anywhere():
    found = memory()
    active = np.array([True, False, False])
    data = found.load(np.r_[address(found, "A", 60, 64), 0], active, 1, where=WHERE)
    assert data.tolist() == [[0x3F3E3D3C], [0], [0]]
    data = found.load(np.r_[address(found, "A", 60, 64), 0], active, 2, where=WHERE)
    assert data.tolist() == [[0x3F3E3D3C, 0], [0, 0], [0, 0]]
    assert not found.load(np.zeros(3, np.int64), np.zeros(3, bool), 2, where=WHERE).any()
    assert len(found.findings()) == 1


@pytest.mark.parametrize(
    ("at", "place"),
    [
        (0, "below every buffer"),
        (BASE, "1,048,576 bytes before A"),
        ((1 << 48) - 4, "far above every buffer"),
        (-4, "far above every buffer"),
    ],
)
def test_a_wild_read_is_a_fault(at, place):
    with pytest.raises(
        MemoryFaultError, match=f"memory access fault: 4-byte read from .*, {place}, by {WHERE}"
    ):
        memory().load(np.array([at], dtype=np.int64), None, 1, where=WHERE)


@pytest.mark.parametrize(
    ("name", "offset", "place"),
    [
        ("A", 64 + GUARD, "1,048,576 bytes past the end of A"),
        ("B", -4, "4 bytes before B"),
        ("B", -GUARD, "1,048,576 bytes before B"),
        ("B", 3 * GUARD, "2,097,152 bytes past the end of B"),
    ],
)
def test_a_read_further_away_than_a_guard_zone_is_a_fault(name, offset, place):
    found = memory()
    with pytest.raises(MemoryFaultError, match=f"4-byte read from 0x[0-9a-f]+, {place}, by {WHERE}"):
        found.load(address(found, name, offset), None, 1, where=WHERE)


@pytest.mark.parametrize(
    ("offset", "place"),
    [(64, "0 bytes past the end of A"), (60, "across the end of A"), (100, "36 bytes past the end of A")],
)
def test_any_write_outside_is_a_fault(offset, place):
    found = memory()
    with pytest.raises(MemoryFaultError, match=f"8-byte write to 0x[0-9a-f]+, {place}, by {WHERE}"):
        found.locate(address(found, "A", 0, offset), 8, None, where=WHERE, write=True)


@pytest.mark.parametrize("offset", [0, 4, 3])
@pytest.mark.parametrize("size", [1, 4, 12, 16])
def test_masked_writes(size, offset):
    found = memory()
    data = np.full((3, size), 0xEE, dtype=np.uint8)
    at, mask = found.locate(
        address(found, "A", offset, offset + 16, 64),
        size,
        np.array([True, True, False]),
        where=WHERE,
        write=True,
    )
    found.scatter(at, mask, data)
    expected = np.arange(64, dtype=np.uint8)
    expected[offset : offset + size] = expected[offset + 16 : offset + 16 + size] = 0xEE
    assert np.array_equal(found.view("A"), expected)


def test_buffers_larger_than_the_address_space_are_refused():
    with pytest.raises(
        InputError, match=r"buffers of \d+ bytes do not fit the emulated address space of 703687441"
    ):
        DeviceMemory({"A": 1 << 46})
