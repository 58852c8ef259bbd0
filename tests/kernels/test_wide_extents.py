"""Matrices beyond 2^31 and 2^32 bytes: kernels whose sizes and offsets hold pass, those that wrap are refused and fail.

Only the tiles of a sample are computed, among them those where 32 bits end.
"""

import pytest

from argpack.codeobject import read
from argpack.errors import RefusedError
from argpack.families import Problem
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.families.own_sgemm.workload import prepare as prepare_sgemm
from argpack.families.sampling import wrapping_tiles
from argpack.kernels import OWN
from argpack.launch.emulator_backend import EmulatorBackend

GIB = 1 << 30
# What each makes larger than 4 GiB.
D = Problem(m=32768, n=66048, k=256)
A = Problem(m=1048832, n=512, k=8192)
B = Problem(m=32, n=1049088, k=8192)


@pytest.fixture
def verdict(kernels_dir):
    """The verdict on corners, edges and the tiles where 32 bits end."""

    def run(name, problem, *, force=False):
        path = kernels_dir / f"gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_{name}.co"
        code_object = read(path)
        workload = prepare(code_object, code_object.kernels[0], problem, force=force, sample=0)
        return workload.judge(EmulatorBackend(processes=2).run(workload.launch))

    return run


def test_the_problems_are_as_large_as_they_are_meant_to_be():
    assert 2 * D.m * D.n > 4 * GIB
    assert A.m * A.k // 2 > 4 * GIB
    assert B.n * B.k // 2 > 4 * GIB


@pytest.mark.parametrize("problem", [D, A, B], ids=["D", "A", "B"])
@pytest.mark.parametrize("name", ["BpreShuffle_32x128", "BpreShuffle_128x512"])
def test_kernels_with_a_resource_for_each_tile_pass_beyond_4_gib(verdict, name, problem):
    found = verdict(name, problem)
    assert found.passed, found.reason


@pytest.mark.parametrize("name", ["BpreShuffle_256x256", "BpreShuffle_32x128", "BpreShuffle_192x256"])
def test_an_output_of_two_and_a_half_gib_passes(verdict, name):
    """A size at which another library's kernel lost stores: 5326464 x 256 bf16, 2^31 bytes and more."""
    problem = Problem(m=5326464, n=256, k=256)
    assert 2 * GIB < 2 * problem.m * problem.n < 4 * GIB
    found = verdict(name, problem)
    assert found.passed, found.reason


def test_a_kernel_with_one_resource_for_d_loses_the_rows_where_its_size_wraps(verdict):
    """D is 106496 columns wide, a shape of AITER's tests: 2^32 bytes before its end lies row 12603."""
    problem = Problem(m=32768, n=106496, k=256)
    message = r"D needs a buffer resource of 6979321856 bytes \(3489660928 bf16 elements\), a size of 32 bits"
    with pytest.raises(RefusedError, match=message):
        verdict("BpreShuffle_256x256", problem)
    found = verdict("BpreShuffle_256x256", problem, force=True)
    assert not found.passed
    assert found.first_bad is not None
    assert found.first_bad[0] == 12603
    # 197 rows up to the next tile, in one tile of 256 columns.
    assert found.wrong == 197 * 256
    assert verdict("noBpreShuffle_256x256", problem).passed


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (A, r"A needs a buffer resource of 4296015872 bytes \(8592031744 fp4 elements\)"),
        (B, r"B needs a buffer resource of 4297064448 bytes \(8594128896 fp4 elements\)"),
    ],
    ids=["A", "B"],
)
@pytest.mark.parametrize("name", ["BpreShuffle_256x256", "noBpreShuffle_256x256"])
def test_a_kernel_with_one_resource_for_an_operand_fails_beyond_4_gib(verdict, name, problem, message):
    with pytest.raises(RefusedError, match=message):
        verdict(name, problem)
    found = verdict(name, problem, force=True)
    assert not found.passed
    assert found.wrong > found.elements // 2


def test_own_sgemm_passes_beyond_4_gib():
    code_object = read(OWN / "sgemm.co")
    problem = Problem(m=70000, n=16400, k=3, beta=1.0)
    assert 4 * problem.m * problem.n > 4 * GIB
    workload = prepare_sgemm(code_object, code_object.kernels[0], problem, sample=0)
    found = workload.judge(EmulatorBackend(processes=2).run(workload.launch))
    assert found.passed, found.reason


def test_tiles_where_32_bits_end():
    """2^30 and 2^31 bytes from either end of 3 GiB, in rows of 1 MiB and tiles of 32 rows."""
    assert wrapping_tiles(3072, 1 << 20, 32) == {32, 64}
    assert wrapping_tiles(3073, 1 << 20, 32) == {32, 64}
    assert wrapping_tiles(1024, 1 << 20, 32) == set()
    assert wrapping_tiles(1025, 1 << 20, 32) == {0, 32}
