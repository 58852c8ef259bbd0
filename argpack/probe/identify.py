"""Names a measured table: the declared layouts that equal it everywhere, and its pattern, solved from it alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from scale_layout import LAYOUTS, Tensor, offset, padded_shape
from scale_layout.infer import infer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.probe.tables import Table
    from scale_layout import Layout

_LARGEST_STEP = 12  # images that end on a multiple of up to 2^12 bytes are tried


@dataclass(frozen=True, slots=True)
class Match:
    """A layout that equals a table at every row and column. Its image has `rows` x `columns` bytes.

    `padding` bytes of the image hold rows or columns that the operand does not have; `outside` bytes of the buffer
    lie behind the image.
    """

    layout: Layout
    rows: int
    columns: int
    padding: int
    outside: int


@dataclass(frozen=True, slots=True)
class Identity:
    """What layout a table is.

    `known` are the declared layouts that equal it: none if it is new, several if the problem is too small to tell them
    apart. `solved` is the layout found by solving the table's index bits, without looking at declared ones; None where
    no pattern has it. `bits` says what each bit of a byte's offset is, lowest first (`r4` is bit 4 of the row, `c0^r1`
    an exclusive or), within the first `block` (rows, columns); empty where they are not linear.
    """

    known: tuple[Match, ...]
    solved: Match | None
    bits: tuple[str, ...]
    block: tuple[int, int]

    @property
    def layouts(self) -> tuple[Match, ...]:
        """The declared layouts, else the solved one."""
        return self.known or ((self.solved,) if self.solved else ())


def identify(table: Table) -> Identity:
    """Hold a table against all declared layouts of its kind, and solve it."""
    kinds = {Tensor.ANY, *((Tensor.SCALES,) if table.is_scales else (Tensor.WEIGHTS, Tensor.ACTIVATIONS))}
    found = (_declared(table, layout) for layout in LAYOUTS if layout.tensor in kinds)
    return Identity(tuple(match for match in found if match is not None), *_solve(table))


def _declared(table: Table, layout: Layout) -> Match | None:
    try:
        padded = padded_shape(layout, table.rows, table.columns)
    except InputError:
        return None  # it has no image of such a size
    return _match(table, layout, *padded)


def _match(table: Table, layout: Layout, rows: int, columns: int) -> Match | None:
    places = offset(
        layout,
        np.arange(table.rows)[:, None],
        np.arange(table.columns)[None, :],
        cols_padded=columns,
        rows_padded=rows,
    )
    if not np.array_equal(places, table.offsets):
        return None
    image = rows * columns
    return Match(layout, rows, columns, image - table.offsets.size, table.size - image)


def _solve(table: Table) -> tuple[Match | None, tuple[str, ...], tuple[int, int]]:
    """The layout, bits and block of the table, from random bytes placed by it."""
    image = np.random.default_rng(0).integers(0, 256, table.size, np.uint8)
    logical = image[table.offsets]
    bits: tuple[str, ...] = ()
    block = (0, 0)
    for size in _image_sizes(table):
        found = infer(logical, image[:size], ())
        if len(found.bits) > len(bits) and not found.undecided:
            bits, block = found.bits, found.block
        if found.solved is not None:
            match = _match(table, found.solved.layout, found.solved.rows, found.solved.cols)
            if match is not None:
                return match, found.bits, found.block
    return None, bits, block


def _image_sizes(table: Table) -> Iterator[int]:
    """Bytes of the buffer that the image may have: up to the last one that feeds anything, or to a round number."""
    end = int(table.offsets.max()) + 1
    sizes = {-(-end // step) * step for step in (1 << i for i in range(_LARGEST_STEP + 1))}
    yield from sorted(size for size in sizes | {table.size} if size <= table.size)
