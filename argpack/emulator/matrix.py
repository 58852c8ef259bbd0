"""The matrix unit: scaled FP4 products, queued and done as a few large float32 matrix multiplications.

A product v_mfma_scale_f32_16x16x128 is small for numpy. So its operands are captured (packed, when the program reaches
it) and the products of a wave wait in a queue; when an accumulator is needed, or enough have gathered, they are done
together: rows times columns of 16×16 tiles, K concatenated. While products wait, accumulators live in one contiguous
tile and not in their registers; `release` puts them back.

The order of the float32 sums is BLAS's, not the hardware's (which is not documented). Scales are folded into the
operands: exact, since a product of two FP4 numbers and two powers of two is a float32 unless it over- or underflows.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

K = 128  # elements of K in one product
TILE = 16
# Packed bytes captured per wave before a queue is worked off: keeps operands in the cache, and K long enough for BLAS.
_ENOUGH = 48 * 1024
_CAPTURE = 64 * 16
# float32 bytes of operands that are decoded at once.
_DECODED = 1 << 20
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
class Fragment:
    """Operand of a product: four VGPRs from `register`, scale byte `byte` of VGPR `scale`."""

    register: int
    scale: int
    byte: int

    @property
    def registers(self) -> frozenset[int]:
        """The VGPRs that it consists of."""
        return frozenset((*range(self.register, self.register + 4), self.scale))


@dataclass(frozen=True, slots=True)
class Capture:
    """A fragment's value: `packed` uint32 (wave, lane, 4), `scale` uint8 (wave, lane)."""

    packed: NDArray[np.uint32]
    scale: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Product:
    """Accumulator quad += rows · columnsᵀ; `rows` and `columns` number the captures of the entry it belongs to."""

    accumulator: int
    rows: int
    columns: int


# Products of a stretch of code and the captures they refer to.
Entry = tuple[tuple[Product, ...], list[Capture]]
Reference = tuple[int, int]  # entry, capture


@dataclass(frozen=True, slots=True)
class Stage:
    """A grid of accumulators, each with `depth` products: rows[r][t] and columns[c][t] are their captures."""

    accumulators: tuple[tuple[int, ...], ...]
    rows: tuple[tuple[Reference, ...], ...]
    columns: tuple[tuple[Reference, ...], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to work off a queue: stages in order, and the products per entry that are left for later."""

    stages: tuple[Stage, ...]
    left: tuple[tuple[Product, ...], ...]
    left_captures: int


@dataclass(slots=True)
class MatrixQueue:
    """The waiting products of one group of waves, and the tile that holds its accumulators meanwhile."""

    staged: list[Capture] = field(default_factory=list)
    known: dict[Fragment, Capture] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    waiting_bytes: int = 0
    held: tuple[tuple[int, ...], ...] | None = None
    tile: NDArray[np.float32] | None = None

    def capture(self, fragment: Fragment, quads: NDArray[np.uint32], *, unchanged: bool) -> None:
        """Keep a fragment's present value; one that is `unchanged` in this stretch of code may be known already."""
        found = self.known.get(fragment) if unchanged else None
        if found is None:
            scale = quads[fragment.scale >> 2, :, :, fragment.scale & 3] >> np.uint32(8 * fragment.byte)
            found = Capture(registers(quads, fragment.register), scale.astype(np.uint8))
        self.staged.append(found)

    def extend(self, products: tuple[Product, ...], quads: NDArray[np.uint32]) -> None:
        """Queue products that refer to the captures staged since the last call."""
        self.entries.append((products, self.staged))
        self.waiting_bytes += len(self.staged) * _CAPTURE
        if self.waiting_bytes >= _ENOUGH:
            self._work(quads, everything=False)

    def leave(self, written: frozenset[int], current: tuple[tuple[Fragment, int], ...]) -> None:
        """End a stretch of code that wrote VGPRs `written`; captures in `current` still hold their fragment's value."""
        if self.known:
            self.known = {f: c for f, c in self.known.items() if written.isdisjoint(f.registers)}
        for fragment, number in current:
            self.known[fragment] = self.staged[number]
        self.staged = []

    def release(self, quads: NDArray[np.uint32]) -> None:
        """Finish all waiting products and put the accumulators back into their registers."""
        if self.entries:
            self._work(quads, everything=True)
        if self.held is not None and self.tile is not None:
            _store(self.tile, self.held, quads)
            self.held = self.tile = None

    def _work(self, quads: NDArray[np.uint32], *, everything: bool) -> None:
        plan = plan_queue(tuple(products for products, _ in self.entries), self._aliases(), everything)
        for stage in plan.stages:
            if stage.accumulators != self.held:
                if self.held is not None and self.tile is not None:
                    _store(self.tile, self.held, quads)
                self.held, self.tile = stage.accumulators, _load(stage.accumulators, quads)
            assert self.tile is not None  # noqa: S101  set together with `held`
            _multiply(self.tile, self._gather(stage.rows), self._gather(stage.columns))
        captures = [captured for _, captured in self.entries]
        self.entries = [(p, c) for p, c in zip(plan.left, captures, strict=True) if p]
        self.waiting_bytes = plan.left_captures * _CAPTURE

    def _aliases(self) -> tuple[tuple[Reference, ...], ...]:
        """For each capture of each entry, where that capture occurs first."""
        first: dict[int, Reference] = {}
        return tuple(
            tuple(first.setdefault(id(capture), (entry, number)) for number, capture in enumerate(captured))
            for entry, (_, captured) in enumerate(self.entries)
        )

    def _gather(self, grid: tuple[tuple[Reference, ...], ...]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Packed operands uint8 (wave, row, byte of K) and scales (wave, row, block of K) of a stage's captures."""
        count = self.entries[0][1][0].packed.shape[0]
        size, depth = len(grid), len(grid[0])
        # Lane l holds row l % 16 and the 32 elements of K from 32 · (l / 16): 16 bytes, moved as one item.
        packed = np.empty((count, size, TILE, depth, 4), dtype=np.complex128)
        scales = np.empty((count, size, TILE, depth, 4), dtype=np.uint8)
        for r, t in itertools.product(range(size), range(depth)):
            entry, number = grid[r][t]
            captured = self.entries[entry][1][number]
            packed[:, r, :, t] = (
                captured.packed.view(np.complex128).reshape(count, 4, TILE).transpose(0, 2, 1)
            )
            scales[:, r, :, t] = captured.scale.reshape(count, 4, TILE).transpose(0, 2, 1)
        return packed.view(np.uint8).reshape(count, size * TILE, -1), scales.reshape(count, size * TILE, -1)


def registers(quads: NDArray[np.uint32], first: int) -> NDArray[np.uint32]:
    """A copy of four consecutive VGPRs, uint32 (wave, lane, 4)."""
    if first % 4 == 0:
        return np.array(quads[first >> 2])
    return np.stack([quads[r >> 2, :, :, r & 3] for r in range(first, first + 4)], axis=-1)


# Per accumulator, its waiting products in order: entry, product, captures of rows and columns.
Waiting = dict[int, list[tuple[int, Product, Reference, Reference]]]


@lru_cache(maxsize=4096)
def plan_queue(
    entries: tuple[tuple[Product, ...], ...], aliases: tuple[tuple[Reference, ...], ...], everything: bool
) -> Plan:
    """Sort waiting products into stages. Without `everything`, accumulators advance evenly and the rest stays."""
    queue: Waiting = {}
    for number, products in enumerate(entries):
        for p in products:
            rows, columns = aliases[number][p.rows], aliases[number][p.columns]
            queue.setdefault(p.accumulator, []).append((number, p, rows, columns))
    stages: list[Stage] = []
    while queue:
        depth = min(len(waiting) for waiting in queue.values())
        stages += _stages({acc: waiting[:depth] for acc, waiting in queue.items()})
        queue = {acc: waiting[depth:] for acc, waiting in queue.items() if len(waiting) > depth}
        if not everything:
            break
    kept = {(number, id(p)) for waiting in queue.values() for number, p, *_ in waiting}
    left = tuple(
        tuple(p for p in products if (number, id(p)) in kept) for number, products in enumerate(entries)
    )
    captures = {
        reference
        for waiting in queue.values()
        for *_, rows, columns in waiting
        for reference in (rows, columns)
    }
    return Plan(tuple(stages), left, len(captures))


def _stages(queue: Waiting) -> list[Stage]:
    """One stage where the accumulators form a full grid, else one for each."""
    where = {
        (tuple(rows for *_, rows, _ in waiting), tuple(columns for *_, columns in waiting)): accumulator
        for accumulator, waiting in queue.items()
    }
    # In the order of the accumulators, so that the next stage finds the tile as this one leaves it.
    order = sorted(where, key=where.__getitem__)
    all_rows = tuple(dict.fromkeys(rows for rows, _ in order))
    all_columns = tuple(dict.fromkeys(columns for _, columns in order))
    if len(where) == len(queue) == len(all_rows) * len(all_columns):
        grid = tuple(tuple(where[rows, columns] for columns in all_columns) for rows in all_rows)
        return [Stage(grid, all_rows, all_columns)]
    return [
        Stage(((accumulator,),), (tuple(rows for *_, rows, _ in waiting),), (tuple(c for *_, c in waiting),))
        for accumulator, waiting in queue.items()
    ]


def _multiply(
    tile: NDArray[np.float32],
    rows: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    columns: tuple[NDArray[np.uint8], NDArray[np.uint8]],
) -> None:
    """tile (wave, rows, columns) += rows · columnsᵀ, a few waves at a time."""
    wide = max(_finite_max(rows[1]), _finite_max(columns[1])) >= _TOO_LARGE
    number = np.float64 if wide else np.float32
    per_wave = 2 * (rows[0][0].size + columns[0][0].size) * number().itemsize
    step = max(1, min(len(tile), _DECODED // per_wave))
    # Fresh memory for each part would cost more (page faults) than the decoding.
    left = np.empty((step, rows[0].shape[1], 2 * rows[0].shape[2]), dtype=number)
    right = np.empty((step, columns[0].shape[1], 2 * columns[0].shape[2]), dtype=number)
    sums = np.empty((step, *tile.shape[1:]), dtype=number)
    for first in range(0, len(tile), step):
        part = slice(first, min(first + step, len(tile)))
        used = part.stop - first
        decode(rows[0][part], rows[1][part], left[:used])
        decode(columns[0][part], columns[1][part], right[:used])
        np.matmul(left[:used], right[:used].transpose(0, 2, 1), out=sums[:used])
        tile[part] += sums[:used]


def _finite_max(scales: NDArray[np.uint8]) -> int:
    largest = int(scales.max())
    return largest if largest < 255 else int(np.where(scales == 255, 0, scales).max())


def decode(packed: NDArray[np.uint8], scales: NDArray[np.uint8], out: NDArray[Any]) -> None:
    """FP4 bytes (wave, row, K / 2) times E8M0 scales (wave, row, K / 32) into `out`, a float (wave, row, K)."""
    pairs, powers = (_PAIRS_64, _SCALES_64) if out.dtype == np.float64 else (_PAIRS_32, _SCALES_32)
    pairs.take(packed, mode="clip", out=out.view(pairs.dtype))
    blocks = out.reshape(*scales.shape, 32)
    np.multiply(blocks, powers.take(scales)[..., None], out=blocks)


def _load(grid: tuple[tuple[int, ...], ...], quads: NDArray[np.uint32]) -> NDArray[np.float32]:
    """The accumulators of a grid as one tile, float32 (wave, 16 · rows, 16 · columns)."""
    count = quads.shape[1]
    tile = np.empty((count, len(grid), TILE, len(grid[0]), TILE), dtype=np.float32)
    for r, row in enumerate(grid):
        for c, accumulator in enumerate(row):
            # Lane l, register i of an accumulator: row 4 · (l / 16) + i, column l % 16.
            quad = quads[accumulator].view(np.float32).reshape(count, 4, TILE, 4)
            tile[:, r, :, c] = quad.transpose(0, 1, 3, 2).reshape(count, TILE, TILE)
    return tile.reshape(count, len(grid) * TILE, len(grid[0]) * TILE)


def _store(tile: NDArray[np.float32], grid: tuple[tuple[int, ...], ...], quads: NDArray[np.uint32]) -> None:
    """Put a tile back into its accumulators."""
    count = quads.shape[1]
    tiles = tile.reshape(count, len(grid), TILE, len(grid[0]), TILE)
    for r, row in enumerate(grid):
        for c, accumulator in enumerate(row):
            quad = tiles[:, r, :, c].reshape(count, 4, 4, TILE).transpose(0, 1, 3, 2)
            quads[accumulator] = quad.reshape(count, 64, 4).view(np.uint32)
