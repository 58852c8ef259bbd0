"""Compare dumps of argument buffers field by field: only what changes the kernel's output counts.

FIRST and SECOND are dumps, or folders: then files of the same name are compared. --against compares FIRST
with what a problem should give instead. Pads, and fields that the kernel never reads or reads without effect,
are counted and ignored; pointers compare by being null, by alignment, and by being exchanged. One mistake
behind many differences is named in one line. Where neither kernel nor size tells the family, bytes are
compared. Two code objects are compared by what they declare and by their code. Exit codes: 0 same, 1
different, 2 could not compare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli import decoding, expected, output
from argpack.cli.comparing import compare
from argpack.errors import InputError

if TYPE_CHECKING:
    import argparse

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump
    from argpack.hexdump.diff import Diff
    from argpack.hexdump.mistakes import Mistake
    from argpack.hexdump.table import Document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack diff`."""
    parser.add_argument(
        "first", metavar="FIRST", help="a dump, - for standard input, a folder of dumps, or a .co file"
    )
    parser.add_argument("second", metavar="SECOND", nargs="?", help="what to compare with it")
    parser.add_argument(
        "--against", action="store_true", help="compare with what the problem of -m, -n, -k ... should give"
    )
    decoding.add_arguments(parser)
    output.add_arguments(parser)
    expected.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; 0 same, 1 different, or InputError."""
    if args.against:
        return _against(args)
    if args.second is None:
        raise InputError("expected a second dump, or --against and a problem")
    if expected.stated(args):
        raise InputError("-m, -n, -k and the like state the problem of --against, which is not given")
    if args.first == args.second == "-":
        raise InputError("expected two dumps, found standard input twice")
    if _is_folder(args.first) or _is_folder(args.second):
        from argpack.cli.diff_folders import diff_folders

        return diff_folders(args)
    from argpack.cli.diff_code import are_code_objects, diff_code

    if are_code_objects(args.first, args.second):
        return diff_code(args)
    from argpack.hexdump import read_pair

    first, second = read_pair(
        args.first, args.second, format_name=args.format, word_order=args.word_order, base=args.base
    )
    chosen = decoding.decode(args.kernel, [first, second])
    if chosen is None:
        return _by_bytes(first, second, args)
    return _print(*compare(first, second, chosen), chosen, args)


def _against(args: argparse.Namespace) -> int:
    from argpack.hexdump import read

    if args.second is not None:
        raise InputError("--against takes the place of a second dump, found both")
    dump = read(args.first, format_name=args.format, word_order=args.word_order, base=args.base)
    chosen = decoding.decode(args.kernel, [dump])
    if chosen is None:
        raise decoding.undecided(dump)
    wanted = expected.expected(dump, chosen, args)
    found, mistake, notes = compare(dump, wanted.dump, chosen)
    return _print(found, mistake, [*notes, *wanted.notes], chosen, args)


def _print(
    found: Diff, mistake: Mistake | None, notes: list[str], chosen: Decoding, args: argparse.Namespace
) -> int:
    if args.json:
        from argpack.cli.decoding_json import compared

        output.print_json(compared(found, chosen, mistake))
    else:
        from argpack.hexdump.report import report

        context = [f"as {chosen.reason}", *notes, *_sides(found.first, found.second)]
        _print_document(report(found, mistake), context, args)
    return int(not found.same)


def _by_bytes(first: Dump, second: Dump, args: argparse.Namespace) -> int:
    from argpack.hexdump import diff_bytes
    from argpack.hexdump.report import report_bytes

    found = diff_bytes(first, second)
    if found.same and not found.compared:
        raise InputError(f"{first.source} and {second.source}: no byte is known in both")
    if args.json:
        from argpack.cli.decoding_json import compared_bytes

        output.print_json(compared_bytes(found))
    else:
        why = "as bytes: no kernel is named and no single family has this size"
        _print_document(report_bytes(found), [why, *_sides(first, second)], args)
    return int(not found.same)


def _print_document(document: Document, context: list[str], args: argparse.Namespace) -> None:
    """The summary line first, what was compared under it, then the rest."""
    from argpack.hexdump.table import text_line

    whole = [document[0], *map(text_line, context), *document[1:]]
    title = f"argpack diff {args.first} {args.second or '--against'}"
    output.print_document(whole, title, html=args.html)


def _sides(first: Dump, second: Dump) -> list[str]:
    lines = []
    for name, dump in (("first", first), ("second", second)):
        unknown = f", {dump.size - dump.known_count} unknown" if dump.known_count < dump.size else ""
        lines.append(f"{name:<6}  {dump.source}: {dump.size} bytes{unknown}")
    return lines


def _is_folder(path: str) -> bool:
    """Not by pathlib: importing it takes a third of the time that Python takes to start."""
    import os

    return next(os.walk(path), None) is not None
