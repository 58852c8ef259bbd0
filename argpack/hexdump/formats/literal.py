"""Arrays and bytes literals: of C and C++ (xxd -i), Python, numpy's repr, Rust, and what gdb's print shows.

The declared type gives the size of an element; without one, elements are bytes, or what all of their hex digits make
(`0x00007fab6d200000` is eight). Elements are numbers, so their bytes are little-endian.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.hexdump.formats.input import LITTLE, MEMORY, Format, form, is_hex, quoted, units, whole
from argpack.hexdump.formats.rows import LARGEST_OFFSET
from argpack.values import changed

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

# How far before a bracket its declaration may begin.
_DECLARATION = 200

# A bytes literal of so many characters that are all hex digits is the digits of half as many bytes.
_HEXLIFIED = 16

# Letters of Python's array module.
_LETTERS = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "l": 8, "L": 8, "q": 8, "Q": 8}


def split(source: Input) -> list[Input]:
    """Each array or literal with its declaration as heading; empty where the text has none."""
    text = source.text
    found: list[Input] = []
    position = line = counted = 0
    while opening := _opening().search(text, position):
        start = max(position, opening.start("open") - _DECLARATION)
        declaration = text[start : opening.start("open")]
        closing = _closing(text, opening)
        if closing < 0:
            break
        end = text.find("\n", closing)
        tail = text[closing : end if end >= 0 else len(text)].partition(";")[0]
        # Not at the semicolon of Rust's `[u16; 2]`.
        statement = re.split(r";(?!\s*\d+\s*\])|\}", declaration)[-1].lstrip("\n ;")
        begin = opening.start("open") - len(statement)
        line += text.count("\n", counted, begin)
        counted = begin
        body = text[begin : closing + len(tail)]
        lines = tuple((source.lines[line + i][0], part) for i, part in enumerate(body.split("\n")))
        found.append(
            changed(source, lines=lines, heading=(*source.heading, statement.strip()), shape="literal")
        )
        position = closing + len(tail)
    return found


# A cast of C or Java before an element, which changes no byte.
_CAST = r"(?:\((?:(?:un)?signed )?(?:std::)?\w+\)\s*)?"


@functools.cache
def _opening() -> re.Pattern[str]:
    """A bracket with a number behind it, or a literal, where a value may stand."""
    number = rf"{_CAST}(?:0[xX][0-9a-fA-F]+|-?\d+)\s*(?:[uU]?[lL]{{0,2}}|u8|u32|u64)\s*(?:[,}}\]]|<repeats| +\d+[ \]])"
    comment = r"(?:\s|/\*[^*]*\*/|//[^\n]*\n)*"
    # Behind these a bracket opens a value: `[]byte{`, `new byte[] {`, `Uint8Array(40) [`.
    before = r"^|[=(,:{]|\breturn\b|&|\bvec!|\[\]\w+|\w\[\]|\b\w{1,24}Array\(\d*\)"
    return re.compile(
        rf"(?:{before})[ \t\n]*"
        rf"(?P<open>[{{\[](?={comment}{number})|b(?P<quote>['\"])|(?:bytes|bytearray)\.fromhex\((?P<hex>['\"]))",
        re.MULTILINE,
    )


def _closing(text: str, opening: re.Match[str]) -> int:
    """The position after a literal, -1 where it has no end."""
    if quote := opening["quote"] or opening["hex"]:
        end = _end_of_string(text, opening.end(), quote)
        # Strings one behind the other are one, as pprint writes long ones.
        while end > 0 and (more := _adjacent().match(text, end)) and bool(opening["hex"]) != bool(more["b"]):
            end = _end_of_string(text, more.end(), more["quote"])
        return end
    end = text.find("}" if opening["open"] == "{" else "]", opening.end())
    return end + 1 if end >= 0 else -1


def _end_of_string(text: str, position: int, quote: str) -> int:
    while position < len(text) and text[position] != quote:
        position += 2 if text[position] == "\\" else 1
    return position + 1 if position < len(text) else -1


@functools.cache
def _adjacent() -> re.Pattern[str]:
    return re.compile(r"\s*(?P<b>b?)(?P<quote>['\"])")


def read(source: Input) -> Dump:
    """The dump; InputError names the line of the first fault."""
    text = source.text
    opening = _opening().search(text)
    if not opening:
        raise source.fault("expected an array or a bytes literal, found none")
    closing = _closing(text, opening)
    if closing < 0:
        raise source.error(
            _line(source, opening.start("open")), "expected the end of the literal, found none"
        )
    inside = text[opening.end() : closing - 1]
    if opening["hex"]:
        digits = re.sub(r"['\"\s]", "", inside)
        return source.dump(*source.pairs(_line(source, opening.end()), digits))
    if opening["quote"]:
        return source.dump(_string(source, text, opening.start("open"), closing))
    declaration = text[: opening.start("open")]
    elements = _elements(source, inside, opening.end())
    unit = _declared(declaration, text[closing:]) or _shown(source, elements)
    _check_length(source, declaration, sum(element.times for element in elements))
    order = source.ordered(LITTLE) if unit > 1 else MEMORY
    data = bytearray()
    for value, _, times in elements:
        if not -(1 << (8 * unit - 1)) <= value < 1 << (8 * unit):
            raise source.fault(f"expected elements of {unit} bytes, found {quoted(str(value))}")
        one = (value % (1 << (8 * unit))).to_bytes(unit, "little" if order == LITTLE else "big")
        data += one * times
    return source.dump(bytes(data), form=form("literal", order, unit))


def fits(source: Input) -> bool:
    """Whether the text has such a literal."""
    return source.shape == "literal"


def _line(source: Input, position: int) -> int:
    index = source.text.count("\n", 0, position)
    return source.lines[min(index, len(source.lines) - 1)][0]


def _string(source: Input, text: str, start: int, end: int) -> bytes:
    """A Python bytes literal, with its escapes, or several one behind the other."""
    import ast

    line = _line(source, start)
    try:
        found = ast.literal_eval(f"({text[start:end]})")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise source.error(line, "expected a bytes literal of Python, found another") from None
    if not isinstance(found, bytes):
        raise source.error(line, "expected a bytes literal of Python, found another")
    if len(found) >= _HEXLIFIED and len(found) % 2 == 0 and is_hex(found.decode("latin-1")):
        raise source.error(
            line, "the literal is hex digits, as hexlify returns them: write them without b and quotes"
        )
    return found


@functools.cache
def _element() -> re.Pattern[str]:
    return re.compile(
        rf"\s*{_CAST}"
        r"(?P<number>-?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,20}))(?:[uU]?[lL]{0,2}|u8|u16|u32|u64)"
        r"(?:\s*<repeats (?P<times>\d{1,7}) times>)?\s*(?:,|$)"
    )


class _Element(NamedTuple):
    """A value, how many hex digits it was written with (0 for decimal), how often it stands in a row."""

    value: int
    digits: int
    times: int


def _elements(source: Input, inside: str, start: int) -> list[_Element]:
    # Blanks of the same length keep positions, and with them lines, what they are.
    text = re.sub(r"/\*[^*]*\*/|//[^\n]*|#[^\n]*", lambda found: " " * len(found[0]), inside).rstrip()
    if "," not in text and not text.strip(" \n-0123456789"):
        # numpy and Go print arrays without commas.
        text = re.sub(r"(?<=\d)[ \n](?=[ \n]*-?\d)", ",", text)
    elements: list[_Element] = []
    position = count = 0
    while position < len(text):
        found = _element().match(text, position)
        if not found:
            rest = text[position : position + 999].lstrip()
            raise source.error(
                _line(source, start + len(text) - len(text[position:].lstrip())),
                f"expected a number, found {quoted(rest.partition(',')[0].strip())}",
            )
        number = found["number"]
        bare = number.lstrip("-")
        led = bare[:2] in {"0x", "0X"}
        if not led and len(bare) > 1 and bare[0] == "0":
            raise source.error(
                _line(source, start + position),
                f"expected a decimal or hex number, found {quoted(number)}, which C takes for octal",
            )
        times = int(found["times"] or 1)
        count += times
        if count > LARGEST_OFFSET:
            raise source.fault(f"expected at most {LARGEST_OFFSET} elements, found more")
        elements.append(_Element(int(number, 16 if led else 10), len(bare) - 2 if led else 0, times))
        position = found.end()
    return elements


def _declared(before: str, after: str) -> int:
    """Bytes of an element as a declaration says it, 0 where it says nothing."""
    if found := re.search(r"dtype=[\w.]*?u?int(8|16|32|64)\b", after):
        return int(found[1]) // 8
    if found := re.search(r"\barray\(\s*['\"]([bBhHiIlLqQ])['\"]", before):
        return _LETTERS[found[1]]
    sizes = {
        1: r"u?int8(?:_t)?|u8|i8|char|byte|bytes|bytearray|uchar|uint8|std::byte|Uint8Array|Int8Array",
        2: r"u?int16(?:_t)?|u16|i16|short|ushort|WORD|Uint16Array",
        8: r"u?int64(?:_t)?|u64|i64|long|size_t|uintptr_t|ulong|QWORD|BigUint64Array",
        4: r"u?int32(?:_t)?|u32|i32|int|uint|unsigned|DWORD|dword|Uint32Array|Int32Array",
    }
    for size, names in sizes.items():
        if re.search(
            rf"\b(?:{names})\b", before.rpartition("\n")[2] if "=" in before.rpartition("\n")[2] else before
        ):
            return size
    return 0


def _shown(source: Input, elements: list[_Element]) -> int:
    """Bytes of an element whose type is not declared: what all their hex digits make, else one."""
    digits = {element.digits for element in elements}
    if len(digits) == 1 and digits <= {4, 8, 16}:
        return digits.pop() // 2
    large = [element.value for element in elements if not -128 <= element.value <= 255]
    if large:
        raise source.fault(
            "the size of an element is not stated: expected bytes or a type, as in uint32_t args[] = …, "
            f"found {quoted(str(large[0]))}"
        )
    return 1


def _check_length(source: Input, declaration: str, count: int) -> None:
    """C fills up what an initialiser leaves out with zeros: what is left out of a dump is not known to be zero."""
    found = re.search(r"\[\s*(\d{1,9})\s*\]\s*=\s*$", declaration) or re.search(
        r";\s*(\d{1,9})\s*\]\s*=\s*&?$", declaration
    )
    if found and int(found[1]) != count:
        raise source.fault(f"expected {found[1]} elements as declared, found {count}")


def write(dump: Dump, unit: int | None) -> str:
    """A C array of elements of `unit` bytes (1)."""
    size = 1 if unit is None else unit
    if size not in {1, 2, 4, 8}:
        raise InputError(f"literal: expected a unit of 1, 2, 4 or 8 bytes, found {size}")
    units(dump, "literal", size)
    data = whole(dump, "literal")
    items = [data[i : i + size][::-1].hex() for i in range(0, dump.size, size)]
    row = 16 // size
    rows = ["  " + ", ".join(f"0x{item}" for item in items[i : i + row]) for i in range(0, len(items), row)]
    return f"uint{8 * size}_t args[{len(items)}] = {{\n" + ",\n".join(rows) + "\n};\n"


FORMATS = {"literal": Format(fits, read, write, words=True)}
