"""Reads what LLVM's tools print of code objects: the independent opinion on what our reader says."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


def notes(readelf: str, paths: Iterable[Path]) -> dict[str, list[dict[str, Any]]]:
    """The kernels' metadata maps by file, as `llvm-readelf --notes` prints them (YAML of one fixed shape)."""
    return {
        path: list(_kernels(lines))
        for path, lines in _files([readelf, "--notes", *map(str, paths)], "File: ")
    }


def descriptors(objdump: str, paths: Iterable[Path]) -> dict[str, dict[str, int]]:
    """The descriptor's directives by file, as `llvm-objdump -d -j .rodata` prints them, for files of one kernel."""
    found = {}
    for head, lines in _files([objdump, "-d", "-j", ".rodata", *map(str, paths)], ""):
        pairs = (line.split() for line in lines if line.startswith("\t.amdhsa_"))
        found[head] = {name.removeprefix(".amdhsa_"): int(value) for name, value in pairs}
    return found


def _files(command: list[str], prefix: str) -> Iterator[tuple[str, list[str]]]:
    """Output cut at the lines that name a file."""
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    path, lines = "", list[str]()
    for line in text.splitlines():
        name, separator, _ = line.partition(":\tfile format ")
        if (prefix and line.startswith(prefix)) or separator:
            if path:
                yield path, lines
            path, lines = name.removeprefix(prefix), []
        else:
            lines.append(line)
    yield path, lines


def _kernels(lines: list[str]) -> Iterator[dict[str, Any]]:
    kernel: dict[str, Any] = {}
    target: dict[str, Any] = {}
    values: list[Any] = []
    for line in lines[lines.index("amdhsa.kernels:") + 1 :]:
        if not line.startswith("  "):
            break
        text = line.lstrip(" -")
        key, colon, value = text.partition(":")
        if line.startswith("  - "):
            if kernel:
                yield kernel
            kernel = target = {}
        if line.startswith("      - ") and colon:
            target = {}
            values.append(target)
        elif line.startswith("      - "):
            values.append(int(text))
            continue
        elif line[:6].count(" ") < 6:
            target = kernel
        if value.strip():
            target[key] = _scalar(value.strip())
        else:
            values = target[key] = []
    yield kernel


def _scalar(text: str) -> int | str:
    return int(text) if text.isdigit() else text.strip("'\"")
