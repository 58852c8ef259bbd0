"""A layout's axes as steps: how many rows or columns, how far apart in the logical array and in memory.

Formula, inverse, words and picture all read these; lengths are products that may hold R and C, the padded rows and
columns of an image.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from scale_layout.layout import Layout
    from scale_layout.pattern import Axis, Pattern


@dataclass(frozen=True, slots=True)
class Size:
    """`number`, times R / `rows`, times C / `cols` where these are not 0: a count, or a distance."""

    number: int
    rows: int = 0
    cols: int = 0

    @property
    def text(self) -> str:
        """An expression in R and C, valid in Python; parts in whole divisions: `16*C`, `(C//8)`, `R*(C//4)`."""
        number, factors = self.number, []
        for length, divisor in (("R", self.rows), ("C", self.cols)):
            if not divisor:
                continue
            if number % divisor == 0:
                number //= divisor
                factors.append(length)
            elif divisor % number == 0:
                factors.append(f"({length}//{divisor // number})")
                number = 1
            else:
                factors.append(f"({length}//{divisor})")
        if number != 1 or not factors:
            factors.insert(0, str(number))
        return "*".join(factors)

    def value(self, rows: int, cols: int) -> int | None:
        """The number for an image of that shape; None where it is not whole, which whole tiles never give."""
        numerator = self.number * (rows if self.rows else 1) * (cols if self.cols else 1)
        quotient, rest = divmod(numerator, (self.rows or 1) * (self.cols or 1))
        return None if rest else quotient


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One axis: `count` rows or columns that are `apart` of each other and lie `stride` bytes from each other."""

    axis: str
    side: Literal["row", "column"]
    count: Size
    apart: Size
    stride: Size

    @property
    def span(self) -> Size:
        """Bytes that the axis covers with all inside it: count times stride."""
        return _product(self.stride, self.count)

    @property
    def reach(self) -> Size:
        """Rows or columns that the axis covers: count times apart."""
        return _product(self.apart, self.count)


def steps(layout: Layout) -> tuple[Step, ...]:
    """The steps of a layout, fastest in memory first."""
    return _steps(layout.axes)


def _steps(axes: Pattern) -> tuple[Step, ...]:
    found = []
    stride = Size(1)
    by_name = {axis.name: axis for axis in axes.axes}
    for name in reversed(axes.order):
        axis = by_name[name]
        in_rows = axis in axes.rows.axes
        group = axes.rows if in_rows else axes.cols
        apart = Size(1)
        for inner in group.axes[group.axes.index(axis) + 1 :]:
            apart = _product(apart, _count(axes, inner))
        count = _count(axes, axis)
        side: Literal["row", "column"] = "row" if in_rows else "column"
        found.append(Step(axis=name, side=side, count=count, apart=apart, stride=stride))
        stride = _product(stride, count)
    return tuple(found)


def _count(axes: Pattern, axis: Axis) -> Size:
    if axis.extent is not None:
        return Size(axis.extent)
    return Size(1, rows=axes.rows.multiple) if axis in axes.rows.axes else Size(1, cols=axes.cols.multiple)


def _product(first: Size, second: Size) -> Size:
    """Of two sizes of one layout: each axis without extent, and so R and C, occurs once at most."""
    return Size(
        math.prod((first.number, second.number)), first.rows or second.rows, first.cols or second.cols
    )
