"""From a file, or its contents, to a dump: finds the dump that is meant, in any format.

`file#2` and `file#name` choose among the dumps of a file.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.hexdump.detect import detect
from argpack.hexdump.formats import clean
from argpack.hexdump.formats.input import FIRST, WORD_ORDERS, Input
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
    path: str | os.PathLike[str],
    *,
    format_name: str | None = None,
    word_order: str | None = None,
    base: int | None = None,
) -> Dump:
    """The dump in a file, `-` for standard input; its source is the path. Raises InputError.

    `#2` after the path chooses the second dump of the file, `#name` the one with that name in the line of prose
    above it. `format_name` is a name of the format table; None detects the format. `word_order`, `little` or
    `memory`, says how the digits of words stand where the format leaves it open, or overrides it. `base` is the offset
    in the dump at which the buffer begins, `argpack.hexdump.FIRST` for the first there is.
    """
    return detect(_load(path, _Options(word_order, base), []), format_name)


def read_pair(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    format_name: str | None = None,
    word_order: str | None = None,
    base: int | None = None,
) -> tuple[Dump, Dump]:
    """Two dumps, which may have different formats: `format_name` is for those that it fits, for both if for none.

    So are `word_order`, for those that have words, and `base`, for those with offsets: refused where neither has.
    """
    from argpack.hexdump.formats import load

    piped: list[bytes] = []
    options = _Options(word_order, base)
    contents = _load(first, options, piped), _load(second, options, piped)
    fits = [format_name is not None and load(format_name).fits(content) for content in contents]
    names = [format_name if fit or not any(fits) else None for fit in fits]
    unused: list[str] = []
    a, b = (detect(c, name, unused) for c, name in zip(contents, names, strict=True))
    for option, what in (("--word-order", "words"), ("--base", "offsets")):
        if unused.count(option) == 2:
            raise InputError(f"{option}: neither {a.source} nor {b.source} has {what}")
    return a, b


def parse(
    data: bytes | str,
    *,
    source: str = "dump",
    format_name: str | None = None,
    word_order: str | None = None,
    base: int | None = None,
    choice: str | None = None,
) -> Dump:
    """The dump that `data` is in some format of the table. Raises InputError with file and line.

    Where more than one format fits and their bytes differ, it refuses and names them: `format_name` decides.
    `choice` is what stands after `#` in the name of a file, `word_order` and `base` as in `read`.
    """
    content = data.encode(errors="replace") if isinstance(data, str) else bytes(data)
    return detect(_chosen(source, content, choice, _Options(word_order, base)), format_name)


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
        detect(changed(part, source=f"{source}#{number}"), format_name, [])
        for number, part in enumerate(found, 1)
    ]


class _Options(NamedTuple):
    """What the caller states of a dump that the dump need not."""

    word_order: str | None
    base: int | None


def _load(path: str | os.PathLike[str], options: _Options, piped: list[bytes]) -> Input:
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
    return _chosen("standard input" if text == "-" else text, data, choice, options)


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


def _chosen(source: str, data: bytes, choice: str | None, options: _Options) -> Input:
    """The one dump in a file that is asked for."""
    if options.word_order not in {None, *WORD_ORDERS}:
        raise InputError(f"expected a word order of {' or '.join(WORD_ORDERS)}, found {options.word_order!r}")
    if options.base is not None and options.base < FIRST:
        raise InputError(f"expected a base of 0 or more, found {options.base}")
    if not data:
        raise InputError(f"{source}: expected a dump, found an empty file")
    if len(data) > _LARGEST_FILE:
        raise InputError(f"{source}: expected a dump of at most {_LARGEST_FILE} bytes, found more")
    if data.startswith(_CAPTURE):
        from argpack.hexdump.formats import capture

        return capture.choose(source, data, choice)
    text = clean.decode(data)
    lines = clean.lines(text) if text is not None else ()
    content = Input(source, data, lines, word_order=options.word_order, base=options.base)
    if text is not None and not content.lines:
        raise InputError(f"{source}: expected a dump, found only blanks")
    if text is None and data[:1] == b"\x93":
        from argpack.hexdump.formats import npy

        found = npy.split(content) if npy.fits(content) else [content]
    else:
        found = sections(content)
    # A file of prose alone is not split: the error is about its first line.
    return choose(found or [content], choice, source)
