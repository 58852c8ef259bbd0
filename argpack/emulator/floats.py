"""Float arithmetic as the vector units do it: single rounding, and flushing of denormals where the mode says so."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

F32, F64, U32, U64 = np.float32, np.float64, np.uint32, np.uint64


def flush(value: Array) -> Array:
    """Denormal float32 values become zeros of the same sign."""
    bits = value.view(U32)
    return np.where(bits & U32(0x7F800000), bits, bits & U32(0x80000000)).view(F32)


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """a·b + c of float32 arrays with one rounding to nearest even.

    The product of two float32 is exact in float64; the sum is rounded to odd there, so that the second rounding, to
    float32, is the only one that counts (Boldo and Melquiond, "Emulation of FMA with rounding to odd").
    """
    product = np.multiply(a, b, dtype=F64)
    addend = np.asarray(c, dtype=F64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    bits = total.view(U64)
    inexact = (lost != 0) & np.isfinite(total) & ((bits & U64(1)) == 0)
    if inexact.any():
        # One step towards the exact value makes the last bit odd; away from zero when the error has the total's sign.
        away = (lost > 0) == (total > 0)
        step = np.where(away, U64(1), U64(0xFFFFFFFFFFFFFFFF))
        total = np.where(inexact, bits + step, bits).view(F64)
    return total.astype(F32)


def to_bf16(value: Array) -> Array:
    """float32 to bf16 bits (uint32 holding 16), nearest even; NaN stays a quiet NaN."""
    bits = np.ascontiguousarray(value).view(U32)
    rounded = (bits + U32(0x7FFF) + ((bits >> U32(16)) & U32(1))) >> U32(16)
    return np.where((bits & U32(0x7FFFFFFF)) > U32(0x7F800000), (bits >> U32(16)) | U32(0x40), rounded)


def from_bf16(bits: Array) -> Array:
    """bf16 bits (any unsigned type, low 16 bits) to float32."""
    return np.asarray(((bits.astype(U32) & U32(0xFFFF)) << U32(16)).view(F32))


def to_integer(value: Array, low: int, high: int) -> Array:
    """float32 to integer (int64 holding it): towards zero, saturating, NaN gives 0."""
    limited = np.clip(np.nan_to_num(np.trunc(value.astype(F64)), nan=0.0, posinf=high, neginf=low), low, high)
    return np.asarray(limited, dtype=np.int64)
