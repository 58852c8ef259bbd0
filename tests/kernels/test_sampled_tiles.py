"""Launches of some workgroups: what they compute is what a whole launch computes there, and mistakes show in them."""

import numpy as np
import pytest

from argpack.codeobject import read
from argpack.families import Problem
from argpack.families.aiter_f4gemm.names import parse
from argpack.families.aiter_f4gemm.placement import Placement
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.families.own_sgemm import workload as own_sgemm
from argpack.kernels import OWN
from argpack.launch.emulator_backend import EmulatorBackend

PREFIX = "f4gemm_bf16_per1x32Fp4_"


@pytest.fixture
def run(kernels_dir):
    """Runs a problem on a kernel, all of it or a sample; returns workload, result and verdict."""

    def launched(name, problem, **options):
        path = OWN / "sgemm.co" if name == "sgemm" else kernels_dir / f"gfx950/f4gemm/{PREFIX}{name}.co"
        code_object = read(path)
        build = own_sgemm.prepare if name == "sgemm" else prepare
        workload = build(code_object, code_object.kernels[0], problem, **options)
        result = EmulatorBackend(processes=2).run(workload.launch)
        return workload, result, workload.judge(result)

    return launched


def present(result, name):
    """The bytes that mean something, and whether each does."""
    mask = np.zeros(result.buffers[name].size, bool)
    for start, stop in result.present[name].tolist():
        mask[start:stop] = True
    return result.buffers[name], mask


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("BpreShuffle_32x128", Problem(m=150, n=4480, k=512)),
        ("BpreShuffle_96x640", Problem(m=250, n=1920, k=320)),
        ("BpreShuffle_256x256", Problem(m=700, n=1024, k=1664, log2_k_split=2)),
        ("noBpreShuffle_256x256", Problem(m=300, n=1024, k=512)),
        ("sgemm", Problem(m=70, n=90, k=33, beta=0.5)),
    ],
)
def test_a_sample_has_the_bits_of_the_whole(run, name, problem):
    whole, full, complete = run(name, problem)
    workload, result, verdict = run(name, problem, sample=1)
    assert complete.passed
    assert verdict.passed, verdict.reason
    assert verdict.elements < complete.elements == problem.m * problem.n
    assert len(workload.launch.workgroups) < np.prod(workload.launch.grid)
    for buffer in whole.launch.buffers:
        some, mask = present(result, buffer.name)
        if buffer.name != "D":
            np.testing.assert_array_equal(some[mask], buffer.data[mask])
    item = np.uint32 if name == "sgemm" else np.uint16
    before = next(buffer.data.view(item) for buffer in whole.launch.buffers if buffer.name == "D")
    some, mask = (data.view(item) for data in present(result, "D"))
    written = (some != before) & (mask != 0)
    np.testing.assert_array_equal(some[written], full.buffers["D"].view(item)[written])
    assert np.count_nonzero(written) >= verdict.elements * 0.99


ORDERS = ["32x128", "64x384", "192x256", "224x256", "128x512", "256x256", "32x1024"]


@pytest.mark.parametrize("name", [*(f"BpreShuffle_{tile}" for tile in ORDERS), "noBpreShuffle_256x256"])
def test_the_tiles_of_a_large_grid_are_found_whatever_the_order_of_workgroups(run, name):
    variant = parse(PREFIX + name)
    problem = Problem(m=17 * variant.tile_m - 5, n=71 * variant.tile_n, k=256)
    workload, _, verdict = run(name, problem, sample=6)
    assert verdict.passed, verdict.reason
    assert len(workload.launch.workgroups) == 12
    assert workload.launch.grid == (71, 17, 1)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(3))
def test_every_kernel_passes_on_a_sample_of_a_large_grid(run, kernels_dir, seed):
    for path in sorted((kernels_dir / "gfx950/f4gemm").glob("*.co")):
        name = path.stem.removeprefix(PREFIX)
        _, _, verdict = run(name, Problem(m=16501, n=20992, k=256 + 32 * seed, seed=seed), sample=20)
        assert verdict.passed, f"{name}: {verdict.reason}"


MISTAKES = {
    "scales row by row": {"placement": Placement(scale_a_layout="row_major", scale_b_layout="row_major")},
    "scales in panels of K": {"placement": Placement(scale_a_layout="scale_k8_panels")},
    "B row by row": {"placement": Placement(b_layout="row_major")},
    "scales exchanged": {"placement": Placement(exchange_scales=True)},
    "scales padded with 1.0": {"placement": Placement(scale_pad=0x7F)},
    "A's stride in bytes": {"overrides": {"stride_A0": 272}},
    "D's stride too large": {"overrides": {"stride_C0": 4488}},
    "D's stride too small": {"overrides": {"stride_C0": 4472}},
    "K too short": {"overrides": {"K": 288}},
    "A null": {"overrides": {"ptr_A": 0}},
}


@pytest.mark.parametrize("options", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_shows_in_a_sample(run, options):
    _, _, verdict = run("BpreShuffle_32x128", Problem(m=150, n=4480, k=544), sample=1, force=True, **options)
    assert not verdict.passed


def test_a_write_beside_the_sampled_tiles_is_found_where_it_is(run):
    """Each row one column further right: tiles spill into neighbours, which no sampled workgroup computes."""
    workload, _, verdict = run(
        "BpreShuffle_32x128",
        Problem(m=90, n=4480, k=256),
        sample=0,
        force=True,
        overrides={"stride_C0": 4481},
    )
    assert not verdict.passed
    assert (
        "elements of D outside the sampled tiles were written, first at row 1, column 128" in verdict.reason
    )
    assert workload.overridden


def test_bytes_that_a_sample_does_not_need_are_filled_before_they_count(run):
    """A is read from the next row on: rows of other tiles, which the launch was not to need."""
    _, result, verdict = run(
        "BpreShuffle_32x128",
        Problem(m=300, n=512, k=2048),
        sample=0,
        force=True,
        overrides={"stride_A0": 4096},
    )
    assert not verdict.passed
    assert any(
        "bytes of A beside what these workgroups need were touched" in text for text in result.findings
    )
    data, mask = present(result, "A")
    whole, _, _ = run("BpreShuffle_32x128", Problem(m=300, n=512, k=2048), sample=0)
    expected = next(buffer.data for buffer in whole.launch.buffers if buffer.name == "A")
    np.testing.assert_array_equal(data[mask], expected[mask])


def test_own_sgemm_with_a_wrong_stride_shows_in_a_sample(run):
    problem = Problem(m=70, n=90, k=33)
    for overrides in ({"stride_D": 91}, {"stride_A": 34}, {"stride_B": 88}):
        _, _, verdict = run("sgemm", problem, sample=0, force=True, overrides=overrides)
        assert not verdict.passed
