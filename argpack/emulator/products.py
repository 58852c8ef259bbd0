"""Captured operands decoded and multiplied: what a stage of the matrix queue comes down to.

Waves that share rows of A or of B (neighbours in a workgroup, workgroups in a row of the grid) hold the same packed
bytes. Each distinct operand is decoded once; every wave still does its own multiplication, of the same shape as if it
were alone, so results do not depend on who shares what.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

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

# Any odd numbers do: equal marks are only a hint, equality is checked.
_WEIGHTS = (np.random.default_rng(0).integers(0, 1 << 63, 136, dtype=np.uint64) << np.uint64(1)) | np.uint64(
    1
)


# Some of the waves of a group.
Part = slice | NDArray[np.bool_]


@dataclass(frozen=True)
class Capture:
    """A fragment's value: `packed` uint32 (wave, lane, 4), `scale` uint8 (wave, lane)."""

    packed: NDArray[np.uint32]
    scale: NDArray[np.uint8]

    def take(self, part: Part) -> Capture:
        """The value of some of the waves."""
        return Capture(self.packed[part], self.scale[part])

    @cached_property
    def mark(self) -> NDArray[np.uint64]:
        """A number per wave, uint64 (wave,): equal where the wave's value is equal, and hardly ever else."""
        words = self.packed.reshape(len(self.packed), -1).view(np.uint64)
        scales = self.scale.view(np.uint64)
        return np.asarray(words @ _WEIGHTS[:128] + scales @ _WEIGHTS[128:])

    def same(self, of_wave: NDArray[np.intp]) -> bool:
        """Whether each wave's value is that of wave `of_wave[wave]`."""
        packed, scale = self.packed.reshape(len(self.packed), -1).view(np.uint64), self.scale
        return bool((packed == packed[of_wave]).all() and (scale == scale[of_wave]).all())


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a stage: distinct values uint8, `packed` (distinct, row, K / 2) and `scales` (distinct, row, K / 32).

    `of_wave` (wave,) says which of them each wave has.
    """

    packed: NDArray[np.uint8]
    scales: NDArray[np.uint8]
    of_wave: NDArray[np.intp]


# The first wave of each distinct value, and for each wave the number of its value.
Sharing = tuple[NDArray[np.intp], NDArray[np.intp]]


def gather(grid: list[list[Capture]], guess: Sharing | None) -> tuple[Operand, Sharing]:
    """The operand that captures make: grid[r][t] has rows 16 · r and up, elements 128 · t and up of K.

    `guess` is who shared with whom last time: mostly true again, and checked.
    """
    captures = [capture for row in grid for capture in row]
    sharing = guess if guess and _holds(captures, guess) else _distinct(captures)
    first_wave, of_wave = sharing
    count, size, depth = len(first_wave), len(grid), len(grid[0])
    # Lane l holds row l % 16 and the 32 elements of K from 32 · (l / 16): 16 bytes, moved as one item.
    packed = np.empty((count, size, TILE, depth, 4), dtype=np.complex128)
    scales = np.empty((count, size, TILE, depth, 4), dtype=np.uint8)
    for r, row in enumerate(grid):
        for t, capture in enumerate(row):
            items = capture.packed.view(np.complex128)[..., 0][first_wave]
            packed[:, r, :, t] = items.reshape(count, 4, TILE).transpose(0, 2, 1)
            scales[:, r, :, t] = capture.scale[first_wave].reshape(count, 4, TILE).transpose(0, 2, 1)
    octets = packed.view(np.uint8).reshape(count, size * TILE, -1)
    return Operand(octets, scales.reshape(count, size * TILE, -1), of_wave), sharing


def _holds(captures: list[Capture], sharing: Sharing) -> bool:
    first_wave, of_wave = sharing
    if len(of_wave) != len(captures[0].packed) or len(first_wave) == len(of_wave):
        return False
    representative = first_wave[of_wave]
    return all(capture.same(representative) for capture in captures)


def _distinct(captures: list[Capture]) -> Sharing:
    marks = np.zeros(len(captures[0].packed), dtype=np.uint64)
    for number, capture in enumerate(captures):
        marks += capture.mark * _WEIGHTS[number % 128]
    _, first_wave, of_wave = np.unique(marks, return_index=True, return_inverse=True)
    sharing = (first_wave, of_wave)
    alone = np.arange(len(marks), dtype=np.intp)
    return sharing if _holds(captures, sharing) else (alone, alone)


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
    needed, of_wave = np.unique(operand.of_wave[waves], return_inverse=True)
    whole = len(needed) == len(operand.packed)
    packed = operand.packed if whole else operand.packed[needed]
    return how(packed, operand.scales if whole else operand.scales[needed], number), of_wave.tolist()


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
