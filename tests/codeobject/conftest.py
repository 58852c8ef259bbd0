"""The builder of code objects for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_objects import Builder

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def build(llvm_tool: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """Assembles and links."""
    return Builder(llvm_tool, tmp_path_factory.mktemp("built"))
