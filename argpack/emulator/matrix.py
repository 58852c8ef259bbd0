"""The matrix unit: scaled FP4 products, queued and done as a few large float32 matrix multiplications.

A product v_mfma_scale_f32_16x16x128 is small for numpy. So its operands are captured (packed, when the program reaches
it) and the products of a wave wait in a queue; when an accumulator is needed, or enough have gathered, they are done
together: rows times columns of 16×16 tiles, K concatenated. While products wait, accumulators live in one contiguous
tile and not in their registers; `release` puts them back.

The order of the float32 sums is BLAS's, not the hardware's (which is not documented). Scales are folded into the
operands: exact, since a product of two FP4 numbers and two powers of two is a float32 unless it over- or underflows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.captures import Capture, Part, Sharing, capture
from argpack.emulator.products import TILE, gather, multiply

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A queue is worked off when this many packed bytes of a wave and products of an accumulator wait: K is long enough for
# BLAS then, and small tiles stay within the sizes that it has faster kernels for.
_ENOUGH = 12 * 1024
_DEPTH = 2
_CAPTURE = 64 * 16
# Fewer waves than this do not ask again and again who of them share an operand where once none did.
_FEW = 16


@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """Operand of a product: four VGPRs from `register`, scale byte `byte` of VGPR `scale`; `fragment` makes them.

    There is one object for each, so that looking one up costs nothing.
    """

    register: int
    scale: int
    byte: int
    registers: frozenset[int]


@cache
def fragment(register: int, scale: int, byte: int) -> Fragment:
    """The one `Fragment` of these registers."""
    return Fragment(register, scale, byte, frozenset((*range(register, register + 4), scale)))


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
    waiting_products: int = 0
    held: tuple[tuple[int, ...], ...] | None = None
    tile: NDArray[np.float32] | None = None
    guesses: dict[int, Sharing] = field(default_factory=dict)

    def capture(self, fragment: Fragment, quads: NDArray[np.uint32], *, unchanged: bool) -> None:
        """Keep a fragment's present value; one that is `unchanged` in this stretch of code may be known already."""
        found = self.known.get(fragment) if unchanged else None
        if found is None:
            scale = quads[fragment.scale >> 2, :, :, fragment.scale & 3] >> np.uint32(8 * fragment.byte)
            found = capture(
                registers(quads, fragment.register), scale.astype(np.uint8), self._guesses(fragment.register)
            )
            if found.sharing.shared or quads.shape[1] < _FEW:
                self.guesses[fragment.register] = found.sharing
        self.staged.append(found)

    def extend(self, products: tuple[Product, ...], quads: NDArray[np.uint32]) -> None:
        """Queue products that refer to the captures staged since the last call."""
        self.entries.append((products, self.staged))
        self.waiting_bytes += len(self.staged) * _CAPTURE
        self.waiting_products += len(products)
        if self.waiting_bytes >= _ENOUGH and self.waiting_products >= _DEPTH * self._accumulators():
            self._work(quads, everything=False)

    def leave(self, written: frozenset[int], current: tuple[tuple[Fragment, int], ...]) -> None:
        """End a stretch of code that wrote VGPRs `written`; captures in `current` still hold their fragment's value."""
        if self.known:
            self.known = {f: c for f, c in self.known.items() if written.isdisjoint(f.registers)}
        for fragment, number in current:
            self.known[fragment] = self.staged[number]
        self.staged = []

    def take(self, part: Part) -> MatrixQueue:
        """The queue of some of the waves, which wait on: what is added in one part must not depend on who else left."""
        captures: dict[Capture, Capture] = {}
        sharings: dict[Sharing, tuple[Sharing, NDArray[np.intp]]] = {}

        def of(old: Capture) -> Capture:
            if old not in captures:
                if old.sharing not in sharings:
                    sharings[old.sharing] = old.sharing.take(part)
                sharing, values = sharings[old.sharing]
                captures[old] = Capture(old.packed[values], old.scale[values], sharing)
            return captures[old]

        return MatrixQueue(
            known={fragment: of(capture) for fragment, capture in self.known.items()},
            entries=[
                (products, [of(capture) for capture in captures]) for products, captures in self.entries
            ],
            waiting_bytes=self.waiting_bytes,
            waiting_products=self.waiting_products,
            held=self.held,
            tile=None if self.tile is None else self.tile[part],
        )

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
            rows, columns = gather(self._captures(stage.rows)), gather(self._captures(stage.columns))
            multiply(self.tile, rows, columns)
        captures = [captured for _, captured in self.entries]
        self.entries = [(p, c) for p, c in zip(plan.left, captures, strict=True) if p]
        self.waiting_bytes = plan.left_captures * _CAPTURE
        self.waiting_products = sum(map(len, plan.left))

    def _guesses(self, register: int) -> tuple[Sharing, ...]:
        """Who may share the value of this operand: those who did last, else those who share another."""
        last = self.guesses.get(register)
        return (last,) if last else tuple(dict.fromkeys(self.guesses.values()))

    def _accumulators(self) -> int:
        return len({product.accumulator for products, _ in self.entries for product in products})

    def _aliases(self) -> tuple[tuple[Reference, ...], ...]:
        """For each capture of each entry, where that capture occurs first."""
        first: dict[int, Reference] = {}
        return tuple(
            tuple(first.setdefault(id(capture), (entry, number)) for number, capture in enumerate(captured))
            for entry, (_, captured) in enumerate(self.entries)
        )

    def _captures(self, grid: tuple[tuple[Reference, ...], ...]) -> list[list[Capture]]:
        return [[self.entries[entry][1][number] for entry, number in row] for row in grid]


def registers(quads: NDArray[np.uint32], first: int) -> NDArray[np.uint32]:
    """Four consecutive VGPRs, uint32 (wave, lane, 4), contiguous."""
    if first % 4 == 0:
        return np.ascontiguousarray(quads[first >> 2])
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
