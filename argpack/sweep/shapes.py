"""Lists of GEMM shapes: text or CSV files, and the list of AITER's operator test, which is kept here as data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

AITER = "aiter"
_AITER_FILE = Path(__file__).with_name("aiter_shapes.csv")
_NAMES = ("m", "n", "k")
_MOST = (1 << 32) - 1
_EXPECTED = "expected M, N and K, three whole numbers, or a header line that names them"


@dataclass(frozen=True, slots=True)
class Shapes:
    """`sizes` are the different (M, N, K) in elements, in the order of the list, which had `listed` lines of them."""

    name: str
    sizes: tuple[tuple[int, int, int], ...]
    listed: int


def read_shapes(text: str) -> Shapes:
    """The shapes of a file, or those of AITER's FP4 GEMM test for `aiter`.

    A line has M, N and K between commas or blanks; # starts a comment. The first line may name the columns instead, in
    any order and among others, as AITER's tuning files do. Raises InputError with file and line.
    """
    path = _AITER_FILE if text == AITER else Path(text)
    try:
        content = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{text}: cannot read the file: {error.strerror}") from None
    except ValueError as error:  # no UTF-8, or a null byte in the name
        raise InputError(f"{text}: expected a text file: {error}") from None
    found = list(_sizes(content, text))
    if not found:
        raise InputError(f"{text}: {_EXPECTED}; found no line of numbers")
    return Shapes(text, tuple(dict.fromkeys(found)), len(found))


def _sizes(content: str, name: str) -> Iterator[tuple[int, int, int]]:
    places: list[int] | None = None
    width = 3
    for number, line in enumerate(content.splitlines(), 1):
        cells = _cells(line)
        if not cells:
            continue
        where = f"{name}:{number}"
        if places is None:
            places = [0, 1, 2]
            if not any(map(_is_number, cells)):
                places, width = _header(cells, where), len(cells)
                continue
        if len(cells) != width:
            raise InputError(f"{where}: expected {width} values, found {len(cells)}: {line.strip()[:60]!r}")
        m, n, k = (_size(cells[place], size, where) for place, size in zip(places, _NAMES, strict=True))
        yield m, n, k


def _cells(line: str) -> list[str]:
    text = line.partition("#")[0].strip()
    return [cell.strip() for cell in text.split(",")] if "," in text else text.split()


def _header(cells: list[str], where: str) -> list[int]:
    names = [cell.lower() for cell in cells]
    if any(names.count(name) != 1 for name in _NAMES):
        raise InputError(f"{where}: {_EXPECTED}; found {', '.join(cells)[:60]!r}")
    return [names.index(name) for name in _NAMES]


def _size(text: str, name: str, where: str) -> int:
    if not _is_number(text) or not 1 <= int(text) <= _MOST:
        raise InputError(f"{where}: {name.upper()}: expected 1 to {_MOST}, found {text[:60]!r}")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 20
