"""The folders that hold code objects, in the order in which they are looked at."""

from __future__ import annotations

import os
from pathlib import Path

from argpack.errors import InputError, UnavailableError

# The folder of our own code objects, part of the package.
OWN = Path(__file__).parent / "own"
RELEASE = "0.1.7.post2.dev18"
_VARIABLE = "AITER_ASM_DIR"


def cache_dir() -> Path:
    """Where fetched files are kept: $ARGPACK_CACHE, else $XDG_CACHE_HOME/argpack, else ~/.cache/argpack.

    Raises UnavailableError where none of them is known.
    """
    if own := os.environ.get("ARGPACK_CACHE"):
        return Path(own)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "argpack"
    try:
        return Path.home() / ".cache" / "argpack"
    except RuntimeError as error:
        raise UnavailableError(
            "no home folder to keep kernels in: name a folder with ARGPACK_CACHE"
        ) from error


def fetched() -> Path:
    """The folder of the fetched code objects, whether it is there or not; it holds `gfx950/…` and `gfx942/…`."""
    return cache_dir() / f"amd-aiter-{RELEASE}" / "hsa"


def kernel_root(explicit: str | Path | None) -> Path | None:
    """The folder to look kernels up in: `explicit`, else $AITER_ASM_DIR, else the fetched ones; None for none.

    Raises InputError where a folder was named and is none.
    """
    for source, value in (("--kernels", explicit), (_VARIABLE, os.environ.get(_VARIABLE))):
        if value:
            root = Path(value)
            if not root.is_dir():
                raise InputError(f"{source}: {root}: expected a folder of code objects, found no such folder")
            return root
    return fetched() if fetched().is_dir() else None
