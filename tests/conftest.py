"""What every test may ask for: the real kernels, and LLVM's tools. Neither is ever skipped: without them tests fail."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from argpack import kernels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("nightly", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def kernels_dir() -> Path:
    """The folder that holds AITER's `gfx950/…` and `gfx942/…`."""
    root = kernels.kernel_root(None)
    if root is None:
        pytest.fail("the tests run AITER's code objects, and none are fetched: run `argpack kernels fetch`")
    count = sum(1 for _ in root.rglob("*.co"))
    assert count == kernels.COUNT, f"{root}: expected {kernels.COUNT} code objects, found {count}"
    return root


@pytest.fixture(scope="session")
def llvm_tool() -> Callable[[str], str]:
    """Finds one of LLVM's tools by name, of a version that knows gfx950."""

    def find(name: str) -> str:
        for suffix in ("", "-22", "-21", "-20"):
            path = shutil.which(name + suffix)
            if path is None:
                continue
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            if any(f" {major}." in version for major in range(20, 40)):
                return path
        pytest.fail(f"the tests need {name} of LLVM 20 or later: on Debian, apt-get install llvm-22 lld-22")

    return find
