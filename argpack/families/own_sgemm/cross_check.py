"""Holds the metadata of argpack_sgemm against the schema. Nothing but the segment's padding may differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.own_sgemm.schema import SCHEMA

if TYPE_CHECKING:
    from argpack.codeobject import Kernel


def cross_check(kernel: Kernel) -> tuple[str, ...]:
    """What differs without harm, a sentence each. Raises InputError for any other difference."""
    declared = [(argument.name, argument.offset, argument.size) for argument in kernel.arguments]
    expected = [(slot.name, slot.offset, slot.size) for slot in SCHEMA.slots]
    for found, wanted in zip(declared, expected, strict=False):
        if found != wanted:
            raise InputError(f"kernel {kernel.name}: expected {_argument(wanted)}, found {_argument(found)}")
    if len(declared) != len(expected):
        raise InputError(
            f"kernel {kernel.name}: expected {len(expected)} arguments in the metadata, found {len(declared)}"
        )
    segment = -(-SCHEMA.size // kernel.kernarg_segment_align) * kernel.kernarg_segment_align
    if kernel.kernarg_segment_size != segment:
        raise InputError(
            f"kernel {kernel.name}: expected a segment of {segment} bytes, found {kernel.kernarg_segment_size}"
        )
    return (
        f"{SCHEMA.size} bytes are passed, {segment} declared: the rest pads the segment to its alignment",
        "names, offsets and sizes in the metadata are the schema's",
    )


def _argument(argument: tuple[str | None, int, int]) -> str:
    name, offset, size = argument
    return f"{name} at 0x{offset:x}, {size} bytes"
