"""The plan of a sweep: what is refused before anything runs, how much work there is, what kernels are called."""

import shutil

import pytest

from argpack.errors import InputError
from argpack.kernels import OWN
from argpack.sweep import Sampling, load_kernels

F4GEMM = "f4gemm_bf16_per1x32Fp4_BpreShuffle_"


@pytest.fixture
def f4gemm(kernels_dir):
    return lambda tile: load_kernels([kernels_dir / "gfx950" / "f4gemm" / f"{F4GEMM}{tile}.co"])[0]


def test_units_are_kernels_times_shapes_with_the_seed(plan_of, sgemm, f4gemm):
    plan = plan_of(f4gemm("32x128"), sgemm, sizes=[(1, 32, 32), (2, 64, 64)], seed=7)
    assert [unit.key for unit in plan.units] == [
        (f"{F4GEMM}32x128.co", 1, 32, 32),
        (f"{F4GEMM}32x128.co", 2, 64, 64),
        ("sgemm.co", 1, 32, 32),
        ("sgemm.co", 2, 64, 64),
    ]
    assert {unit.problem.seed for unit in plan.units} == {7}


def test_a_shape_that_a_kernel_cannot_do_is_refused_with_the_reason(plan_of, f4gemm):
    plan = plan_of(f4gemm("256x256"), sizes=[(1, 256, 32), (1, 128, 32), (1, 256, 33)])
    able, narrow, odd = plan.units
    assert able.refusal == ""
    assert narrow.refusal.startswith("N must be a multiple of 256 for this kernel, found 128")
    assert odd.refusal.startswith("K: expected a multiple of 32")
    assert (narrow.work, odd.work) == (0, 0)


def test_work_counts_whole_tiles(plan_of, f4gemm):
    one, more = plan_of(f4gemm("32x128"), sizes=[(1, 32, 1024), (33, 32, 1024)]).units
    assert more.work - one.work == 32 * 128 * 1024


def test_only_what_is_above_the_limit_is_sampled(plan_of, f4gemm):
    sampling = Sampling("auto", 1 << 20, 10)
    small, big = plan_of(f4gemm("32x128"), sizes=[(32, 256, 128), (64, 4096, 128)], sampling=sampling).units
    assert (small.sample, big.sample) == (None, 10)
    whole = plan_of(f4gemm("32x128"), sizes=[(64, 4096, 128)]).units[0]
    assert whole.work - big.work == (2 * 32 - 16) * 32 * 128 * 128


def test_kernels_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder in ("a/x", "b/x"):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(OWN / "sgemm.co", tmp_path / folder)
    paths = [tmp_path / "a/x/sgemm.co", tmp_path / "b/x/sgemm.co"]
    assert [kernel.label for kernel in load_kernels(paths)] == ["a/x/sgemm.co", "b/x/sgemm.co"]
    assert [kernel.label for kernel in load_kernels(paths[:1])] == ["sgemm.co"]
    with pytest.raises(InputError, match=r"sgemm\.co is named twice$"):
        load_kernels([paths[0], paths[0]])


def test_kernels_that_cannot_be_launched_are_refused_at_once(plan_of, sgemm, kernels_dir):
    foreign = load_kernels([kernels_dir / "gfx942" / "all_reduce.co"])[0]
    with pytest.raises(InputError) as caught:
        plan_of(sgemm, foreign)
    assert str(caught.value).startswith(
        "1 of 2 kernels cannot be swept, narrow the pattern; the first: all_reduce.co: "
    )
    with pytest.raises(
        InputError, match=r"^all_reduce\.co: allreduce_kernel_func for gfx942: of aiter_all_reduce, "
    ):
        plan_of(foreign)
