"""Addresses written in digits into the bytes of a probe, and read back from single products in the output.

An fp4 code carries one digit in its value, a scale another in its exponent: neither disturbs the other. No kernel
here.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.numerics import float32_to_bf16, pack_fp4
from argpack.numerics.fp4 import FP4_VALUES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Addresses = NDArray[np.int64]

ONE = 0x2  # the fp4 code of 1.0
SCALE_ONE = 127  # the E8M0 byte of 1.0

# Every code but the two zeros: an output of 0 then means that nothing arrived.
_CODES = np.array([*range(1, 8), *range(9, 16)], np.uint8)
# Values of fp4 are 2^-1 to 1.5·2^2: four binades, so a step of scales is four, too.
_BINADES = 4
# Scales from 2^-64 to 2^60: no sum or product of them leaves float32.
_MOST_SCALES = 32


@dataclass(frozen=True, slots=True)
class Plan:
    """How addresses become digits, lowest first: `launches` digits of base 14 for nibbles, of `radix` for scales."""

    nibbles: int
    scales: int
    launches: int
    radix: int

    def codes(self, launch: int) -> NDArray[np.uint8]:
        """Packed fp4 bytes, uint8 (nibbles / 2,): each nibble's code is digit `launch` of its own address."""
        digits = np.arange(self.nibbles) // len(_CODES) ** launch % len(_CODES)
        return pack_fp4(_CODES[digits])

    def scale_bytes(self, launch: int) -> NDArray[np.uint8]:
        """E8M0 bytes, uint8 (scales,): each says digit `launch` of its own offset."""
        digits = np.arange(self.scales) // self.radix**launch % self.radix
        exponents: Addresses = SCALE_ONE + _BINADES * (digits - self.radix // 2)
        return exponents.astype(np.uint8)

    def readable(self, bits: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Whether each bf16 output is a product of one digit of each kind, not 0 and not a sum."""
        return _digits(bits, self.radix)[2]

    def addresses(self, outputs: list[NDArray[np.uint16]]) -> tuple[Addresses, Addresses]:
        """Addresses (nibble, scale) behind bf16 outputs, one array a launch; int64 of their shape.

        An address is -1 where an output is no single product of a digit, or where the digits exceed the buffer.
        """
        nibble = np.zeros(outputs[0].shape, np.int64)
        scale = np.zeros(outputs[0].shape, np.int64)
        valid = np.ones(outputs[0].shape, np.bool_)
        for launch, bits in enumerate(outputs):
            code, exponent, known = _digits(bits, self.radix)
            nibble += code * len(_CODES) ** launch
            scale += exponent * self.radix**launch
            valid &= known
        valid &= (nibble < self.nibbles) & (scale < self.scales)
        return np.where(valid, nibble, -1), np.where(valid, scale, -1)


def plan(nibbles: int, scales: int) -> Plan:
    """The fewest launches that tell `nibbles` fp4 addresses and, in the same outputs, `scales` byte offsets apart."""
    if nibbles < 2 or nibbles % 2 or scales < 1:
        raise InputError(f"probe: expected whole bytes of fp4 and some scales, found {nibbles} and {scales}")
    launches = 1
    while len(_CODES) ** launches < nibbles or _MOST_SCALES**launches < scales:
        launches += 1
    radix = 2
    while radix**launches < scales:
        radix += 1
    return Plan(nibbles, scales, launches, radix)


def one_hot(nibbles: int, addresses: Addresses) -> NDArray[np.uint8]:
    """Packed fp4 bytes, uint8 (nibbles / 2,): 1.0 at `addresses` (nibbles, low one of a byte first), else 0."""
    codes = np.zeros(nibbles, np.uint8)
    codes[addresses] = ONE
    return pack_fp4(codes)


def _digits(bits: NDArray[np.uint16], radix: int) -> tuple[Addresses, Addresses, NDArray[np.bool_]]:
    """Digit of the code, digit of the scale, and whether an output is a product of the two."""
    code, scale, valid = _digit_tables(radix)
    return code[bits], scale[bits], valid[bits]


@functools.cache
def _digit_tables(radix: int) -> tuple[Addresses, Addresses, NDArray[np.bool_]]:
    """The digits of each of the 65536 outputs that bfloat16 can hold."""
    code = np.zeros(1 << 16, np.int64)
    scale = np.zeros(1 << 16, np.int64)
    valid = np.zeros(1 << 16, np.bool_)
    for digit in range(radix):
        exponent = _BINADES * (digit - radix // 2)
        outputs = float32_to_bf16(np.ldexp(FP4_VALUES[_CODES], exponent))
        code[outputs], scale[outputs], valid[outputs] = np.arange(len(_CODES)), digit, True
    return code, scale, valid
