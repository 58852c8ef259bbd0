"""Fetches AITER's code objects into the user's cache, once: the wheel is taken with pip, checked, and unpacked."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from argpack.errors import UnavailableError
from argpack.kernels.locate import RELEASE, fetched

COUNT = 2501  # code objects in the wheel
_SHA256 = "fe139d74438217c35e87e3b961166bac8db2d381eadccb371da2e63615f05a31"
_INSIDE = PurePosixPath("aiter_meta/hsa")
_BY_HAND = "point at kernels by hand with --kernels DIR or AITER_ASM_DIR (the folder that holds gfx950/…)"


def fetch(*, force: bool = False) -> tuple[Path, bool]:
    """The folder of the fetched code objects, and whether they were downloaded now.

    Nothing is downloaded where all of them are there already, unless `force` asks for it. Raises UnavailableError
    where pip, a package index or the release is missing, where the download is not the file that it should be, or
    where the cache cannot be written.
    """
    target = fetched()
    if not force and _count(target) == COUNT:
        return target, False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=target.parent) as folder:
            wheel = _download(Path(folder))
            _check(wheel)
            _unpack(wheel, Path(folder) / "hsa")
            _replace(target, Path(folder))
    except OSError as error:
        raise UnavailableError(
            f"cannot keep kernels in {target.parent}: {error.strerror}; name another folder with ARGPACK_CACHE"
        ) from error
    return target, True


def _count(folder: Path) -> int:
    """How many code objects there are; os.walk passes over folders that another process moves away meanwhile."""
    return sum(name.endswith(".co") for _, _, names in os.walk(folder) for name in names)


def _download(folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise UnavailableError(
            f"cannot fetch amd-aiter {RELEASE}: pip is missing ({sys.executable}); install it, or {_BY_HAND}"
        )
    options = ["--no-deps", "--pre", "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]
    download = [sys.executable, "-m", "pip", "download", *options]
    command = [*download, "--dest", str(folder), f"amd-aiter=={RELEASE}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        why = next((line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1])
        raise UnavailableError(
            f"cannot fetch amd-aiter {RELEASE} with pip: {why.removeprefix('ERROR: ')}; is a package index "
            f"reachable? Or {_BY_HAND}"
        )
    return wheels[0]


def _check(wheel: Path) -> None:
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _SHA256:
        raise UnavailableError(f"{wheel.name}: expected sha256 {_SHA256}, found {found}; nothing was kept")


def _unpack(wheel: Path, target: Path) -> None:
    """Only the code objects and the tables beside them, below `target` as they were below the wheel's folder."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.suffix in {".co", ".csv"} and path.is_relative_to(_INSIDE):
                destination = target.joinpath(*path.relative_to(_INSIDE).parts)
                destination.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, destination.open("wb") as file:
                    shutil.copyfileobj(source, file)
    if (count := _count(target)) != COUNT:
        raise UnavailableError(
            f"{wheel.name}: expected {COUNT} code objects, found {count}; nothing was kept"
        )


def _replace(target: Path, folder: Path) -> None:
    """Move the new files into place and whatever was there out of it, while another process may do the same."""
    for attempt in range(10):
        with contextlib.suppress(FileNotFoundError):
            target.rename(folder / f"old{attempt}")
        try:
            # A rename is all or nothing: whoever looks at the cache never sees half of the files.
            (folder / "hsa").rename(target)
        except OSError as error:
            failure = error
            if _count(target) == COUNT:
                return
        else:
            return
    raise failure
