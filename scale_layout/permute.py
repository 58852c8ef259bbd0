"""Axes of a byte array reordered fast: wide items, byte lanes swapped in registers, chunks that fit the cache.

Equal to `numpy.ascontiguousarray(source.transpose(order))` and several times faster where runs of bytes are short,
because numpy then spends its time on single bytes. Knows no layouts.
"""

from __future__ import annotations

import itertools
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

CHUNK_BYTES = 1 << 20  # smaller ones make threads wait for the interpreter lock, larger ones leave the cache
_THREADS = 4  # more gain nothing: the copy is bound by memory
_ITEMS: dict[int, np.dtype[Any]] = {
    16: np.dtype(np.complex128),  # numpy has no whole number of 16 bytes; only copies are made of it
    8: np.dtype("<u8"),
    4: np.dtype("<u4"),
    2: np.dtype("<u2"),
}


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Flat bytes that a thread uses for chunk after chunk: fresh memory would cost a page fault for every 4 KiB."""

    gathered: NDArray[np.uint8]
    moved: NDArray[np.uint8]
    halves: NDArray[np.uint8]

    @classmethod
    def of(cls, size: int) -> _Scratch:
        """For chunks of at most `size` bytes."""
        return cls(np.empty(size, np.uint8), np.empty(size // 2, np.uint8), np.empty(size, np.uint8))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Extents of the source, each a whole axis or a part of one, and the order that they have in the target.

    `lanes` are source axes of extent 2 that become the lowest bits of the byte address, low bit first; the source's
    own lowest address bits take their places.
    """

    extents: tuple[int, ...]
    order: tuple[int, ...]
    lanes: tuple[int, ...] = ()


def permute(
    source: NDArray[np.uint8],
    extents: Sequence[int],
    order: Sequence[int],
    *,
    chunk_bytes: int = CHUNK_BYTES,
) -> NDArray[np.uint8]:
    """A new flat uint8 array: `source` seen as an array of shape `extents`, its axes in `order`.

    `source` is uint8 of any shape with that many elements, its last axis contiguous or it is copied first.
    """
    plan = _plan(extents, order)
    image = np.empty(source.size, np.uint8)
    width, shape = 1, plan.extents
    if plan.lanes:
        inside = 3 if plan.lanes[1] == len(plan.extents) - 3 else 2  # address bits that a word holds
        width, shape = 1 << inside, plan.extents[:-inside]
    elif plan.order[-1] == len(plan.extents) - 1:
        width = next((w for w in _ITEMS if plan.extents[-1] % w == 0), 1)
        shape = (*plan.extents[:-1], plan.extents[-1] // width)
    if source.strides[-1] != 1 or source.shape[-1] % width:
        source = np.ascontiguousarray(source)
    if source.flags.c_contiguous:
        source = source.reshape(-1)
    words = source.view(_ITEMS.get(width, np.dtype(np.uint8))).reshape(shape)
    _run(words, image.view("<u4" if plan.lanes else words.dtype), plan, chunk_bytes)
    return image


def _plan(extents: Sequence[int], order: Sequence[int]) -> _Plan:
    """Axes that stay neighbours are one; where single bytes move, the lanes that can be swapped are found."""
    groups: list[list[int]] = []
    for axis in order:
        if extents[axis] == 1:
            continue
        last = groups[-1][-1] if groups else axis
        if last < axis and all(extents[between] == 1 for between in range(last + 1, axis)):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if not groups:
        return _Plan((1,), (0,))
    sequence = sorted(groups)
    merged = [math.prod(extents[axis] for axis in group) for group in sequence]
    places = [sequence.index(group) for group in groups]
    if places[-1] == len(places) - 1:
        return _Plan(tuple(merged), tuple(places))
    return _split(merged, places) or _Plan(tuple(merged), tuple(places))


def _split(extents: list[int], order: list[int]) -> _Plan | None:
    """The plan with the two lowest address bits on both sides as axes of their own, or None."""
    taken_from_source = _lowest(extents, range(len(extents) - 1, -1, -1))
    taken_from_target = _lowest(extents, reversed(order))
    if taken_from_source is None or taken_from_target is None:
        return None
    taken = taken_from_source + taken_from_target
    if len({axis for axis, _ in taken_from_source} & {axis for axis, _ in taken_from_target}):
        return None
    parts: dict[int, list[tuple[int, int]]] = {}  # axis of `extents` -> (new axis, extent), slowest first
    count = 0
    for axis, extent in enumerate(extents):
        cuts = sum(1 for place, _ in taken if place == axis)
        pieces = ([extent >> cuts] if extent >> cuts > 1 or not cuts else []) + [2] * cuts
        parts[axis] = [(count + i, piece) for i, piece in enumerate(pieces)]
        count += len(pieces)
    lanes = tuple(parts[axis][-1 - depth][0] for axis, depth in taken_from_target)
    return _Plan(
        tuple(extent for axis in parts.values() for _, extent in axis),
        tuple(new for axis in order for new, _ in parts[axis]),
        lanes,
    )


def _lowest(extents: list[int], axes: Iterable[int]) -> list[tuple[int, int]] | None:
    """The two lowest address bits as (axis, bit of its index), lowest first; None where an axis cannot give them."""
    found: list[tuple[int, int]] = []
    for axis in axes:
        extent, depth = extents[axis], 0
        while extent % 2 == 0 and len(found) < 2:
            found.append((axis, depth))
            extent //= 2
            depth += 1
        if len(found) == 2:
            return found
        if extent > 1:
            return None
    return None


def _run(words: NDArray[Any], target: NDArray[Any], plan: _Plan, chunk_bytes: int) -> None:
    last = len(plan.extents) - 1
    own = [last - 1, last] if plan.lanes else []  # the source's lowest address bits, high bit first
    held = [axis for axis in reversed(plan.lanes) if axis < words.ndim]  # lanes that are no part of a word
    outer = [axis for axis in plan.order if axis not in plan.lanes]  # axes of the target's words
    rest = [axis for axis in range(words.ndim) if axis not in held]
    image = target.reshape([2 if axis in own else words.shape[axis] for axis in outer])
    image = image.transpose([outer.index(axis) for axis in [*own, *rest]])
    planes = words.transpose([*held, *rest])
    chunks = list(_chunks([words.shape[axis] for axis in rest], words.itemsize << len(held), chunk_bytes))
    pending = iter(chunks)  # shared: a thread whose core is busy takes fewer
    whole = (slice(None),) * len(held)

    def some() -> None:
        scratch = _Scratch.of(planes[whole + chunks[0]].nbytes if plan.lanes else 0)  # no chunk is larger
        for index in pending:
            part = planes[whole + index]
            if plan.lanes:
                image[:, :, *index] = _lanes_swapped(part, scratch)
            else:
                image[index] = part

    threads = min(_THREADS, len(os.sched_getaffinity(0)), len(chunks))
    if threads < 2:
        some()
    else:
        with ThreadPoolExecutor(threads) as pool:  # numpy copies and computes without the interpreter lock
            for done in [pool.submit(some) for _ in range(threads)]:
                done.result()


def _lanes_swapped(planes: NDArray[Any], scratch: _Scratch) -> NDArray[np.uint32]:
    """Dwords [high, low, …] of the source's two lowest address bits, whose bytes are in the order of the lanes.

    `planes` are the source's words by lane: dwords [high lane, low lane, …], or, where the high lane is the address
    bit above a dword, words of 8 bytes [low lane, …]. The result lies in `scratch`.
    """
    gathered = scratch.gathered[: planes.nbytes].view(planes.dtype).reshape(planes.shape)
    np.copyto(gathered, planes)
    if gathered.itemsize == 4:
        _exchange(gathered[:, 0], gathered[:, 1], scratch.moved, 8, 0x00FF00FF)
        _exchange(gathered[0], gathered[1], scratch.moved, 16, 0x0000FFFF)
        return gathered
    _exchange(gathered[0], gathered[1], scratch.moved, 8, 0x00FF00FF00FF00FF)
    dwords = gathered.view("<u4")
    halves = scratch.halves[: planes.nbytes].view("<u2").reshape(2, *dwords.shape)
    np.copyto(halves[0], dwords, casting="unsafe")  # keeps the low half of each
    np.right_shift(dwords, np.uint32(16), out=dwords)
    np.copyto(halves[1], dwords, casting="unsafe")
    return halves.view("<u4")


def _exchange(
    first: NDArray[Any], second: NDArray[Any], scratch: NDArray[np.uint8], shift: int, mask: int
) -> None:
    """In place: the bits of `first` under `mask` << `shift` change places with those of `second` under `mask`.

    One address bit of the bytes and the bit that tells `first` from `second` change places, by three exclusive ors.
    """
    word = first.dtype.type
    moved = scratch[: first.nbytes].view(first.dtype).reshape(first.shape)
    np.right_shift(first, word(shift), out=moved)
    np.bitwise_xor(moved, second, out=moved)
    np.bitwise_and(moved, word(mask), out=moved)
    np.bitwise_xor(second, moved, out=second)
    np.left_shift(moved, word(shift), out=moved)
    np.bitwise_xor(first, moved, out=first)


def _chunks(shape: list[int], item_bytes: int, limit: int) -> Iterator[tuple[slice, ...]]:
    """Slices along the slowest axes, each at most `limit` bytes where that can be had."""
    steps: list[int] = []
    inner = math.prod(shape) * item_bytes
    for extent in shape:
        inner //= extent
        if inner > limit:
            steps.append(1)
            continue
        steps.append(max(1, min(extent, limit // inner)))
        break
    ranges = [
        [slice(start, min(start + step, extent)) for start in range(0, extent, step)]
        for extent, step in zip(shape, steps, strict=False)
    ]
    return itertools.product(*ranges)
