"""Trials of the two kernels that read and write beside their buffers, with numbers found by other instruments."""

import numpy as np
import pytest

from argpack.codeobject import read
from argpack.contract import output
from argpack.contract.trials import Trials
from argpack.errors import UnsupportedError
from argpack.families import Problem
from argpack.kernels import OWN

PREFIX = "f4gemm_bf16_per1x32Fp4_"
ONE_ROW = Problem(m=1, n=256, k=256)


@pytest.fixture(scope="module")
def trials(kernels_dir):
    def of(name):
        code_object = read(kernels_dir / "gfx950" / "f4gemm" / f"{PREFIX}{name}.co")
        return Trials(code_object, code_object.kernels[0])

    return {name: of(name) for name in ("BpreShuffle_256x256", "noBpreShuffle_256x256")}


# Bytes past the end, counted where the emulator's memory checks each access.
@pytest.mark.parametrize(
    ("name", "rows", "past_end"),
    [
        ("BpreShuffle_256x256", 32, {"A": 32896, "ScaleA": 2304}),
        ("noBpreShuffle_256x256", 256, {"A": 24704, "B": 256}),
    ],
)
def test_one_row_reads_a_whole_tile_behind_a(trials, name, rows, past_end):
    trial = trials[name].run(ONE_ROW, scale_a_rows=rows)
    assert trial.past_end == past_end
    assert trial.wrong() == ""
    behind = trials[name].run(ONE_ROW, scale_a_rows=rows, behind=32896)
    assert behind.past_end == {}
    assert behind.wrong() == ""


def test_33_rows_read_nothing_behind_a(trials):
    trial = trials["BpreShuffle_256x256"].run(Problem(m=33, n=256, k=1664))
    assert trial.past_end == {}


def test_the_kernel_with_row_major_b_writes_256_rows(trials):
    limit = output.d_row_multiple(trials["noBpreShuffle_256x256"], 256)
    assert (limit.value, limit.why) == (256, "M=1: 256 rows, M=33: 256 rows, M=257: 512 rows")
    assert output.d_row_multiple(trials["BpreShuffle_256x256"], 256).value == 1


def test_a_split_adds_to_the_output_even_in_one_slice(trials):
    limit = output.accumulates(trials["BpreShuffle_256x256"], 256, splits=True)
    assert (limit.value, limit.why) == ("when_split", "also where a single slice is left")


def test_garbage_behind_the_scales_is_nan_and_the_launch_of_arguments_has_a_c(trials):
    launch = trials["BpreShuffle_256x256"].launch(Problem(m=2, n=256, k=256, beta=1.0))
    assert {buffer.name for buffer in launch.buffers} == {"A", "B", "C", "D", "ScaleA", "ScaleB"}
    assert np.isin(0x7FA5, launch.buffers[0].data.view(np.uint16))


def test_kernels_of_other_families_are_refused():
    code_object = read(OWN / "sgemm.co")
    with pytest.raises(
        UnsupportedError, match="argpack_sgemm: of own_sgemm: contracts are measured of aiter_f4gemm"
    ):
        Trials(code_object, code_object.kernels[0])
