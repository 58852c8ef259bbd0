"""Kernels to sweep: argpack's own sgemm, and broken copies of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from argpack.kernels import OWN
from argpack.sweep import Sampling, Shapes, SweptKernel, load_kernels, make_plan

if TYPE_CHECKING:
    from pathlib import Path

FMA = bytes.fromhex("0300cbd1 0a170e04")  # v_fma_f32 v3, v10, v11, v3
SQUARES = bytes.fromhex("0300cbd1 0a150e04")  # v_fma_f32 v3, v10, v10, v3: it computes something else
UNKNOWN = bytes.fromhex("ffffffff ffffffff")
SIZES = ((16, 16, 4), (33, 17, 8), (5, 40, 12))


def patched(instruction: bytes, file: Path) -> Path:
    data = (OWN / "sgemm.co").read_bytes()
    assert data.count(FMA) == 1
    file.write_bytes(data.replace(FMA, instruction))
    return file


@pytest.fixture
def sgemm() -> SweptKernel:
    return load_kernels([OWN / "sgemm.co"])[0]


@pytest.fixture
def wrong(tmp_path) -> Path:
    """A kernel that computes something else."""
    return patched(SQUARES, tmp_path / "wrong.co")


@pytest.fixture
def unknown(tmp_path) -> Path:
    """A kernel with an instruction that nobody knows."""
    return patched(UNKNOWN, tmp_path / "unknown.co")


@pytest.fixture
def plan_of():
    def make(*kernels, sizes=SIZES, seed=0, sampling=None):
        shapes = Shapes("here", tuple(sizes), len(sizes))
        return make_plan(kernels, shapes, seed=seed, sampling=sampling or Sampling("all", None, 0))

    return make
