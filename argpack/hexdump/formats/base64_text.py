"""Base64, over one line or many. Unknown bytes cannot be said in it.

Text of hex digits only is base64 as well: it fits both where it mixes the case of letters or is nothing but A, which
is zeros in one and 0xaa in the other.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import Format, is_hex, no_unit, quoted, whole
from argpack.hexdump.formats.sections import BASE64_LINE

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input

# What the base64 command writes in a line.
_LINE = 76


def read(source: Input) -> Dump:
    """The dump, every byte known."""
    for number, line in source.lines:
        if " " in line or "\t" in line:
            raise source.error(number, f"expected one group of base64 in a line, found {quoted(line)}")
    text = "".join(line for _, line in source.lines)
    try:
        data = binascii.a2b_base64(text.encode("ascii", "replace"), strict_mode=True)
    except binascii.Error as error:
        raise source.fault(f"expected base64: {str(error).lower()}") from None
    return source.dump(data)


def fits(source: Input) -> bool:
    """Whether the lines are single groups of the base64 alphabet that hex digits do not explain."""
    texts = [line for _, line in source.lines]
    text = "".join(texts)
    if " " in text or "\t" in text or len(text) % 4 or len(text) < BASE64_LINE:
        return False
    kept = text.rstrip("=").replace("+", "").replace("/", "")
    if not (kept.isascii() and kept.isalnum()):
        return False
    if "=" in text or not is_hex(text):
        return True
    return not text.strip("A") or (text.upper() != text and text.lower() != text)


def write(dump: Dump, unit: int | None) -> str:
    """Lines of 76 characters."""
    no_unit(dump, "base64", unit)
    text = binascii.b2a_base64(whole(dump, "base64"), newline=False).decode()
    return "".join(text[i : i + _LINE] + "\n" for i in range(0, len(text), _LINE))


FORMATS = {"base64": Format(fits, read, write)}
