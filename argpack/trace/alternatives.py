"""Other contents for a slot of an argument buffer, chosen so that whatever use a kernel makes of it should show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from argpack.schema import Field

# No pattern repeats a byte, and neither is small, round or null.
_PATTERNS = (b"\xa5\x1c\x7e\xd3", b"\x5b\xe9\x92\x3f")


def alternatives(field: Field, data: bytes) -> tuple[bytes, ...]:
    """Bytes of other values that the field can hold, near ones first: `data` are those that it has.

    Numbers: one more, one less, twice, half, a scale block and a step of K more or less, 0, 1, 2, all ones, no round
    number. Floats: twice, negated, 0, 1, a NaN, an infinity. Addresses are not tried here: see `perturb`.
    """
    found: dict[bytes, None] = {}
    for value in _values(field, field.scalar.decode(data)):
        try:
            found[field.scalar.encode(value)] = None
        except InputError:
            continue  # the type does not hold it
    found.pop(data, None)
    return tuple(found)


def _values(field: Field, value: float) -> Iterator[float]:
    if field.scalar.kind == "float":
        yield from (2 * value, -value, value + 1, 0.0, 1.0, math.nan, math.inf)
        return
    number = int(value)
    yield from (number + 1, number - 1, 2 * number, number // 2)
    yield from (number + 32, number - 32, number + 256, number - 256)
    yield from (0, 1, 2, -1, field.scalar.bounds[1], 0x5EB5_1CA7)


def garbage(size: int) -> tuple[bytes, ...]:
    """Two contents of `size` bytes for a pad; every byte differs between them, and neither has a zero."""
    return tuple((pattern * (size // 4 + 1))[:size] for pattern in _PATTERNS)


def other_bytes(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Contents of the same size, every byte another one, and no constant difference."""
    step = np.random.default_rng(0).integers(1, 256, data.size, np.uint8)
    other: NDArray[np.uint8] = data + step
    return other


def value_text(field: Field, data: bytes) -> str:
    """A value of the field as people read it."""
    value = field.scalar.decode(data)
    if field.scalar.kind == "float":
        return f"{value:g}"
    return f"{value:#x}" if field.scalar.kind == "pointer" else str(value)
