"""From what a user types to a file: a path, a file name, a kernel's name, or a unique part of a file name."""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from argpack.errors import InputError, UnavailableError
from argpack.kernels.locate import OWN, kernel_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SHOWN = 10
_MANGLED = re.compile(r"_ZN5aiter\d+(\w+)E")
_NONE = "no kernels fetched: run `argpack kernels fetch`, or name a folder with --kernels or AITER_ASM_DIR"


def resolve(text: str, *, root: str | Path | None) -> Path:
    """The code object that `text` means. `root` is the folder named by hand; None looks where kernels usually are.

    An existing path is taken as it is, also with the entry of a bundle behind it (`FILE#2`). Else a whole file name
    (with folders or without, `.co` or not) wins over a kernel's whole name (mangled, as the file says it), that over a
    part of a file name that begins where a word does, and that over any other part. Raises InputError that lists the
    candidates where several fit and the nearest
    names where none does, UnavailableError where none does and there is no folder of kernels.
    """
    if path := _existing(text):
        return path
    folder = kernel_root(root)
    files = _files(folder)
    name = text.removesuffix(".co")
    rules: tuple[Callable[[str, Path], bool], ...] = (
        lambda label, _: label == name,
        lambda label, _: label.endswith(f"/{name}"),
        lambda _, path: _holds_kernel(path, text),
        # A part that begins where a word does is meant before one that begins inside: BpreShuffle is in noBpreShuffle.
        lambda label, _: re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}", label) is not None,
        lambda label, _: name in label,
    )
    for fits in rules:
        found = [label for label, path in files.items() if name and fits(label, path)]
        if len(found) > 1:
            raise InputError(f"{text} is ambiguous: {_listed(found)}")
        if found:
            return files[found[0]]
    if folder is None:
        raise UnavailableError(f"{text}: no such file, and {_NONE}")
    near = _near(name, files)
    hint = f"; near: {_listed(near)}" if near else ""
    raise InputError(f"{text}: no such file, and no kernel in {folder} has it in its name{hint}")


def matching(pattern: str, *, root: str | Path | None) -> tuple[Path, ...]:
    """Code objects whose file name (or relative path, where the pattern has a /) fits a shell pattern, sorted.

    The pattern may leave `.co` out, and `*` fits a / as well. Raises InputError where nothing fits,
    UnavailableError where nothing does and there is no folder of kernels.
    """
    folder = kernel_root(root)
    found = tuple(path for label, path in _files(folder).items() if _fits(label, pattern))
    if not found and folder is None:
        raise UnavailableError(f"{pattern}: {_NONE}")
    if not found:
        raise InputError(f"{pattern}: no code object in {folder} fits this pattern")
    return found


def _existing(text: str) -> Path | None:
    path = Path(text)
    if "#" in text:
        from argpack.codeobject.reader import split

        path = Path(split(text)[0])
        if path != Path(text):
            return Path(text)
    try:
        if path.is_dir():
            raise InputError(f"{text}: expected a code object, found a folder")
        return path if path.is_file() else None
    except OSError as error:  # a name that is too long, say
        raise InputError(f"{text[:80]}: cannot look for the file: {error.strerror}") from error


def _files(root: Path | None) -> dict[str, Path]:
    """Every code object by its path below its folder, without `.co`; our own ones are below `own/`."""
    found: dict[str, Path] = {}
    for folder, prefix in ((root, ""), (OWN, "own/")):
        if folder is not None:
            for path in sorted(folder.rglob("*.co")):
                found[prefix + path.relative_to(folder).as_posix().removesuffix(".co")] = path
    return found


def _holds_kernel(path: Path, name: str) -> bool:
    """Whether a string table of the file has the name of this kernel's descriptor: fast, for there are thousands."""
    try:
        return b"\0" + os.fsencode(name.removesuffix(".kd")) + b".kd\0" in path.read_bytes()
    except OSError:
        return False


def _near(name: str, labels: Iterable[str]) -> list[str]:
    mangled = _MANGLED.fullmatch(name.removesuffix(".kd"))
    wanted = mangled[1] if mangled else name
    stems = {label.rsplit("/", 1)[-1]: label for label in labels}
    close = difflib.get_close_matches(wanted.rsplit("/", 1)[-1], stems, n=3, cutoff=0.5)
    return [stems[stem] for stem in close]


def _fits(label: str, pattern: str) -> bool:
    subject = label if "/" in pattern else label.rsplit("/", 1)[-1]
    return fnmatch.fnmatchcase(subject, pattern) or fnmatch.fnmatchcase(f"{subject}.co", pattern)


def _listed(labels: list[str]) -> str:
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return ", ".join(f"{label}.co" for label in labels[:_SHOWN]) + more
