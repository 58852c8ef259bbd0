"""Operand codes to readers and writers, made once per instruction.

A reader takes the group of waves and returns an array that broadcasts to (wave,) for scalar instructions and to
(wave, lane) for vector instructions. Readers and writers note which VGPRs they touch: the matrix queue needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from argpack.emulator.decoder import LITERAL
from argpack.emulator.waves import ACC, EXEC, LANES, M0, VCC, bits_of
from argpack.errors import UnsupportedError

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.waves import Waves

Array = np.ndarray[Any, np.dtype[Any]]
Read = Callable[["Waves"], Array]
Execute = Callable[["Waves"], None]

# Inline constants of the gfx9 operand encoding, from the CDNA instruction set manual, "scalar operands".
_FLOATS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0}
_INVERSE_2PI_CODE, _INVERSE_2PI = 248, 0x3E22F983
_SCC = 253
_NAMED = {VCC, VCC + 1, M0, EXEC, EXEC + 1}


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction made executable, with the VGPRs (0–511, AccVGPRs from 256) that it reads and writes.

    `scalar_reads` and `scalar_writes` are operand codes of SGPRs, VCC, M0 and EXEC.
    """

    execute: Execute
    reads: frozenset[int]
    writes: frozenset[int]
    scalar_reads: frozenset[int]
    scalar_writes: frozenset[int]
    address: int


@dataclass(slots=True)
class Operands:
    """Makes readers and writers for one instruction and notes the registers that they touch."""

    instruction: Instruction
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    scalar_reads: set[int] = field(default_factory=set)
    scalar_writes: set[int] = field(default_factory=set)

    def step(self, execute: Execute) -> Step:
        """Close the instruction: what it does, and what it touches."""
        return Step(
            execute,
            frozenset(self.reads),
            frozenset(self.writes),
            frozenset(self.scalar_reads),
            frozenset(self.scalar_writes),
            self.instruction.address,
        )

    def fail(self, what: str) -> UnsupportedError:
        """The error for an operand form that is not executed."""
        return UnsupportedError(f"the emulator does not execute {self.instruction}: {what}")

    def field(self, name: str) -> int:
        """A raw bit field by name."""
        return self.instruction.fields[name]

    def must_be_zero(self, *names: str) -> None:
        """Refuse modifiers that are not executed."""
        for name in names:
            if self.instruction.fields.get(name, 0):
                raise self.fail(f"{name} = {self.instruction.fields[name]}")

    def constant(self, code: int) -> int | None:
        """The 32 bits of an inline constant or literal; None where `code` is a register."""
        if 128 <= code <= 192:
            return code - 128
        if 193 <= code <= 208:
            return (192 - code) & 0xFFFFFFFF
        if code in _FLOATS:
            return int(np.float32(_FLOATS[code]).view(np.uint32))
        if code == _INVERSE_2PI_CODE:
            return _INVERSE_2PI
        if code == LITERAL:
            if self.instruction.literal is None:
                raise self.fail("a literal constant is missing")
            return self.instruction.literal
        return None

    def sgprs(self, code: int, count: int = 1) -> int:
        """Note that scalar registers are read; refuse codes that are neither SGPRs nor VCC, M0, EXEC."""
        self._check_sgpr(code, count)
        self.scalar_reads.update(range(code, code + count))
        return code

    def scalar_destination(self, code: int, count: int = 1) -> int:
        """Note that scalar registers are written; refuses as `sgprs` does."""
        self._check_sgpr(code, count)
        self.scalar_writes.update(range(code, code + count))
        return code

    def _check_sgpr(self, code: int, count: int) -> None:
        for each in range(code, code + count):
            if each > 105 and each not in _NAMED:
                raise self.fail(f"scalar operand code {each}")

    def scalar(self, code: int) -> Read:
        """A 32-bit scalar source, shape (wave,) or ()."""
        constant = self.constant(code)
        if constant is not None:
            value = np.array(constant, dtype=np.uint32)
            return lambda _: value
        if code == _SCC:
            return lambda w: w.scc.astype(np.uint32)
        self.sgprs(code)
        return lambda w: w.sgpr[code]

    def scalar64(self, code: int) -> Read:
        """A 64-bit scalar source, uint64 of shape (wave,) or ()."""
        constant = self.constant(code)
        if constant is not None:
            signed = constant - (1 << 32) if 193 <= code <= 208 else constant
            if code in _FLOATS or code == _INVERSE_2PI_CODE:
                raise self.fail("a floating-point constant as a 64-bit operand")
            if code == LITERAL and constant >> 31:
                raise self.fail("a literal above 2^31 as a 64-bit operand: its extension is not documented")
            value = np.array(signed & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64)
            return lambda _: value
        self.sgprs(code, 2)
        return lambda w: (
            w.sgpr[code].astype(np.uint64) | (w.sgpr[code + 1].astype(np.uint64) << np.uint64(32))
        )

    def write_scalar(self, code: int) -> Callable[[Waves, Array], None]:
        """A 32-bit scalar destination."""
        self.scalar_destination(code)
        changes_exec = code in (EXEC, EXEC + 1)

        def write(w: Waves, value: Array) -> None:
            w.sgpr[code] = value
            if changes_exec:
                w.exec_changed()

        return write

    def write_scalar64(self, code: int) -> Callable[[Waves, Array], None]:
        """A 64-bit scalar destination; `value` is uint64."""
        self.scalar_destination(code, 2)
        changes_exec = code == EXEC

        def write(w: Waves, value: Array) -> None:
            w.sgpr[code] = value & np.uint64(0xFFFFFFFF)
            w.sgpr[code + 1] = value >> np.uint64(32)
            if changes_exec:
                w.exec_changed()

        return write

    def write_lanes(self, code: int) -> Callable[[Waves, Array], None]:
        """A lane mask destination; `value` is bool, broadcasting to (wave, lane), and disabled lanes get 0."""
        self.scalar_destination(code, 2)
        changes_exec = code == EXEC

        def write(w: Waves, value: Array) -> None:
            lanes = np.broadcast_to(value, (w.count, LANES))
            w.sgpr[code : code + 2] = bits_of(lanes if w.mask is None else lanes & w.mask)
            if changes_exec:
                w.exec_changed()

        return write

    def vgpr(self, register: int, count: int = 1, *, acc: bool = False) -> int:
        """Note that VGPRs are read, and give the first one's number in the register file."""
        first = register + ACC * acc
        self.reads.update(range(first, first + count))
        return first

    def vector(self, code: int, *, acc: bool = False) -> Read:
        """A 32-bit vector source, uint32 broadcasting to (wave, lane)."""
        if code >= 256:
            register = self.vgpr(code - 256, acc=acc)
            return lambda w: w.v[register]
        scalar = self.scalar(code)
        if self.constant(code) is not None:
            return scalar
        return lambda w: scalar(w)[:, None]

    def vector64(self, code: int) -> Read:
        """A 64-bit vector source, uint64 broadcasting to (wave, lane)."""
        if code >= 256:
            low, high = self.vgpr(code - 256), self.vgpr(code - 255)
            return lambda w: w.v[low].astype(np.uint64) | (w.v[high].astype(np.uint64) << np.uint64(32))
        scalar = self.scalar64(code)
        if self.constant(code) is not None:
            return scalar
        return lambda w: scalar(w)[:, None]

    def destination(self, register: int, count: int = 1, *, acc: bool = False) -> int:
        """Note that VGPRs are written, and give the first one's number in the register file."""
        first = register + ACC * acc
        self.writes.update(range(first, first + count))
        return first
