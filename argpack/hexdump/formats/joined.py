"""Bytes of two hex digits with a mark between them, `00:00:20:6d`, `00, 00,` or `"\\x00\\x00"`, as lines of digits."""

from __future__ import annotations

import functools
import re

# What stands third in 00: and "\\x and \\x0: a quick look before the regular expression.
_THIRD = frozenset(":-,x0123456789abcdefABCDEF")


def is_joined(line: str) -> bool:
    """Whether a line is nothing but such bytes."""
    return line[2:3] in _THIRD and _pattern().fullmatch(line) is not None


def digits(line: str) -> str:
    """The bytes of such a line, a blank between them."""
    return " ".join(re.findall(r"(?:\\x)?([0-9a-fA-F?]{2})", line))


@functools.cache
def _pattern() -> re.Pattern[str]:
    byte = r"[0-9a-fA-F?]{2}"
    return re.compile(rf"{byte}(?:(?:[:-]{byte})+|(?:, ?{byte})+,?|,)|\"?(?:\\x{byte})+\"?[;,]?")
