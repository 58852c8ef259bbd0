"""`argpack diff` of two code objects: how they start a wave, what they declare, and whether their code is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli import output
from argpack.errors import InputError
from argpack.hexdump.table import Line, Table, Tone, counted, text_line

if TYPE_CHECKING:
    import argparse

    from argpack.codeobject import CodeObject
    from argpack.codeobject.difference import Difference
    from argpack.hexdump.table import Document

_MAGICS = (b"\x7fELF", b"CCOB", b"__CLANG_OFFLOAD_BUNDLE__")


def are_code_objects(*paths: str) -> bool:
    """Whether every path is a file that begins as code objects and bundles do; a pipe is left alone."""
    return all((_start(path) or _start(path.rpartition("#")[0])).startswith(_MAGICS) for path in paths)


def diff_code(args: argparse.Namespace) -> int:
    """Compare and print; 0 same, 1 different, or InputError."""
    from argpack.codeobject import read
    from argpack.codeobject.difference import differences

    if args.kernel is not None:
        raise InputError("--kernel says how dumps are decoded; two code objects are compared as they are")
    first, second = read(args.first), read(args.second)
    found = differences(first, second)
    if args.json:
        sides = [_side(code_object) for code_object in (first, second)]
        output.print_json(
            {"same": not found, "sides": sides, "differences": [each._asdict() for each in found]}
        )
    else:
        title = f"argpack diff {args.first} {args.second}"
        output.print_document(_document(first, second, found), title, html=args.html)
    return int(bool(found))


def _start(path: str) -> bytes:
    """The first bytes of a regular file, none of anything else: what is read from a pipe is gone."""
    import os
    import stat

    try:
        place = os.open(path, os.O_PATH)  # opens nothing, so that no writer of a pipe is woken
        regular = stat.S_ISREG(os.fstat(place).st_mode)
        os.close(place)
        if not regular:
            return b""
        with os.fdopen(os.open(path, os.O_RDONLY), "rb") as file:
            return file.read(24)
    except (OSError, ValueError):
        return b""


def _document(first: CodeObject, second: CodeObject, found: tuple[Difference, ...]) -> Document:
    kernels = counted(len(first.kernels), "kernel")
    same = (
        "the same file"
        if first.sha256 == second.sha256
        else f"the same target, launch, arguments and code of {kernels}"
    )
    head = counted(len(found), "difference") if found else same
    lines: Document = [text_line(head, Tone.ALARM if found else Tone.GOOD)]
    for name, side in (("first", first), ("second", second)):
        lines.append(text_line(f"{name:<6}  {side.source}: {len(side.data)} bytes, {side.target}"))
    several = len({each.kernel for each in found if each.kernel}) > 1
    rows = [Line(("", "first", "second"), Tone.STRONG)]
    for each in found:
        what = f"{each.kernel}: {each.what}" if several and each.kernel else each.what
        rows.append(Line((what, each.first or "-", each.second or "-")))
    if found:
        lines += [text_line(""), Table(rows)]
    if any(each.what.startswith("kernarg preload") for each in found):
        lines.append(
            text_line(
                "Code that finds arguments in preloaded SGPRs reads garbage where they are not preloaded."
            )
        )
    return lines


def _side(code_object: CodeObject) -> dict[str, object]:
    return {"file": code_object.source, "sha256": code_object.sha256, "target": str(code_object.target)}
