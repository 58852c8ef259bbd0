"""Decode a dump of an argument buffer field by field: value, unit, what the kernel does with it.

The dump may be an offset table, plain hex, little-endian words, raw binary or the JSON of a captured launch.
Exit codes: 0 decoded, 2 could not decode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli import decoding
from argpack.errors import InputError
from argpack.families.family import Usage

if TYPE_CHECKING:
    import argparse

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack show`."""
    parser.add_argument("file", metavar="FILE", help="the dump, - for standard input")
    decoding.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Decode and print; 0, or InputError."""
    from argpack.hexdump import annotate, read

    dump = read(args.file, format_name=args.format)
    chosen = decoding.decode(args.kernel, [dump])
    if chosen is None:
        raise InputError(
            f"{dump.source}: {dump.size} bytes are not the arguments of one known family: name a kernel with "
            f"--kernel, of {decoding.sizes_known()}"
        )
    notes = decoding.notes(dump, chosen)
    _check_not_shorter(dump, chosen)
    if args.json:
        import json

        from argpack.cli.decoding_json import shown

        print(json.dumps(shown(dump, chosen), indent=2))
        return 0
    unknown = f", {dump.size - dump.known_count} unknown" if dump.known_count < dump.size else ""
    print(f"{dump.source}: {dump.size} bytes{unknown}")
    print(f"as {chosen.reason}", *notes, "", sep="\n")
    print(annotate(dump, chosen.schema, chosen.usage, colour=decoding.colour()), end="")
    return 0


def _check_not_shorter(dump: Dump, chosen: Decoding) -> None:
    """A buffer may end early where the kernel reads none of what is missing."""
    missing = chosen.schema.missing(dump.size)
    if any(chosen.usage[slot.name] is not Usage.UNREAD for slot in missing):
        try:
            chosen.schema.check_size(dump.size)
        except InputError as error:
            raise InputError(f"{dump.source}: {error}") from None
