"""LDS: the memory that a workgroup's waves share, and the DS instructions on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.operands import Array, Execute, Operands, Step
from argpack.emulator.waves import LANES

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.waves import Waves

U32, I64 = np.uint32, np.int64

# Bytes per access.
_READS = {"b32": 4, "b64": 8, "b96": 12, "b128": 16}
_PAIRS = {"read2_b32": (4, 4), "read2_b64": (8, 8), "read2st64_b32": (4, 256), "read2st64_b64": (8, 512)}
_WRITE_PAIRS = {name.replace("read", "write"): value for name, value in _PAIRS.items()}
_NARROW_READS = {"read_u8": (1, False), "read_i8": (1, True), "read_u16": (2, False), "read_i16": (2, True)}


class Lds:
    """One LDS image per workgroup of the batch, `size` bytes each (rounded up to 16)."""

    def __init__(self, workgroups: int, size: int) -> None:
        self.size = size
        self._pitch = -(-max(size, 16) // 16) * 16
        self._bytes = np.zeros(workgroups * self._pitch, dtype=np.uint8)
        self._dwords = self._bytes.view(U32)
        self._quads = self._bytes.view(np.complex128)

    def image(self, workgroup: Array) -> Array:
        """Where the images of workgroups (int64, of the batch) start: bytes from the first."""
        return workgroup * self._pitch

    def _store_offsets(self, w: Waves, address: Array, size: int, mask: Array | None, where: str) -> Array:
        inside = address if mask is None else address[mask]
        if inside.size and int(inside.max()) + size > self.size:
            worst = int(inside.max())
            raise MemoryFaultError(
                f"LDS access out of range: byte {worst:#x} + {size} of {self.size:#x} by {where}"
            )
        return address + self.image(w.workgroup)[:, None]

    def read(self, w: Waves, address: Array, size: int, mask: Array | None, *, where: str) -> Array:
        """Read `size` bytes per lane at LDS byte `address` (int64 (wave, lane)): uint32 (wave, lane, size / 4)."""
        at = self._store_offsets(w, address, size, mask, where)
        if mask is not None:
            at = np.where(mask, at, 0)
        if size == 16 and not np.bitwise_or.reduce(at, axis=None) & 15:
            return self._quads.take(at >> 4, mode="clip").view(U32).reshape(*at.shape, 4)
        if np.bitwise_or.reduce(at, axis=None) & 3:
            octets = self._bytes.take(at[..., None] + np.arange(size), mode="clip")
            return np.ascontiguousarray(octets).view(U32)
        return self._dwords.take((at >> 2)[..., None] + np.arange(size // 4), mode="clip")

    def read_rows(self, w: Waves, register: int, offset: int, size: int, out: Array | None) -> Array | None:
        """`read` of 4 or 16 bytes at VGPR `register` + `offset`, fast; None where the plain way is needed.

        Sixteen bytes go to `out` (uint32 (wave, lane, 4)) if that is given.
        """
        own, placed = w.offsets(register), w.lds_offsets(register)
        if own.most + offset + size > self.size or (own.bits | offset) & (size - 1):
            return None
        if size == 16:
            into = None if out is None else out.view(np.complex128)[..., 0]
            quads = self._quads[offset >> 4 :].take(placed.quads, mode="clip", out=into)
            return quads.view(U32).reshape(w.count, LANES, 4)
        return self._dwords[offset >> 2 :].take(placed.dwords, mode="clip")[..., None]

    def write_rows(self, w: Waves, first: Array, data: Array) -> bool:
        """Write all lanes' `data` (uint32 (wave, lane, n)) side by side from LDS byte `first`, int64 (wave,).

        False, and nothing is done, where the plain way is needed.
        """
        row = 4 * LANES * data.shape[-1]
        if int(first.max()) + row > self.size or int(np.bitwise_or.reduce(first)) & 3:
            return False
        kind = np.dtype(f"V{row}")
        # Every place where a row can start, overlapping.
        rows = np.ndarray((self._dwords.size - row // 4 + 1,), kind, self._bytes, strides=(4,))
        rows[first + self.image(w.workgroup) >> 2] = (
            np.ascontiguousarray(data).reshape(w.count, -1).view(kind)[:, 0]
        )
        return True

    def read_narrow(self, w: Waves, address: Array, size: int, mask: Array | None, *, where: str) -> Array:
        """Read 1 or 2 bytes per lane: uint8 or uint16 (wave, lane)."""
        at = self._store_offsets(w, address, size, mask, where)
        if mask is not None:
            at = np.where(mask, at, 0)
        octets = self._bytes.take(at[..., None] + np.arange(size), mode="clip")
        return np.ascontiguousarray(octets).view(f"u{size}")[..., 0]

    def write(self, w: Waves, address: Array, data: Array, mask: Array | None, *, where: str) -> None:
        """Write `data` (uint32 (wave, lane, n) or uint8 (wave, lane, bytes)) at LDS byte `address` (wave, lane)."""
        octets = np.ascontiguousarray(data).view(np.uint8)
        size = octets.shape[-1]
        at = self._store_offsets(w, address, size, mask, where)
        if mask is not None:
            at, octets = at[mask], octets[mask]
        if size == 16 and not np.bitwise_or.reduce(at, axis=None) & 15:
            self._quads[at >> 4] = np.ascontiguousarray(octets).view(np.complex128)[..., 0]
        elif size % 4 == 0 and not np.bitwise_or.reduce(at, axis=None) & 3:
            self._dwords[(at >> 2)[..., None] + np.arange(size // 4)] = np.ascontiguousarray(octets).view(U32)
        else:
            self._bytes[at[..., None] + np.arange(size)] = octets


def compile_lds(instruction: Instruction) -> Step | None:
    """The step of a DS instruction; None where no table has it."""
    if instruction.encoding != "DS":
        return None
    operands = Operands(instruction)
    operands.must_be_zero("gds")
    name = instruction.mnemonic.removeprefix("ds_")
    acc = bool(operands.field("acc"))
    offset = operands.field("offset0") | operands.field("offset1") << 8
    where = str(instruction).split(":", maxsplit=1)[0]
    if name == "bpermute_b32":
        return _bpermute(operands, acc=acc)
    address = operands.vgpr(operands.field("addr"))
    verb, _, form = name.partition("_")
    if verb == "read" and form in _READS:
        size = _READS[form]
        register = operands.destination(operands.field("vdst"), size // 4, acc=acc)
        return operands.step(_reader(address, offset, register, size, where))
    if verb == "write" and form in _READS:
        size = _READS[form]
        register = operands.vgpr(operands.field("data0"), size // 4, acc=acc)
        return operands.step(_writer(address, offset, register, size, where))
    if name in {"write_b8", "write_b16"}:
        register = operands.vgpr(operands.field("data0"), acc=acc)
        size = 1 if name.endswith("8") else 2

        def write_narrow(w: Waves) -> None:
            octets = np.ascontiguousarray(w.v[register])[..., None].view(np.uint8)[..., :size]
            w.lds.write(w, w.offsets(address).lane + offset, octets, w.mask, where=where)

        return operands.step(write_narrow)
    if name in _NARROW_READS:
        size, signed = _NARROW_READS[name]
        register = operands.destination(operands.field("vdst"), acc=acc)

        def read_narrow(w: Waves) -> None:
            value = w.lds.read_narrow(w, w.offsets(address).lane + offset, size, w.mask, where=where)
            w.write(
                register, value.view(f"i{size}").astype(np.int32).view(U32) if signed else value.astype(U32)
            )

        return operands.step(read_narrow)
    return _pair(operands, name, address, acc=acc, where=where)


def access_parts(instruction: Instruction) -> tuple[tuple[int, int], ...]:
    """Of a DS read or write: the offset from the lane's address and the size, in bytes, of each of its accesses."""
    name = instruction.mnemonic.removeprefix("ds_")
    first, second = instruction.fields["offset0"], instruction.fields["offset1"]
    if name in _PAIRS or name in _WRITE_PAIRS:
        size, unit = (_PAIRS | _WRITE_PAIRS)[name]
        return (first * unit, size), (second * unit, size)
    form = name.partition("_")[2]
    return ((first | second << 8, _READS.get(form) or int(form[1:]) // 8),)


def _reader(address: int, offset: int, register: int, size: int, where: str) -> Execute:
    quad = register >> 2 if size == 16 and register % 4 == 0 else None
    fast = size in {4, 16}

    def read(w: Waves) -> None:
        out = None if quad is None else w.quads[quad]
        data = w.lds.read_rows(w, address, offset, size, out) if w.exec_full and fast else None
        if data is not None and quad is not None:
            w.changed(register, 4)
            return
        if data is None:
            data = w.lds.read(w, w.offsets(address).lane + offset, size, w.mask, where=where)
        for i in range(size // 4):
            w.write(register + i, data[..., i])

    return read


def _writer(address: int, offset: int, register: int, size: int, where: str) -> Execute:
    def write(w: Waves) -> None:
        data = np.stack([w.v[register + i] for i in range(size // 4)], axis=-1)
        w.lds.write(w, w.offsets(address).lane + offset, data, w.mask, where=where)

    return write


def _pair(operands: Operands, name: str, address: int, *, acc: bool, where: str) -> Step | None:
    """Two accesses in one instruction, each with its own offset counted in elements or in 64 elements."""
    offsets = (operands.field("offset0"), operands.field("offset1"))
    if name in _PAIRS:
        size, unit = _PAIRS[name]
        first = operands.destination(operands.field("vdst"), size // 2, acc=acc)
        make, registers = _reader, (first, first + size // 4)
    elif name in _WRITE_PAIRS:
        size, unit = _WRITE_PAIRS[name]
        count = size // 4
        registers = (
            operands.vgpr(operands.field("data0"), count, acc=acc),
            operands.vgpr(operands.field("data1"), count, acc=acc),
        )
        make = _writer
    else:
        return None
    # Both addresses come from the register as it was before the first half is written.
    first_half, second_half = (
        make(address, o * unit, r, size, where) for o, r in zip(offsets, registers, strict=True)
    )
    overlaps = make is _reader and registers[0] <= address < registers[0] + size // 4

    def execute(w: Waves) -> None:
        if overlaps:
            second_half(w)
            first_half(w)
        else:
            first_half(w)
            second_half(w)

    return operands.step(execute)


def _bpermute(operands: Operands, *, acc: bool) -> Step:
    """Each lane reads another lane's register; the address counts bytes, 4 to a lane, modulo the wave."""
    operands.must_be_zero("offset0", "offset1")
    lane, source = (
        operands.vector(operands.field("addr") + 256),
        operands.vector(operands.field("data0") + 256, acc=acc),
    )
    register = operands.destination(operands.field("vdst"), acc=acc)

    def execute(w: Waves) -> None:
        chosen = (lane(w) >> U32(2)) & U32(LANES - 1)
        value = np.take_along_axis(source(w), chosen.astype(np.intp), axis=1)
        if not w.exec_full:
            value = np.where(np.take_along_axis(w.exec_mask, chosen.astype(np.intp), axis=1), value, 0)
        w.write(register, value)

    return operands.step(execute)
