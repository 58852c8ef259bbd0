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

CHUNK_BYTES = 1 << 20  # a chunk, its planes and their scratch stay within 2 MiB of second-level cache
_THREADS = 4  # more gain nothing: the copy is bound by memory
_ITEMS: dict[int, np.dtype[Any]] = {
    16: np.dtype(np.complex128),  # numpy has no whole number of 16 bytes; only copies are made of it
    8: np.dtype("<u8"),
    4: np.dtype("<u4"),
    2: np.dtype("<u2"),
}


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
        width, shape = 4, plan.extents[:-2]
    elif plan.order[-1] == len(plan.extents) - 1:
        width = next((w for w in _ITEMS if plan.extents[-1] % w == 0), 1)
        shape = (*plan.extents[:-1], plan.extents[-1] // width)
    if source.strides[-1] != 1 or source.shape[-1] % width:
        source = np.ascontiguousarray(source)
    if source.flags.c_contiguous:
        source = source.reshape(-1)
    item = _ITEMS.get(width, np.dtype(np.uint8))
    _run(source.view(item).reshape(shape), image.view(item), plan, chunk_bytes)
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


def _run(words: NDArray[np.generic], target: NDArray[np.generic], plan: _Plan, chunk_bytes: int) -> None:
    last = len(plan.extents) - 1
    own = [last - 1, last] if plan.lanes else []  # the source's lowest address bits, high bit first
    outer = [axis for axis in plan.order if axis not in plan.lanes]  # axes of the target's words
    rest = [axis for axis in range(words.ndim) if axis not in plan.lanes]
    image = target.reshape([2 if axis in own else words.shape[axis] for axis in outer])
    image = image.transpose([outer.index(axis) for axis in [*own, *rest]])
    planes = words.transpose([*reversed(plan.lanes), *rest])

    def one(index: tuple[slice, ...]) -> None:
        if plan.lanes:
            swapped = np.array(planes[:, :, *index], order="C")
            _swap_lanes(swapped)
            image[:, :, *index] = swapped
        else:
            image[index] = planes[index]

    item_bytes = words.dtype.itemsize << len(plan.lanes)
    chunks = list(_chunks([words.shape[axis] for axis in rest], item_bytes, chunk_bytes))
    threads = min(_THREADS, len(os.sched_getaffinity(0)), len(chunks))
    if threads < 2:
        for index in chunks:
            one(index)
    else:
        with ThreadPoolExecutor(threads) as pool:  # numpy copies and computes without the interpreter lock
            for _ in pool.map(one, chunks):
                pass


def _swap_lanes(planes: NDArray[np.generic]) -> None:
    """In place: the two bits of a plane's number, [high, low, …], change places with those of a byte's in its dword.

    Each step is the exchange of one bit of the plane's number with one of the byte's, by three exclusive ors.
    """
    scratch = np.empty_like(planes[0])
    for first, second, shift, mask in (
        (planes[:, 0], planes[:, 1], np.uint32(8), np.uint32(0x00FF00FF)),
        (planes[0], planes[1], np.uint32(16), np.uint32(0x0000FFFF)),
    ):
        np.right_shift(first, shift, out=scratch)
        np.bitwise_xor(scratch, second, out=scratch)
        np.bitwise_and(scratch, mask, out=scratch)
        np.bitwise_xor(second, scratch, out=second)
        np.left_shift(scratch, shift, out=scratch)
        np.bitwise_xor(first, scratch, out=first)


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
