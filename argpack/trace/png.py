"""A small picture of few colours as a PNG file, without any library: for pages that need no other file."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def to_png(pixels: NDArray[np.uint8], palette: Sequence[str]) -> bytes:
    """`pixels` (rows, columns) number colours of the palette, each `#rrggbb`."""
    height, width = pixels.shape
    # 8 bits a pixel, colours from a palette; each row begins with the filter that it uses, 0 for none.
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = bytes.fromhex("".join(colour.removeprefix("#") for colour in palette))
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = pixels
    chunks = (
        (b"IHDR", header),
        (b"PLTE", colours),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
