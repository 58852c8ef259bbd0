"""Rows of an offset and groups of digits: what xxd, hexdump, od, ROCm's debug agent and printf loops write.

One reader and one writer; how the tools differ is the table in `styles`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats.input import (
    LITTLE,
    MEMORY,
    WORD_ORDERS,
    Format,
    form,
    is_cell,
    quoted,
    units,
    word,
)
from argpack.hexdump.formats.rows import LARGEST_OFFSET, REPEATED, UNKNOWN, Elision, Joined, Row, assemble
from argpack.hexdump.formats.sections import ELISIONS, has_bracketed_offset
from argpack.hexdump.formats.styles import ANGLES, BARS, NO_TEXT, PLAIN, STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input
    from argpack.hexdump.formats.styles import Style

# Six octal digits are a word of two bytes.
_OCTAL_WORD = 6
_XXD_GROUP = 2


def read(source: Input, style: Style) -> Dump:
    """The dump; InputError names the line of the first fault."""
    unit = _unit(source, style)
    order = source.ordered(style.order) if unit > 1 else MEMORY
    order = order or _order_of_text(source, style, unit)
    found = _assembled(source, style, unit, order)
    return source.dump(found.data, found.known, form=form(style.name, order, unit))


def _assembled(source: Input, style: Style, unit: int, order: str) -> Joined:
    return assemble(
        source,
        _rows(source, style, unit, order),
        shown=style.shown,
        padding=unit - 1 if style.padded else 0,
    )


def _order_of_text(source: Input, style: Style, unit: int) -> str:
    """The only order of bytes in groups that agrees with the text beside them. Raises InputError."""
    faults = []
    for order in WORD_ORDERS:
        try:
            _assembled(source, style, unit, order)
        except InputError as error:
            faults.append((order, error))
    if len(faults) == 1:
        return next(order for order in WORD_ORDERS if order != faults[0][0])
    if faults and str(faults[0][1]) == str(faults[1][1]):
        raise faults[0][1]
    raise source.fault(
        f"the order of bytes in groups of {unit} is not stated: choose one with --word-order little or memory"
    )


def fits(source: Input, style: Style) -> bool:
    """Whether the first row has this style's offset and groups."""
    line = _first(source)
    offset, rest = _split(line, style)
    if offset is None or not is_cell(rest.split(None, 1)[0] if rest.strip() else ""):
        return False
    if style.base == 8 and style.digits == _OCTAL_WORD and len(source.lines) == 1:
        return False  # a row of od -An may begin with a word of zero
    lead = line[0] == "+" or line.lstrip("[")[:2] in {"0x", "0X"}
    unit = _unit_of(rest, style)
    if style.rare:
        elided = any(line in ELISIONS for _, line in source.lines)
        return unit in style.units and (elided or not _is_xxd(source))
    if style.right_aligned and unit == _XXD_GROUP and not lead:
        return not _is_xxd(source)
    return unit in (style.led if lead else style.units)


def _is_xxd(source: Input) -> bool:
    """Whether plain xxd may have written it: groups of two bytes, where those of xxd -e have four, and hex offsets."""
    try:
        read(source, next(style for style in STYLES if style.name == "xxd"))
    except InputError:
        return False
    return True


def _first(source: Input) -> str:
    """The first row that is not left out."""
    return next((line for _, line in source.lines if line not in ELISIONS), "*")


def _unit(source: Input, style: Style) -> int:
    """Bytes of a group, as the first row shows it."""
    line = _first(source)
    offset, rest = _split(line, style)
    unit = _unit_of(rest, style) if offset is not None else 0
    if unit not in style.units and unit not in style.led:
        number = source.lines[0][0] if source.lines else 1
        raise source.error(number, f"expected a row of {style.name}, found {quoted(line)}")
    return unit


def _unit_of(rest: str, style: Style) -> int:
    """Bytes of the first group of a row, 0 where there is none."""
    cell = (rest.split(None, 1) or [""])[0]
    if style.base == 8:
        return 2 if len(cell) == _OCTAL_WORD else 0
    if len(cell) % 2:
        return 0
    # The last word of xxd -e may be short; blanks before it say by how much.
    room = len(rest) - len(rest.lstrip()) - 1 + len(cell)
    if style.right_aligned and room % 2 == 0 and room // 2 in style.units:
        return room // 2
    if not style.order:
        return next((size for size in style.units if size >= len(cell) // 2), 0)
    return len(cell) // 2


def _split(line: str, style: Style) -> tuple[int | None, str]:
    """The offset and what follows it, blanks included; None where the line has no such offset."""
    first = line.split(None, 1)[0]
    rest = line[len(first) :]
    text = first
    if style.separator == ":":
        if not text.endswith(":"):
            return None, ""
        text = text[:-1]
    elif style.separator == "?":
        bracketed = has_bracketed_offset(line)
        if bracketed:
            text, _, rest = line[1:].partition("]")
            rest = " " + rest.lstrip(" :")
        elif text[-1] in ":|":
            text = text[:-1]
        elif rest.lstrip().startswith("|"):
            rest = rest.lstrip()[1:]
        elif text[0] != "+" and not (text[:2] in {"0x", "0X"} and len((rest.split(None, 1) or [""])[0]) == 2):
            return None, ""
    if style.lead == "+":
        if not text.startswith("+"):
            return None, ""
        text = text[1:]
    elif style.separator == "?":
        text = text.removeprefix("+")
    if style.radix == 16 and text[:2] in {"0x", "0X"} and style.led:
        text = text[2:]
    elif style.lead == "0x":
        return None, ""
    digits = (
        "0123456789abcdefABCDEF" if style.radix == 16 else "01234567" if style.radix == 8 else "0123456789"
    )
    if not text or text.strip(digits) or not style.least <= len(text) <= style.most:
        return None, ""
    return int(text, style.radix), rest


def _rows(source: Input, style: Style, unit: int, order: str) -> Iterator[Row | Elision]:
    for number, line in source.lines:
        if line == "*":
            yield Elision(number, REPEATED)
        elif line in ELISIONS:
            yield Elision(number, UNKNOWN)
        else:
            offset, rest = _split(line, style)
            if offset is None:
                raise source.error(number, f"expected a row of {style.name}, found {quoted(line)}")
            if rest.strip() or not style.closing:
                yield _row(source, style, number, offset, rest, unit, order)
            else:
                yield Row(number, offset)


def _row(source: Input, style: Style, number: int, offset: int, rest: str, unit: int, order: str) -> Row:
    """A row; of two ways to tell groups from characters, the one in which both agree."""
    fault = source.error(number, f"expected {style.name} groups, found {quoted(rest.strip())}")
    for cells, text in _cells(style, rest, unit):
        try:
            return _read_cells(source, style, Row(number, offset), cells, text, unit, order)
        except InputError as error:
            fault = error
    raise fault


def _read_cells(
    source: Input, style: Style, row: Row, cells: list[str], text: str | None, unit: int, order: str
) -> Row:
    data, known = bytearray(), bytearray()
    may_be_short = not style.padded and (style.right_aligned or order == MEMORY)
    for index, cell in enumerate(cells):
        short = len(cell) < 2 * unit and may_be_short and index == len(cells) - 1
        if style.base == 8:
            found = _octal(source, row.line, cell)
        elif len(cell) == 2 * unit or short:
            found = source.pairs(row.line, cell)
        else:
            raise source.error(row.line, f"expected groups of {unit} bytes, found {quoted(cell)}")
        if (order == LITTLE) != (style.base == 8):
            found = found[0][::-1], found[1][::-1]
        data += found[0]
        known += found[1]
    if text is not None:
        # Beside a word that is filled up the text shows the bytes that are there.
        lacking = len(data) - len(text.strip())
        padded = style.padded and style.text is ANGLES and 0 < lacking < unit and not any(data[-lacking:])
        end = len(data) - lacking if padded else len(data)
        _check_text(source, row.line, bytes(data[:end]), bytes(known[:end]), text)
    return Row(row.line, row.offset, bytes(data), bytes(known))


def _octal(source: Input, number: int, cell: str) -> tuple[bytes, bytes]:
    if cell == "?" * _OCTAL_WORD:
        return bytes(2), bytes(2)
    if len(cell) != _OCTAL_WORD or cell.strip("01234567") or int(cell, 8) > 0xFFFF:
        raise source.error(number, f"expected six octal digits up to 177777, found {quoted(cell)}")
    return int(cell, 8).to_bytes(2, "little"), b"\x01\x01"


def _cells(style: Style, rest: str, unit: int) -> Iterator[tuple[list[str], str | None]]:
    """The groups of a row, and the column of characters beside them, None where there is none."""
    if style.text is PLAIN:
        yield from _plain_cells(style, rest, unit)
        return
    opening, closing = ("|", "|") if style.text is BARS else (">", "<")
    start = rest.find(opening)
    if style.text is not NO_TEXT and start >= 0 and rest.endswith(closing) and len(rest) - 1 > start:
        cells, text = rest[:start].split(), rest[start + 1 : -1]
    else:
        cells, text = (rest.replace("|", " ") if style.separator == "?" else rest).split(), None
    if cells:
        yield cells, text


def _plain_cells(style: Style, rest: str, unit: int) -> Iterator[tuple[list[str], str | None]]:
    """Groups stand one blank apart, the characters further: so does the short last word of xxd -e."""
    cells: list[str] = []
    position = 0
    while position < len(rest):
        start = position
        while start < len(rest) and rest[start] in " \t":
            start += 1
        end = start
        while end < len(rest) and rest[end] not in " \t":
            end += 1
        cell, gap = rest[start:end], start - position
        short = style.right_aligned and len(cell) < 2 * unit and gap == 1 + 2 * unit - len(cell)
        if short and is_cell(cell):
            yield [*cells, cell], rest[end:].strip() or None
        if cells and (gap > 1 or not is_cell(cell)):
            yield cells, rest[start:]
            return
        cells.append(cell)
        position = end
    if cells:
        yield cells, None


def _check_text(source: Input, number: int, data: bytes, known: bytes, text: str) -> None:
    """The characters beside the bytes must be theirs: a wrong order of words shows here."""
    shown = _characters(data, known)
    expected = shown.strip()
    agree = len(text.strip()) == len(expected) and all(
        a in {b, "?"} or b == "?" for a, b in zip(text.strip(), expected, strict=True)
    )
    if not agree:
        raise source.error(
            number,
            f"the text beside the bytes contradicts them: expected {quoted(shown)}, found {quoted(text)}",
        )


def _characters(data: bytes, known: bytes) -> str:
    return "".join(
        "?" if not k else chr(b) if 32 <= b < 127 else "." for b, k in zip(data, known, strict=True)
    )


def write(dump: Dump, unit: int | None, style: Style) -> str:
    """What the tool prints, with `[...]` for rows wholly unknown and `??` for unknown bytes in others."""
    size = style.usual if unit is None else unit
    allowed = style.units or style.led
    if size not in allowed:
        raise InputError(
            f"{style.name}: expected a unit of {' or '.join(map(str, allowed))} bytes, found {size}"
        )
    if dump.size > LARGEST_OFFSET:
        raise InputError(f"{dump.source}: expected at most {LARGEST_OFFSET} bytes, found {dump.size}")
    order = style.order or MEMORY
    lines: list[str] = []
    last = (dump.size - 1) // style.width * style.width
    for start in range(0, dump.size, style.width):
        end = min(start + style.width, dump.size)
        here = dump.data[start:end], dump.known[start:end]
        before = dump.data[start - style.width : start], dump.known[start - style.width : start]
        if not any(here[1]) and start != last and lines[-1:] != ["*"]:
            mark = "[...]"
        elif style.repeats and start and here == before and all(here[1]):
            mark = "*"
        else:
            lines.append(_line(dump, style, start, end, size, order))
            continue
        if lines[-1:] != [mark]:
            lines.append(mark)
    if style.closing:
        lines.append(style.shown(dump.size))
    return "\n".join(lines) + "\n"


def _line(dump: Dump, style: Style, start: int, end: int, unit: int, order: str) -> str:
    cells = dump.cells(start, end)
    groups = [cells[i : i + unit] for i in range(0, len(cells), unit)]
    if style.base == 8:
        words = [_octal_word(dump, group) for group in groups]
    else:
        if style.padded:
            groups[-1] += ["00"] * (unit - len(groups[-1]))
        elif order == LITTLE and not style.right_aligned:
            units(dump, style.name, unit)
        words = [word(group, order) for group in groups]
    if style.right_aligned:
        words[-1] = words[-1].rjust(2 * unit)
    body = " ".join(words)
    if style.text is BARS:
        body = f"{' '.join(words[:8])}  {' '.join(words[8:])}"
    elif style.name == "hexdump":
        body = body.ljust(5 * style.width // unit - 1)
    lead = style.shown(start) + style.mark
    text = _characters(dump.data[start:end], dump.known[start:end])
    if style.text is BARS:
        return f"{lead}{body:<48}  |{text}|"
    if style.text is PLAIN:
        room = style.width // unit * (2 * unit + 1) - 1
        return f"{lead}{body:<{room}}  {text}"
    return lead + body


def _octal_word(dump: Dump, cells: list[str]) -> str:
    """Six digits; a word of which one byte alone is unknown has none."""
    if all(cell == "??" for cell in cells):
        return "?" * _OCTAL_WORD
    if "??" in cells:
        raise InputError(f"{dump.source}: octal words of two bytes cannot say that one byte is unknown")
    return f"{int(''.join(reversed(cells)), 16):06o}"


FORMATS = {
    style.name: Format(
        partial(fits, style=style),
        partial(read, style=style),
        partial(write, style=style),
        words=True,
        offsets=True,
    )
    for style in STYLES
}
