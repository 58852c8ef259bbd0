"""Float32 arithmetic with one rounding to nearest even, done on exact fractions; bit patterns in, bit patterns out."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

SIGN, INFINITY, QUIET_NAN = 0x80000000, 0x7F800000, 0x7FC00000


def is_nan(bits: int) -> bool:
    """Whether float32 `bits` are a NaN."""
    return bits & 0x7FFFFFFF > INFINITY


def value(bits: int) -> float:
    """The number that float32 `bits` stand for (exact: every float32 is a float64)."""
    number: float = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
    return number


def flushed(bits: int) -> int:
    """A denormal becomes a zero of its sign."""
    return bits if bits & INFINITY else bits & SIGN


def nearest(exact: Fraction, *, precision: int = 24, negative_zero: bool = False) -> int:
    """Float32 bits nearest to `exact`, ties to even, with `precision` significant bits (24, or 8 for bf16)."""
    if exact == 0:
        return SIGN if negative_zero else 0
    sign, size = (SIGN, -exact) if exact < 0 else (0, exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, -126)
    unit = Fraction(2) ** (exponent - precision + 1)
    count = round(size / unit)  # Python rounds a fraction's ties to even
    rounded = count * unit
    if rounded >= Fraction(2) ** 128:
        return sign | INFINITY
    return sign | int.from_bytes(struct.pack("<f", float(rounded)), "little")


def fma(a: int, b: int, c: int) -> int:
    """a · b + c."""
    x, y, z = value(a), value(b), value(c)
    special = x * y + z if not all(map(math.isfinite, (x, y, z))) else 0.0
    if math.isnan(special):
        return QUIET_NAN
    if math.isinf(special):
        return INFINITY | (SIGN if special < 0 else 0)
    product = Fraction(x) * Fraction(y)
    product_negative = bool((a ^ b) & SIGN)
    both_negative = product_negative and bool(c & SIGN) and product == 0 and z == 0
    return nearest(product + Fraction(z), negative_zero=both_negative)


def add(a: int, b: int) -> int:
    """a + b."""
    return fma(a, 0x3F800000, b)


def mul(a: int, b: int) -> int:
    """a · b."""
    return fma(a, b, (a ^ b) & SIGN)


def _order(bits: int) -> tuple[float, int]:
    """Sorts -0 below +0."""
    return value(bits), 0 if bits & SIGN else 1


def smaller(a: int, b: int) -> int:
    """The lesser number; a number is preferred to a NaN, -0 to +0."""
    if is_nan(a) or is_nan(b):
        return b if is_nan(a) else a
    return min(a, b, key=_order)


def larger(a: int, b: int) -> int:
    """The greater number; a number is preferred to a NaN, +0 to -0."""
    if is_nan(a) or is_nan(b):
        return b if is_nan(a) else a
    return max(a, b, key=_order)


def rounded(bits: int, how: str) -> int:
    """To an integer: `rndne`, `floor`, `ceil` or `trunc`; a zero keeps the sign of its source."""
    x = value(bits)
    if not math.isfinite(x):
        return bits
    ways = {"rndne": round, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}
    return nearest(Fraction(ways[how](Fraction(x))), negative_zero=bool(bits & SIGN))


def steps_apart(a: int, b: int) -> int:
    """How many float32 lie between two numbers; zeros of both signs are one."""
    places = [-(bits & 0x7FFFFFFF) if bits & SIGN else bits for bits in (a, b)]
    return abs(places[0] - places[1])
