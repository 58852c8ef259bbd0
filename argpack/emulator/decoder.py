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


def decode(code: bytes, address: int) -> Instruction:
    """Decode the first instruction of `code` (bytes, at least 4), which lies at device address `address`.

    Raises UnsupportedError, with the words found, where the tables know no such encoding.
    """
    decode_inst, fixed = _tables()
    try:
        inst = decode_inst(bytes(code[:LONGEST]), "cdna")
        size = int(inst.size())
        raw = int(inst._raw)  # noqa: SLF001  the library offers no public access to raw fields
    except (ValueError, AssertionError, IndexError, KeyError) as error:
        words = code[:8].hex(" ", 4)
        raise UnsupportedError(f"no gfx950 instruction at {address:#x}: bytes {words} ({error})") from None
    if size > len(code):
        raise UnsupportedError(
            f"no gfx950 instruction at {address:#x}: {inst.op.name.lower()} has {size} bytes, "
            f"the code ends after {len(code)}"
        )
    fields = {
        name: (raw >> field.lo) & ((1 << (field.hi - field.lo + 1)) - 1)
        for name, field in inst._fields
        if not isinstance(field, fixed)
    }
    literal = fields.pop("literal", None)
    mnemonic = inst.op.name.lower()
    for suffix in ("_e32", "_e64"):
        mnemonic = mnemonic.removesuffix(suffix)
    return Instruction(address, size, mnemonic, type(inst).__name__, fields, literal, bytes(code[:size]))
