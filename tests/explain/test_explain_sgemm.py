"""argpack's own sgemm: wrong outputs by numpy alone, which float32 sums of small integers make exact."""

import json

import numpy as np
import pytest

M, N, K = 40, 24, 32


@pytest.fixture
def operands(tmp_path):
    """Small integers: every order of their sums gives the same float32."""
    rng = np.random.default_rng(2)
    made = {name: rng.integers(-4, 5, shape).astype(np.float32) for name, shape in SHAPES.items()}
    for name, one in made.items():
        np.save(tmp_path / f"{name}.npy", one)
    return made


SHAPES = {"a": (M, K), "b": (K, N), "c": (M, N)}


@pytest.fixture
def cause(explain, operands, tmp_path):
    """Asks about an output; gives the exit code and the names of the causes."""

    def run(output, *options):
        np.save(tmp_path / "d.npy", np.ascontiguousarray(output, np.float32))
        files = [part for name in SHAPES for part in (f"--{name}", tmp_path / f"{name}.npy")]
        code, out, err = explain("sgemm", *files, "--output", tmp_path / "d.npy", "--json", *options)
        assert err == ""
        found = json.loads(out)
        return code, [one["name"] for one in found["findings"]]

    return run


def product(a, b, c, alpha=1.0, beta=1.0):
    return alpha * (a.astype(np.float64) @ b) + beta * c


def rows(matrix, count, stride):
    """`count` columns of each row, rows `stride` elements apart in the matrix' memory."""
    flat = np.concatenate([matrix.reshape(-1), np.zeros(4 * matrix.size, np.float32)])
    return np.stack([flat[i * stride : i * stride + count] for i in range(len(matrix))])


def test_a_right_output(cause, operands):
    assert cause(product(**operands)) == (0, [])
    assert cause(product(**operands, alpha=0.5, beta=2), "--alpha", "0.5", "--beta", "2") == (0, [])


def test_alpha_ignored(cause, operands):
    assert cause(product(**operands), "--alpha", "0.5") == (1, ["alpha ignored"])


def test_beta_ignored(cause, operands):
    assert cause(product(**operands, beta=0)) == (1, ["beta ignored"])


def test_stride_of_a_doubled(cause, operands):
    wrong = rows(operands["a"], K, 2 * K)
    output = product(**{**operands, "a": wrong})
    code, names = cause(output)
    assert (code, names[0]) == (1, "stride_A doubled")


def test_stride_of_b_halved(cause, operands):
    output = product(**{**operands, "b": rows(operands["b"], N, N // 2)})
    assert cause(output) == (1, ["stride_B halved"])


def test_b_transposed(cause, operands):
    wrong = np.ascontiguousarray(operands["b"].T).reshape(K, N)
    assert cause(product(**{**operands, "b": wrong})) == (1, ["B transposed"])


def test_the_last_tiles_are_left_out(cause, operands):
    output = np.zeros((M, N))
    output[:32, :16] = product(**operands)[:32, :16]
    code, names = cause(output)
    assert (code, names[0]) == (1, "last tile left out")


def test_stride_of_d_in_bytes(cause, operands):
    output = np.zeros((M, N))
    output[::4] = product(**operands)[: M // 4]
    code, names = cause(output)
    assert (code, names[0]) == (1, "stride_D in bytes")


def test_factor_two(cause, operands):
    assert cause(2 * product(**operands)) == (1, ["uniform factor 2"])


def test_what_nothing_explains(cause, operands):
    output = product(**operands)
    output[3, 4] += 1000
    assert cause(output) == (1, [])
