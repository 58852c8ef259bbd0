"""bfloat16 as uint16 bit patterns: 1 sign bit, 8 of exponent, 7 of mantissa. Rounding is done once, from the
source.

Not a number type: values are float32 or float64 arrays, bits are uint16 arrays. Subnormals are kept, never
flushed.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Halfway between the largest finite bfloat16 and 2^128: from here on nearest-even gives infinity.
BF16_OVERFLOW = 2.0**128 - 2.0**119
_NAN = 0x7FC0


class Rounding(enum.StrEnum):
    """How a value between two bfloat16 neighbours is rounded; `AWAY` is to nearest, ties away from zero."""

    NEAREST_EVEN = "nearest even"
    AWAY = "nearest, ties away from zero"
    TOWARD_ZERO = "toward zero (truncation)"


def bf16_to_float32(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Exact float32 values of uint16 `bits`, any shape."""
    _check_bits(bits)
    wide = bits.astype(np.uint32)
    wide <<= np.uint32(16)
    return wide.view(np.float32)


def float32_to_bf16(
    values: NDArray[np.float32], *, rounding: Rounding = Rounding.NEAREST_EVEN
) -> NDArray[np.uint16]:
    """bfloat16 bits of float32 `values`. NaN becomes 0x7FC0 with the sign kept."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float32:
        raise InputError(f"bfloat16: expected a float32 array, found {_kind(values)}")
    return _round(values.copy().view(np.uint32), np.isnan(values), rounding)


def float64_to_bf16(
    values: NDArray[np.float64], *, rounding: Rounding = Rounding.NEAREST_EVEN
) -> NDArray[np.uint16]:
    """bfloat16 bits of float64 `values`, rounded once: going through a nearest float32 would round twice.

    NaN becomes 0x7FC0 with the sign kept.
    """
    if not isinstance(values, np.ndarray) or values.dtype != np.float64:
        raise InputError(f"bfloat16: expected a float64 array, found {_kind(values)}")
    return _round(_float32_bits_to_odd(values), np.isnan(values), rounding)


def bf16_ulp(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Spacing of bfloat16 numbers at |`values`|, float64: 2^(exponent-7), at least 2^-133. NaN and
    infinity give infinity or NaN."""
    wide = np.ascontiguousarray(values, np.float64)
    power = (wide.view(np.uint64) & np.uint64(0x7FF0_0000_0000_0000)).view(np.float64)
    spacing = np.maximum(power * 2.0**-7, 2.0**-133)
    return spacing.reshape(np.shape(values))


def ulp_distance(a: NDArray[np.uint16], b: NDArray[np.uint16]) -> NDArray[np.int32]:
    """How many bfloat16 numbers apart `a` and `b` (bits) are; +0 and -0 are 0 apart, infinity follows the
    largest.

    Raises InputError for NaN, which is not on that line.
    """
    _check_bits(a)
    _check_bits(b)
    for bits in (a, b):
        if ((bits & np.uint16(0x7FFF)) > 0x7F80).any():
            raise InputError("bfloat16: NaN has no distance in ulp")
    distance: NDArray[np.int32] = np.abs(_ordinal(a) - _ordinal(b))
    return distance


def _ordinal(bits: NDArray[np.uint16]) -> NDArray[np.int32]:
    wide = bits.astype(np.int32)
    return np.where(wide & 0x8000, -(wide & 0x7FFF), wide)


def _float32_bits_to_odd(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Bits of float32 `values` rounded to odd: cut toward zero, lowest bit set when anything was cut.

    float32 has 16 bits more than bfloat16, so a second rounding of these gives what one rounding would have
    given.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        near = values.astype(np.float32)
    back = near.astype(np.float64)
    inexact = back != values
    bits = near.view(np.uint32)
    bits -= np.abs(back) > np.abs(values)
    bits |= inexact
    return bits


def _round(bits: NDArray[np.uint32], nan: NDArray[np.bool_], rounding: Rounding) -> NDArray[np.uint16]:
    """Upper halves of float32 `bits`, which it overwrites."""
    if nan.any():
        bits[nan] = (bits[nan] & np.uint32(0x8000_0000)) | np.uint32(_NAN << 16)
    if rounding is Rounding.NEAREST_EVEN:
        bits += ((bits >> np.uint32(16)) & np.uint32(1)) + np.uint32(0x7FFF)
    elif rounding is Rounding.AWAY:
        bits += np.uint32(0x8000)
    bits >>= np.uint32(16)
    return bits.astype(np.uint16)


def _check_bits(bits: NDArray[np.uint16]) -> None:
    if not isinstance(bits, np.ndarray) or bits.dtype != np.uint16:
        raise InputError(f"bfloat16: expected a uint16 array of bits, found {_kind(bits)}")


def _kind(value: object) -> str:
    return str(value.dtype) if isinstance(value, np.ndarray) else type(value).__name__
