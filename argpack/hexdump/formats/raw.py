"""Reader of raw binary: the file is the buffer. Text is never taken for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.dump import Dump
from argpack.hexdump.formats.input import Format

if TYPE_CHECKING:
    from argpack.hexdump.formats.input import Input


def read(source: Input) -> Dump:
    """The dump, every byte known."""
    if source.data[:4] == b"\x7fELF":
        raise InputError(f"{source.source}: expected a dump, found a code object (ELF); --kernel takes it")
    return Dump.whole(source.data, source.source)


def fits(source: Input) -> bool:
    """Whether the input is no text."""
    return source.text is None


FORMAT = Format("raw", "raw binary", fits, read)
