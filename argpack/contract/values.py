"""A contract as values, and what each of its limits means."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = int | bool | str

# Limit by name, in the order in which they are written, with what its value says.
LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "m_multiple": "M must be a multiple of this",
        "n_multiple": "N must be a multiple of this",
        "k_multiple": "K must be a multiple of this, padding columns of the scales hold 0x00",
        "k_multiple_pad_7f": "K must be a multiple of this where padding columns of the scales hold 0x7f",
        "k_multiple_pad_ff": "K must be a multiple of this where padding columns of the scales hold 0xff",
        "scale_columns": "columns of both scales are padded to a multiple of this",
        "scale_a_rows": "rows of A's scales are padded to a multiple of this",
        "scale_b_rows": "rows of B's scales are padded to a multiple of this",
        "scale_row_pad": "what padding rows of the scales must hold",
        "d_row_multiple": "D has room for a multiple of this many rows: the kernel writes that far",
        "applies_alpha": "whether the product is multiplied by alpha",
        "applies_beta": "whether beta times C is added",
        "splits_k": "whether log2_k_split cuts K into slices along the grid's z",
        "accumulates": "when the result is added to what D holds: always, when_split (log2_k_split over 0), never",
        "over_read_a": "bytes read past the end of A, at most",
        "over_read_b": "bytes read past the end of B, at most",
        "over_read_scale_a": "bytes read past the end of A's scales, at most",
        "over_read_scale_b": "bytes read past the end of B's scales, at most",
    }
)


@dataclass(frozen=True, slots=True)
class Limit:
    """One measured property: its `value`, the `problems` that were run for it, and `why` it is no better."""

    value: Value
    problems: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """A field or pad, `size` bytes at `offset`; `use` is live, dead, unread or pad.

    `loaded_by` are the instructions that read its bytes, `shown_by` the change that showed a live one to matter.
    """

    name: str
    offset: int
    size: int
    use: str
    loaded_by: tuple[str, ...] = ()
    shown_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What was measured of `kernel`, a name as the file says it, in the code object whose SHA-256 is `code_object`.

    `argpack` is the version that measured and `backend` what ran the kernel. `limits` has every name of `LIMITS`.
    `launches` are the problems whose arguments were changed one by one.
    """

    kernel: str
    code_object: str
    argpack: str
    backend: str
    limits: Mapping[str, Limit]
    arguments: tuple[Argument, ...]
    launches: tuple[str, ...]
