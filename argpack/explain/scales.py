"""Mistakes with MX scales: their order, their padding, their pointers, the byte itself.

Each builds the image that a host would have placed; logical scales are uint8 (rows, K/32).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.explain.hypothesis import Hypothesis
from argpack.explain.situation import with_images, with_targets
from scale_layout import LAYOUTS, Tensor, apply, invert, offset, padded_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from argpack.explain.situation import Situation
    from scale_layout import Layout

    Bytes = NDArray[np.uint8]

NAMES = {"ScaleA": "A", "ScaleB": "B"}
BOTH = ("ScaleA", "ScaleB")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scales:
    """The scales of both operands: `logical` by buffer name, `layout` as the kernel reads them, `pad` in between.

    Columns are padded to `columns`, rows to `rows[name]`.
    """

    logical: Mapping[str, Bytes]
    layout: Layout
    pad: int
    rows: Mapping[str, int]
    columns: int

    def image(self, name: str) -> Bytes:
        """The image that the kernel wants."""
        return apply(
            self.layout,
            self.logical[name],
            pad_value=self.pad,
            row_multiple=self.rows[name],
            col_multiple=self.columns,
        )

    @property
    def varied(self) -> tuple[str, ...]:
        """Buffers whose scales are not all the same: the others look alike in every order."""
        return tuple(name for name, one in self.logical.items() if (one != one.flat[0]).any())


def hypotheses(scales: Scales) -> Iterator[Hypothesis]:
    """What frequently goes wrong first."""
    yield from _row_major(scales)
    yield _exchanged()
    yield from _column_count(scales)
    yield from _pads(scales)
    yield from _rows_not_padded(scales)
    yield from _other_layouts(scales)
    yield from _off_by_one(scales)


def _row_major(scales: Scales) -> Iterator[Hypothesis]:
    fix = (
        f"place them as {scales.layout.name}: `argpack layout apply --layout {scales.layout.name}` or AITER's "
        "e8m0_shuffle"
    )
    for names in _choices(scales.varied):
        yield Hypothesis(
            name=f"scales row-major ({_operands(names)})",
            what=f"{_of(names)} lie row by row, the kernel reads tiles ({scales.layout.name})",
            fix=fix,
            build=_placing(names, lambda name: _rows(scales, name, padded=True)),
            evidence=_read_wrong(scales, names),
        )
    if any(one.shape[1] % scales.columns for one in scales.logical.values()):
        for names in _choices(scales.varied):
            yield Hypothesis(
                name=f"scales row-major, columns not padded ({_operands(names)})",
                what=f"{_of(names)} lie row by row without padding, the kernel reads tiles ({scales.layout.name})",
                fix=fix,
                build=_placing(names, lambda name: _rows(scales, name, padded=False)),
                evidence=_read_wrong(scales, names),
            )


def _exchanged() -> Hypothesis:
    return Hypothesis(
        name="A/B scales exchanged",
        what="ptr_ScaleA points to the scales of B and ptr_ScaleB to those of A",
        fix="exchange the two pointers; libraries that take column-major matrices call our B their A",
        build=lambda right: with_targets(right, ptr_ScaleA="ScaleB", ptr_ScaleB="ScaleA"),
    )


def _column_count(scales: Scales) -> Iterator[Hypothesis]:
    """Written by the layout's formula with K/32 columns where the kernel takes them padded."""
    columns = next(iter(scales.logical.values())).shape[1]
    padded = -(-columns // scales.columns) * scales.columns
    if columns == padded:
        return
    for names in _choices(scales.varied):
        for last in (True, False):
            yield Hypothesis(
                name=f"column stride unpadded ({_operands(names)}{'' if last else ', first write stays'})",
                what=f"{_of(names)} were written with a column count of {columns}, the kernel reads them with {padded}",
                fix=f"pad the columns to {padded} before the rows are placed: row group 1 begins at byte "
                f"{padded * scales.layout.tile[0]}, not {columns * scales.layout.tile[0]}",
                build=_placing(names, _written_with(scales, columns, last=last)),
                evidence=_read_wrong(scales, names),
            )


def _pads(scales: Scales) -> Iterator[Hypothesis]:
    if all(one.shape[1] % scales.columns == 0 for one in scales.logical.values()):
        return
    for value in (0x7F, 0xFF, 0x01, 0x80):
        meaning = "NaN" if value == 0xFF else f"2^{value - 127}" if value != 0x7F else "1.0"
        for names in _choices(BOTH):
            yield Hypothesis(
                name=f"scale pad 0x{value:02x} ({_operands(names)})",
                what=f"the padding columns of {_of(names)} hold 0x{value:02x}, {meaning}, and the kernel multiplies "
                "them in",
                fix=f"fill the padding with 0x{scales.pad:02x}, 2^-127",
                build=_placing(names, _padded_with(scales, value)),
            )


def _rows_not_padded(scales: Scales) -> Iterator[Hypothesis]:
    tall = scales.layout.tile[0]
    ragged = [name for name in scales.varied if scales.logical[name].shape[0] % tall]
    for names in _choices(ragged):
        rows = {name: scales.logical[name].shape[0] for name in names}
        sizes = " and ".join(
            f"{count} to {padded_shape(scales.layout, count, 1)[0]}" for count in dict.fromkeys(rows.values())
        )
        yield Hypothesis(
            name=f"scale rows not padded ({_operands(names)})",
            what=f"the buffer of {_of(names)} ends with the last row, its tiles need rows padded: {sizes}",
            fix=f"allocate and place whole tiles of {tall} rows",
            build=_placing(names, _cut(scales)),
        )


def _other_layouts(scales: Scales) -> Iterator[Hypothesis]:
    for layout in LAYOUTS:
        if layout.tensor is not Tensor.SCALES or layout.pattern == scales.layout.pattern:
            continue
        for names in _choices(scales.varied):
            yield Hypothesis(
                name=f"scales tiled as {layout.name} ({_operands(names)})",
                what=f"{_of(names)} lie as {layout.name}{_users(layout)}, the kernel reads {scales.layout.name}",
                fix=f"`argpack layout convert --from {layout.name} --to {scales.layout.name}`",
                build=_placing(names, _as(scales, layout)),
                evidence=_read_wrong(scales, names),
            )


def _off_by_one(scales: Scales) -> Iterator[Hypothesis]:
    for names in _choices(BOTH):
        yield Hypothesis(
            name=f"scales shifted by a column ({_operands(names)})",
            what=f"{_of(names)} stand one column, 32 elements of K, too late",
            fix="begin with the scale of the first block of K",
            build=_placing(names, _shifted(scales)),
        )


def _choices(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Both operands first: that is what a host does wrong most often."""
    if len(names) > 1:
        yield tuple(names)
    for name in names:
        yield (name,)


def _of(names: Sequence[str]) -> str:
    return f"the scales of {_operands(names)}"


def _operands(names: Sequence[str]) -> str:
    return " and ".join(NAMES[name] for name in names)


def _users(layout: Layout) -> str:
    return f" (as {layout.aliases[0]})" if layout.aliases else ""


def _placing(
    names: Sequence[str], image: Callable[[str], Bytes | None]
) -> Callable[[Situation], Situation | None]:
    def build(right: Situation) -> Situation | None:
        images = {name: image(name) for name in names}
        made = {name: one for name, one in images.items() if one is not None}
        return with_images(right, **made) if len(made) == len(images) else None

    return build


def _read_wrong(scales: Scales, names: Sequence[str]) -> Callable[[Situation], str]:
    """How many scales the kernel reads as another value than they have."""

    def count(wrong: Situation) -> str:
        parts = []
        for name in names:
            logical = scales.logical[name]
            found = read_back(scales, name, wrong.images[name])
            parts.append(
                f"{int((found != logical).sum())} of {logical.size} scales of {NAMES[name]} are read wrong"
            )
        return ", ".join(parts)

    return count


def read_back(scales: Scales, name: str, image: Bytes) -> Bytes:
    """What the kernel takes for the logical scales of an image, whatever its size; beyond its end it is 0."""
    rows, columns = scales.logical[name].shape
    shape = padded_shape(
        scales.layout, rows, columns, row_multiple=scales.rows[name], col_multiple=scales.columns
    )
    whole = np.zeros(shape[0] * shape[1], np.uint8)
    whole[: image.size] = image[: whole.size]
    return invert(scales.layout, whole, rows=shape[0], cols=shape[1])[:rows, :columns]


def _rows(scales: Scales, name: str, *, padded: bool) -> Bytes:
    logical = scales.logical[name]
    rows, columns = logical.shape
    width = -(-columns // scales.columns) * scales.columns if padded else columns
    image = np.full((-(-rows // scales.rows[name]) * scales.rows[name], width), scales.pad, np.uint8)
    image[:rows, :columns] = logical
    return image.reshape(-1)


def _written_with(scales: Scales, columns: int, *, last: bool) -> Callable[[str], Bytes | None]:
    """Places overlap; which write stays is the `last` in the order of rows, or the first."""

    def image(name: str) -> Bytes | None:
        logical = scales.logical[name]
        right = scales.image(name)
        row, column = (index.reshape(-1) for index in np.indices(logical.shape))
        tile_rows = scales.layout.tile[0]
        # The formula within a group of rows does not depend on the count of columns; where groups begin does.
        within = np.asarray(
            offset(scales.layout, row % tile_rows, column, cols_padded=_wide(scales, columns))
        )
        places = row // tile_rows * tile_rows * columns + within
        order = slice(None) if last else slice(None, None, -1)
        made = np.full(max(right.size, int(places.max()) + 1), scales.pad, np.uint8)
        made[places[order]] = logical.reshape(-1)[order]
        return made

    return image


def _wide(scales: Scales, columns: int) -> int:
    return -(-columns // scales.layout.tile[1]) * scales.layout.tile[1]


def _padded_with(scales: Scales, value: int) -> Callable[[str], Bytes | None]:
    return lambda name: apply(
        scales.layout,
        scales.logical[name],
        pad_value=value,
        row_multiple=scales.rows[name],
        col_multiple=scales.columns,
    )


def _cut(scales: Scales) -> Callable[[str], Bytes | None]:
    def image(name: str) -> Bytes | None:
        right = scales.image(name)
        width = -(-scales.logical[name].shape[1] // scales.columns) * scales.columns
        return right[: scales.logical[name].shape[0] * width]

    return image


def _as(scales: Scales, layout: Layout) -> Callable[[str], Bytes | None]:
    """As large as the right image where that can be, so that nothing but the order differs."""

    def image(name: str) -> Bytes | None:
        rows, columns = layout.tile
        try:
            return apply(
                layout,
                scales.logical[name],
                pad_value=scales.pad,
                row_multiple=math.lcm(rows, scales.rows[name]) if layout.axes.rows.extendable else None,
                col_multiple=math.lcm(columns, scales.columns),
            )
        except InputError:
            return None  # no image of this shape: rows [gate | up] must be whole tiles

    return image


def _shifted(scales: Scales) -> Callable[[str], Bytes | None]:
    def image(name: str) -> Bytes | None:
        logical = scales.logical[name]
        late = np.full_like(logical, scales.pad)
        late[:, 1:] = logical[:, :-1]
        return apply(
            scales.layout,
            late,
            pad_value=scales.pad,
            row_multiple=scales.rows[name],
            col_multiple=scales.columns,
        )

    return image
