"""Which format a dump is in: it refuses where none fits, and where several fit and their bytes differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats.input import FIRST, quoted
from argpack.hexdump.formats.sections import ELISIONS, is_rule
from argpack.values import changed

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input


def detect(content: Input, format_name: str | None, unused: list[str] | None = None) -> Dump:
    """The dump of a section, in the format named or the one that fits.

    Options without effect are refused, or added to `unused`. Raises InputError.
    """
    from argpack.hexdump.formats import load

    if content.shape == "capture" and format_name not in {None, "capture"}:
        raise InputError(f"{content.source}: --format {format_name}: it is a file of argpack capture")
    if format_name is not None:
        name, dump = format_name, load(format_name).read(content)
    else:
        name, dump = _detected(content)
    if content.word_order and not dump.form:
        why = f" {content.word_order}: {name} has no words here"
        _without_effect("--word-order", why, dump.source, unused)
    if content.base is not None and not load(name).offsets:
        _without_effect("--base", f": {name} has no offsets", dump.source, unused)
    return dump


def _without_effect(option: str, why: str, source: str, unused: list[str] | None) -> None:
    if unused is None:
        raise InputError(f"{source}: {option}{why}")
    unused.append(option)


def _detected(content: Input) -> tuple[str, Dump]:
    """The format that fits, by name, and the dump. Raises InputError where none or several do."""
    readings, fault = _readings(content)
    if not readings:
        _suggest_base(content)
        raise _unreadable(content, fault)
    name, first = next(iter(readings.items()))
    different = [other for other, dump in readings.items() if dump != first]
    if different:
        raise _ambiguous(content, readings, different)
    return name, first


def _readings(content: Input) -> tuple[dict[str, Dump], InputError | None]:
    """What each format that may fit makes of a dump, and the first fault found."""
    from argpack.hexdump.formats import fitting

    readings: dict[str, Dump] = {}
    fault: InputError | None = None
    offsets = set()
    for name, entry in fitting(content):
        try:
            readings[name] = entry.read(content)
        except InputError as error:
            fault = fault or error
        if entry.offsets:
            offsets.add(name)
    if content.word_order and any(dump.form for dump in readings.values()):
        # Who states the order of words says that these are words.
        readings = {name: dump for name, dump in readings.items() if dump.form}
    if content.base is not None and offsets & readings.keys():
        readings = {name: dump for name, dump in readings.items() if name in offsets}
    return readings, fault


def _suggest_base(content: Input) -> None:
    """Raise InputError for a first row that is fine but for its offset."""
    first = next((row for row in content.lines if not is_rule(row[1])), None)
    if content.base is not None or first is None or first[1] in ELISIONS:
        return
    row = changed(content, lines=(first,))
    if _readings(changed(row, base=FIRST))[0] and not _readings(row)[0]:
        offset = first[1].split(None, 1)[0].rstrip(":|")
        raise content.error(
            first[0],
            f"expected offsets from 0 on, found {quoted(offset)}: --base first if the buffer begins there, a line "
            "[...] before it if rows are left out",
        )


def _unreadable(content: Input, fault: InputError | None) -> InputError:
    """The error where no format fits: what is known of such an output, the fault of the first format, or neither."""
    # Loaded only where nothing fits.
    from argpack.hexdump.formats import unread

    number, line = content.lines[0] if content.lines else (1, "?")
    if known := unread.named(line):
        return content.error(number, known)
    if fault:
        return fault
    generic = f"expected a dump in a known format (--format lists them), found {quoted(line)}"
    return content.error(number, unread.unsized(line) or generic)


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
