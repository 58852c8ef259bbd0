"""Random bytes by position: any part of a stream, made alone, equals that part of the whole.

Philox counts: block n of 32 bytes needs none before it. Streams of one seed are independent of each other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 32  # bytes that Philox makes at one count


def random_bytes(seed: int, stream: int, start: int, stop: int) -> NDArray[np.uint8]:
    """Bytes `start` up to `stop` of stream number `stream` of a seed (0 or more), uint8."""
    first = start // _BLOCK
    generator = np.random.Philox(key=_key(seed, stream), counter=first)
    words = generator.random_raw(-(-(stop - first * _BLOCK) // 8)).astype("<u8", copy=False)
    return words.view(np.uint8)[start - first * _BLOCK : stop - first * _BLOCK]


@lru_cache(maxsize=64)
def _key(seed: int, stream: int) -> NDArray[np.uint64]:
    words = np.random.SeedSequence(seed, spawn_key=(stream,)).generate_state(2, np.uint64)
    return words.astype(np.uint64, copy=False)
