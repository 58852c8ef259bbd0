"""Workgroups over batches and processes: each runs once, results and findings come together, failures come through."""

import itertools
import multiprocessing
import os

import numpy as np
import pytest
from emulator_harness import memory_with, over_read

from argpack.codeobject import parse
from argpack.emulator import schedule
from argpack.emulator.engine import Dispatch
from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.program import Program
from argpack.emulator.schedule import Schedule, run_schedule
from argpack.errors import UnsupportedError

# Each workgroup adds 1 to its own dword, reads `past` bytes behind the buffer, and does `special` if it is (3, 1, 0).
TEXT = """
    s_load_dwordx2 s[6:7], s[0:1], 0x0
    s_mul_i32 s8, s4, 2
    s_add_u32 s8, s8, s3
    s_mul_i32 s8, s8, 5
    s_add_u32 s8, s8, s2
    s_lshl_b32 s8, s8, 2
    v_mov_b32 v1, s8
    s_mov_b64 exec, 1
    global_load_dword v2, v1, s[6:7]
    v_add_u32 v2, 1, v2
    global_store_dword v1, v2, s[6:7]
    v_mov_b32 v3, {past}
    global_load_dword v4, v3, s[6:7]
    s_cmp_eq_u32 s8, 32
    s_cbranch_scc0 end
    {special}
  end:
"""
GRID = (5, 2, 3)


@pytest.fixture(scope="module")
def prepared(assembler):
    def make(past=0, special="s_nop 0"):
        code_object = parse(
            assembler.code_object(TEXT.format(past=past, special=special)), source="snippet.co"
        )
        kernel = code_object.kernels[0]
        segment = next(
            s for s in code_object.segments if s.address <= kernel.code_address < s.address + len(s.data)
        )
        memory = memory_with({"out": np.zeros(30 * 4, np.uint8), "args": np.zeros(16, np.uint8)})
        memory.view("args").view(np.uint64)[0] = memory.allocations["out"].address
        program = Program(segment.data, segment.address, flush_f32=True, name=kernel.name)
        address = memory.allocations["args"].address
        return program, Dispatch(kernel.descriptor, kernel.code_address, (64, 1, 1), 0, address), memory

    return make


def run(made, processes, seen=None):
    program, dispatch, memory = made
    progress = None if seen is None else lambda done, total: seen.append((done, total))
    run_schedule(program, dispatch, memory, Schedule(GRID, processes), progress=progress)
    return memory.view("out").view(np.uint32).tolist()


@pytest.mark.parametrize("grid", [(1, 1, 1), (5, 2, 3), (7, 3, 1), (2, 2, 40)])
@pytest.mark.parametrize("waves", [1, 4, 16])
def test_every_workgroup_is_in_one_batch_and_slices_stay_together(grid, waves):
    batches = Schedule(grid, 2).batches(waves)
    ids = [tuple(map(int, row)) for batch in batches for row in batch]
    assert sorted(ids) == sorted(itertools.product(*map(range, grid)))
    for batch in batches:
        tiles = {tuple(row[:2]) for row in batch.tolist()}
        assert len(batch) == len(tiles) * grid[2]
        assert len(batch) * waves <= schedule._WAVES or len(tiles) == 1


@pytest.mark.parametrize(("vgprs", "count"), [(512, 192), (1000, 98), (1, 1024)])
def test_waves_side_by_side_are_as_many_as_their_registers_have_room_for(vgprs, count):
    batches = Schedule((64, 64, 1), 2).batches(4, vgprs=vgprs)
    assert count // 2 < 4 * max(map(len, batches)) <= count


@pytest.mark.parametrize("grid", [(16, 16, 1), (24, 16, 1), (20, 20, 1), (16, 16, 2), (64, 9, 1)])
@pytest.mark.parametrize("processes", [1, 2, 3, 4])
def test_no_process_waits_long_for_another(grid, processes):
    batches = Schedule(grid, processes).batches(4)
    rounds = -(-len(batches) // processes)
    assert rounds * processes * max(map(len, batches)) <= 1.5 * np.prod(grid)


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize("waves", [1, 8, 1000])
def test_every_workgroup_runs_once(prepared, monkeypatch, processes, waves):
    monkeypatch.setattr(schedule, "_WAVES", waves)
    seen = []
    assert run(prepared(), processes, seen) == [1] * 30
    assert seen[-1] == (30, 30)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@pytest.mark.parametrize("processes", [1, 2])
def test_findings_of_all_processes_add_up(prepared, monkeypatch, processes):
    monkeypatch.setattr(schedule, "_WAVES", 3)
    made = prepared(past=4 * 30)
    assert run(made, processes) == [1] * 30
    (text,) = made[2].findings()
    where = text.split(" by ")[1].split(" (zero")[0]
    assert text == over_read(4 * 30, "out", where)
    assert where.startswith("global_load_dword (GLOBAL) at 0x")


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("special", "error", "message"),
    [
        (
            "s_sleep 1\ns_getpc_b64 s[10:11]",
            UnsupportedError,
            "snippet: the emulator does not execute s_getpc_b64",
        ),
        (
            "global_store_dword v3, v2, s[2:3]",
            MemoryFaultError,
            "4-byte write to .*, below every buffer, by global",
        ),
    ],
)
def test_a_failure_in_any_workgroup_comes_through(prepared, monkeypatch, processes, special, error, message):
    monkeypatch.setattr(schedule, "_WAVES", 3)
    with pytest.raises(error, match=message):
        run(prepared(special=special), processes)


def test_a_process_that_dies_is_reported(prepared, monkeypatch):
    monkeypatch.setattr(schedule, "_WAVES", 3)
    monkeypatch.setattr(schedule, "_work", lambda *_: os._exit(9))
    with pytest.raises(UnsupportedError, match="an emulator process ended unexpectedly"):
        run(prepared(), 2)


def drain(pipe):
    received = []
    while pipe.poll():
        received.append(pipe.recv())
    return received


def test_a_worker_takes_batches_until_none_is_left(prepared):
    program, dispatch, memory = prepared(past=120)
    memory.over_reads["other", "earlier"] = 5
    batches = Schedule(GRID, 1).batches(256)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    schedule._work(program, dispatch, memory, batches, multiprocessing.Value("q", 0), theirs)
    *counts, over_reads = drain(ours)
    assert counts == [len(batch) for batch in batches]
    assert len(counts) > 1
    assert list(over_reads.values()) == [120]


def test_a_worker_sends_what_went_wrong(prepared):
    program, dispatch, memory = prepared(special="s_getpc_b64 s[10:11]")
    ours, theirs = multiprocessing.Pipe(duplex=False)
    schedule._work(
        program, dispatch, memory, Schedule(GRID, 1).batches(1), multiprocessing.Value("q", 0), theirs
    )
    (error,) = drain(ours)
    assert isinstance(error, UnsupportedError)
