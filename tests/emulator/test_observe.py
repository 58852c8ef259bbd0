"""What an observer is told of a launch: every access with its lanes, the code that ran, the waves that ran it."""

from __future__ import annotations

import numpy as np
import pytest

from argpack.codeobject import parse, read
from argpack.emulator.observe import Direction, Observers
from argpack.families import Problem
from argpack.families.aiter_f4gemm.judge import SENTINEL
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.launch import Buffer, Launch, Relocation
from argpack.launch.emulator_backend import EmulatorBackend

# s[4:7]: a raw buffer resource of 100 bytes at A; v1: 16 bytes a lane.
RESOURCE = """
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_load_dwordx2 s[8:9], s[0:1], 0x8
    s_mov_b32 s6, 100
    s_mov_b32 s7, 0x20000
    v_lshlrev_b32 v1, 4, v0
    s_waitcnt lgkmcnt(0)
"""


class Recorder:
    """Keeps every call."""

    def __init__(self):
        self.batches, self.blocks, self.memory, self.lds = [], [], [], []

    def begin(self, memory):
        self.allocations = dict(memory.allocations)

    def batch(self, dispatch, workgroups):
        self.batches.append((dispatch.kernarg_address, workgroups.tolist()))

    def block(self, waves, code):
        self.blocks.append((waves.number.tolist(), code))

    def memory_access(self, waves, access):
        self.memory.append(access)

    def lds_access(self, waves, access):
        self.lds.append((waves.number.tolist(), access))

    def offsets(self, name, direction):
        """Byte offsets in a buffer that were accessed, as a set."""
        start = self.allocations[name].address
        pieces = [a.made() for a in self.memory if a.direction is direction]
        return {int(at) - start + i for at_all, size in pieces for at in at_all for i in range(size)} & set(
            range(self.allocations[name].size)
        )


@pytest.fixture
def observed(assembler):
    """Runs a text on buffers A (256 bytes) and B (1040 bytes), gives what was recorded and the result."""

    def run(text, *, items=64, lds=0, grid=(1, 1, 1)):
        code_object = parse(assembler.code_object(text, lds=lds, kernarg=16), source="text.co")
        launch = Launch(
            code_object=code_object,
            kernel=code_object.kernels[0],
            arguments=bytes(16),
            relocations=(Relocation(0, "A"), Relocation(8, "B")),
            buffers=(Buffer("A", np.arange(256, dtype=np.uint8)), Buffer("B", np.zeros(1040, np.uint8))),
            grid=grid,
            block=(items, 1, 1),
        )
        recorder = Recorder()
        return recorder, EmulatorBackend(processes=4, observer=recorder).run(launch)

    return run


def test_a_load_out_of_range_of_its_resource_is_told_dword_by_dword(observed):
    seen, _ = observed(RESOURCE + "buffer_load_dwordx4 v[4:7], v1, s[4:7], 0 offen")
    load = seen.memory[-1]
    base = seen.allocations["A"].address
    made, size = load.made()
    assert (load.direction, load.size, size) == (Direction.READ, 16, 4)
    assert sorted(made - base) == list(range(0, 100, 4))
    dropped, size = load.dropped()
    assert (sorted(dropped - base), size) == (list(range(100, 1024, 4)), 4)


def test_lanes_that_are_not_enabled_neither_access_nor_are_dropped(observed):
    text = RESOURCE + "s_mov_b64 exec, 0xff\nbuffer_store_dwordx4 v[4:7], v1, s[4:7], 0 offen"
    seen, _ = observed(text)
    base = seen.allocations["A"].address
    assert sorted(seen.memory[-1].made()[0] - base) == list(range(0, 100, 4))
    assert sorted(seen.memory[-1].dropped()[0] - base) == list(range(100, 128, 4))


def test_a_global_store_is_told_with_its_lanes(observed):
    text = RESOURCE + "s_mov_b64 exec, 0x5\nglobal_store_dwordx2 v1, v[4:5], s[8:9] offset:8"
    seen, _ = observed(text)
    made, size = seen.memory[-1].made()
    assert ((made - seen.allocations["B"].address).tolist(), size) == ([8, 40], 8)
    assert seen.memory[-1].dropped()[0].size == 0
    assert seen.offsets("B", Direction.WRITE) == {*range(8, 16), *range(40, 48)}


def test_scalar_loads_name_the_argument_bytes(observed):
    seen, _ = observed(RESOURCE)
    address, _ = seen.batches[0]
    assert [(a.address.tolist(), a.size) for a in seen.memory] == [([[address]], 8), ([[address + 8]], 8)]


def test_a_load_to_lds_is_told_as_both(observed):
    text = RESOURCE + "s_mov_b32 m0, 0x40\nbuffer_load_dword v1, s[4:7], 0 offen offset:8 lds"
    seen, _ = observed(text, lds=512)
    (_, write), load = seen.lds[-1], seen.memory[-1]
    assert (write.direction, write.size, write.instruction) == (Direction.WRITE, 4, load.instruction)
    assert write.made()[0].tolist() == [0x40 + 8 + 4 * lane for lane in range(64)]
    assert sorted(load.made()[0] - seen.allocations["A"].address) == list(range(8, 100, 16))


@pytest.mark.parametrize(
    ("instruction", "direction", "parts"),
    [
        ("ds_read_b128 v[4:7], v1 offset:32", "read", [(32, 16)]),
        ("ds_write_b16 v1, v4 offset:2", "write", [(2, 2)]),
        ("ds_read_i8 v4, v1 offset:3", "read", [(3, 1)]),
        ("ds_read2_b32 v[4:5], v1 offset0:1 offset1:3", "read", [(4, 4), (12, 4)]),
        ("ds_write2st64_b64 v1, v[4:5], v[6:7] offset0:0 offset1:2", "write", [(0, 8), (1024, 8)]),
    ],
)
def test_each_part_of_a_ds_instruction_is_told(observed, instruction, direction, parts):
    seen, _ = observed(RESOURCE + instruction, lds=4096)
    assert [(a.direction, a.address[0, :2].tolist(), a.size) for _, a in seen.lds] == [
        (direction, [offset, offset + 16], size) for offset, size in parts
    ]


def test_waves_keep_their_numbers_where_their_ways_part(observed):
    text = """
    v_readfirstlane_b32 s3, v0
    s_cmp_lt_u32 s3, 0x80
    s_cbranch_scc1 after
    s_nop 0
after:
    s_barrier
    """
    seen, _ = observed(text, items=256)
    kinds = [(numbers, code.kind) for numbers, code in seen.blocks]
    assert kinds[0] == ([0, 1, 2, 3], "conditional")
    assert sorted(kinds[1:]) == sorted(
        [([0, 1], "barrier"), ([2, 3], "barrier"), ([0, 1], "end"), ([2, 3], "end")]
    )
    names = [operation.instruction.mnemonic for operation in seen.blocks[0][1].operations]
    assert names == ["v_readfirstlane_b32", "s_cmp_lt_u32", "s_cbranch_scc1"]
    first = seen.blocks[0][1].operations[0]
    assert (first.reads, first.scalar_writes) == ({0}, {3})


def test_an_observed_launch_runs_all_workgroups_in_this_process(observed):
    seen, _ = observed(RESOURCE, items=256, grid=(9, 8, 1))
    assert sorted(w for _, batch in seen.batches for w in batch) == [
        [x, y, 0] for x in range(9) for y in range(8)
    ]


def test_a_real_kernel_computes_the_same_and_its_stores_are_all_told(kernels_dir):
    path = kernels_dir / "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"
    code_object = read(path)
    work = prepare(code_object, code_object.kernels[0], Problem(m=27, n=160, k=512))
    plain = EmulatorBackend(processes=1).run(work.launch)
    recorders = [Recorder(), Recorder()]
    result = EmulatorBackend(observer=Observers(recorders)).run(work.launch)
    assert np.array_equal(result.buffers["D"], plain.buffers["D"])
    seen = recorders[0]
    assert len(seen.memory) == len(recorders[1].memory) > 10
    changed = np.flatnonzero(result.buffers["D"].view(np.uint16) != SENTINEL)
    assert seen.offsets("D", Direction.WRITE) == {2 * int(i) + half for i in changed for half in (0, 1)}
    assert seen.offsets("A", Direction.READ) == set(range(27 * 256))
    assert max(seen.offsets("kernarg segment", Direction.READ)) < 372
