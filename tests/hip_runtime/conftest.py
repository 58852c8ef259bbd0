"""HIP programs of our own, compiled and run on the emulated runtime by `argpack hip`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from argpack.hip_runtime.build import build

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread")


@pytest.fixture(scope="session")
def hip_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache that the runtime of these tests is built into."""
    return tmp_path_factory.mktemp("hip-cache")


@pytest.fixture(scope="session")
def hip_root(hip_cache: Path) -> Path:
    """The folder with lib/libamdhip64.so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGPACK_CACHE", str(hip_cache))
        return build()


@pytest.fixture(scope="session")
def program(hip_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles NAME.cpp against our declarations and the emulated runtime."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name: str) -> Path:
        path = folder / name
        if not path.exists():
            source = HERE / f"{name}.cpp"
            subprocess.run(
                ["g++", *FLAGS, "-o", path, source, f"-L{hip_root / 'lib'}", "-lamdhip64"], check=True
            )
        return path

    return compiled


@pytest.fixture(scope="session")
def on_emulator(hip_root: Path, hip_cache: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command with `argpack hip`; gives what it printed and its exit code."""

    def run(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-m", "argpack", "hip", "--", *map(str, command)]
        env = {**os.environ, "ARGPACK_CACHE": str(hip_cache)}
        return subprocess.run(whole, capture_output=True, text=True, env=env, check=False, **options)

    return run
