"""FP4 E2M1: sixteen values, two to a byte. Codes are uint8 0..15; bit 3 is the sign. No scales here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FP4_VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
FP4_VALUES.setflags(write=False)

# Halfway between neighbours; a tie goes to the even code, so every other boundary belongs to the upper code.
_HALFWAY = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
_FIRST_ABOVE = np.where(np.arange(7) % 2 == 0, np.nextafter(_HALFWAY, np.inf), _HALFWAY)


def decode_fp4(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """float32 values of uint8 `codes` of any shape. Raises InputError for a code above 15."""
    _check_codes(codes)
    return FP4_VALUES[codes]


def encode_fp4(values: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Nearest code of float16, float32 or float64 `values`, ties to the even code; beyond 6 saturates, also
    infinity.

    The sign of zero is kept. FP4 has no NaN: raises InputError for one.
    """
    if not isinstance(values, np.ndarray) or values.dtype not in (np.float16, np.float32, np.float64):
        raise InputError(f"fp4: expected a float16, float32 or float64 array, found {_kind(values)}")
    if np.isnan(values).any():
        first = np.argwhere(np.isnan(values))[0].tolist()
        raise InputError(f"fp4: cannot encode NaN, first at {first}")
    codes = np.empty(values.shape, np.uint8)
    codes[...] = np.searchsorted(_FIRST_ABOVE, np.abs(values).astype(np.float64), side="right")
    codes |= np.signbit(values).astype(np.uint8) << np.uint8(3)
    return codes


def pack_fp4(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bytes (..., K/2) of codes (..., K): byte i is code 2i in the low nibble, code 2i+1 in the high one
    (MX order)."""
    _check_codes(codes)
    if codes.ndim == 0 or codes.shape[-1] % 2:
        raise InputError(
            f"fp4: expected an even number of codes in the last axis to pack, found shape {codes.shape}"
        )
    packed: NDArray[np.uint8] = codes[..., 1::2] << np.uint8(4)
    packed |= codes[..., 0::2]
    return packed


def unpack_fp4(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Codes (..., K) of bytes (..., K/2), low nibble first."""
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8 or packed.ndim == 0:
        raise InputError(f"fp4: expected a uint8 array of packed codes, found {_kind(packed)}")
    codes = np.empty((*packed.shape[:-1], packed.shape[-1] * 2), np.uint8)
    codes[..., 0::2] = packed & np.uint8(15)
    codes[..., 1::2] = packed >> np.uint8(4)
    return codes


def _check_codes(codes: NDArray[np.uint8]) -> None:
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint8:
        raise InputError(f"fp4: expected a uint8 array of codes, found {_kind(codes)}")
    if codes.size and codes.max() > 15:
        raise InputError(
            f"fp4: expected codes 0..15, found {codes.max()} (packed bytes? unpack_fp4 them first)"
        )


def _kind(value: object) -> str:
    return str(value.dtype) if isinstance(value, np.ndarray) else type(value).__name__
