"""What `argpack inspect` prints of a file with several code objects: its bundles' entries, one a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.codeobject import Entry

_SHOWN = 3


def list_entries(source: str, size: int, entries: Sequence[Entry], *, as_json: bool) -> int:
    """Print all entries of the bundles in a file of `size` bytes; 0, or 2 where one of them cannot be read."""
    found = [(entry, *_kernels(source, entry)) for entry in entries]
    if as_json:
        values = [_values(*each) for each in found]
        print(json.dumps({"file": source, "size": size, "entries": values}, indent=2))
    else:
        print(*_lines(source, size, found), sep="\n")
    return 2 if any(error for _, _, error in found) else 0


def _kernels(source: str, entry: Entry) -> tuple[tuple[str, ...], str | None]:
    """Names of the kernels in it, or why it cannot be read."""
    from argpack.codeobject import parse

    if entry.target is None or not entry.data:
        return (), None
    try:
        code_object = parse(entry.data, source=f"{source}#{entry.number}")
    except InputError as error:
        return (), str(error)
    return tuple(kernel.name for kernel in code_object.kernels), None


def _lines(source: str, size: int, found: list[tuple[Entry, tuple[str, ...], str | None]]) -> list[str]:
    from argpack.hexdump.table import Line, align

    bundles = found[-1][0].bundle if found else 1
    code = sum(entry.target is not None and bool(entry.data) for entry, _, _ in found)
    what = "an offload bundle" if bundles == 1 else f"{bundles} offload bundles"
    rows = [Line(("entry", "bundle", "target", "bytes", "kernels"))]
    for entry, kernels, error in found:
        bundle = f"{entry.bundle}, compressed" if entry.packed else str(entry.bundle)
        shown = ", ".join(kernels[:_SHOWN])
        more = f" and {len(kernels) - _SHOWN} more" if len(kernels) > _SHOWN else ""
        told = f"{shown}{more}" if error is None else "not readable"
        rows.append(Line((f"#{entry.number}", bundle, entry.target or entry.id, str(len(entry.data)), told)))
    return [
        f"file    {source}, {size} bytes: {what}, {code} code objects for AMD GPUs",
        "",
        *align(rows, colour=False),
        *(error for _, _, error in found if error),
        *([f"{source}#n is one of them, wherever a code object is asked for"] if code else []),
    ]


def _values(entry: Entry, kernels: tuple[str, ...], error: str | None) -> dict[str, object]:
    return {
        "entry": entry.number,
        "bundle": entry.bundle,
        "compressed": entry.packed,
        "id": entry.id,
        "target": entry.target,
        "size": len(entry.data),
        "kernels": kernels,
        "error": error,
    }
