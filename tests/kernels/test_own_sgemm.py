"""argpack's own kernel computes D = alpha·A·B + beta·C, and wrong arguments show."""

import pytest

from argpack.codeobject import read
from argpack.families import Problem
from argpack.families.own_sgemm.workload import prepare
from argpack.kernels import OWN
from argpack.launch.select import select_backend


@pytest.fixture(scope="module")
def code_object():
    return read(OWN / "sgemm.co")


@pytest.fixture
def launch(code_object, backend_name):
    def run(problem, **options):
        workload = prepare(code_object, code_object.kernels[0], problem, **options)
        backend, _ = select_backend(backend_name, code_object)
        return workload.judge(backend.run(workload.launch))

    return run


def test_the_norm_error_is_that_of_a_float32_sum(launch):
    verdict = launch(Problem(m=128, n=64, k=256, alpha=1.0, beta=1.0))
    assert verdict.passed
    assert verdict.elements == 128 * 64
    assert 1e-8 < verdict.norm_error < 1e-6


@pytest.mark.parametrize("sizes", [(1, 1, 1), (17, 33, 5), (16, 16, 64), (15, 100, 3)])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (-0.75, 0.5), (0.0, 2.0)])
def test_any_shape_and_factors(launch, sizes, alpha, beta):
    m, n, k = sizes
    verdict = launch(Problem(m=m, n=n, k=k, alpha=alpha, beta=beta, seed=3))
    assert verdict.passed, verdict.reason


@pytest.mark.parametrize(
    "overrides",
    [
        {"stride_A": 63},
        {"stride_B": 32},
        {"stride_D": 60},
        {"K": 63},
        {"alpha": 2.0},
        {"beta": 0.0},
        {"M": 31},
    ],
)
def test_a_wrong_argument_fails(launch, overrides):
    verdict = launch(Problem(m=32, n=64, k=64, beta=1.0), overrides=overrides, force=True)
    assert not verdict.passed


def test_outputs_never_written_are_counted(launch):
    verdict = launch(Problem(m=32, n=64, k=64), overrides={"M": 31}, force=True)
    assert "64 of 2048 outputs were never written" in verdict.reason


def test_a_null_pointer_is_a_memory_fault(code_object):
    """On a GPU it would end the process: only the emulator survives it."""
    workload = prepare(
        code_object, code_object.kernels[0], Problem(m=16, n=16, k=4), overrides={"ptr_B": 0}, force=True
    )
    backend, _ = select_backend("emulator", code_object)
    verdict = workload.judge(backend.run(workload.launch))
    assert verdict.reason.startswith("memory access fault: 4-byte read from 0x0")
