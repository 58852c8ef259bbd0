"""The option that chooses where the kernel tests run: `pytest --backend hip tests/kernels` on a machine with a GPU.

It stands here because pytest takes options only from a conftest.py above every test that is named.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--backend`."""
    parser.addoption(
        "--backend",
        choices=("emulator", "hip"),
        default="emulator",
        help="what runs the real kernels: the CPU emulator (default) or a GPU through HIP",
    )


@pytest.fixture(scope="session")
def backend_name(request: pytest.FixtureRequest) -> str:
    """`emulator` or `hip`, for `select_backend`: a GPU asked for and not there fails the tests."""
    return str(request.config.getoption("--backend"))
