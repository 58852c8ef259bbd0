"""Machine code to `Instruction` values. The only module that knows tinygrad's generated CDNA tables.

Raw bit fields are used rather than a printed form: printed forms lose AccVGPR destinations and immediates' signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from argpack.errors import UnavailableError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LITERAL = 255
LONGEST = 24


@dataclass(frozen=True, slots=True)
class Instruction:
    """One decoded instruction: `fields` are raw bit fields by name, `literal` the 32-bit constant that follows it."""

    address: int
    size: int
    mnemonic: str
    encoding: str
    fields: Mapping[str, int]
    literal: int | None
    raw: bytes

    def __str__(self) -> str:
        words = " ".join(
            f"{int.from_bytes(self.raw[i : i + 4], 'little'):08x}" for i in range(0, len(self.raw), 4)
        )
        return f"{self.mnemonic} ({self.encoding}) at {self.address:#x}: {words}"


@cache
def _tables() -> tuple[Callable[[bytes, str], Any], type]:
    try:
        from tinygrad.renderer.amd import decode_inst
        from tinygrad.renderer.amd.dsl import FixedBitField
    except ImportError as error:
        raise UnavailableError(
            f"the emulator's instruction decoder needs tinygrad ({error}): pip install 'argpack[emulator]'"
        ) from None
    return decode_inst, FixedBitField


@dataclass(frozen=True, slots=True)
class _Form:
    """What all instructions of one opcode and variant share. `fields` are name, lowest bit and mask."""

    size: int
    mnemonic: str
    encoding: str
    fields: tuple[tuple[str, int, int], ...]


# Forms met so far: the library's search for one costs more than all the rest of decoding.
_FORMS: dict[tuple[int, ...], _Form] = {}


def decode(code: bytes, address: int) -> Instruction:
    """Decode the first instruction of `code` (bytes, at least 4), which lies at device address `address`.

    Raises UnsupportedError, with the words found, where the tables know no such encoding.
    """
    key = _key(code)
    form = _FORMS.get(key)
    if form is None:
        form = _FORMS[key] = _form(code, address)
    if form.size > len(code):
        raise UnsupportedError(
            f"no gfx950 instruction at {address:#x}: {form.mnemonic} has {form.size} bytes, "
            f"the code ends after {len(code)}"
        )
    raw = bytes(code[: form.size])
    bits = int.from_bytes(raw, "little")
    fields = {name: bits >> low & mask for name, low, mask in form.fields}
    literal = fields.pop("literal", None)
    return Instruction(address, form.size, form.mnemonic, form.encoding, fields, literal, raw)


def _form(code: bytes, address: int) -> _Form:
    decode_inst, fixed = _tables()
    try:
        inst = decode_inst(bytes(code[:LONGEST]), "cdna")
        size = int(inst.size())
    except (ValueError, AssertionError, IndexError, KeyError) as error:
        words = code[:8].hex(" ", 4)
        raise UnsupportedError(f"no gfx950 instruction at {address:#x}: bytes {words} ({error})") from None
    fields = tuple(
        (name, field.lo, (1 << (field.hi - field.lo + 1)) - 1)
        for name, field in inst._fields
        if not isinstance(field, fixed)
    )
    mnemonic = inst.op.name.lower()
    for suffix in ("_e32", "_e64"):
        mnemonic = mnemonic.removesuffix(suffix)
    return _Form(size, mnemonic, type(inst).__name__, fields)


# The bits of the first dword that hold encoding and opcode, by the encoding's own bits, the longest first: shift,
# value, mask. From the CDNA instruction set manual, "microcode formats".
_OPCODE_BITS = (
    (23, 0b101111101, 0xFF80FF00),  # SOP1
    (23, 0b101111110, 0xFFFF0000),  # SOPC
    (23, 0b101111111, 0xFFFF0000),  # SOPP
    (28, 0b1011, 0xFF800000),  # SOPK
    (30, 0b10, 0xFF800000),  # SOP2
    (25, 0b0111111, 0xFE01FE00),  # VOP1
    (25, 0b0111110, 0xFFFE0000),  # VOPC
    (31, 0b0, 0xFE000000),  # VOP2
    (26, 0b110111, 0xFFFCC000),  # FLAT, GLOBAL, SCRATCH
    (30, 0b11, 0xFFFF0000),  # VOP3, VOP3P, SMEM, DS, MUBUF
)
# Operand codes that change the variant: SDWA, DPP, a literal.
_VARIANTS = (249, 250, LITERAL)


def _key(code: bytes) -> tuple[int, ...]:
    """Equal for instructions of the same opcode and variant."""
    word = int.from_bytes(code[:4], "little")
    mask = next(mask for shift, value, mask in _OPCODE_BITS if word >> shift == value)
    sources: tuple[int, ...]
    if word >> 30 == 0b11:
        second = int.from_bytes(code[4:8], "little")
        sources = (second & 0x1FF, second >> 9 & 0x1FF, second >> 18 & 0x1FF)
        # A matrix instruction with scales is two in one: the second half has an opcode of its own.
        more = int.from_bytes(code[8:12], "little") >> 16 if word >> 23 == 0b110100111 else 0
    else:
        sources, more = (word & 0x1FF, word & 0xFF, word >> 8 & 0xFF), 0
    return (word & mask, more, *(code if code in _VARIANTS else 0 for code in sources))
