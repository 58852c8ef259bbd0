"""How workgroups run: the registers a wave starts with, waves that take different paths, barriers, endless loops."""

import dataclasses

import numpy as np
import pytest
from emulator_harness import BASE, ENDPGM, memory_with, start

from argpack.codeobject import parse
from argpack.emulator import engine
from argpack.emulator.engine import Dispatch, run_batch, start_waves, unsupported_start
from argpack.emulator.lds import Lds
from argpack.emulator.memory import DeviceMemory
from argpack.emulator.program import Program
from argpack.emulator.waves import EXEC
from argpack.errors import UnsupportedError

# s[0:1] is the kernarg pointer, s2 to s4 the workgroup id. Each work-item's record is `size` bytes at
# pointer + (x of the workgroup · items + item) · size; v10 holds its offset, s[6:7] the pointer.
PROLOGUE = """
    s_load_dwordx2 s[6:7], s[0:1], 0x0
    v_and_b32 v9, 0x3ff, v0
    s_mul_i32 s8, s2, {items}
    v_add_u32 v10, s8, v9
    v_lshlrev_b32 v10, {shift}, v10
    s_waitcnt lgkmcnt(0)
"""


@pytest.fixture(scope="module")
def kernel(assembler):
    """The kernel of a code object made of a text, and its code."""

    def make(text, **options):
        code_object = parse(assembler.code_object(text, **options), source="snippet.co")
        found = code_object.kernels[0]
        segment = next(
            s for s in code_object.segments if s.address <= found.code_address < s.address + len(s.data)
        )
        return found, segment

    return make


def run(made, *, groups, items, size, lds=0):
    """Run workgroups 0 to groups - 1 along x; the records as uint32 (group, item, dword), and instructions executed."""
    found, segment = made
    memory = memory_with({"out": np.zeros(groups * items * size, np.uint8), "args": np.zeros(16, np.uint8)})
    memory.view("args").view(np.uint64)[0] = memory.allocations["out"].address
    program = Program(segment.data, segment.address, flush_f32=True, name=found.name)
    dispatch = Dispatch(
        found.descriptor, found.code_address, (items, 1, 1), lds, memory.allocations["args"].address
    )
    ids = np.stack([np.arange(groups), np.zeros(groups), np.zeros(groups)], axis=1).astype(np.int64)
    executed = run_batch(program, dispatch, memory, ids)
    return memory.view("out").view(np.uint32).reshape(groups, items, -1), executed


def test_start_registers(kernel):
    found, _ = kernel("s_nop 0")
    dispatch = Dispatch(found.descriptor, 0x40, (8, 4, 5), 0, 0x7F0000123400)
    assert dispatch.waves == 3
    ids = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int64)
    waves = start_waves(dispatch, DeviceMemory({}), ids, Lds(2, 0))
    assert (waves.count, waves.pc, waves.workgroup.tolist()) == (6, 0x40, [0, 1] * 3)
    assert waves.sgpr[0:2, 0].tolist() == [0x123400, 0x7F00]
    assert waves.sgpr[2:5].T.tolist() == ids.tolist() * 3
    expected = [x | y << 10 | z << 20 for z in range(5) for y in range(4) for x in range(8)]
    assert waves.v[0][::2].ravel()[:160].tolist() == expected
    assert waves.sgpr[EXEC : EXEC + 2].T.tolist() == [[0xFFFFFFFF] * 2] * 4 + [[0xFFFFFFFF, 0]] * 2
    assert waves.mask.sum() == 2 * 160


def test_only_enabled_workgroup_ids_take_registers(kernel):
    directives = ".amdhsa_system_sgpr_workgroup_id_x 0"
    found, _ = kernel("s_nop 0", directives=directives)
    waves = start_waves(
        Dispatch(found.descriptor, 0, (64, 1, 1), 0, 0), DeviceMemory({}), np.array([[7, 8, 9]]), Lds(1, 0)
    )
    assert waves.sgpr[2:5, 0].tolist() == [8, 9, 0]


@pytest.mark.parametrize(
    ("directives", "missing"),
    [
        (".amdhsa_user_sgpr_dispatch_ptr 1", "the user SGPRs of dispatch_ptr"),
        (".amdhsa_user_sgpr_kernarg_preload_length 2", "the user SGPRs of kernarg_preload"),
        (".amdhsa_enable_private_segment 1", "scratch memory"),
        (".amdhsa_system_sgpr_workgroup_info 1", "the SGPR with the workgroup info"),
        (".amdhsa_float_round_mode_32 3", "float32 rounding toward zero"),
        ("", None),
    ],
)
def test_what_a_descriptor_asks_for_and_is_not_set_up(kernel, directives, missing):
    assert unsupported_start(kernel("s_nop 0", directives=directives)[0].descriptor) == missing


@pytest.mark.parametrize(
    ("mode", "missing"), [(0, None), (1, "flush destination"), (2, "flush source"), (3, None)]
)
def test_denormals_flush_at_both_ends_or_not_at_all(kernel, mode, missing):
    descriptor = kernel("s_nop 0")[0].descriptor
    changed = dataclasses.replace(descriptor, rsrc1=descriptor.rsrc1 & ~(3 << 16) | mode << 16)
    assert unsupported_start(changed) == (missing and f"float32 denormals: {missing}")


def test_waves_of_a_workgroup_take_different_paths_and_meet_at_the_barrier(kernel):
    # Even waves write to LDS on one path, odd waves on another; after the barrier each reads its neighbour's.
    text = (
        PROLOGUE.format(items=256, shift=3)
        + """
    v_readfirstlane_b32 s9, v9
    s_lshr_b32 s9, s9, 6
    s_and_b32 s10, s9, 1
    v_lshlrev_b32 v1, 2, v9
    s_cmp_eq_u32 s10, 0
    s_cbranch_scc0 odd
    v_add_u32 v2, 1000, v9
    ds_write_b32 v1, v2
    s_branch meet
  odd:
    v_mul_u32_u24 v2, 3, v9
    s_nop 0
    ds_write_b32 v1, v2
  meet:
    s_barrier
    v_xor_b32 v1, 0x100, v1
    ds_read_b32 v12, v1
    v_mov_b32 v13, s10
    global_store_dwordx2 v10, v[12:13], s[6:7]
    """
    )
    out, _ = run(kernel(text), groups=3, items=256, size=8, lds=1024)
    written = [item * 3 if item // 64 % 2 else item + 1000 for item in range(256)]
    for group in range(3):
        assert out[group, :, 0].tolist() == [written[item ^ 64] for item in range(256)]
        assert out[group, :, 1].tolist() == [item // 64 % 2 for item in range(256)]


def test_loops_that_end_at_different_counts(kernel):
    # Workgroup g adds 3 to its items g times over; the last one leaves lanes one by one through EXEC.
    text = (
        PROLOGUE.format(items=64, shift=2)
        + """
    v_mov_b32 v1, 0
    s_mov_b32 s9, 0
  again:
    s_cmp_ge_u32 s9, s2
    s_cbranch_scc1 done
    v_add_u32 v1, 3, v1
    s_add_u32 s9, s9, 1
    s_branch again
  done:
    v_mov_b32 v2, v9
  lanes:
    v_cmpx_lt_u32 vcc, 0, v2
    s_cbranch_execz out
    v_add_u32 v1, 1, v1
    v_subrev_u32 v2, 1, v2
    s_branch lanes
  out:
    s_mov_b64 exec, -1
    global_store_dword v10, v1, s[6:7]
    """
    )
    out, executed = run(kernel(text), groups=6, items=64, size=4)
    assert out[..., 0].tolist() == [[3 * group + lane for lane in range(64)] for group in range(6)]
    assert executed > 6 * 64


@pytest.mark.parametrize(
    ("branch", "setup", "taken"),
    [
        ("s_cbranch_scc0", "s_cmp_eq_u32 s2, 1", [1, 0, 1]),
        ("s_cbranch_scc1", "s_cmp_eq_u32 s2, 1", [0, 1, 0]),
        ("s_cbranch_vccz", "v_cmp_eq_u32 vcc, s2, v9", [0, 0, 0]),
        ("s_cbranch_vccnz", "v_cmp_eq_u32 vcc, s2, v9", [1, 1, 1]),
        ("s_cbranch_vccz", "v_cmp_eq_u32 vcc, 64, v9", [1, 1, 1]),
        ("s_cbranch_vccnz", "s_mov_b32 vcc_lo, 0\ns_mov_b32 vcc_hi, s2", [0, 1, 1]),
        ("s_cbranch_execz", "s_mov_b32 exec_lo, 0\ns_mov_b32 exec_hi, s2", [1, 0, 0]),
        ("s_cbranch_execnz", "s_mov_b32 exec_hi, 0\ns_mov_b32 exec_lo, s2", [0, 1, 1]),
    ],
)
def test_conditions(kernel, branch, setup, taken):
    text = (
        PROLOGUE.format(items=64, shift=2)
        + f"""
    s_mov_b32 s9, 0
    {setup}
    {branch} skip
    s_mov_b32 s9, 1
  skip:
    s_mov_b64 exec, -1
    v_mov_b32 v1, s9
    global_store_dword v10, v1, s[6:7]
    """
    )
    out, _ = run(kernel(text), groups=3, items=64, size=4)
    assert [1 - int(row[0]) for row in out[:, :, 0]] == taken


def test_matrix_products_wait_across_a_branch_that_splits_the_group(kernel):
    product = "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[12:15], v[16:19], a[0:3], v20, v21 cbsz:4 blgp:4"
    ones = "\n".join(f"v_mov_b32 v{r}, 0x22222222" for r in range(12, 20))
    text = (
        PROLOGUE.format(items=128, shift=2)
        + f"""
    {ones}
    v_mov_b32 v20, 127
    v_mov_b32 v21, 127
    {product}
    v_readfirstlane_b32 s9, v9
    s_cmp_eq_u32 s9, 0
    s_cbranch_scc1 once
    {product}
  once:
    v_accvgpr_read_b32 v1, a2
    global_store_dword v10, v1, s[6:7]
    """
    )
    out, _ = run(kernel(text), groups=2, items=128, size=4)
    assert out.view(np.float32)[..., 0].tolist() == [[128.0] * 64 + [256.0] * 64] * 2


@pytest.mark.parametrize("chosen", [[0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1]])
def test_waves_that_part_do_not_touch_each_others_registers(chosen):
    waves = start(4)
    taken = np.array(chosen, dtype=np.bool_)
    numbers = np.arange(4, dtype=np.uint32)
    waves.v[7][...] = numbers[:, None]
    waves.sgpr[5] = numbers
    part, rest = waves.take(taken, pc=8), waves.take(~taken, pc=12)
    part.write(7, part.v[7] + np.uint32(100))
    part.sgpr[5] += np.uint32(100)
    assert part.sgpr[5].tolist() == part.v[7][:, 63].tolist() == (numbers[taken] + 100).tolist()
    assert rest.sgpr[5].tolist() == rest.v[7][:, 63].tolist() == numbers[~taken].tolist()
    assert (part.number.tolist(), rest.number.tolist()) == (numbers[taken].tolist(), numbers[~taken].tolist())


def test_waves_that_part_leave_each_others_sums_as_they_are(assembler):
    """Twelve products; after the first, the second and so on another wave takes a way of its own.

    So a batch of all parts again and again, and a wave alone never does. Sums differ where products are added in other
    parts, but not by who else was there.
    """
    step = """
    v_mov_b32 v0, v{0}
    v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[0:3], v[4:7], a[0:3], v8, v9 cbsz:4 blgp:4
    s_cmp_eq_u32 s2, {1}
    s_cbranch_scc0 on{1}
    s_nop 0
  on{1}:
    """
    code = assembler.code("\n".join(step.format(10 + number, number) for number in range(12)))
    waves = start(12)
    random = np.random.default_rng(1)
    for register in [*range(8), *range(10, 22)]:
        waves.v[register][...] = random.integers(0, 1 << 32, (12, 64), dtype=np.uint32)
    for register in (8, 9):
        waves.v[register][...] = random.integers(100, 150, (12, 64), dtype=np.uint32)
    waves.sgpr[2] = np.arange(12)

    def sums(group):
        program = Program(code + ENDPGM, BASE, flush_f32=True, name="snippet")
        running, found = [group], {}
        while running:
            part = running.pop()
            block = program.block(part.pc)
            for execute in block.body:
                execute(part)
            if block.condition is not None:
                running += engine._branch(part, block.condition(part), block.target, block.following)
            else:
                part.matrix.release(part.quads)
                values = np.stack([part.v[256 + r] for r in range(4)], axis=1)
                found.update(zip(part.number.tolist(), values, strict=True))
        return found

    alone = {}
    for wave in range(12):
        copy = start(12)
        copy.quads[...], copy.sgpr[...] = waves.quads, waves.sgpr
        alone |= sums(copy.take(np.arange(12) == wave, pc=BASE))
    together = sums(waves)
    assert sorted(together) == sorted(alone) == list(range(12))
    for wave in range(12):
        assert np.array_equal(together[wave], alone[wave])


def test_a_wave_that_has_ended_is_not_awaited_at_a_barrier(kernel):
    text = (
        PROLOGUE.format(items=128, shift=2)
        + """
    v_readfirstlane_b32 s9, v9
    s_cmp_eq_u32 s9, 0
    s_cbranch_scc1 stay
    v_mov_b32 v1, 7
    global_store_dword v10, v1, s[6:7]
    s_endpgm
  stay:
    s_barrier
    s_barrier
    v_mov_b32 v1, 8
    global_store_dword v10, v1, s[6:7]
    """
    )
    out, _ = run(kernel(text), groups=2, items=128, size=4)
    assert out[..., 0].tolist() == [[8] * 64 + [7] * 64] * 2


def test_an_endless_loop_is_stopped(kernel, monkeypatch):
    monkeypatch.setattr(engine, "_INSTRUCTION_LIMIT", 1000)
    made = kernel("forever:\ns_nop 0\ns_branch forever", name="spinning")
    at = made[0].code_address
    with pytest.raises(
        UnsupportedError, match=rf"^spinning: no end after 1,002 instructions, at {at:#x}: it seems"
    ):
        run(made, groups=1, items=64, size=4)


def test_a_loop_without_an_access_is_stopped_soon(kernel, monkeypatch):
    monkeypatch.setattr(engine, "_IDLE_LIMIT", 10)
    made = kernel("forever:\ns_nop 0\ns_branch forever", name="spinning")
    at = made[0].code_address
    with pytest.raises(
        UnsupportedError,
        match=rf"^spinning: 10 turns in the code around {at:#x} without an access to memory: it",
    ):
        run(made, groups=1, items=64, size=4)


@pytest.mark.parametrize("access", ["s_load_dword s20, s[0:1], 0x0", "ds_read_b32 v20, v0", "s_nop 0"])
def test_turns_are_counted_from_the_last_access(kernel, monkeypatch, access):
    # Wave 0 goes round 9 times, wave 1 does 8 times; then both access memory or not, and go round again.
    monkeypatch.setattr(engine, "_IDLE_LIMIT", 15)
    text = """
    v_readfirstlane_b32 s10, v0
    s_cmp_eq_u32 s10, 0
    s_cselect_b32 s10, 9, 8
    s_mov_b32 s11, s10
  first:
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 first
    ACCESS
  second:
    s_sub_u32 s11, s11, 1
    s_cmp_lg_u32 s11, 0
    s_cbranch_scc1 second
    """.replace("ACCESS", access)
    made = kernel(text, name="turning")
    if access == "s_nop 0":
        with pytest.raises(UnsupportedError, match=r"^turning: 15 turns in the code around"):
            run(made, groups=2, items=128, size=4, lds=1024)
    else:
        run(made, groups=2, items=128, size=4, lds=1024)


def test_a_form_found_while_running_is_named_with_the_kernel(kernel):
    made = kernel("s_mov_b64 exec, 1\nv_permlane16_swap_b32 v0, v1", name="swapping")
    with pytest.raises(
        UnsupportedError, match=r"^swapping: the emulator does not execute v_permlane16_swap_b32 "
    ):
        run(made, groups=1, items=64, size=4)
