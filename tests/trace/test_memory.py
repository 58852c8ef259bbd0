"""Which bytes a launch reads and writes: by snippets whose accesses are plain, and by real kernels."""

from __future__ import annotations

import numpy as np
import pytest
from gfx950_code import Assembler
from mutation import f4gemm

from argpack.codeobject import parse
from argpack.families import Problem
from argpack.families.aiter_f4gemm.judge import SENTINEL
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.launch import Buffer, Launch, Relocation
from argpack.launch.emulator_backend import EmulatorBackend
from argpack.trace import memory as memory_map
from argpack.trace.memory import MemoryMap

# v1: 4 bytes a lane; s[4:7]: 128 bytes of IN behind a buffer resource; s[10:11]: OUT.
PROLOGUE = """
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_movk_i32 s6, 0x80
    s_mov_b32 s7, 0x20000
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s4, s8
    s_mov_b32 s5, s9
"""


@pytest.fixture(scope="module")
def run(llvm_tool):
    """Runs a text on IN (256 bytes, filled) and OUT (256 bytes, not); gives the map."""
    assembler = Assembler(llvm_tool)

    def mapped(text, *, groups=1, kernarg=16):
        code_object = parse(assembler.code_object(PROLOGUE + text, kernarg=kernarg), source="text.co")
        launch = Launch(
            code_object=code_object,
            kernel=code_object.kernels[0],
            arguments=bytes(16),
            relocations=(Relocation(0, "IN"), Relocation(8, "OUT")),
            buffers=(
                Buffer("IN", np.zeros(256, np.uint8)),
                Buffer("OUT", np.zeros(256, np.uint8), initialised=False),
            ),
            grid=(groups, 1, 1),
            block=(64, 1, 1),
        )
        seen = MemoryMap({"OUT"})
        EmulatorBackend(observer=seen).run(launch)
        return seen

    return mapped


def spans(mask):
    """Runs of true bytes, as (first, end)."""
    edges = np.flatnonzero(np.diff(np.r_[False, mask, False].astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def test_a_resource_lets_through_what_is_in_range_and_drops_the_rest(run):
    seen = run("buffer_load_dword v2, v1, s[4:7], 0 offen")
    assert spans(seen.uses["IN"].read) == [(0, 128)]
    site = next(s for s in seen.sites.values() if s.instruction.mnemonic == "buffer_load_dword")
    assert (site.bytes, site.dropped, site.buffers) == (128, 128, {"IN"})


def test_narrow_and_unaligned_stores_are_entered_byte_by_byte(run):
    seen = run("v_lshlrev_b32 v3, 2, v0\nglobal_store_short v3, v0, s[10:11] offset:1")
    assert spans(seen.uses["OUT"].written) == [(4 * i + 1, 4 * i + 3) for i in range(64)]
    assert seen.uses["OUT"].rewritten == 0


@pytest.mark.parametrize(
    ("text", "rewritten", "first"),
    [
        ("global_store_dword v1, v0, s[10:11]", 0, None),
        # Half of the first store again.
        (("global_store_dword v1, v0, s[10:11]\ns_mov_b64 exec, -1\ns_mov_b32 exec_lo, 0\n"
         "global_store_dword v1, v0, s[10:11]"), 128, 128),
        ("v_mov_b32 v1, 8\nglobal_store_dwordx2 v1, v[2:3], s[10:11]", 63 * 8, 8),
        ("v_and_b32 v1, 0x7c, v1\nglobal_store_dword v1, v0, s[10:11]", 128, 0),
    ],
)  # fmt: skip
def test_bytes_stored_to_again_are_counted(run, text, rewritten, first):
    use = run(text).uses["OUT"]
    assert (use.rewritten, use.first_rewritten) == (rewritten, first)


def test_atomic_additions_write_again_without_being_counted(run):
    text = "s_movk_i32 s6, 0x100\ns_mov_b32 s4, s10\ns_mov_b32 s5, s11\nv_mov_b32 v2, 0\n"
    seen = run(text + 2 * "buffer_atomic_pk_add_bf16 v2, v1, s[4:7], 0 offen\n")
    use = seen.uses["OUT"]
    assert (use.read.all(), use.written.all(), use.rewritten) == (True, True, 0)
    # The first found nothing there, the second what the first had left.
    assert [site.fresh for site in seen.sites.values() if "atomic" in site.instruction.mnemonic] == [256, 0]


def test_what_is_read_before_anything_was_written_is_fresh(run):
    store = "v_lshlrev_b32 v3, 1, v0\nglobal_store_byte v3, v0, s[10:11]\n"
    load = "global_load_dword v4, v1, s[10:11]\n"
    assert spans(run(load + store).uses["OUT"].fresh) == [(0, 256)]
    use = run(store + load).uses["OUT"]
    assert spans(use.fresh) == [*[(i, i + 1) for i in range(1, 128, 2)][:-1], (127, 256)]
    assert not run("global_load_dword v4, v1, s[8:9]").uses["IN"].fresh.any()


def test_loads_of_arguments_have_their_offsets_and_each_is_named_once(run):
    seen = run("s_load_dword s20, s[0:1], 0xc\ns_load_dwordx2 s[20:21], s[0:1], 0x10", groups=5, kernarg=64)
    assert [(load.offset, load.size, load.instruction.mnemonic) for load in seen.loads] == [
        (0, 16, "s_load_dwordx4"),
        (12, 4, "s_load_dword"),
        (16, 8, "s_load_dwordx2"),
    ]


def test_a_vector_load_of_arguments_counts_too(run):
    seen = run("v_mov_b32 v5, 4\nglobal_load_dword v4, v5, s[0:1]")
    assert (seen.loads[-1].offset, seen.loads[-1].size) == (4, 4)


def test_a_wild_access_is_no_byte_of_any_buffer(run):
    seen = run("v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nglobal_load_dword v4, v[2:3], off")
    assert [use.read.any() for use in seen.uses.values()] == [False, False]


def test_an_over_read_is_no_byte_of_the_buffer(run):
    seen = run("v_add_u32 v1, 128, v1\nglobal_load_dword v4, v1, s[8:9]")
    assert spans(seen.uses["IN"].read) == [(128, 256)]


def test_a_second_launch_forgets_the_first(kernels_dir):
    code_object = f4gemm("BpreShuffle_32x128", kernels_dir)
    seen = MemoryMap()
    backend = EmulatorBackend(observer=seen)
    for m, n in ((64, 256), (17, 128)):
        backend.run(prepare(code_object, code_object.kernels[0], Problem(m=m, n=n, k=256)).launch)
    assert spans(seen.uses["D"].written) == [(0, 17 * 128 * 2)]
    assert spans(seen.uses["A"].read) == [(0, 17 * 128)]


@pytest.mark.parametrize("enough", [1, 1 << 30])
def test_a_real_kernel_reads_all_of_its_operands_and_writes_what_it_computes(
    kernels_dir, monkeypatch, enough
):
    monkeypatch.setattr(memory_map, "_ENOUGH", enough)
    code_object = f4gemm("BpreShuffle_64x128", kernels_dir)
    work = prepare(code_object, code_object.kernels[0], Problem(m=70, n=160, k=512))
    seen = MemoryMap({"D"})
    result = EmulatorBackend(observer=seen).run(work.launch)
    uses = seen.uses
    changed = (result.buffers["D"].view(np.uint16) != SENTINEL).repeat(2)
    assert np.array_equal(uses["D"].written, changed)
    assert [uses[name].read.all() for name in ("A", "B", "ScaleA", "ScaleB", "D")] == [True] * 4 + [False]
    assert (uses["D"].rewritten, uses["D"].fresh.any()) == (0, False)
    assert max(load.offset + load.size for load in seen.loads) == 0x154
