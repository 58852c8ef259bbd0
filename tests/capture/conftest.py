"""Programs in C that launch kernels on a stand-in HIP runtime in C, and `argpack capture` around them."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from argpack.capture import read
from argpack.kernels import OWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from argpack.capture import Capture

HERE = Path(__file__).parent
SGEMM = OWN / "sgemm.co"


class Programs:
    """`host` is linked with the runtime, `dynamic` opens it; `env` lets both find it."""

    def __init__(self, folder: Path) -> None:
        flags = ("-D_DEFAULT_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
        library = folder / "libamdhip64.so"
        self.host, self.dynamic = folder / "host", folder / "dynamic"
        source = str(HERE / "host.c")
        for command in (
            ["gcc", *flags, "-shared", "-fPIC", "-o", str(library), str(HERE / "fake_runtime.c")],
            ["gcc", *flags, "-o", str(self.host), source, str(library)],
            ["gcc", *flags, "-DDYNAMIC", "-o", str(self.dynamic), source, "-ldl"],
        ):
            subprocess.run(command, check=True)
        self.env = {**os.environ, "LD_LIBRARY_PATH": str(folder), "ARGPACK_CACHE": str(folder / "cache")}


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def capture(
    programs: Programs, tmp_path: Path
) -> Callable[..., tuple[Capture, subprocess.CompletedProcess[bytes]]]:
    """Runs `argpack capture OPTIONS -- COMMAND`; the capture and what the process did."""
    numbers = itertools.count()

    def run(
        *command: object, options: tuple[str, ...] = (), env: dict[str, str] | None = None
    ) -> tuple[Capture, subprocess.CompletedProcess[bytes]]:
        path = tmp_path / f"{next(numbers)}.capture"
        start = [sys.executable, "-m", "argpack", "capture", "-o", str(path), *options, "--"]
        done = subprocess.run(
            [*start, *map(str, command)],
            capture_output=True,
            check=False,
            env={**programs.env, **(env or {})},
        )
        return read(path), done

    return run
