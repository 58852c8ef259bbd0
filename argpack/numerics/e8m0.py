"""E8M0: the scale byte of MX formats. Byte b means 2^(b-127); 0 is 2^-127, not zero; 255 is NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

E8M0_NAN = 255
_VALUES64 = np.ldexp(1.0, np.arange(256) - 127)
_VALUES64[E8M0_NAN] = np.nan
_VALUES32 = _VALUES64.astype(np.float32)  # exact: 2^-127 is a float32 subnormal


def decode_e8m0(scales: NDArray[np.uint8]) -> NDArray[np.float32]:
    """float32 values, exact, of uint8 `scales` of any shape. Raises InputError."""
    _check(scales)
    return _VALUES32[scales]


def decode_e8m0_float64(scales: NDArray[np.uint8]) -> NDArray[np.float64]:
    """float64 values of uint8 `scales`, for work in which float32 would overflow (6 · 2^127)."""
    _check(scales)
    return _VALUES64[scales]


def encode_e8m0(values: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Bytes of float `values` that are powers of two in 2^-127..2^127; NaN becomes 255.

    How to round any other value to a scale is the quantiser's choice, so it raises InputError here.
    """
    wide = np.asarray(values, np.float64)
    mantissa, exponent = np.frexp(wide)
    biased = exponent.astype(np.int64) + 126
    nan = np.isnan(wide)
    bad = ~nan & ((mantissa != 0.5) | (biased < 0) | (biased > 254))
    if bad.any():
        first = np.argwhere(bad)[0].tolist()
        raise InputError(
            f"e8m0: expected powers of two in 2^-127..2^127, found {wide[tuple(first)]} at {first}"
        )
    return np.where(nan, E8M0_NAN, biased).astype(np.uint8)


def _check(scales: NDArray[np.uint8]) -> None:
    if not isinstance(scales, np.ndarray) or scales.dtype != np.uint8:
        found = scales.dtype if isinstance(scales, np.ndarray) else type(scales).__name__
        raise InputError(f"e8m0: expected a uint8 array of scales, found {found}")
