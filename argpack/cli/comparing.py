"""The comparison of two dumps under one decoding: what `diff` does with a pair and with each of many. No subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli import decoding
from argpack.errors import InputError

if TYPE_CHECKING:
    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump
    from argpack.hexdump.diff import Diff
    from argpack.hexdump.mistakes import Mistake


def compare(first: Dump, second: Dump, chosen: Decoding) -> tuple[Diff, Mistake | None, list[str]]:
    """Differences, the mistake behind them if there is one, what to know of the dumps, a line each.

    Raises InputError where the dumps have no live field in common.
    """
    from argpack.hexdump import diff

    found = diff(first, second, chosen.schema, chosen.usage)
    try:
        notes = [note for dump in (first, second) for note in decoding.notes(dump, chosen)]
    except InputError:
        # Too many bytes are an error, unless they are laid out in a way that explains them.
        if found.same or not (mistake := _mistake(found, chosen)):
            raise
        return found, mistake, []
    if found.same and len(found.not_compared) == len(found.live_fields):
        raise InputError(f"{first.source} and {second.source}: no live field is known in both")
    if found.same:
        return found, None, notes
    return found, _mistake(found, chosen), notes


def _mistake(found: Diff, chosen: Decoding) -> Mistake | None:
    # Loaded only where there is something to explain: a comparison of equal dumps should be instant.
    from argpack.hexdump.mistakes import find_mistake

    return find_mistake(found, decoding.versions(chosen))
