"""How large the matrices of a launch are, in elements and in bytes, against what 32 bits can count. Nothing is run.

An index or a byte offset beyond 2^31 overflows a signed 32-bit integer, beyond 2^32 an unsigned one: kernels and hosts
that compute with those are silent about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_SIGNED, _UNSIGNED = 1 << 31, 1 << 32


class Extent(NamedTuple):
    """One matrix of a launch, padding included."""

    name: str
    elements: int
    bytes: int


def beyond(extents: Iterable[Extent]) -> tuple[str, ...]:
    """A sentence for each matrix with more than 2^31 elements or bytes; empty where all are smaller."""
    return tuple(
        f"{one.name} has {one.elements:,} elements, {_against(one.elements)}, and {one.bytes:,} bytes, "
        f"{_against(one.bytes)}"
        for one in extents
        if max(one.elements, one.bytes) > _SIGNED
    )


def _against(count: int) -> str:
    if count > _UNSIGNED:
        return "more than 2^32"
    return "more than 2^31" if count > _SIGNED else "within 2^31"
