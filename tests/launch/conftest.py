"""A process that talks to a stand-in HIP runtime built from fake_hip.c, through the real hip-python."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ask = Callable[[dict[str, Any]], dict[str, Any]]

HERE = Path(__file__).parent
F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"


@contextlib.contextmanager
def hip_process(rocm: Path) -> Iterator[Ask]:
    """Start hip_child.py with the runtime in `rocm`/lib; call what it gives with scenarios."""
    # hip-python up to 7 leaves the search to the loader, from 10 on it looks into ROCM_PATH first.
    env = {**os.environ, "LD_LIBRARY_PATH": str(rocm / "lib"), "ROCM_PATH": str(rocm)}
    command = [sys.executable, str(HERE / "hip_child.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as child:

        def ask(scenario: dict[str, Any]) -> dict[str, Any]:
            assert child.stdin
            assert child.stdout
            print(json.dumps({"env": {}, **scenario}), file=child.stdin, flush=True)
            line = child.stdout.readline()
            if not line:
                pytest.fail(f"the process ended: {child.communicate()[1]}")
            answer: dict[str, Any] = json.loads(line)
            return answer

        yield ask


@pytest.fixture(scope="session")
def f4gemm(kernels_dir: Path) -> Path:
    """The smallest f4gemm code object; its arguments end at 384."""
    return kernels_dir / F4GEMM


@pytest.fixture(scope="module")
def fake_hip(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Asks a process whose HIP runtime is fake_hip.c."""
    rocm = tmp_path_factory.mktemp("rocm")
    (rocm / "lib").mkdir()
    library = rocm / "lib" / "libamdhip64.so"
    flags = ("-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
    subprocess.run(["gcc", *flags, "-o", library, HERE / "fake_hip.c"], check=True)
    with hip_process(rocm) as ask:
        yield ask


@pytest.fixture(scope="module")
def broken_hip(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Asks a process whose HIP runtime cannot be loaded."""
    rocm = tmp_path_factory.mktemp("broken")
    (rocm / "lib").mkdir()
    (rocm / "lib" / "libamdhip64.so").write_bytes(b"no library")
    with hip_process(rocm) as ask:
        yield ask
