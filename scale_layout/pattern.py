"""The pattern notation: einops-like text such as `(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2`, parsed and
measured.

Left of the arrow stand the rows and the columns of the logical array, each split into axes, slowest first;
right of it the axes in the order of memory, slowest first. An axis that ends in digits has that extent; in
each group exactly one axis has none and takes what is left. This module knows no bytes, paddings or names of
layouts.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache

from argpack.errors import InputError

_AXIS = re.compile(r"[a-z]+([1-9][0-9]*)?")
_PATTERN = re.compile(r"\s*(\([^()]*\)|[^\s()]+)\s+(\([^()]*\)|[^\s()]+)\s*->([^()]*)")


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: `extent` is None where it is free, that is padded length // product of the other extents."""

    name: str
    extent: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """The axes that rows or columns split into, slowest first; exactly one is free."""

    axes: tuple[Axis, ...]

    @property
    def multiple(self) -> int:
        """What a padded length must be a multiple of: the product of the fixed extents."""
        return math.prod(axis.extent or 1 for axis in self.axes)

    @property
    def free(self) -> int:
        """Position of the free axis."""
        return next(i for i, axis in enumerate(self.axes) if axis.extent is None)

    @property
    def extendable(self) -> bool:
        """Whether padding at the end keeps every element where it was: only if the free axis is the
        slowest."""
        return self.free == 0

    def extents(self, length: int) -> tuple[int, ...]:
        """Extent of every axis for a padded `length`."""
        return tuple(axis.extent or length // self.multiple for axis in self.axes)

    def outer(self, position: int) -> int:
        """Product of the extents before the axis at `position`, which stands left of the free axis or is
        it."""
        return math.prod(axis.extent or 1 for axis in self.axes[:position])

    def inner(self, position: int) -> int:
        """Product of the extents after the axis at `position`, which stands right of the free axis or is
        it."""
        return math.prod(axis.extent or 1 for axis in self.axes[position + 1 :])


@dataclass(frozen=True, slots=True)
class Pattern:
    """A parsed pattern; `order` names all axes of both groups, slowest in memory first."""

    rows: Group
    cols: Group
    order: tuple[str, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes in the order of the logical array."""
        return self.rows.axes + self.cols.axes

    def permutation(self) -> tuple[int, ...]:
        """For each axis in memory order, its position in `axes`: what `numpy.transpose` wants."""
        names = [axis.name for axis in self.axes]
        return tuple(names.index(name) for name in self.order)

    def extents(self, rows: int, cols: int) -> dict[str, int]:
        """Extent of every axis, in the order of the logical array, for padded `rows` and `cols`."""
        names = [axis.name for axis in self.axes]
        return dict(zip(names, self.rows.extents(rows) + self.cols.extents(cols), strict=True))


@cache
def parse_pattern(text: str) -> Pattern:
    """Parse a pattern. Raises InputError naming what is wrong with it."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise InputError(f"layout pattern {text!r}: expected `(row axes) (column axes) -> axes`")
    rows, cols = (_group(text, part) for part in match.group(1, 2))
    order = tuple(match.group(3).split())
    names = [axis.name for axis in rows.axes + cols.axes]
    if len(set(names)) != len(names):
        raise InputError(f"layout pattern {text!r}: an axis is named twice on the left")
    if sorted(order) != sorted(names):
        raise InputError(
            f"layout pattern {text!r}: expected the axes {' '.join(names)} after ->, found {' '.join(order)}"
        )
    return Pattern(rows, cols, order)


def _group(text: str, part: str) -> Group:
    axes = []
    for name in part.strip("()").split():
        match = _AXIS.fullmatch(name)
        if match is None:
            raise InputError(
                f"layout pattern {text!r}: axis {name!r}: expected letters, then its extent or nothing"
            )
        axes.append(Axis(name, int(match.group(1)) if match.group(1) else None))
    free = [axis.name for axis in axes if axis.extent is None]
    if len(free) != 1:
        raise InputError(
            f"layout pattern {text!r}: {part}: expected one axis without extent, found {len(free)}"
        )
    return Group(tuple(axes))
