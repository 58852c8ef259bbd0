"""`argpack explain` called as a user calls it, and hosts that launch real kernels."""

import json

import numpy as np
import pytest
from launched import KEPT, Host, Operands

from argpack.cli import main
from argpack.explain import Runner


def remembering(scene, backend):
    key = scene.kernel.name, scene.right.digest
    return Runner(scene, backend, KEPT.setdefault(key, {}))


@pytest.fixture
def explain(kernels_dir, capsys, monkeypatch):
    """Runs `argpack explain` with these arguments; gives exit code, standard output and standard error."""
    monkeypatch.setattr("argpack.explain.Runner", remembering)

    def run(*arguments):
        code = main(["explain", *map(str, arguments), "--kernels", str(kernels_dir)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def asked(explain, tmp_path):
    """Asks why a host's output is wrong, with operands and output in files; gives exit code and the JSON answer."""

    def run(host, operands, output, *options):
        operands.save(tmp_path)
        np.save(tmp_path / "d.npy", output)
        files = [*operands.options(tmp_path), "--output", tmp_path / "d.npy"]
        code, out, err = explain(host.path, *files, "--json", *options)
        assert err == ""
        return code, json.loads(out)

    return run


@pytest.fixture
def small(kernels_dir):
    """Tiles of 32 x 128."""
    return Host(kernels_dir, "BpreShuffle_32x128", (32, 128))


@pytest.fixture
def large(kernels_dir):
    """Tiles of 256 x 256; it applies alpha and splits K."""
    return Host(kernels_dir, "BpreShuffle_256x256", (256, 256))


@pytest.fixture
def plain(kernels_dir):
    """Tiles of 256 x 256, B row by row."""
    return Host(kernels_dir, "noBpreShuffle_256x256", (256, 256), preshuffled=False)


@pytest.fixture
def ragged():
    """M ends inside a tile of 32 rows, K inside a tile of 8 scale columns: 52 of 56."""
    return Operands(80, 256, 1664)
