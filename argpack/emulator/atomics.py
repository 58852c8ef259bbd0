"""Atomic adds on memory words. Lanes that hit the same word are applied one after another, in wave and lane order.

On a device the order between workgroups is open; here it is fixed, so that a run can be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.floats import from_bf16, to_bf16

if TYPE_CHECKING:
    from numpy.typing import NDArray


def add_packed_bf16(words: NDArray[np.uint32], index: NDArray[np.int64], value: NDArray[np.uint32]) -> None:
    """words[index] += value, both halves as bf16, each sum rounded to nearest even."""
    if not index.size:
        return
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    if len(starts) == len(index):
        words[index] = _sum(words[index], value)
        return
    lengths = np.diff(np.r_[starts, len(index)])
    rank = np.arange(len(index)) - np.repeat(starts, lengths)
    for turn in range(int(lengths.max())):
        now = order[rank == turn]
        words[index[now]] = _sum(words[index[now]], value[now])


def _sum(old: NDArray[np.uint32], value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    low = to_bf16(from_bf16(old) + from_bf16(value))
    high = to_bf16(from_bf16(old >> np.uint32(16)) + from_bf16(value >> np.uint32(16)))
    return np.asarray(low | (high << np.uint32(16)), dtype=np.uint32)
