"""The assembler that makes the emulator tests' machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from gfx950_code import Assembler

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def assembler(llvm_tool: Callable[[str], str]) -> Assembler:
    """Assembles text for gfx950."""
    return Assembler(llvm_tool)
