"""The assembler that makes the emulator tests' machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from emulator_harness import ENDPGM
from gfx950_code import Assembler

from argpack.emulator.decoder import decode

if TYPE_CHECKING:
    from collections.abc import Callable

# The decoder's library raises Python's recursion limit when it is imported; hypothesis minds that inside a test.
decode(ENDPGM, 0)


@pytest.fixture(scope="session")
def assembler(llvm_tool: Callable[[str], str]) -> Assembler:
    """Assembles text for gfx950."""
    return Assembler(llvm_tool)
