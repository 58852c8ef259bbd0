"""How a launch of a capture is named on the command line: FILE#n. It imports little, for `show` starts with it."""

from __future__ import annotations

import os


def split(text: str) -> tuple[str, int | None]:
    """The file and the number, None for none. A file whose own name ends in #n is that file."""
    path, sign, digits = text.rpartition("#")
    if sign and path and digits.isdecimal() and not os.path.lexists(text):
        return path, int(digits)
    return text, None
