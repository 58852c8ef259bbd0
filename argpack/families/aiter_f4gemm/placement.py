"""In which order and with which padding the operands of an f4gemm kernel lie in memory, and what is known
wrong.

The contract is the default; anything else exists to show what a mistake looks like.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.geometry import K_STEP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.families.aiter_f4gemm.names import Variant
    from argpack.families.family import Problem

SCALE_LAYOUT = "scale_32x8"
SCALE_PAD = 0x00


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Layouts by name (see `scale_layout`), the byte that pads scales, and whether the scale pointers change
    places.

    `b_layout` None is what the kernel wants: weight_16x16, or row_major for noBpreShuffle. Raises InputError
    for a pad that is no byte.
    """

    scale_a_layout: str = SCALE_LAYOUT
    scale_b_layout: str = SCALE_LAYOUT
    scale_pad: int = SCALE_PAD
    b_layout: str | None = None
    exchange_scales: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.scale_pad <= 0xFF:
            raise InputError(f"scale_pad: expected a byte, 0x00 to 0xff, found {self.scale_pad:#x}")


def b_layout(variant: Variant) -> str:
    """The layout that the kernel reads B in, over the bytes of packed fp4 rows."""
    return "weight_16x16" if variant.preshuffled else "row_major"


def misplacements(variant: Variant, problem: Problem, placement: Placement) -> tuple[str, ...]:
    """Why operands placed like this give wrong numbers, a sentence each.

    Padding columns of scales are multiplied in: 0x00 is a scale of 2^-127 and harmless, 0x7f is 1.0, 0xff
    NaN. They exist where K is not a multiple of 256. Raises InputError for a layout of an unknown name.
    """
    return tuple(_misplacements(variant, problem, placement))


def _misplacements(variant: Variant, problem: Problem, placement: Placement) -> Iterator[str]:
    from scale_layout import layout_named

    for operand, name in (("A", placement.scale_a_layout), ("B", placement.scale_b_layout)):
        if layout_named(name).name != SCALE_LAYOUT:
            yield f"scales of {operand} are laid out as {name}, the kernel reads {SCALE_LAYOUT}"
    wanted = b_layout(variant)
    if placement.b_layout is not None and layout_named(placement.b_layout).name != wanted:
        yield f"B is laid out as {placement.b_layout}, the kernel reads {wanted}"
    if placement.scale_pad != SCALE_PAD and problem.k % K_STEP:
        yield (
            f"scale columns are padded with 0x{placement.scale_pad:02x}, and the kernel multiplies them in: K "
            f"is not a multiple of {K_STEP}, so only 0x00 is exact"
        )
    if placement.exchange_scales:
        yield "the scales of A and B have changed places"
