"""Waits and barriers: what is found when one is taken out of a real kernel, and nothing while all are there."""

from __future__ import annotations

import numpy as np
import pytest
from gfx950_code import Assembler
from mutation import f4gemm, kinds, orders, synchronising, watch, without

from argpack.codeobject import parse
from argpack.launch import Buffer, Launch, Relocation
from argpack.launch.emulator_backend import EmulatorBackend
from argpack.trace.lds_races import Order
from argpack.trace.synchronisation import Synchronisation
from argpack.trace.waits import Hazard

# Enough of K to go through the prologue, each unrolled step of the loop, the way back and the way out.
DEPTHS = (256, 2048, 2304, 2560, 2816)
# The larger kernels unroll less.
LARGE_DEPTHS = (256, 512, 768, 1024)
SMALL = "BpreShuffle_32x128"
# What the f4gemm kernels do without some of their waits and barriers, by kernel and address:
HARMLESS = {
    SMALL: {0x4078: "the last wait: nothing follows but s_endpgm"},
    "BpreShuffle_256x256": {
        0x6720: "the barrier behind the loop: no LDS is accessed after it",
        0x9330: "the last wait",
    },
    "BpreShuffle_192x256": {
        0x66B4: "between ds_write and ds_read of the same wave, which stay in order",
        0x68A8: "the last wait",
    },
    "noBpreShuffle_256x256": {
        0x3CA4: "the first of two waits with no access between them",
        0x3CA8: "the first of two barriers with no access between them",
        0x6BFC: "the last wait",
    },
}
# Their reads of LDS are still under way at the barrier before the bytes are loaded anew: in time, but not by any rule.
TIMED = {"BpreShuffle_160x256", "BpreShuffle_192x256", "BpreShuffle_224x256"}


@pytest.fixture(scope="module")
def small(kernels_dir):
    return f4gemm(SMALL, kernels_dir)


def test_nothing_is_found_in_an_unmodified_kernel(small):
    watched = watch(small, *DEPTHS)
    assert (kinds(watched), orders(watched)) == (set(), set())
    assert len(synchronising(watched)) == 21


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (0x2CBC, {"hazard"}),
        (0x326C, {"OWN", "NO_WAIT"}),
        (0x3270, {"NO_BARRIER"}),
        (0x3360, {"hazard", "OWN", "NO_WAIT"}),
        (0x3364, {"NO_BARRIER", "NO_WAIT", "barriers"}),
        (0x38CC, {"hazard", "OWN", "NO_WAIT"}),
        (0x38D0, {"NO_BARRIER", "NO_WAIT", "barriers"}),
        (0x3E38, {"hazard"}),
        (0x4078, set()),
    ],
)
def test_a_wait_or_barrier_taken_out_is_found(small, address, found):
    assert kinds(watch(without(small, address), 256, 2048)) == found


def test_the_pair_of_instructions_is_named(small):
    watched = watch(without(small, 0x2CBC), 256)
    # s_load_dword s44 at 0x2c58 is used by s_add_u32 s51, s44, 0x7f at 0x2cc0.
    assert watched.hazards[0x2C58, 0x2CC0] == Hazard(0x2C58, 0x2CC0, "s44", overwrites=False)


@pytest.mark.sweep
@pytest.mark.parametrize("name", list(HARMLESS))
def test_each_wait_and_barrier_of_a_kernel_taken_out_is_found_or_harmless(kernels_dir, name):
    code_object = f4gemm(name, kernels_dir)
    depths = DEPTHS if name == SMALL else LARGE_DEPTHS
    whole = watch(code_object, *depths)
    assert kinds(whole) == set()
    missed = {a for a in synchronising(whole) if not kinds(watch(without(code_object, a), *depths))}
    assert missed == set(HARMLESS[name])


@pytest.mark.parametrize("name", ["BpreShuffle_256x256", "BpreShuffle_128x512", "noBpreShuffle_256x256"])
def test_large_kernels_are_clean(kernels_dir, name):
    watched = watch(f4gemm(name, kernels_dir), 1024)
    assert (kinds(watched), orders(watched)) == (set(), set())


@pytest.mark.sweep
def test_all_f4gemm_kernels_are_clean_and_three_read_just_in_time(kernels_dir):
    paths = sorted((kernels_dir / "gfx950/f4gemm").glob("f4gemm_bf16_per1x32Fp4_*.co"))
    names = [path.stem.removeprefix("f4gemm_bf16_per1x32Fp4_") for path in paths]
    timed = set()
    for name in names:
        watched = watch(f4gemm(name, kernels_dir), 256, 1024, 1664)
        assert kinds(watched) == set(), name
        timed |= {name} if orders(watched) else set()
    assert (len(names), timed) == (35, TIMED)


def test_a_read_still_under_way_when_its_bytes_are_loaded_anew_is_told_apart(kernels_dir):
    watched = watch(f4gemm("BpreShuffle_192x256", kernels_dir), 256)
    assert orders(watched) == {Order.TIMED}
    # ds_read_b32 v172 and v173, a barrier, then loads to LDS while up to five reads may be under way.
    assert {(race.first.address, race.second.address) for race in watched.races.values()} == {
        (0x3BE4, 0x3D20),
        (0x3C9C, 0x3D20),
        (0x4C80, 0x3D20),
        (0x4D38, 0x3D20),
    }


PROLOGUE = """
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_mov_b32 s6, 0x1000
    s_mov_b32 s7, 0x20000
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s4, s8
    s_mov_b32 s5, s9
"""


@pytest.fixture(scope="module")
def run(llvm_tool):
    """Watches a text on one workgroup; gives what was found."""
    assembler = Assembler(llvm_tool)

    def watched(text, *, items=128, lds=4096):
        code_object = parse(assembler.code_object(PROLOGUE + text, lds=lds, kernarg=16), source="text.co")
        launch = Launch(
            code_object=code_object,
            kernel=code_object.kernels[0],
            arguments=bytes(16),
            relocations=(Relocation(0, "A"), Relocation(8, "B")),
            buffers=(Buffer("A", np.zeros(8192, np.uint8)), Buffer("B", np.zeros(8192, np.uint8))),
            grid=(1, 1, 1),
            block=(items, 1, 1),
        )
        seen = Synchronisation()
        EmulatorBackend(observer=seen).run(launch)
        seen.finish()
        return seen

    return watched


LOAD = "buffer_load_dword v2, v1, s[4:7], 0 offen\n"
TO_LDS = "s_mov_b32 m0, 0\nbuffer_load_dword v1, s[4:7], 0 offen lds\n"


@pytest.mark.parametrize(
    ("text", "register", "overwrites"),
    [
        (LOAD + "v_add_u32 v3, v2, v2", "v2", False),
        (LOAD + "v_mov_b32 v2, 0", "v2", True),
        (LOAD + "s_waitcnt lgkmcnt(0)\nv_add_u32 v3, v2, v2", "v2", False),
        (
            LOAD + "buffer_load_dword v4, v1, s[4:7], 0 offen\ns_waitcnt vmcnt(2)\nv_mov_b32 v5, v2",
            "v2",
            False,
        ),
        (LOAD + "buffer_store_dword v2, v1, s[4:7], 0 offen", "v2", False),
        (LOAD + "ds_read_b32 v2, v1", "v2", True),
        ("ds_read_b64 v[4:5], v1\nv_mov_b32 v6, v5", "v5", False),
        ("ds_read_b32 v4, v1\nds_read_b32 v5, v1\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v6, v5", "v5", False),
        ("s_load_dword s20, s[8:9], 0x0\ns_mov_b32 s21, s20", "s20", False),
        # Scalar loads return in any order: a count above 0 says nothing.
        (
            (
                "s_load_dword s20, s[8:9], 0x0\ns_load_dword s22, s[8:9], 0x4\n"
                "s_waitcnt lgkmcnt(1)\ns_mov_b32 s21, s20"
            ),
            "s20",
            False,
        ),
        ("s_load_dwordx2 vcc, s[8:9], 0x0\ns_cbranch_vccnz end\nend:", "vcc_lo", False),
        ("s_load_dword s20, s[8:9], 0x0\ns_load_dword s20, s[8:9], 0x4", "s20", True),
    ],
)
def test_a_register_used_before_its_load_is_waited_for(run, text, register, overwrites):
    found = list(run(text).hazards.values())
    assert [(hazard.register, hazard.overwrites) for hazard in found] == [(register, overwrites)]


@pytest.mark.parametrize(
    "text",
    [
        LOAD + "s_waitcnt vmcnt(0)\nv_mov_b32 v3, v2",
        LOAD + "buffer_load_dword v4, v1, s[4:7], 0 offen\ns_waitcnt vmcnt(1)\nv_mov_b32 v5, v2",
        # Stores count, too.
        LOAD + "buffer_store_dword v5, v1, s[4:7], 0 offen\ns_waitcnt vmcnt(1)\nv_mov_b32 v3, v2",
        # Loads return in order, so the second may fill the same register.
        LOAD + LOAD + "s_waitcnt vmcnt(0)\nv_mov_b32 v3, v2",
        # Sources are read when an instruction is issued.
        "buffer_store_dword v5, v1, s[4:7], 0 offen\nv_mov_b32 v5, 0\nv_mov_b32 v1, 0",
        "ds_write_b32 v1, v5\nv_mov_b32 v5, 0",
        # A scalar load in between cannot make the earlier LDS operation later.
        (
            "ds_read_b32 v4, v1\nds_read_b32 v5, v1\ns_load_dword s20, s[8:9], 0x0\n"
            "s_waitcnt lgkmcnt(1)\nv_mov_b32 v6, v4"
        ),
    ],
)
def test_what_was_waited_for_is_no_hazard(run, text):
    assert run(text).hazards == {}


def test_a_load_before_a_loop_is_still_under_way_in_it(run):
    text = LOAD + "s_mov_b32 s20, 3\nloop:\nv_mov_b32 v3, v2\ns_sub_u32 s20, s20, 1\n"
    seen = run(text + "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 loop")
    assert [hazard.register for hazard in seen.hazards.values()] == ["v2"]


def test_more_loads_than_the_counter_counts_stay_under_way(run):
    many = "\n".join(f"buffer_load_dword v{i}, v1, s[4:7], 0 offen" for i in range(10, 90))
    assert [h.register for h in run(many + "\nv_mov_b32 v3, v10").hazards.values()] == ["v10"]
    assert run(many + "\ns_waitcnt vmcnt(62)\nv_mov_b32 v3, v10").hazards == {}
    assert run(many + "\ns_waitcnt vmcnt(63)\nv_mov_b32 v3, v10").hazards != {}


# Lanes of the second wave read what the first wrote: v5 is the address in the other wave's half.
OTHER = "v_xor_b32 v5, 0x100, v1\n"


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\nds_read_b32 v4, v5", Order.NO_BARRIER),
        ("ds_read_b32 v4, v5\ns_waitcnt lgkmcnt(0)\nds_write_b32 v1, v0", Order.NO_BARRIER),
        ("ds_write_b32 v1, v0\ns_barrier\nds_read_b32 v4, v5", Order.NO_WAIT),
        ("ds_read_b32 v4, v5\ns_barrier\nds_write_b32 v1, v0", Order.NO_WAIT),
        (TO_LDS + "s_barrier\nds_read_b32 v4, v5", Order.NO_WAIT),
        (TO_LDS + "ds_read_b32 v4, v1", Order.OWN),
        (TO_LDS + "s_waitcnt lgkmcnt(0)\nds_write_b32 v1, v4", Order.OWN),
        ("ds_read_b32 v4, v5\ns_barrier\n" + TO_LDS, Order.TIMED),
        ("ds_read_b32 v4, v1\n" + TO_LDS, Order.TIMED),
    ],
)
def test_lds_accesses_out_of_order_are_found(run, text, order):
    # Loads to LDS go lane by lane: each wave to its own half.
    own = "v_readfirstlane_b32 s20, v1\n"
    text = text.replace("s_mov_b32 m0, 0", "s_mov_b32 m0, s20")
    assert orders(run(OTHER + own + text)) == {order}


@pytest.mark.parametrize(
    "text",
    [
        "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v4, v5",
        "ds_read_b32 v4, v5\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_write_b32 v1, v0",
        "ds_write_b32 v1, v0\nds_read_b32 v4, v1",
        "ds_read_b32 v4, v5\nds_read_b32 v4, v1",
        TO_LDS + "s_waitcnt vmcnt(0)\nds_read_b32 v4, v1",
        TO_LDS + "s_waitcnt vmcnt(0)\ns_barrier\nds_read_b32 v4, v5",
        TO_LDS + LOAD + "s_waitcnt vmcnt(1)\ns_barrier\nds_read_b32 v4, v5",
        "ds_write_b8 v0, v0\nds_read_u8 v4, v0",
        "v_lshlrev_b32 v6, 1, v0\nds_write_b16 v6, v0",
    ],
)
def test_lds_accesses_in_order_are_no_race(run, text):
    own = "v_readfirstlane_b32 s20, v1\n"
    text = text.replace("s_mov_b32 m0, 0", "s_mov_b32 m0, s20")
    assert run(OTHER + own + text).races == {}


def test_neighbouring_bytes_of_two_waves_are_no_race(run):
    # Each wave writes every other byte of the same dwords.
    text = "v_and_b32 v6, 63, v0\nv_lshlrev_b32 v6, 1, v6\nv_lshrrev_b32 v7, 6, v0\nv_add_u32 v6, v6, v7\n"
    assert run(text + "ds_write_b8 v6, v0").races == {}


def test_a_write_of_disabled_lanes_is_no_race(run):
    text = "v_readfirstlane_b32 s20, v1\ns_cmp_eq_u32 s20, 0\ns_cselect_b32 exec_lo, 1, 0\ns_mov_b32 exec_hi, 0\n"
    assert run(text + "v_mov_b32 v6, 0\nds_write_b32 v6, v0").races == {}


def test_waves_that_meet_a_different_number_of_barriers(run):
    text = """
    v_readfirstlane_b32 s20, v0
    s_cmp_eq_u32 s20, 0
    s_cbranch_scc1 end
    s_barrier
    s_nop 3
    end:
    """
    (found,) = run(text).mismatches
    assert (found.fewer, found.more) == (0, 1)
    assert (found.end.mnemonic, found.barrier.mnemonic) == ("s_endpgm", "s_barrier")


def test_workgroups_side_by_side_do_not_race_with_each_other(small):
    assert kinds(watch(small, 256, m=200, n=640)) == set()
    assert kinds(watch(without(small, 0x3270), 256, m=200, n=640)) == {"NO_BARRIER"}


def test_a_second_launch_forgets_the_first(small):
    broken = watch(without(small, 0x2CBC), 256)
    assert broken.hazards
    broken.begin(None)
    assert (broken.hazards, broken.races, broken.mismatches) == ({}, {}, [])
