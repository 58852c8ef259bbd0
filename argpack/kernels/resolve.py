"""From what a user types to a file: a path, a name, a kernel's mangled name, or a unique part of one."""

from __future__ import annotations

import difflib
import fnmatch
import re
from pathlib import Path

from argpack.errors import InputError
from argpack.kernels.locate import OWN, kernel_root

_SHOWN = 10
_MANGLED = re.compile(r"_ZN5aiter(\d+)(\w+)E(?:\.kd)?")
_NONE = "no kernels fetched: run `argpack kernels fetch`, or name a folder with --kernels or AITER_ASM_DIR"


def _files(root: Path | None) -> dict[str, Path]:
    """Every code object by its path below its folder."""
    found: dict[str, Path] = {}
    for folder in (root, OWN):
        if folder is not None:
            found |= {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.co"))}
    return found


def _plain(text: str) -> str:
    """Without what a kernel name has and a file name has not: mangling, `.kd`, `.co`."""
    mangled = _MANGLED.fullmatch(text)
    name = mangled[2][: int(mangled[1])] if mangled else text
    return name.removesuffix(".kd").removesuffix(".co")


def resolve(text: str, *, root: str | Path | None) -> Path:
    """The code object that `text` means. `root` is the folder named by hand; None looks where kernels usually are.

    An existing path is taken as it is. Else an exact relative path or file name wins over a part of one. Raises
    InputError that lists the candidates where several fit, the nearest names where none does.
    """
    path = Path(text)
    if path.is_dir():
        raise InputError(f"{text}: expected a code object, found a folder")
    if path.is_file():
        return path
    folder = kernel_root(root)
    files = _files(folder)
    name = _plain(text)
    exact = {r: p for r, p in files.items() if r.removesuffix(".co") == name}
    same = {r: p for r, p in files.items() if p.stem == name}
    part = {r: p for r, p in files.items() if name and name in r}
    for candidates in (exact, same, part):
        if len(candidates) == 1:
            return next(iter(candidates.values()))
        if candidates:
            raise InputError(f"{text} is ambiguous: {_listed(sorted(candidates))}")
    if folder is None:
        raise InputError(f"{text}: no such file, and {_NONE}")
    stems = {p.stem: r for r, p in files.items()}
    near = [
        stems[stem] for stem in difflib.get_close_matches(name.rsplit("/", 1)[-1], stems, n=3, cutoff=0.5)
    ]
    hint = f"; near: {_listed(near)}" if near else ""
    raise InputError(f"{text}: no such file, and no kernel in {folder} has it in its name{hint}")


def matching(pattern: str, *, root: str | Path | None) -> tuple[Path, ...]:
    """Code objects whose file name (or relative path, where the pattern has a /) fits a shell pattern, sorted.

    The pattern may leave `.co` out. Raises InputError where nothing fits.
    """
    folder = kernel_root(root)
    found = [path for relative, path in _files(folder).items() if _fits(relative, path, pattern)]
    if not found:
        where = f"in {folder}" if folder else f"({_NONE})"
        raise InputError(f"{pattern}: no code object {where} fits this pattern")
    return tuple(found)


def _fits(relative: str, path: Path, pattern: str) -> bool:
    subject = relative if "/" in pattern else path.name
    return fnmatch.fnmatchcase(subject, pattern) or fnmatch.fnmatchcase(subject.removesuffix(".co"), pattern)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
