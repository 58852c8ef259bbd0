"""A store that takes memory only where it is touched, and says where that was."""

import os
import resource

import numpy as np
import pytest

from argpack.emulator.sparse import PAGE, SparseStore, pages_of, ranges_of
from argpack.errors import InputError, UnavailableError

GIB = 1 << 30


def test_pages_written_and_read_are_told_and_others_take_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    store = SparseStore(64 * GIB)
    data = np.frombuffer(store.map, np.uint8)
    data[40 * GIB] = 1
    assert int(data[50 * GIB + 5 * PAGE + 7]) == 0
    data[PAGE - 1 : PAGE + 1] = 2
    expected = [[0, 2 * PAGE], [40 * GIB, 40 * GIB + PAGE], [50 * GIB + 5 * PAGE, 50 * GIB + 6 * PAGE]]
    assert store.touched().tolist() == expected
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


def test_pages_that_a_forked_process_touches_are_told():
    store = SparseStore(GIB)
    child = os.fork()
    if not child:
        store.map[3 * PAGE] = 1
        os._exit(0)
    os.waitpid(child, 0)
    assert store.touched().tolist() == [[3 * PAGE, 4 * PAGE]]
    assert store.map[3 * PAGE] == 1


def test_nothing_touched_is_an_empty_array():
    assert SparseStore(GIB).touched().shape == (0, 2)


def test_a_store_that_no_address_space_holds_is_refused():
    with pytest.raises(InputError, match=r"buffers of \d+ bytes: no addresses for them"):
        SparseStore(1 << 62)


def test_a_system_without_memory_files_is_told(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    with pytest.raises(UnavailableError, match="needs memfd_create"):
        SparseStore(GIB)


def test_pages_of_ranges_and_back():
    ranges = np.array([[5, 6], [PAGE - 1, PAGE + 1], [3 * PAGE, 5 * PAGE], [9, 9]], np.int64)
    pages = pages_of(ranges)
    assert pages.tolist() == [0, 1, 3, 4]
    assert ranges_of(pages).tolist() == [[0, 2 * PAGE], [3 * PAGE, 5 * PAGE]]
    assert pages_of(np.empty((0, 2), np.int64)).tolist() == []
    assert ranges_of(pages[:0]).tolist() == []
