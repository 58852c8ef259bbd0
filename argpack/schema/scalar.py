"""The scalar types of kernel arguments, little endian: a table row each, and the codec of values and bytes.

It knows no fields and no offsets. Floats keep every bit on the way through, signalling NaNs included.
"""

from __future__ import annotations

import math
import operator
import struct
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from argpack.errors import InputError

if TYPE_CHECKING:
    from typing import TypeGuard


class ScalarType(NamedTuple):
    """How a type is stored: `size` in bytes, `kind` (pointer, unsigned, signed, float), its names elsewhere.

    `code` is the letter of Python's struct module, `dtype` the numpy type string, `ctype` the C type.
    """

    name: str
    size: int
    kind: str
    code: str
    dtype: str
    ctype: str

    @property
    def bounds(self) -> tuple[int, int]:
        """Lowest and highest integer that an integer or pointer type holds."""
        bits = 8 * self.size
        return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if self.kind == "signed" else (0, (1 << bits) - 1)

    def encode(self, value: object) -> bytes:
        """Bytes of `value`. None is the null pointer; whatever does not fit the type raises InputError."""
        if self.kind == "float":
            return self._encode_float(value)
        return self._integer(value).to_bytes(self.size, "little", signed=self.kind == "signed")

    def decode(self, data: bytes) -> int | float:
        """Value of `size` bytes; pointers come as int."""
        if len(data) != self.size:
            raise InputError(f"{self.name}: expected {self.size} bytes, found {len(data)}")
        if self.kind != "float":
            return int.from_bytes(data, "little", signed=self.kind == "signed")
        value: float = struct.unpack("<" + self.code, data)[0]
        return _nan(data) if math.isnan(value) else value

    def _integer(self, value: object) -> int:
        if value is None and self.kind == "pointer":
            return 0
        article = "an address or None" if self.kind == "pointer" else "an integer"
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise InputError(f"expected {article} ({self.name}), found {_shown(value)}")
        try:
            number = operator.index(value)
        except TypeError:
            raise InputError(f"expected {article} ({self.name}), found {_shown(value)}") from None
        low, high = self.bounds
        if not low <= number <= high:
            raise InputError(f"expected {low} to {high} ({self.name}), found {number}")
        return number

    def _encode_float(self, value: object) -> bytes:
        if isinstance(value, bool) or not _is_real(value):
            raise InputError(f"expected a number ({self.name}), found {_shown(value)}")
        try:
            number = float(value)
            data = struct.pack("<" + self.code, number)
        except OverflowError:
            raise InputError(
                f"expected a number within the range of {self.name}, found {_shown(value)}"
            ) from None
        if math.isnan(number):
            return _nan_bytes(number, self.size)
        if isinstance(value, SupportsIndex) and struct.unpack("<" + self.code, data)[0] != value:
            raise InputError(f"expected an integer that {self.name} holds exactly, found {value}")
        return data


POINTER = ScalarType("ptr", 8, "pointer", "Q", "<u8", "void *")

TYPES = {
    scalar.name: scalar
    for scalar in (
        POINTER,
        ScalarType("u8", 1, "unsigned", "B", "u1", "uint8_t"),
        ScalarType("u16", 2, "unsigned", "H", "<u2", "uint16_t"),
        ScalarType("u32", 4, "unsigned", "I", "<u4", "uint32_t"),
        ScalarType("u64", 8, "unsigned", "Q", "<u8", "uint64_t"),
        ScalarType("i8", 1, "signed", "b", "i1", "int8_t"),
        ScalarType("i16", 2, "signed", "h", "<i2", "int16_t"),
        ScalarType("i32", 4, "signed", "i", "<i4", "int32_t"),
        ScalarType("i64", 8, "signed", "q", "<i8", "int64_t"),
        # C has no portable half type: the header declares its bits.
        ScalarType("f16", 2, "float", "e", "<f2", "uint16_t"),
        ScalarType("f32", 4, "float", "f", "<f4", "float"),
        ScalarType("f64", 8, "float", "d", "<f8", "double"),
    )
}

# Bits of the mantissa by size in bytes (IEEE 754 binary16, binary32, binary64).
_MANTISSA = {2: 10, 4: 23, 8: 52}


def _nan(data: bytes) -> float:
    """The NaN of `data` with sign and payload kept: converting it as a number would set the quiet bit."""
    bits = int.from_bytes(data, "little")
    mantissa = _MANTISSA[len(data)]
    sign = bits >> (8 * len(data) - 1)
    payload = (bits & ((1 << mantissa) - 1)) << (52 - mantissa)
    wide = sign << 63 | 0x7FF << 52 | payload
    return float(struct.unpack("<d", wide.to_bytes(8, "little"))[0])


def _nan_bytes(value: float, size: int) -> bytes:
    wide = int.from_bytes(struct.pack("<d", value), "little")
    mantissa = _MANTISSA[size]
    payload = (wide & ((1 << 52) - 1)) >> (52 - mantissa)
    payload = payload or 1 << (mantissa - 1)  # a payload too fine for this type stays a NaN, not infinity
    exponent = (1 << (8 * size - 1 - mantissa)) - 1
    return (wide >> 63 << (8 * size - 1) | exponent << mantissa | payload).to_bytes(size, "little")


def _is_real(value: object) -> TypeGuard[float]:
    if isinstance(value, float | int):
        return True
    import numbers

    return isinstance(value, numbers.Real)


def _shown(value: object) -> str:
    text = repr(value)
    text = text if len(text) <= 40 else text[:37] + "..."
    return text if value is None else f"{type(value).__name__} {text}"
