"""What every reader of a dump format gets, what a format is, and the cells and errors that readers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.hexdump.dump import Dump
from argpack.values import value

if TYPE_CHECKING:
    from collections.abc import Callable

Lines = tuple[tuple[int, str], ...]

LITTLE, MEMORY = "little", "memory"
WORD_ORDERS = (LITTLE, MEMORY)

# The base of a dump whose buffer begins at its first offset, whatever that is.
FIRST = -1


@value()
class Input:
    """One dump in a file. `source` is what messages call it.

    `lines` has number (from 1) and stripped text of each line that is not blank, without colours and log prefixes;
    it is empty where `data`, the whole file, is no text. `heading` has the lines of prose before the dump.
    `word_order` is None, or `little` or `memory` where the caller states what the format need not; `base` is the offset
    in the dump at which the buffer begins, `FIRST` the first there is, None where nobody states it. `shape` is what the
    first row looks like, where that was found out already.
    """

    source: str
    data: bytes
    lines: Lines = ()
    heading: tuple[str, ...] = ()
    word_order: str | None = None
    base: int | None = None
    shape: str = ""

    @property
    def text(self) -> str:
        """The lines, joined."""
        return "\n".join(text for _, text in self.lines)

    def error(self, line: int, message: str) -> InputError:
        """An error that names file and line."""
        return InputError(f"{self.source}:{line}: {message}")

    def fault(self, message: str) -> InputError:
        """An error that names the file."""
        return InputError(f"{self.source}: {message}")

    def pairs(self, line: int, cell: str) -> tuple[bytes, bytes]:
        """Bytes and mask of pairs of hex digits, `??` for an unknown byte."""
        if "?" not in cell:
            if len(cell) % 2 or not is_hex(cell):
                raise self.error(line, f"expected pairs of hex digits or ??, found {quoted(cell)}")
            return bytes.fromhex(cell), b"\x01" * (len(cell) // 2)
        found = [cell[i : i + 2] for i in range(0, len(cell), 2)]
        if any(pair != "??" and not (len(pair) == 2 and is_hex(pair)) for pair in found):
            raise self.error(line, f"expected pairs of hex digits or ??, found {quoted(cell)}")
        data = bytes(0 if pair == "??" else int(pair, 16) for pair in found)
        return data, bytes(pair != "??" for pair in found)

    def dump(self, data: bytes, known: bytes | None = None, *, kernel: str = "", form: str = "") -> Dump:
        """The dump of these bytes; without a mask all are known."""
        mask = b"\x01" * len(data) if known is None else known
        return Dump(bytes(data), bytes(mask), self.source, kernel or named_kernel(self.heading), form)

    def ordered(self, stated: str) -> str:
        """The order of bytes in words: the caller's word before the format's."""
        return self.word_order or stated


class Format(NamedTuple):
    """One dump format. `fits` says whether an input is meant to be this, `read` parses it (InputError).

    `write` gives the text (or the file) of a dump: InputError where the format cannot say it. `unit` is the size of
    words in bytes, None for the usual one. `words` says whether an order of bytes matters to the format, `offsets`
    whether its rows state offsets, so that a base matters.
    """

    fits: Callable[[Input], bool]
    read: Callable[[Input], Dump]
    write: Callable[[Dump, int | None], str | bytes]
    words: bool = False
    offsets: bool = False


def is_hex(text: str) -> bool:
    """Whether `text` is hex digits only."""
    return bool(text) and not text.strip("0123456789abcdefABCDEF")


def is_cell(text: str) -> bool:
    """Whether `text` is hex digits and question marks only."""
    return bool(text) and not text.strip("0123456789abcdefABCDEF?")


def quoted(text: str) -> str:
    """Text for a message, at most 24 characters of it."""
    return repr(text if len(text) <= 24 else text[:21] + "...")


def form(name: str, order: str, unit: int) -> str:
    """What `Dump.form` says of a format with words of `unit` bytes, nothing for bytes."""
    if unit == 1:
        return ""
    if order == LITTLE:
        return f"{name}, little-endian words of {unit} bytes"
    return f"{name}, groups of {unit} bytes in the order of memory"


def whole(dump: Dump, name: str) -> bytes:
    """The bytes of a dump for a format that cannot mark unknown ones."""
    if dump.known_count < dump.size:
        raise InputError(f"{dump.source}: {name} has no mark for unknown bytes, of which there are some")
    return dump.data


def units(dump: Dump, name: str, unit: int) -> int:
    """`unit`, if words of that size divide the dump."""
    if dump.size % unit:
        raise InputError(
            f"{dump.source}: {name} has words of {unit} bytes: expected a multiple of that, found {dump.size} bytes"
        )
    return unit


def no_unit(dump: Dump, name: str, unit: int | None) -> None:
    """Refuse a size of words for a format without words."""
    if unit not in {None, 1}:
        raise InputError(f"{dump.source}: {name} has no words: expected no unit, found {unit}")


def word(cells: list[str], order: str) -> str:
    """The digits of one word from its cells in the order of memory."""
    return "".join(cells if order == MEMORY else reversed(cells))


def named_kernel(heading: tuple[str, ...]) -> str:
    """The kernel that the prose before a dump names: a mangled name, or a name with `_` after `kernel:` or so."""
    for line in heading:
        before = ""
        for part in line.replace("=", " ").replace(":", " ").split():
            name = part.strip("'\"`,;()[]<>").removesuffix(".kd")
            mangled = name.startswith("_Z") and len(name) > 4
            if mangled or (before in {"kernel", "kernel_name", "kernel name"} and "_" in name):
                return name
            before = f"kernel {part}" if before == "kernel" and part == "name" else part.lower()
    return ""
