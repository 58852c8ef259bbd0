"""What every reader of a dump format gets, and the errors and cells that readers share."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.hexdump.dump import Dump

if TYPE_CHECKING:
    from collections.abc import Callable

_BLANKS = str.maketrans("\t\n\r\f", "    ")


@dataclass(frozen=True)
class Input:
    """Contents of a file. `source` is what messages call it; `text` is None where the bytes are no text."""

    source: str
    data: bytes

    @functools.cached_property
    def text(self) -> str | None:
        """The text; UTF-8, or UTF-16 as Windows PowerShell redirects it."""
        encoding = "utf-16" if self.data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
        try:
            text = self.data.decode(encoding)
        except UnicodeDecodeError:
            return None
        if encoding == "utf-16" and not text.isascii():
            return None
        return text if text.translate(_BLANKS).isprintable() else None

    @functools.cached_property
    def lines(self) -> tuple[tuple[int, str], ...]:
        """Number (from 1) and stripped text of the lines that are not blank."""
        lines = enumerate((self.text or "").splitlines(), 1)
        return tuple((number, line.strip()) for number, line in lines if line.strip())

    def error(self, line: int, message: str) -> InputError:
        """An error that names file and line."""
        return InputError(f"{self.source}:{line}: {message}")

    def byte(self, line: int, cell: str) -> int | None:
        """The byte of two hex digits, None for `??`."""
        if cell == "??":
            return None
        if len(cell) != 2 or not is_hex(cell):
            raise self.error(line, f"expected a byte of two hex digits or ??, found {quoted(cell)}")
        return int(cell, 16)

    def dump(self, cells: list[int | None], kernel: str = "") -> Dump:
        """The dump of these bytes; None is an unknown one."""
        data = bytes(cell or 0 for cell in cells)
        return Dump(data, bytes(cell is not None for cell in cells), self.source, kernel)


class Format(NamedTuple):
    """One dump format. `fits` says whether an input is meant to be this, `read` parses it (InputError)."""

    name: str
    title: str
    fits: Callable[[Input], bool]
    read: Callable[[Input], Dump]


def is_hex(text: str) -> bool:
    """Whether `text` is hex digits only."""
    return bool(text) and not text.strip("0123456789abcdefABCDEF")


def quoted(text: str) -> str:
    """Text for a message, at most 24 characters of it."""
    return repr(text if len(text) <= 24 else text[:21] + "...")
