import itertools
import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.emulator.arena import Arena
from argpack.emulator.memory import GUARD

BASE = 0x7E00_0000_0000
STORE = 64 * GUARD


@pytest.fixture
def arena():
    return Arena(mmap.mmap(-1, STORE), BASE, capacity=40 * GUARD)


def test_buffers_lie_in_the_store_with_two_guard_zones_between(arena):
    first, second = arena.allocate(1, "a"), arena.allocate(GUARD, "a")
    assert first.address == BASE + GUARD
    assert second.address == BASE + 4 * GUARD
    assert arena.used == GUARD + 1
    assert [first, second] == list(arena)


def test_names_tell_order_and_size(arena):
    arena.allocate(1, "hipMalloc")
    assert arena.allocate(4096, "hipMalloc").name == "hipMalloc #2 (4,096 bytes)"


def test_holding_finds_first_and_last_byte_and_nothing_behind(arena):
    buffer = arena.allocate(100, "a")
    assert arena.holding(buffer.address) == buffer == arena.holding(buffer.address + 99)
    assert arena.holding(buffer.address - 1) is None
    assert arena.holding(buffer.address + 100) is None


def test_only_the_start_of_a_living_buffer_is_freed(arena):
    buffer = arena.allocate(100, "a")
    assert not arena.free(buffer.address + 1)
    assert arena.free(buffer.address)
    assert not arena.free(buffer.address)
    assert arena.holding(buffer.address) is None
    assert arena.used == 0


def test_a_freed_address_is_not_the_next_one_handed_out(arena):
    old = arena.allocate(100, "a").address
    arena.free(old)
    assert arena.allocate(100, "a").address > old


def test_reused_memory_is_zero(arena):
    seen = set()
    for _ in range(50):
        buffer = arena.allocate(2 * GUARD, "a")
        assert bytes(arena.view(buffer.address, 16)) == bytes(16)
        arena.view(buffer.address, 16)[:] = bytes(range(1, 17))
        seen.add(buffer.address)
        arena.free(buffer.address)
    assert len(seen) < 50


def test_capacity_is_a_limit_of_bytes(arena):
    assert arena.allocate(40 * GUARD + 1, "a") is None
    buffer = arena.allocate(40 * GUARD, "a")
    assert arena.allocate(1, "a") is None
    arena.free(buffer.address)
    assert arena.allocate(1, "a")


def test_room_for_small_buffers_ends_with_the_store(arena):
    assert sum(arena.allocate(1, "a") is not None for _ in range(30)) == 63 // 3


def test_a_launch_sees_the_buffers_of_now(arena):
    first, second = arena.allocate(16, "a"), arena.allocate(32, "b")
    arena.view(second.address, 2)[:] = b"\x01\x02"
    arena.free(first.address)
    memory = arena.bound()
    assert list(memory.allocations.values()) == [second]
    assert memory.view(second.name)[:3].tolist() == [1, 2, 0]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 5 * GUARD)), max_size=60))
def test_no_two_buffers_come_closer_than_two_guard_zones(steps):
    arena = Arena(mmap.mmap(-1, STORE), BASE, capacity=STORE)
    living = []
    for take, size in steps:
        if take or not living:
            if (buffer := arena.allocate(size, "a")) is not None:
                living.append(buffer)
        else:
            assert arena.free(living.pop(size % len(living)).address)
        ordered = sorted(living, key=lambda b: b.address)
        assert list(arena) == ordered
        for before, after in itertools.pairwise(ordered):
            assert before.address + before.size + 2 * GUARD <= after.address
        assert all(
            b.address >= BASE + GUARD and b.address + b.size + 2 * GUARD <= BASE + STORE for b in ordered
        )
    for buffer in living:
        arena.free(buffer.address)
    assert arena.allocate(STORE - 3 * GUARD, "all")
