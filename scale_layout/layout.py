"""What a layout is: declared data, nothing that computes. The declarations are in scales, weights and
activations."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from argpack.errors import InputError
from scale_layout.pattern import Pattern, parse_pattern


class Tensor(enum.StrEnum):
    """Which tensor of a GEMM a layout is for."""

    SCALES = "scales"
    WEIGHTS = "weights"
    ACTIVATIONS = "activations"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How one project uses a layout: the same bytes, its own padding.

    Rows and columns (bytes of the logical row) are padded to `row_multiple` and `col_multiple` with
    `pad_value`, None where the padding is left uninitialised; where `pads_rows` or `pads_cols` is False, the
    project does not pad but insists on the multiple. `element_bytes` is the size of what it permutes: 2 for
    bf16 weights, whose two bytes stay together. `doc` names the upstream function; `checked` says what the
    bytes were compared with.
    """

    name: str
    row_multiple: int
    col_multiple: int
    pads_rows: bool = False
    pads_cols: bool = False
    pad_value: int | None = None
    element_bytes: int = 1
    doc: str
    checked: str

    @property
    def padding(self) -> str:
        """The padding in words: `rows to 256, columns to 8, uninitialised`."""
        padded = [
            f"{side} to {multiple}"
            for side, multiple, pads in (
                ("rows", self.row_multiple, self.pads_rows),
                ("columns", self.col_multiple, self.pads_cols),
            )
            if pads
        ]
        required = [
            f"{side} must be multiples of {multiple}"
            for side, multiple, pads in (
                ("rows", self.row_multiple, self.pads_rows),
                ("columns", self.col_multiple, self.pads_cols),
            )
            if not pads and multiple > 1
        ]
        if padded:
            padded.append("uninitialised" if self.pad_value is None else f"with {self.pad_value:#04x}")
        return ", ".join(padded + required)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A bijection between a logical array of bytes (rows, columns) and its flat image in HBM.

    `pattern` is in the notation of `scale_layout.pattern`. `unit` says what one byte of the logical array is.
    `tile`, the smallest block that the layout permutes, is what rows and columns are padded to unless the
    caller pads further. `wave` is the number of lanes of the waves that the order is made for, 64 or 32: a tile is
    then one dword, or a few, for each lane. None where waves of any size read the same bytes.
    """

    name: str
    tensor: Tensor
    pattern: str
    unit: str
    doc: str
    wave: int | None = None
    conventions: tuple[Convention, ...] = field(default=())

    def __post_init__(self) -> None:
        parse_pattern(self.pattern)
        if self.wave not in {None, 32, 64}:
            raise InputError(f"layout {self.name!r}: wave: expected 32 or 64 lanes, found {self.wave}")

    @property
    def axes(self) -> Pattern:
        """The parsed pattern."""
        return parse_pattern(self.pattern)

    @property
    def tile(self) -> tuple[int, int]:
        """(rows, columns) that padded lengths are multiples of."""
        return self.axes.rows.multiple, self.axes.cols.multiple

    @property
    def aliases(self) -> tuple[str, ...]:
        """Names of the conventions: who uses this layout."""
        return tuple(convention.name for convention in self.conventions)
