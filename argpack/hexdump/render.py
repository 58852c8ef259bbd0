"""Writes a dump in any of the formats that `argpack.hexdump` reads, back to the same bytes and mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump


def render(dump: Dump, *, format_name: str = "offset-table", unit: int | None = None) -> str:
    """The text, a newline after each line. Rows wholly unknown are elided, `??` is an unknown byte in others.

    `unit` is the size of words in bytes, None for the format's usual one. Raises InputError where the format is
    binary or cannot say the dump: unknown bytes in base64, half a word.
    """
    found = _written(dump, format_name, unit)
    if isinstance(found, bytes):
        raise InputError(f"{format_name} is no text: render_bytes writes it")
    return found


def render_bytes(dump: Dump, *, format_name: str, unit: int | None = None) -> bytes:
    """The file in a format, of which `raw` and `npy` are binary. Otherwise like `render`."""
    found = _written(dump, format_name, unit)
    return found if isinstance(found, bytes) else found.encode()


def _written(dump: Dump, format_name: str, unit: int | None) -> str | bytes:
    from argpack.hexdump.formats import load

    return load(format_name).write(dump, unit)
