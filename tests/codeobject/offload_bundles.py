"""Offload bundles as LLVM's documentation lays them out, made without our reader."""

from __future__ import annotations

import hashlib
import struct
import zlib


def bundle(*entries: tuple[str, bytes], align: int = 4096) -> bytes:
    """Entries of (id, bytes), each on a boundary as compilers put them."""
    table = 32 + sum(24 + len(name) for name, _ in entries)
    start = -(-table // align) * align
    head, body = b"", b""
    for name, data in entries:
        head += struct.pack("<QQQ", start + len(body), len(data), len(name)) + name.encode()
        body += data.ljust(-(-len(data) // align) * align, b"\0")
    return (b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)) + head).ljust(start, b"\0") + body


def zlib_compressed(data: bytes, *, version: int) -> bytes:
    """A compressed bundle (CCOB) of format 1, 2 or 3."""
    packed = zlib.compress(data)
    digest = hashlib.md5(data, usedforsecurity=False).digest()[:8]
    sizes = {
        1: struct.pack("<I", len(data)),
        2: struct.pack("<II", 24 + len(packed), len(data)),
        3: struct.pack("<QQ", 32 + len(packed), len(data)),
    }
    return b"CCOB" + struct.pack("<HH", version, 0) + sizes[version] + digest + packed
