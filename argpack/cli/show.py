"""Decode a dump of an argument buffer field by field: value, unit, what the kernel does with it.

Values that can hardly be meant are pointed out: another type's bits, impossible addresses, strides in another
unit than M, N and K imply. Exit codes: 0 decoded, 2 could not decode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli import decoding, output

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack show`."""
    parser.add_argument("file", metavar="FILE", help="the dump, - for standard input")
    decoding.add_arguments(parser)
    output.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Decode and print; 0, or InputError."""
    from argpack.cli.expected import implied
    from argpack.hexdump import read
    from argpack.hexdump.annotate import annotated
    from argpack.hexdump.table import text_line

    dump = read(args.file, format_name=args.format, word_order=args.word_order, base=args.base)
    chosen = decoding.decode(args.kernel, [dump])
    if chosen is None:
        raise decoding.undecided(dump)
    notes = decoding.notes(dump, chosen)
    decoding.check_not_shorter(dump, chosen)
    wanted = implied(dump, chosen)
    if args.json:
        from argpack.cli.decoding_json import shown

        output.print_json(shown(dump, chosen, wanted))
        return 0
    unknown = f", {dump.size - dump.known_count} unknown" if dump.known_count < dump.size else ""
    head = [f"{dump.source}: {dump.size} bytes{unknown}", f"as {chosen.reason}", *notes, ""]
    document = [
        *map(text_line, head),
        *annotated(dump, chosen.schema, chosen.usage, implied=wanted),
    ]
    output.print_document(document, f"argpack show {dump.source}", html=args.html)
    return 0
