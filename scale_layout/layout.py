"""What a layout is: declared data, nothing that computes. The declarations are in scales, weights and
activations."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

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

    `row_multiple` and `col_multiple` (bytes of the logical row) are what that project pads to, or insists on
    where `pads_rows` / `pads_cols` is False. `pad_value` is the byte it fills with; None where it leaves the
    padding uninitialised or does not pad. `doc` names the upstream function; `checked` says what the bytes
    were compared with.
    """

    name: str
    row_multiple: int
    col_multiple: int
    pads_rows: bool
    pads_cols: bool
    pad_value: int | None
    doc: str
    checked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A bijection between a logical array of bytes (rows, columns) and its flat image in HBM.

    `pattern` is in the notation of `scale_layout.pattern`. `unit` says what one byte of the logical array is.
    `tile`, the smallest block that the layout permutes, is what rows and columns are padded to unless the
    caller pads further.
    """

    name: str
    tensor: Tensor
    pattern: str
    unit: str
    doc: str
    conventions: tuple[Convention, ...] = field(default=())

    def __post_init__(self) -> None:
        parse_pattern(self.pattern)

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
