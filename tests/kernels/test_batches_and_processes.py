"""The bits of a result do not depend on which workgroups run side by side, nor on how many processes run them."""

import numpy as np
import pytest

from argpack.codeobject import read
from argpack.emulator import schedule
from argpack.families import Problem
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.launch.emulator_backend import EmulatorBackend

# Ragged rows; a last step of K that is not whole; more than one pass over the columns of the grid; slices of K.
CASES = {
    "32x128": Problem(m=101, n=416, k=1664),
    "64x128": Problem(m=250, n=288, k=1280),
    "256x256": Problem(m=300, n=768, k=768, log2_k_split=1),
}


@pytest.mark.parametrize("tile", CASES)
def test_bits_are_the_same_for_any_batches_and_processes(kernels_dir, monkeypatch, tile):
    code_object = read(kernels_dir / "gfx950" / "f4gemm" / f"f4gemm_bf16_per1x32Fp4_BpreShuffle_{tile}.co")
    work = prepare(code_object, code_object.kernels[0], CASES[tile])
    found = {}
    for waves, processes in [(10_000, 1), (1, 1), (24, 1), (1, 2), (24, 3), (10_000, 2)]:
        monkeypatch.setattr(schedule, "_WAVES", waves)
        batches = schedule.Schedule(work.launch.grid, processes).batches(4)
        result = EmulatorBackend(processes=processes).run(work.launch)
        found[len(batches), processes] = result.buffers["D"]
    assert len(found) >= 5
    first, *others = found.values()
    assert work.judge(result).passed
    assert all(np.array_equal(first, other) for other in others)
