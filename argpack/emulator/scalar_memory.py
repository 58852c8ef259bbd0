"""Scalar loads: s_load_dword to s_load_dwordx16 from a 64-bit base, and s_buffer_load_dword through a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.operands import Array, Operands, Read, Step

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.waves import Waves

_COUNTS = {"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16}
_IGNORED = {"s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol"}


def compile_scalar_memory(instruction: Instruction) -> Step | None:
    """The step of an SMEM instruction; None where it is no load."""
    operands = Operands(instruction)
    name = instruction.mnemonic
    if name in _IGNORED:
        return operands.step(lambda _: None)
    if instruction.encoding != "SMEM" or not name.startswith("s_load_"):
        return None
    address, count = scalar_address(operands)
    destination = operands.scalar_destination(operands.field("sdata"), count)
    where = str(instruction).split(":", maxsplit=1)[0]

    def execute(w: Waves) -> None:
        w.sgpr[destination : destination + count] = w.memory.load(address(w), None, count, where=where).T

    return operands.step(execute)


def scalar_address(operands: Operands) -> tuple[Read, int]:
    """Where an s_load reads, device addresses int64 (wave,), and how many dwords."""
    count = _COUNTS[operands.instruction.mnemonic.removeprefix("s_load_")]
    base = operands.scalar64(operands.field("sbase") * 2)
    raw = operands.field("offset")
    offset = raw - (1 << 21) if raw & (1 << 20) else raw
    if not operands.field("imm"):
        # Without an immediate the low 7 bits name an SGPR that holds the offset.
        register, offset = operands.scalar(raw & 0x7F), 0
    elif operands.field("soffset_en"):
        register = operands.scalar(operands.field("soffset"))
    else:
        register = None

    def compute(w: Waves) -> Array:
        address = base(w).astype(np.int64) + offset
        if register is not None:
            address = address + register(w)
        return address & ~np.int64(3)

    return compute, count
