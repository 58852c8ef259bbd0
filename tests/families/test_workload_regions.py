"""What a workload says of its buffers: elements of D, what a whole tile overwrites, padding rows and columns apart."""

import numpy as np
import pytest

from argpack import kernels
from argpack.codeobject import read
from argpack.families import Problem
from argpack.families.aiter_f4gemm.workload import Placement, prepare
from argpack.families.own_sgemm import workload as own_sgemm

PAD = 0xAB  # no scale of the random operands


@pytest.fixture
def f4gemm(kernels_dir):
    def make(name, **problem):
        code_object = read(kernels.resolve(f"f4gemm_bf16_per1x32Fp4_{name}.co", root=kernels_dir))
        placed = Placement(scale_pad=PAD)
        return prepare(code_object, code_object.kernels[0], Problem(**problem), force=True, placement=placed)

    return make


def data(work, name):
    return next(buffer.data for buffer in work.launch.buffers if buffer.name == name)


def test_padding_rows_and_columns_are_where_the_pad_is(f4gemm):
    work = f4gemm("BpreShuffle_256x256", m=251, n=512, k=1664)
    counts = {region.name: int(region.mask().sum()) for region in work.padding}
    assert counts == {
        "padding columns of the scales of A": 251 * 4,
        "padding rows of the scales of A": 5 * 56,
        "padding columns of the scales of B": 512 * 4,
    }
    for name in ("ScaleA", "ScaleB"):
        together = sum(region.mask() for region in work.padding if region.buffer == name)
        assert np.array_equal(together == 1, data(work, name) == PAD)


def test_no_padding_where_everything_is_whole(f4gemm):
    assert f4gemm("BpreShuffle_32x128", m=64, n=128, k=256).padding == ()


def test_rows_behind_m_may_be_written_by_the_kernel_that_writes_whole_tiles(f4gemm):
    work = f4gemm("noBpreShuffle_256x256", m=300, n=256, k=256)
    assert np.flatnonzero(work.spill.mask()).tolist() == list(range(300 * 512, 512 * 512))
    assert int(work.output.mask().sum()) == 300 * 256 * 2
    assert f4gemm("BpreShuffle_32x128", m=33, n=128, k=256).spill is None


def test_elements_of_d_leave_out_what_lies_between_its_rows(f4gemm):
    work = f4gemm("BpreShuffle_128x512", m=2, n=48, k=256)
    inside = work.output.mask().reshape(-1, 512 * 2)
    assert (inside[:2, :96].all(), int(inside.sum())) == (True, 2 * 96)


def test_own_sgemm_writes_all_of_d(kernels_dir):
    code_object = read(kernels.resolve("sgemm", root=kernels_dir))
    work = own_sgemm.prepare(code_object, code_object.kernels[0], Problem(m=5, n=7, k=3))
    assert work.output.mask().sum() == data(work, "D").size == 4 * 35
