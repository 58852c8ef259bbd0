"""Compare two dumps of argument buffers field by field: only what changes the kernel's output counts.

Pads, and fields that the kernel never reads or reads without effect, are counted and ignored. Pointers
compare by being null and by alignment. Where neither kernel nor size tells the family, bytes are compared.
Exit codes: 0 same, 1 different, 2 could not compare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli import decoding
from argpack.errors import InputError

if TYPE_CHECKING:
    import argparse

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack diff`."""
    parser.add_argument("first", metavar="FIRST", help="a dump, - for standard input")
    parser.add_argument("second", metavar="SECOND", help="the dump to compare with it")
    decoding.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; 0 same, 1 different, or InputError."""
    from argpack.hexdump import read_pair

    if args.first == args.second == "-":
        raise InputError("expected two dumps, found standard input twice")
    first, second = read_pair(args.first, args.second, format_name=args.format)
    chosen = decoding.decode(args.kernel, [first, second])
    if chosen is None:
        return _by_bytes(first, second, as_json=args.json)
    return _by_field(first, second, chosen, as_json=args.json)


def _by_field(first: Dump, second: Dump, chosen: Decoding, *, as_json: bool) -> int:
    from argpack.hexdump import diff

    notes = [note for dump in (first, second) for note in decoding.notes(dump, chosen)]
    found = diff(first, second, chosen.schema, chosen.usage)
    if found.same and len(found.not_compared) == len(found.live_fields):
        raise InputError(f"{first.source} and {second.source}: no live field is known in both")
    if as_json:
        import json

        from argpack.cli.decoding_json import compared

        print(json.dumps(compared(found, chosen), indent=2))
        return int(not found.same)
    from argpack.hexdump.report import report

    text = report(found, colour=decoding.colour())
    _print(text, [f"as {chosen.reason}", *notes, *_sides(first, second)])
    return int(not found.same)


def _by_bytes(first: Dump, second: Dump, *, as_json: bool) -> int:
    from argpack.hexdump import diff_bytes
    from argpack.hexdump.report import report_bytes

    found = diff_bytes(first, second)
    if found.same and not found.compared:
        raise InputError(f"{first.source} and {second.source}: no byte is known in both")
    if as_json:
        import json

        from argpack.cli.decoding_json import compared_bytes

        print(json.dumps(compared_bytes(found), indent=2))
        return int(not found.same)
    text = report_bytes(found, colour=decoding.colour())
    _print(text, ["as bytes: no kernel is named and no single family has this size", *_sides(first, second)])
    return int(not found.same)


def _print(text: str, context: list[str]) -> None:
    """The summary line first, what was compared under it, then the rest."""
    head, _, rest = text.partition("\n")
    print(head, *context, rest, sep="\n", end="")


def _sides(first: Dump, second: Dump) -> list[str]:
    lines = []
    for name, dump in (("first", first), ("second", second)):
        unknown = f", {dump.size - dump.known_count} unknown" if dump.known_count < dump.size else ""
        lines.append(f"{name:<6}  {dump.source}: {dump.size} bytes{unknown}")
    return lines
