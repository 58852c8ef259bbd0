"""Captured operands decoded and multiplied: what a stage of the matrix queue comes down to.

Each distinct operand is decoded once; every wave still does its own multiplication, of the same shape as if it were
alone, so results do not depend on who shares what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from argpack.emulator.captures import together

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from argpack.emulator.captures import Capture

TILE = 16
# float32 bytes of operands decoded at once: where operands are shared, and where they are not and the cache counts.
_SHARED_BYTES = 16 << 20
_ALONE_BYTES = 1 << 20
# From this scale on, FP4 times scale can exceed float32; 255 is NaN and stays one.
_TOO_LARGE = 253

_FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=np.float32)
# Two numbers per byte, low nibble first.
_PAIRS = np.stack([_FP4[np.arange(256) & 15], _FP4[np.arange(256) >> 4]], axis=1)
_PAIRS_32 = np.ascontiguousarray(_PAIRS).view(np.complex64)[:, 0]
_PAIRS_64 = np.ascontiguousarray(_PAIRS.astype(np.float64)).view(np.complex128)[:, 0]
_SCALES_64 = np.r_[np.ldexp(1.0, np.arange(255) - 127), np.nan]
_SCALES_32 = np.r_[np.ldexp(np.float32(1), np.arange(255) - 127), np.float32(np.nan)].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a stage: distinct values uint8, `packed` (distinct, row, K / 2) and `scales` (distinct, row, K / 32).

    `of_wave` (wave,) says which of them each wave has.
    """

    packed: NDArray[np.uint8]
    scales: NDArray[np.uint8]
    of_wave: NDArray[np.intp]


def gather(grid: list[list[Capture]]) -> Operand:
    """The operand that captures make: grid[r][t] has rows 16 · r and up, elements 128 · t and up of K."""
    sharing = together([capture for row in grid for capture in row])
    count, size, depth = len(sharing.first), len(grid), len(grid[0])
    # Lane l holds row l % 16 and the 32 elements of K from 32 · (l / 16): 16 bytes, moved as one item.
    packed = np.empty((count, size, TILE, depth, 4), dtype=np.complex128)
    scales = np.empty((count, size, TILE, depth, 4), dtype=np.uint8)
    for r, row in enumerate(grid):
        for t, capture in enumerate(row):
            items, scale = capture.packed.view(np.complex128)[..., 0], capture.scale
            if capture.sharing is not sharing:
                value = capture.sharing.of_wave[sharing.first]
                items, scale = items[value], scale[value]
            packed[:, r, :, t] = items.reshape(count, 4, TILE).transpose(0, 2, 1)
            scales[:, r, :, t] = scale.reshape(count, 4, TILE).transpose(0, 2, 1)
    octets = packed.view(np.uint8).reshape(count, size * TILE, -1)
    return Operand(octets, scales.reshape(count, size * TILE, -1), sharing.of_wave)


def multiply(tile: NDArray[np.float32], rows: Operand, columns: Operand) -> None:
    """tile (wave, rows, columns) += rows · columnsᵀ, in float64 for the waves whose scales ask for it."""
    wide = _too_large(rows) | _too_large(columns)
    for waves, number in ((np.flatnonzero(~wide), np.float32), (np.flatnonzero(wide), np.float64)):
        if waves.size:
            _multiply(tile, rows, columns, waves, number)


def _multiply(
    tile: NDArray[np.float32],
    rows: Operand,
    columns: Operand,
    waves: NDArray[np.intp],
    number: type[np.floating[Any]],
) -> None:
    size = 2 * np.dtype(number).itemsize
    if size * (rows.packed.size + columns.packed.size) <= _SHARED_BYTES:
        step = len(waves)
    else:
        step = max(1, _ALONE_BYTES // (size * (rows.packed[0].size + columns.packed[0].size)))
    sums = np.empty(tile.shape[1:], dtype=number)
    for first in range(0, len(waves), step):
        part = waves[first : first + step]
        left, left_of = _decoded(rows, part, number, decode)
        right, right_of = _decoded(columns, part, number, decode_transposed)
        for wave, i, j in zip(part.tolist(), left_of, right_of, strict=True):
            np.matmul(left[i], right[j], out=sums)
            tile[wave] += sums


def _decoded(
    operand: Operand,
    waves: NDArray[np.intp],
    number: type[np.floating[Any]],
    how: Callable[[NDArray[np.uint8], NDArray[np.uint8], type[np.floating[Any]]], NDArray[Any]],
) -> tuple[NDArray[Any], list[int]]:
    """The values that some waves need, decoded, and which of them each of these waves has."""
    if len(waves) == len(operand.of_wave):
        return how(operand.packed, operand.scales, number), operand.of_wave.tolist()
    needed, of_wave = np.unique(operand.of_wave[waves], return_inverse=True)
    return how(operand.packed[needed], operand.scales[needed], number), of_wave.tolist()


def _too_large(operand: Operand) -> NDArray[np.bool_]:
    """For each wave (wave,), whether FP4 times scale can exceed float32."""
    scales = operand.scales
    if int(scales.max()) < _TOO_LARGE:
        return np.zeros(len(operand.of_wave), dtype=np.bool_)
    # NaN aside, which needs no float64.
    large = np.where(scales == 255, 0, scales).reshape(len(scales), -1).max(axis=1)
    return np.asarray(large[operand.of_wave] >= _TOO_LARGE)


def decode(
    packed: NDArray[np.uint8], scales: NDArray[np.uint8], number: type[np.floating[Any]]
) -> NDArray[Any]:
    """FP4 bytes (n, row, K / 2) times E8M0 scales (n, row, K / 32): `number` (n, row, K)."""
    return _looked_up(packed, scales[..., None], (*scales.shape, 32), number).reshape(*packed.shape[:2], -1)


def decode_transposed(
    packed: NDArray[np.uint8], scales: NDArray[np.uint8], number: type[np.floating[Any]]
) -> NDArray[Any]:
    """As `decode`, but `number` (n, K, row), for an even number of rows: BLAS multiplies by that much faster."""
    even, odd = packed[:, 0::2], packed[:, 1::2]
    # A byte of two neighbours along K in one row becomes one of two rows, so that one look-up still gives two numbers.
    pairs = np.empty((len(packed), packed.shape[2], 2, even.shape[1]), dtype=np.uint8)
    pairs[:, :, 0] = ((even & 0x0F) | (odd << 4)).transpose(0, 2, 1)
    pairs[:, :, 1] = ((even >> 4) | (odd & 0xF0)).transpose(0, 2, 1)
    blocks = scales.transpose(0, 2, 1)[:, :, None]
    shape = (len(packed), scales.shape[2], 32, packed.shape[1])
    return _looked_up(pairs, blocks, shape, number).reshape(len(packed), -1, packed.shape[1])


def _looked_up(
    pairs: NDArray[np.uint8],
    scales: NDArray[np.uint8],
    shape: tuple[int, ...],
    number: type[np.floating[Any]],
) -> NDArray[Any]:
    """Two numbers for each byte, times scales, which broadcast to `shape`, the result's."""
    table, powers = (_PAIRS_64, _SCALES_64) if number is np.float64 else (_PAIRS_32, _SCALES_32)
    out = np.empty(shape, dtype=number)
    # In parts that stay in the cache between the two passes.
    step = max(1, _ALONE_BYTES // max(1, out[0].nbytes))
    for first in range(0, len(out), step):
        part = slice(first, first + step)
        table.take(pairs[part], mode="clip", out=out[part].view(table.dtype).reshape(pairs[part].shape))
        np.multiply(out[part], powers.take(scales[part]), out=out[part])
    return out
