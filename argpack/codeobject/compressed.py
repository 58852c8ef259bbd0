"""Compressed offload bundles (CCOB): header and contents, as LLVM's "Clang Offload Bundler" describes them.

zlib is Python's own. zstd is the machine's libzstd, for Python has none before 3.14: no package is needed for it.
"""

from __future__ import annotations

import functools
import hashlib
import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    import ctypes

MAGIC = b"CCOB"
_HEAD = struct.Struct("<4sHH")
# Behind version and method: the size of the whole from version 2 on, the size unpacked, a hash of what is unpacked.
_SIZES = {1: struct.Struct("<I8s"), 2: struct.Struct("<II8s"), 3: struct.Struct("<QQ8s")}
_ZLIB, _ZSTD = 0, 1
_LARGEST = 1 << 32


class Unpacked(NamedTuple):
    """`end` is where the compressed bundle ends in the bytes that it was read from."""

    data: bytes
    end: int


def decompress(data: bytes, start: int) -> Unpacked:
    """Unpack the compressed bundle that begins at `start`.

    Raises InputError where it is damaged, UnavailableError for zstd on a machine without libzstd.
    """
    where = f"compressed offload bundle at {start:#x}"
    version, method, whole, size, digest, body = _header(data, start, where)
    if size > _LARGEST:
        raise InputError(f"{where}: damaged: {size:,} bytes unpacked, argpack takes at most 4 GiB")
    if whole is not None and not body <= start + whole <= len(data):
        raise InputError(f"{where}: cut off: expected {whole:,} bytes, found {len(data) - start:,}")
    packed = data[body : None if whole is None else start + whole]
    if method not in {_ZLIB, _ZSTD}:
        raise InputError(f"{where}: expected method 0 (zlib) or 1 (zstd), found {method}")
    unpacked, used = (_inflate if method == _ZLIB else _zstd)(packed, size, where)
    if len(unpacked) != size:
        raise InputError(f"{where}: damaged: expected {size:,} bytes unpacked, found {len(unpacked):,}")
    if hashlib.md5(unpacked, usedforsecurity=False).digest()[:8] != digest:
        raise InputError(f"{where}: damaged: the checksum of its contents (version {version}) differs")
    return Unpacked(unpacked, body + used if whole is None else start + whole)


def _header(data: bytes, start: int, where: str) -> tuple[int, int, int | None, int, bytes, int]:
    """Version, method, size of the whole, size unpacked, hash, where the contents begin."""
    if len(data) - start < _HEAD.size:
        raise InputError(f"{where}: cut off in its header")
    _, version, method = _HEAD.unpack_from(data, start)
    sizes = _SIZES.get(version)
    if sizes is None:
        raise InputError(f"{where}: expected version 1, 2 or 3, found {version}")
    body = start + _HEAD.size + sizes.size
    if len(data) < body:
        raise InputError(f"{where}: cut off in its header")
    *whole, size, digest = sizes.unpack_from(data, start + _HEAD.size)
    return version, method, whole[0] if whole else None, size, digest, body


def _inflate(packed: bytes, size: int, where: str) -> tuple[bytes, int]:
    """Bytes unpacked, and how many were used."""
    stream = zlib.decompressobj()
    try:
        unpacked = stream.decompress(packed, size + 1)
    except zlib.error as error:
        raise InputError(f"{where}: damaged: {error}") from None
    return unpacked, len(packed) - len(stream.unused_data)


def _zstd(packed: bytes, size: int, where: str) -> tuple[bytes, int]:
    """As `_inflate`. The buffer is a byte longer than what is expected, so that more is seen."""
    import ctypes

    library = _libzstd()
    used = library.ZSTD_findFrameCompressedSize(packed, len(packed))
    if library.ZSTD_isError(used):
        raise InputError(f"{where}: damaged: no whole zstd frame")
    buffer = ctypes.create_string_buffer(size + 1)
    found = library.ZSTD_decompress(buffer, size + 1, packed, used)
    if library.ZSTD_isError(found):
        raise InputError(f"{where}: damaged: its zstd frame does not unpack to {size:,} bytes")
    return buffer.raw[:found], used


@functools.cache
def _libzstd() -> ctypes.CDLL:
    import ctypes

    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        raise UnavailableError(
            "a zstd-compressed offload bundle: unpacking it needs libzstd.so.1 (on Debian, apt-get install libzstd1), "
            "or clang-offload-bundler --unbundle"
        ) from None
    size, pointer = ctypes.c_size_t, ctypes.c_char_p
    library.ZSTD_findFrameCompressedSize.argtypes = (pointer, size)
    library.ZSTD_findFrameCompressedSize.restype = size
    library.ZSTD_decompress.argtypes = (pointer, size, pointer, size)
    library.ZSTD_decompress.restype = size
    library.ZSTD_isError.argtypes = (size,)
    return library
