"""Builds the preload library with the machine's C compiler on first use, and keeps it in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from argpack.errors import UnavailableError
from argpack.kernels.locate import cache_dir

_SOURCES = Path(__file__).parent / "preload"
_FLAGS = ("-std=gnu11", "-O2", "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
_NAME = "libargpack_capture.so"


def library() -> Path:
    """The library's path; built where it is not yet. $CC names the compiler, else `cc`.

    Raises UnavailableError where there is no compiler or the build fails.
    """
    sources = sorted(_SOURCES.glob("*.[ch]"))
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    digest = hashlib.sha256("\0".join([*compiler, *_FLAGS]).encode())
    for source in sources:
        digest.update(source.read_bytes())
    folder = cache_dir() / f"capture-{digest.hexdigest()[:16]}"
    built = folder / _NAME
    if not built.is_file():
        _build(compiler, [source for source in sources if source.suffix == ".c"], built)
    return built


def _build(compiler: list[str], sources: list[Path], target: Path) -> None:
    """Into a file of its own first: two processes may build at once, and one may be killed."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            made = Path(scratch, _NAME)
            command = [*compiler, *_FLAGS, "-o", str(made), *map(str, sources), "-ldl"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                lines = done.stderr.strip().splitlines()
                first = next((line for line in lines if "error" in line), lines[0] if lines else "no message")
                raise UnavailableError(f"the capture library does not build with {compiler[0]}: {first}")
            made.replace(target)
    except FileNotFoundError:
        raise UnavailableError(
            f"the capture library is built on first use, and there is no C compiler {compiler[0]!r}: "
            "on Debian install gcc, or name one with CC"
        ) from None
    except OSError as error:
        raise UnavailableError(
            f"{target.parent}: cannot keep the capture library: {error.strerror}"
        ) from error
