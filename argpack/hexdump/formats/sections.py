"""Finds the dumps in a text: runs of rows between lines of prose, arrays, JSON objects. It reads none of them.

A dump also ends where offsets begin again at zero. Prose inside a dump, before a row that goes on, stays in it: its
reader then refuses that line, where leaving it out could hide that rows are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats.input import Input, is_cell, is_hex
from argpack.values import changed

if TYPE_CHECKING:
    from argpack.hexdump.formats.input import Lines

ELISIONS = frozenset({"*", "[...]", "...", "…"})

# Shorter words may be prose: `Segmentation` is twelve letters of the base64 alphabet.
BASE64_LINE = 16

# Some of these are in every array or bytes literal; the module that reads them takes a while to load.
_LITERAL_MARKS = ("{", "[", "b'", 'b"', "fromhex")

# The base64 command wraps at 76, openssl at 64.
WRAPPED_LINE = 60


def sections(content: Input) -> list[Input]:
    """The dumps in order, each with the prose before it; empty where there is none."""
    if not content.lines:
        return [content]
    start = content.lines[0][1]
    if start[0] in "{[" and start.lstrip("[ ")[:1] in {"{", ""} and '"' in content.text:
        return _json_objects(content)
    if not any(mark in content.text for mark in _LITERAL_MARKS):
        return _runs(content)
    from argpack.hexdump.formats.literal import split

    if any(has_bracketed_offset(line) or _is_marked(line) for _, line in content.lines):
        return _runs(content)
    arrays = split(content)
    inside = {number for array in arrays for number, _ in array.lines}
    # Logs have small arrays, too, such as a grid: they are prose where there are rows beside them.
    if arrays and not any(is_row(line) for number, line in content.lines if number not in inside):
        return arrays
    return _runs(content)


def choose(found: list[Input], choice: str | None, source: str) -> Input:
    """The dump that `choice` names: its number from 1, or part of the prose before it. Raises InputError."""
    if choice is None:
        if len(found) == 1:
            return found[0]
        starts = [str(part.lines[0][0]) if part.lines else "?" for part in found]
        shown = ", ".join(starts[:-1][:5]) + ("…" if len(starts) > 6 else "")
        raise InputError(
            f"{source}: {len(found)} dumps, from lines {shown} and {starts[-1]}: choose one with "
            f"#1 to #{len(found)} after the name of the file, or # and the name of its kernel"
        )
    name = f"{source}#{choice}"
    if choice.isascii() and choice.isdigit():
        if not 1 <= int(choice[:9]) <= len(found):
            raise InputError(f"{name}: expected a dump of {len(found)}, found #{choice[:24]}")
        return changed(found[int(choice) - 1], source=name)
    matching = [part for part in found if any(choice in line for line in part.heading)]
    if len(matching) != 1:
        count = "none" if not matching else str(len(matching))
        raise InputError(f"{name}: expected one dump of {len(found)} with that name above it, found {count}")
    return changed(matching[0], source=name)


def is_row(line: str) -> bool:
    """Whether a line may be part of a dump. When in doubt it is: an unreadable row is refused, prose is left out."""
    if line in ELISIONS or is_rule(line):
        return True
    first, *rest = line.split(None, 2)
    second = rest[0] if rest else ""
    bare = first.rstrip(":|")
    if has_bracketed_offset(line) or _is_marked(line):
        return True
    if bare.startswith(("0x", "0X", "+")):
        return is_hex(bare.lstrip("+").partition(",")[0].removeprefix("0x").removeprefix("0X") or "-")
    if first.startswith("<") and first.endswith(">:"):
        return True
    if first.startswith("[") and ".." in first:
        return True
    if not is_cell(bare):
        return not second and len(first) >= BASE64_LINE and _is_base64(first)
    if first[-1] in ":|" or second[:1] in set("|[<>?"):
        return True
    if not second or second.startswith("0x") or is_cell(second):
        return True
    # `3 dumps follow`, `a kernel` and `be careful` are prose; `22 zz` is a row with a fault.
    word = len(second) > 2 and second[0].isalpha()
    return not (word and (bare.isalpha() or (bare.isdigit() and len(bare) < 6)))


def has_bracketed_offset(line: str) -> bool:
    """Whether a line begins with `[0010]` and bytes, as no array does."""
    if line[:1] != "[":
        return False
    offset, closed, rest = line[1:].partition("]")
    first, *_ = rest.lstrip(" :").split(None, 1) or [""]
    return bool(closed) and is_hex(offset.removeprefix("0x")) and len(first) == 2 and is_cell(first)


def _is_marked(line: str) -> bool:
    """Whether a line is words with an index, or bytes with a mark between them."""
    if "[" in line:
        from argpack.hexdump.formats.indexed import is_indexed

        return is_indexed(line)
    if len(line) > 2 and (line[2] in ":-," or "\\x" in line[:3]):
        from argpack.hexdump.formats.joined import is_joined

        return is_joined(line)
    return False


def is_rule(line: str) -> bool:
    """Whether a line is the heading of a table with offsets, or the rule under it."""
    return line.startswith("Offset") or not line.strip("-|+ =")


def _is_base64(text: str) -> bool:
    kept = text.rstrip("=").replace("+", "").replace("/", "")
    return kept.isascii() and kept.isalnum()


def _ends_base64(before: str, line: str) -> bool:
    """Whether a line too short to be told from prose is the last one of base64 that tools have wrapped."""
    wrapped = len(before) >= WRAPPED_LINE and " " not in before and _is_base64(before) and "=" not in before
    return wrapped and len(line) < len(before) and len(line) % 4 == 0 and _is_base64(line)


def _runs(content: Input) -> list[Input]:
    """Rows between prose. Prose before a row whose offset goes on is kept for the reader to refuse."""
    found: list[Input] = []
    heading: list[str] = []
    rows: list[tuple[int, str]] = []
    prose: list[tuple[int, str]] = []

    def close() -> None:
        if rows:
            found.append(changed(content, lines=tuple(rows), heading=tuple(heading)))
            heading.clear()
            rows.clear()
        heading.extend(text for _, text in prose)
        prose.clear()

    for number, line in content.lines:
        if not is_row(line) and not (rows and not prose and _ends_base64(rows[-1][1], line)):
            prose.append((number, line))
            continue
        if rows and prose and _goes_on(line):
            rows.extend(prose)
            prose.clear()
        elif prose or _restarts(rows, line):
            close()
        rows.append((number, line))
    close()
    return found


def _goes_on(line: str) -> bool:
    """Whether a row states an offset other than zero, or stands for rows left out."""
    if line in ELISIONS:
        return True
    first = line.split(None, 1)[0]
    bare = first.rstrip(":|").removeprefix("+")
    marked = first[-1] in ":|" or first[0] == "+" or line[len(first) :].lstrip().startswith("|")
    return marked and is_hex(bare) and bool(bare.strip("0"))


def _restarts(rows: list[tuple[int, str]], line: str) -> bool:
    """Whether a row begins another dump: the heading of a table, or offset zero again after at least two rows."""
    if not rows:
        return False
    last = rows[-1][1]
    if line.startswith("Offset"):
        return not is_rule(last)
    if len(rows) < 2:
        return False
    first = line.split(None, 1)[0]
    if first.rstrip(":|").lstrip("+").removeprefix("0x").strip("0"):
        return False
    begun = next((text for _, text in rows if not is_rule(text) and text not in ELISIONS), "")
    if begun.split(None, 1)[:1] != [first]:
        return False
    marked = first[-1] in ":|" or first[0] == "+" or line[len(first) :].lstrip().startswith("|")
    closed = " " in begun and " " not in last and last not in ELISIONS and len(last) == len(first)
    return marked or closed


def _json_objects(content: Input) -> list[Input]:
    """Each object of JSON lines, of an array or of objects one after the other; all as one where that is not JSON."""
    import json

    text, decoder = content.text, json.JSONDecoder()
    found: list[Input] = []
    position, line = 0, 0
    while True:
        while position < len(text) and text[position] in " \n,[]":
            line += text[position] == "\n"
            position += 1
        if position == len(text):
            break
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return [content]
        kernel = value.get("kernel") if isinstance(value, dict) else None
        heading = (kernel,) if isinstance(kernel, str) else ()
        found.append(changed(content, lines=_cut(content.lines, text[position:end], line), heading=heading))
        line += text.count("\n", position, end)
        position = end
    return found


def _cut(lines: Lines, text: str, start: int) -> Lines:
    """Lines of a part of the text that begins in the line of index `start`."""
    return tuple((lines[start + index][0], part) for index, part in enumerate(text.split("\n")))
