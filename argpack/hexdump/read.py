"""From a file, or its contents, to a dump: finds the dump and its format, and refuses where two formats disagree.

`file#2` and `file#name` choose among the dumps of a file.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats import clean
from argpack.hexdump.formats.input import WORD_ORDERS, Input, quoted
from argpack.hexdump.formats.sections import choose, sections
from argpack.values import changed

if TYPE_CHECKING:
    import os

    from argpack.hexdump.dump import Dump

# The largest argument buffer of AITER is 704 bytes; a text dump takes a few characters per byte, a log may have many.
_LARGEST_FILE = 1 << 20
# How a file of `argpack capture` begins; those may have any size.
_CAPTURE = b"argpack capture\n"


def read(
    path: str | os.PathLike[str], *, format_name: str | None = None, word_order: str | None = None
) -> Dump:
    """The dump in a file, `-` for standard input; its source is the path. Raises InputError.

    `#2` after the path chooses the second dump of the file, `#name` the one with that name in the line of prose
    above it. `format_name` is a name of the format table; None detects the format. `word_order`, `little` or
    `memory`, says how the digits of words stand where the format leaves it open, or overrides it.
    """
    return _dump(_load(path, word_order, []), format_name)


def read_pair(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    format_name: str | None = None,
    word_order: str | None = None,
) -> tuple[Dump, Dump]:
    """Two dumps, which may have different formats: `format_name` is for those that it fits, for both if for none.

    So is `word_order`: for those that have words, refused where neither has.
    """
    from argpack.hexdump.formats import load

    piped: list[bytes] = []
    contents = _load(first, word_order, piped), _load(second, word_order, piped)
    fits = [format_name is not None and load(format_name).fits(content) for content in contents]
    names = [format_name if fit or not any(fits) else None for fit in fits]
    a, b = (_dump(c, name, lenient=True) for c, name in zip(contents, names, strict=True))
    if word_order is not None and not a.form and not b.form:
        raise InputError(f"--word-order {word_order}: neither {a.source} nor {b.source} has words")
    return a, b


def parse(
    data: bytes | str,
    *,
    source: str = "dump",
    format_name: str | None = None,
    word_order: str | None = None,
    choice: str | None = None,
) -> Dump:
    """The dump that `data` is in some format of the table. Raises InputError with file and line.

    Where more than one format fits and their bytes differ, it refuses and names them: `format_name` decides.
    `choice` is what stands after `#` in the name of a file, `word_order` as in `read`.
    """
    content = data.encode(errors="replace") if isinstance(data, str) else bytes(data)
    return _dump(_chosen(source, content, choice, word_order), format_name)


def parse_all(
    data: bytes, *, source: str = "dump", format_name: str | None = None, word_order: str | None = None
) -> list[Dump]:
    """Every dump of a log, in order, called `source#1` and so on; a log may have any size. Otherwise as `parse`."""
    text = clean.decode(data)
    if text is None:
        return [parse(data, source=source, format_name=format_name, word_order=word_order)]
    content = Input(source, data, clean.lines(text), word_order=word_order)
    found = sections(content) if content.lines else []
    if not found:
        raise InputError(f"{source}: expected dumps, found none")
    return [
        _dump(changed(part, source=f"{source}#{number}"), format_name, lenient=True)
        for number, part in enumerate(found, 1)
    ]


def _load(path: str | os.PathLike[str], word_order: str | None, piped: list[bytes]) -> Input:
    """The dump of a path with or without `#`. `piped` keeps standard input, which can be read only once."""
    text, choice = str(path), None
    try:
        data = _contents(text, piped)
    except FileNotFoundError as error:
        text, mark, choice = text.rpartition("#")
        if not mark or not text or not choice:
            raise InputError(f"{path}: {error.strerror}") from None
        try:
            data = _contents(text, piped)
        except FileNotFoundError:
            raise InputError(f"{text}: {error.strerror}") from None
    if data.startswith(_CAPTURE) and text != "-":
        from argpack.hexdump.formats import capture

        return capture.choose(text, b"", choice)
    return _chosen("standard input" if text == "-" else text, data, choice, word_order)


def _contents(path: str, piped: list[bytes]) -> bytes:
    """The bytes of a file, at most one more than allowed. Raises FileNotFoundError, else InputError."""
    try:
        if path == "-":
            if not piped:
                piped.append(sys.stdin.buffer.read(_LARGEST_FILE + 1))
            return piped[0]
        # Not pathlib: importing it takes a third of the time that Python takes to start.
        with io.BufferedReader(io.FileIO(path)) as file:
            return file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise
    except IsADirectoryError:
        raise InputError(f"{path}: expected a file, found a directory") from None
    except (OSError, ValueError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path}: {text}") from None


def _chosen(source: str, data: bytes, choice: str | None, word_order: str | None) -> Input:
    """The one dump in a file that is asked for."""
    if word_order is not None and word_order not in WORD_ORDERS:
        raise InputError(f"expected a word order of {' or '.join(WORD_ORDERS)}, found {word_order!r}")
    if not data:
        raise InputError(f"{source}: expected a dump, found an empty file")
    if len(data) > _LARGEST_FILE:
        raise InputError(f"{source}: expected a dump of at most {_LARGEST_FILE} bytes, found more")
    if data.startswith(_CAPTURE):
        from argpack.hexdump.formats import capture

        return capture.choose(source, data, choice)
    text = clean.decode(data)
    content = Input(source, data, clean.lines(text) if text is not None else (), word_order=word_order)
    if text is not None and not content.lines:
        raise InputError(f"{source}: expected a dump, found only blanks")
    if text is None and data[:1] == b"\x93":
        from argpack.hexdump.formats import npy

        found = npy.split(content) if npy.fits(content) else [content]
    else:
        found = sections(content)
    # A file of prose alone is not split: the error is about its first line.
    return choose(found or [content], choice, source)


def _dump(content: Input, format_name: str | None, *, lenient: bool = False) -> Dump:
    """The dump of a section; `lenient` where a word order may be without effect."""
    from argpack.hexdump.formats import fitting, load

    if content.shape == "capture" and format_name not in {None, "capture"}:
        raise InputError(f"{content.source}: --format {format_name}: it is a file of argpack capture")
    if format_name is not None:
        return _ordered(content, load(format_name).read(content), format_name, lenient=lenient)
    readings: dict[str, Dump] = {}
    fault: InputError | None = None
    for name, entry in fitting(content):
        try:
            readings[name] = entry.read(content)
        except InputError as error:
            fault = fault or error
    if content.word_order and any(dump.form for dump in readings.values()):
        # Who states the order of words says that these are words.
        readings = {name: dump for name, dump in readings.items() if dump.form}
    if not readings:
        if fault:
            raise fault
        number, line = content.lines[0]
        raise content.error(
            number, f"expected a dump in a known format (--format lists them), found {quoted(line)}"
        )
    first = next(iter(readings.values()))
    different = [name for name, dump in readings.items() if dump != first]
    if different:
        raise _ambiguous(content, readings, different)
    return _ordered(content, first, next(iter(readings)), lenient=lenient)


def _ordered(content: Input, dump: Dump, name: str, *, lenient: bool) -> Dump:
    """The dump, if an order of words that was asked for had an effect."""
    if content.word_order and not dump.form and not lenient:
        raise InputError(f"{dump.source}: --word-order {content.word_order}: {name} has no words here")
    return dump


def _ambiguous(content: Input, readings: dict[str, Dump], different: list[str]) -> InputError:
    """Names the formats, and how many values look like addresses in each, which nothing is decided by."""
    names = [next(iter(readings)), *different]
    shown = " and ".join([", ".join(names[:-1]), names[-1]])
    counts = [_addresses(readings[name]) for name in names]
    evidence = ""
    if any(counts) and len(set(counts)) > 1:
        of_each = ", ".join(f"{count} as {name}" for count, name in zip(counts, names, strict=True))
        evidence = f" (values that look like addresses: {of_each})"
    every = "both" if len(names) == 2 else "all"
    return InputError(
        f"{content.source}: {shown} {every} fit, with different bytes: choose one with --format{evidence}"
    )


def _addresses(dump: Dump) -> int:
    """Aligned values that a 64-bit process could have as an address of a buffer."""
    found = 0
    for start in range(0, dump.size - 7, 8):
        value = int.from_bytes(dump.data[start : start + 8], "little")
        found += all(dump.known[start : start + 8]) and 1 << 40 <= value < 1 << 47 and value % 16 == 0
    return found
