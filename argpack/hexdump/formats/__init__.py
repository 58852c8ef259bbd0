"""The dump formats that are read and written. A format's module is imported when a dump looks like it.

A table of names, and a quick look at the first row; what a format really is stands in its module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.hexdump.formats.input import Format, Input, is_cell, is_hex

if TYPE_CHECKING:
    from collections.abc import Iterator


class Entry(NamedTuple):
    """A format by name. `shapes` are the looks of a first row that it may have."""

    name: str
    title: str
    module: str
    shapes: frozenset[str]


def _entry(name: str, title: str, module: str, *shapes: str) -> Entry:
    return Entry(name, title, module, frozenset(shapes))


FORMATS: tuple[Entry, ...] = (
    _entry("captured-json", "JSON of a captured launch with kernarg_hex", "captured_json", "brace"),
    _entry("offset-table", "a table of decimal offsets, '0016 | 00 ... | 00 ...'", "offset_table", "bar"),
    _entry("xxd", "xxd: '00000010: 0000 206d', groups in the order of memory", "columns", "colon", "0x-colon"),
    _entry("xxd-e", "xxd -e: '00000010: 6d200000', little-endian words", "columns", "colon", "0x-colon"),
    _entry("xxd-d", "xxd -d: decimal offsets", "columns", "colon"),
    _entry("hexdump", "hexdump: '0000010 0000 6d20', little-endian words of 2 bytes", "columns", "hex"),
    _entry("hexdump-C", "hexdump -C: '00000010  00 00 20 6d |.. m|', bytes", "columns", "hex"),
    _entry("od", "od: octal offsets, little-endian octal words of 2 bytes", "columns", "hex"),
    _entry("od-Ad", "od -Ad: decimal offsets, octal words", "columns", "hex"),
    _entry("od-Ax", "od -Ax: hex offsets, octal words", "columns", "hex"),
    _entry("od-x", "od -x, -tx1, -tx4, -tx8: octal offsets, little-endian words", "columns", "hex"),
    _entry("od-x-Ad", "od -Ad -x, -tx1, -tx4, -tx8: decimal offsets", "columns", "hex"),
    _entry("od-x-Ax", "od -Ax -x, -tx1, -tx4, -tx8: hex offsets", "columns", "hex"),
    _entry("debug-agent", "ROCm debug agent: '0x0020: 6d200000', little-endian words", "columns", "0x-colon"),
    _entry("word-groups", "'+0010  0000206D': groups in the order that text beside them or --word-order tells",
           "columns", "plus"),
    _entry("offset-bytes", "bytes after a hex offset, '0x10: 00 00 20 6d'", "columns",
           "colon", "0x-colon", "0x-words", "plus", "bracket"),
    _entry("offset-bytes-decimal", "bytes after a decimal offset, '16: 00 00 20 6d'", "columns",
           "colon", "plus", "bracket"),
    _entry("gdb", "gdb's x/8xb to x/8xg; the first address is offset 0", "gdb", "0x-colon", "symbol"),
    _entry("gdb-symbol", "the same, offsets as <args+16> says", "gdb", "0x-colon", "symbol"),
    _entry("tensile", "Tensile's argument log, '[24..31] d: 00 20 ... (0x7ffe...)'", "tensile", "range"),
    _entry("aiter", "rows of 16 bytes under '[aiter kernarg 304B]'", "aiter", "aiter"),
    _entry("literal", "an array or bytes literal of C, C++, Python, Rust or gdb", "literal", "literal"),
    _entry("plain-hex", "hex digits in the order of memory, xxd -p", "plain_hex", "hex", "joined"),
    _entry("words", "little-endian words of 2, 4 or 8 bytes, 0x or not, no offsets", "words", "hex", "0x-words"),
    _entry("indexed", "words with an index, 'args[3] = 0x00000100'", "indexed", "indexed"),
    _entry("base64", "base64", "base64_text", "base64", "hex"),
    _entry("npy", "a .npy file", "npy", "binary"),
    _entry("capture", "a launch of argpack capture, FILE#n", "capture", "capture"),
    _entry("raw", "raw binary", "raw", "binary"),
)  # fmt: skip


def load(name: str) -> Format:
    """The format of that name. Raises InputError."""
    for entry in FORMATS:
        if entry.name == name:
            formats: dict[str, Format] = importlib.import_module(f"{__name__}.{entry.module}").FORMATS
            return formats[name]
    raise InputError(f"expected a dump format of {', '.join(f.name for f in FORMATS)}, found {name!r}")


def fitting(source: Input) -> Iterator[tuple[str, Format]]:
    """The formats whose dump the input may be, by name."""
    looks = shape(source)
    for entry in FORMATS:
        if looks in entry.shapes:
            found = load(entry.name)
            if found.fits(source):
                yield entry.name, found


def shape(source: Input) -> str:
    """What the first row looks like."""
    from argpack.hexdump.formats.joined import is_joined
    from argpack.hexdump.formats.sections import ELISIONS, has_bracketed_offset, is_rule

    if source.shape or not source.lines:
        return source.shape or "binary"
    if any("[aiter kernarg " in line for line in source.heading):
        return "aiter"
    text = next((t for _, t in source.lines if t not in ELISIONS and not is_rule(t)), source.lines[0][1])
    if is_rule(text) or ("|" in text and is_hex(text.partition("|")[0].strip())):
        return "bar"
    first, *rest = text.split(None, 2)
    bare = first.rstrip(":")
    if first.startswith("{"):
        return "brace"
    if first.startswith("[") and ".." in first:
        return "range"
    if has_bracketed_offset(text):
        return "bracket"
    if "[" in text:
        from argpack.hexdump.formats.indexed import is_indexed

        if is_indexed(text):
            return "indexed"
    if is_joined(text):
        return "joined"
    if first.startswith("<"):
        return "symbol"
    if first.startswith("+"):
        return "plus"
    if first.startswith(("0x", "0X")):
        return "0x-colon" if bare != first or (rest and rest[0].startswith("<")) else "0x-words"
    if bare != first and is_hex(bare):
        return "colon"
    return "hex" if is_cell(first) else "base64"


__all__ = ["FORMATS", "Entry", "Format", "Input", "fitting", "load", "shape"]
