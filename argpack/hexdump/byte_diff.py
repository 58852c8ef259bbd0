"""Compares two dumps byte by byte, for buffers whose schema is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump


class ByteDiff(NamedTuple):
    """The `ranges` of bytes (start, end) that both dumps know and that differ; `compared` bytes both know."""

    first: Dump
    second: Dump
    ranges: tuple[tuple[int, int], ...]
    compared: int

    @property
    def same(self) -> bool:
        """Whether sizes and all bytes known to both agree."""
        return not self.ranges and self.first.size == self.second.size


def diff_bytes(first: Dump, second: Dump) -> ByteDiff:
    """Compare what both dumps know, from offset 0 to the end of the shorter."""
    ranges: list[tuple[int, int]] = []
    compared = 0
    for offset in range(min(first.size, second.size)):
        if not (first.known[offset] and second.known[offset]):
            continue
        compared += 1
        if first.data[offset] != second.data[offset]:
            if ranges and ranges[-1][1] == offset:
                ranges[-1] = (ranges[-1][0], offset + 1)
            else:
                ranges.append((offset, offset + 1))
    return ByteDiff(first, second, tuple(ranges), compared)
