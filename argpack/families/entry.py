"""What the index says of a family: enough to find it, nothing that needs its declaration."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One family: `module` has it in `FAMILIES`, `size` is its arguments in bytes.

    `names` are patterns of its kernels' names, unmangled; `targets` the processors it is made for; `folders` patterns
    of its files' paths in AITER's tree. `launch_of` names the family whose layout this one is another launch of.
    """

    name: str
    module: str
    size: int
    names: tuple[str, ...]
    targets: tuple[str, ...]
    folders: tuple[str, ...] = ()
    launch_of: str = ""
