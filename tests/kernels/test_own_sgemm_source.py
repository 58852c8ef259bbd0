"""The package's own kernel: `sgemm.co` is what `sgemm.s` assembles to, and it computes alpha·A·B + beta·C."""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from argpack.codeobject import read
from argpack.launch import Buffer, Launch, Relocation
from argpack.launch.select import select_backend

ROOT = Path(__file__).parents[2]
OWN = ROOT / "argpack" / "kernels" / "own"
POINTERS = {"D": 0, "C": 8, "A": 16, "B": 24}
GAP = 3  # elements between the rows of every matrix


def build(root, llvm_tool, *options):
    tools = {"LLVM_MC": llvm_tool("llvm-mc"), "LD_LLD": llvm_tool("ld.lld")}
    command = ["bash", str(root / "tools" / "build_own_kernels"), *options]
    return subprocess.run(command, env=os.environ | tools, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path):
    """A copy of what the build needs, free to be changed."""
    shutil.copytree(OWN, tmp_path / "argpack" / "kernels" / "own")
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "build_own_kernels", tmp_path / "tools")
    return tmp_path


@pytest.fixture
def multiply(backend_name):
    """Runs the kernel on matrices a, b and c (None: a null pointer); returns D, its gaps and the result."""
    code_object = read(OWN / "sgemm.co")

    def run(a, b, c, *, alpha, beta):
        (m, k), n = a.shape, b.shape[1]
        before = np.full((m, n + GAP), 77, dtype=np.float32)
        matrices = {"A": a, "B": b} if c is None else {"A": a, "B": b, "C": c}
        wide = {"D": before} | {name: np.pad(x, ((0, 0), (0, GAP))) for name, x in matrices.items() if x.size}
        strides = (n + GAP, n + GAP, k + GAP, n + GAP)
        launch = Launch(
            code_object,
            code_object.kernels[0],
            struct.pack("<4Q2f7I", 0, 0, 0, 0, alpha, beta, m, n, k, *strides),
            tuple(Relocation(POINTERS[name], name) for name in wide),
            tuple(Buffer(name, x.view(np.uint8).ravel()) for name, x in wide.items()),
            grid=(-(-n // 16), -(-m // 16), 1),
            block=(16, 16, 1),
        )
        backend, _ = select_backend(backend_name, code_object)
        result = backend.run(launch)
        d = result.buffers["D"].view(np.float32).reshape(before.shape)
        return d[:, :n], d[:, n:], result

    return run


def uniform(*shape):
    return np.random.default_rng(shape[0]).random(shape, dtype=np.float32)


def norm_error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def test_source_assembles_to_the_committed_file(checkout, llvm_tool):
    (checkout / "argpack" / "kernels" / "own" / "sgemm.co").unlink()
    assert build(checkout, llvm_tool).stderr == ""
    assert (checkout / "argpack" / "kernels" / "own" / "sgemm.co").read_bytes() == (
        OWN / "sgemm.co"
    ).read_bytes()


def test_check_finds_a_source_edited_without_a_rebuild(checkout, llvm_tool):
    source = checkout / "argpack" / "kernels" / "own" / "sgemm.s"
    assert build(checkout, llvm_tool, "--check").returncode == 0
    source.write_text(source.read_text().replace("v_fma_f32 v3, v10", "v_fma_f32 v3, -v10", 1))
    assert build(checkout, llvm_tool, "--check").returncode == 1


def test_unknown_option_of_the_build_is_refused(checkout, llvm_tool):
    done = build(checkout, llvm_tool, "--chekc")
    assert (done.returncode, done.stderr) == (2, "usage: tools/build_own_kernels [--check]\n")


def test_metadata_declares_the_arguments():
    (kernel,) = read(OWN / "sgemm.co").kernels
    assert [(a.name, a.offset, a.size) for a in kernel.arguments] == [
        *(("ptr_D", 0, 8), ("ptr_C", 8, 8), ("ptr_A", 16, 8), ("ptr_B", 24, 8)),
        *(("alpha", 32, 4), ("beta", 36, 4), ("M", 40, 4), ("N", 44, 4), ("K", 48, 4)),
        *(("stride_D", 52, 4), ("stride_C", 56, 4), ("stride_A", 60, 4), ("stride_B", 64, 4)),
    ]
    assert (kernel.name, kernel.kernarg_segment_size) == ("argpack_sgemm", 72)
    assert kernel.required_workgroup_size == (16, 16, 1)


def test_computes_the_product_and_the_sum(multiply):
    a, b, c = uniform(128, 256), uniform(256, 64), uniform(128, 64)
    d, gaps, result = multiply(a, b, c, alpha=1.0, beta=1.0)
    assert norm_error(d, a.astype(np.float64) @ b + c) < 4e-7
    assert (result.errors, result.findings, (gaps == 77).all()) == ((), (), True)


def test_ragged_shape_stays_within_its_rows(multiply):
    a, b, c = uniform(33, 5), uniform(5, 17), uniform(33, 17)
    d, gaps, result = multiply(a, b, c, alpha=-2.0, beta=0.5)
    assert norm_error(d, -2.0 * (a.astype(np.float64) @ b) + 0.5 * c) < 4e-7
    assert (result.errors, result.findings, (gaps == 77).all()) == ((), (), True)


@pytest.mark.parametrize("beta", [0.0, -0.0])
def test_null_c_is_not_read_where_beta_is_zero(multiply, beta):
    a, b = uniform(33, 5), uniform(5, 17)
    d, _, result = multiply(a, b, None, alpha=1.0, beta=beta)
    assert norm_error(d, a.astype(np.float64) @ b) < 4e-7
    assert (result.errors, result.findings) == ((), ())


def test_no_steps_of_k_give_beta_c_even_where_alpha_is_nan(multiply):
    c = uniform(5, 3)
    d, _, _ = multiply(np.zeros((5, 0), np.float32), np.zeros((0, 3), np.float32), c, alpha=np.nan, beta=2.0)
    np.testing.assert_array_equal(d, c + c)


def test_denormals_are_kept(multiply):
    one, tiny = np.ones((1, 1), np.float32), np.full((1, 1), 1e-40, np.float32)
    d, _, _ = multiply(one, tiny, tiny, alpha=1.0, beta=1.0)
    np.testing.assert_array_equal(d, tiny + tiny)
