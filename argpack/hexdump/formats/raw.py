"""Raw binary: the file is the buffer. Text is never taken for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, no_unit, whole
from argpack.hexdump.formats.npy import MAGIC

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input


def read(source: Input) -> Dump:
    """The dump, every byte known."""
    if source.data[:4] == b"\x7fELF":
        raise source.fault("expected a dump, found a code object (ELF); --kernel takes it")
    return source.dump(source.data)


def fits(source: Input) -> bool:
    """Whether the input is no text, and no array of numpy."""
    return not source.lines and not source.data.startswith(MAGIC)


def write(dump: Dump, unit: int | None) -> bytes:
    """The bytes."""
    no_unit(dump, "raw", unit)
    return whole(dump, "raw")


FORMATS = {"raw": Format(fits, read, write)}
