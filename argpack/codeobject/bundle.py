"""Clang's offload bundles: one or several in a file, compressed or not, taken apart into their entries.

A compiler makes one per translation unit, and a linker puts them behind each other with zeros between.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from argpack.codeobject import compressed
from argpack.errors import InputError

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_COUNT = struct.Struct("<Q")
_ENTRY = struct.Struct("<QQQ")
_DEVICE = ("hip-amdgcn-amd-amdhsa-", "hipv4-amdgcn-amd-amdhsa-", "openmp-amdgcn-amd-amdhsa-")
_LONGEST_ID = 256
_NOT_ZERO = re.compile(rb"[^\0]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: `id` as the bundle has it (`hipv4-amdgcn-amd-amdhsa--gfx950:xnack-`), `data` its bytes.

    `number` counts the entries of the file from 1, `bundle` its bundles from 1; `packed` whether that is compressed.
    """

    number: int
    bundle: int
    packed: bool
    id: str
    data: bytes

    @property
    def target(self) -> str | None:
        """The target id (`gfx950:xnack-`) of an entry for an AMD GPU, None for the host's."""
        prefix = next((text for text in _DEVICE if self.id.startswith(text)), None)
        return None if prefix is None else self.id.removeprefix(prefix).lstrip("-").removeprefix("unknown-")


def is_bundle(data: bytes) -> bool:
    """Whether the bytes begin as a bundle does."""
    return data.startswith((MAGIC, compressed.MAGIC))


def unbundle(data: bytes) -> tuple[Entry, ...]:
    """The entries of all bundles in a file that begins with one. Raises InputError where anything is damaged."""
    entries: list[Entry] = []
    start, bundle = 0, 0
    while start < len(data):
        bundle += 1
        packed = data.startswith(compressed.MAGIC, start)
        if packed:
            unpacked, end = compressed.decompress(data, start)
            found, _ = _entries(unpacked, 0, f"offload bundle {bundle}, unpacked,")
        elif data.startswith(MAGIC, start):
            found, end = _entries(data, start, f"offload bundle {bundle}")
        else:
            found_bytes = data[start : start + 4].hex(" ")
            raise InputError(
                f"behind offload bundle {bundle - 1}, at {start:#x}: expected another one, found {found_bytes}"
            )
        entries += [
            Entry(len(entries) + at, bundle, packed, name, part) for at, (name, part) in enumerate(found, 1)
        ]
        behind = _NOT_ZERO.search(data, end)
        start = behind.start() if behind else len(data)
    return tuple(entries)


def _entries(data: bytes, start: int, what: str) -> tuple[list[tuple[str, bytes]], int]:
    """Id and bytes of each entry of the bundle at `start`, and where the bundle ends."""
    if not data.startswith(MAGIC, start):
        raise InputError(f"{what} at {start:#x}: expected it to start with {MAGIC.decode()}")
    at = start + len(MAGIC)
    (count,) = _COUNT.unpack(_taken(data, at, _COUNT.size, what))
    at += _COUNT.size
    end = at
    found = []
    for _ in range(count):
        offset, size, length = _ENTRY.unpack(_taken(data, at, _ENTRY.size, what))
        if length > _LONGEST_ID:
            raise InputError(f"{what} at {start:#x}: damaged: an entry's name of {length:,} bytes")
        name = _taken(data, at + _ENTRY.size, length, what)
        if not name.isascii() or not name.decode("ascii").isprintable():
            raise InputError(f"{what} at {start:#x}: damaged: an entry's name is no text")
        at += _ENTRY.size + length
        found.append((name.decode("ascii"), _taken(data, start + offset, size, what)))
        end = max(end, at, start + offset + size)
    return found, end


def _taken(data: bytes, start: int, size: int, what: str) -> bytes:
    if start + size > len(data):
        raise InputError(
            f"{what}: cut off: expected {size:,} bytes at {start:#x}, found {max(0, len(data) - start):,}"
        )
    return data[start : start + size]
