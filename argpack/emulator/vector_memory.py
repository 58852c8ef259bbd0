"""Vector memory instructions: buffer loads, stores and atomics through a buffer resource, and global loads and stores.

Addressing and range checks follow the raw-buffer rules of the CDNA instruction set manual: a load out of range gives
zero, a store out of range is dropped, each dword for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.atomics import add_packed_bf16
from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.offsets import Offsets
from argpack.emulator.operands import Array, Operands, Read, Step
from argpack.emulator.waves import LANES, M0

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.waves import Waves

U32, I64 = np.uint32, np.int64
_OFF = 0x7F

# Bytes in memory, and for loads narrower than a dword the sign.
LOADS = {"ubyte": (1, False), "sbyte": (1, True), "ushort": (2, False), "sshort": (2, True)} | {
    f"dword{suffix}": (4 * count, False) for suffix, count in (("", 1), ("x2", 2), ("x3", 3), ("x4", 4))
}
STORES = {"byte": 1, "short": 2, "dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}

# Data of the enabled lanes, or None where it takes the plain way to find them.
Rows = Callable[..., Array | None]
# Mask per dword, and address; the mask is None where everything is in range.
Addresses = tuple[Array, Array | None]


def compile_vector_memory(instruction: Instruction) -> Step | None:
    """The step of a MUBUF or GLOBAL instruction; None where no table has it."""
    operands = Operands(instruction)
    prefix, _, rest = instruction.mnemonic.partition("_")
    verb, _, kind = rest.partition("_")
    if instruction.encoding not in {"MUBUF", "GLOBAL"}:
        return None
    addresses = lane_addresses(operands)
    if instruction.encoding == "MUBUF":
        data = operands.field("vdata")
    else:
        data = operands.field("vdst") if verb == "load" else operands.field("data")
    acc = bool(operands.instruction.fields.get("acc"))
    if verb == "load" and kind in LOADS:
        size, signed = LOADS[kind]
        raw = instruction.encoding == "MUBUF" and operands.field("offen") and size % 4 == 0
        rows = _raw_rows(operands, size) if raw else None
        if operands.instruction.fields.get("lds"):
            return _load_to_lds(operands, addresses(size), size, rows)
        return _load(
            operands,
            addresses(size),
            operands.destination(data, -(-size // 4), acc=acc),
            size,
            signed,
            rows,
        )
    if verb == "store" and kind in STORES:
        size = STORES[kind]
        return _store(operands, addresses(size), operands.vgpr(data, -(-size // 4), acc=acc), size)
    if verb == "atomic" and kind == "pk_add_bf16" and prefix == "buffer":
        if operands.field("sc0"):
            raise operands.fail("an atomic that returns the old value")
        return _atomic(operands, addresses(4), operands.vgpr(data, acc=acc))
    return None


def lane_addresses(operands: Operands) -> Callable[[int], Callable[[Waves], Addresses]]:
    """Of an access of so many bytes: the device address per lane and what is in range of the buffer resource."""
    return (_buffer_addresses if operands.instruction.encoding == "MUBUF" else _global_addresses)(operands)


def lds_target(operands: Operands, size: int) -> Callable[[Waves], Array]:
    """Where in LDS a load to LDS of `size` bytes a lane writes, int64 (wave, lane)."""
    first, lane = lds_start(operands), np.arange(LANES, dtype=I64) * size
    return lambda w: first(w)[:, None] + lane


def lds_start(operands: Operands) -> Read:
    """Where in LDS lane 0 of a load to LDS writes, int64 (wave,); the other lanes follow."""
    offset = operands.field("offset")
    operands.sgprs(M0)
    # LDS byte = M0 + instruction offset + lane · size; the lane takes no part in the memory address.
    return lambda w: w.sgpr[M0].astype(I64) + offset


def _sign_extend(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _buffer_addresses(operands: Operands) -> Callable[[int], Callable[[Waves], Addresses]]:
    resource, offset = operands.field("srsrc") * 4, operands.field("offset")
    offen, idxen = operands.field("offen"), operands.field("idxen")
    if offen and idxen:
        raise operands.fail("offen with idxen")
    operands.sgprs(resource, 4)
    soffset = operands.scalar(operands.field("soffset"))
    lane = operands.vector(operands.field("vaddr") + 256) if offen or idxen else None

    def addresses(size: int) -> Callable[[Waves], Addresses]:
        dwords = max(1, size // 4)

        def compute(w: Waves) -> Addresses:
            words = w.sgpr[resource : resource + 4]
            base = (words[0].astype(I64) | ((words[1] & U32(0xFFFF)).astype(I64) << 32)) + soffset(w)
            limit = words[2].astype(I64)
            if (words[1] >> U32(31)).any() or (words[3] >> U32(23) & U32(1)).any():
                raise operands.fail("a swizzled buffer resource or one that adds the lane number")
            if idxen and lane is not None:
                stride = ((words[1] >> U32(16)) & U32(0x3FFF)).astype(I64)
                index = lane(w).astype(I64)
                if not stride.all():
                    raise operands.fail("idxen with a buffer resource of stride 0")
                mask = index < limit[:, None]
                return base[:, None] + index * stride[:, None] + offset, None if mask.all() else mask
            reach = np.zeros((w.count, LANES), dtype=I64) if lane is None else lane(w).astype(I64)
            reach += offset
            # A raw buffer drops a dword unless voffset + imm + 4k < num_records - soffset.
            room = (limit - soffset(w))[:, None]
            if (reach + size <= room).all():
                return base[:, None] + reach, None
            if dwords == 1:
                return base[:, None] + reach, reach < room
            return base[:, None] + reach, reach[..., None] + 4 * np.arange(dwords) < room[..., None]

        return compute

    return addresses


def _raw_rows(operands: Operands, size: int) -> Rows:
    """The common load, fast: every lane enabled, in range or wholly out of it, and in one buffer; else gives None.

    Four dwords go straight to the array given.
    """
    resource, offset = operands.field("srsrc") * 4, operands.field("offset")
    soffset = operands.scalar(operands.field("soffset"))
    register = operands.field("vaddr")

    def fetch(w: Waves, out: Array | None = None) -> Array | None:
        words = w.sgpr[resource : resource + 4]
        if not w.exec_full or (words[1] >> U32(31) | words[3] >> U32(23) & U32(1)).any():
            return None
        offsets = w.offsets(register)
        start = soffset(w).astype(I64) + offset
        last = words[2] - start - size
        inside: Array | None = None
        if (offsets.high > last).any():
            inside = offsets.lane <= last[:, None]
            if size > 4 and (inside != (offsets.lane < (last + size)[:, None])).any():
                return None
            # Lanes out of range read the last place in range, wherever that is, and zero is put over it.
            offsets = Offsets(np.minimum(offsets.lane, last[:, None]))
        base = (words[0] | ((words[1] & U32(0xFFFF)).astype(I64) << 32)) + start
        low, high = int((base + offsets.low).min()), int((base + offsets.high).max()) + size
        data = w.memory.load_rows(base, offsets, size // 4, low=low, high=high, out=out)
        if inside is not None and data is not None:
            np.multiply(data, inside[..., None], out=data)
        return data

    return fetch


def _global_addresses(operands: Operands) -> Callable[[int], Callable[[Waves], Addresses]]:
    offset = _sign_extend(operands.field("offset"), 13)
    saddr = operands.field("saddr")
    operands.must_be_zero("sve")
    if saddr == _OFF:
        wide: Read = operands.vector64(operands.field("addr") + 256)
        return lambda _: lambda w: (wide(w).astype(I64) + offset, None)
    base, lane = operands.scalar64(saddr), operands.vector(operands.field("addr") + 256)
    return lambda _: lambda w: (base(w).astype(I64)[:, None] + lane(w).astype(I64) + offset, None)


def _enabled(w: Waves, in_range: Array | None) -> Array | None:
    """The lanes that access memory: enabled and, where the range is per lane, in range."""
    if in_range is None:
        return w.mask
    if w.exec_full:
        return in_range
    return in_range & (w.exec_mask if in_range.ndim == 2 else w.exec_mask[..., None])


def _fetch(memory: DeviceMemory, address: Array, mask: Array | None, size: int, where: str) -> Array:
    """`size` bytes (a multiple of 4) per lane as uint32 (wave, lane, dwords); dwords out of range are 0."""
    if mask is not None and mask.ndim == 3:
        each = np.where(mask, address[..., None] + 4 * np.arange(mask.shape[-1]), 0)
        return memory.load(each, mask, 1, where=where)[..., 0]
    return memory.load(address, mask, size // 4, where=where)


def _load(
    operands: Operands,
    addresses: Callable[[Waves], Addresses],
    register: int,
    size: int,
    signed: bool,
    rows: Rows | None,
) -> Step:
    where = str(operands.instruction).split(":", maxsplit=1)[0]
    dwords = size // 4
    quad = register >> 2 if dwords == 4 and register % 4 == 0 else None

    def execute(w: Waves) -> None:
        data = rows(w, None if quad is None else w.quads[quad]) if rows else None
        if data is not None and quad is not None:
            w.changed(register, 4)
            return
        if data is None:
            address, in_range = addresses(w)
            data = _fetch(w.memory, address, _enabled(w, in_range), size, where)
        for i in range(dwords):
            w.write(register + i, data[..., i])

    def narrow(w: Waves) -> None:
        address, in_range = addresses(w)
        mask = _enabled(w, in_range)
        offset, inside = w.memory.locate(address, size, mask, where=where, write=False)
        octets = w.memory.gather_bytes(offset if inside is None else np.where(inside, offset, 0), size)
        value: Array = np.ascontiguousarray(octets).view(f"u{size}")[..., 0]
        if inside is not None:
            value = np.where(inside, value, 0).astype(value.dtype)
        extended = value.view(f"i{size}").astype(np.int32).view(U32) if signed else value.astype(U32)
        w.write(register, extended)

    return operands.step(execute if dwords else narrow)


def _load_to_lds(
    operands: Operands,
    addresses: Callable[[Waves], Addresses],
    size: int,
    rows: Rows | None,
) -> Step:
    where = str(operands.instruction).split(":", maxsplit=1)[0]
    if size % 4:
        raise operands.fail("a load to LDS narrower than a dword")
    first, lane = lds_start(operands), np.arange(LANES, dtype=I64) * size

    def execute(w: Waves) -> None:
        data = rows(w) if rows else None
        if data is None:
            address, in_range = addresses(w)
            data = _fetch(w.memory, address, _enabled(w, in_range), size, where)
        if w.exec_full and w.lds.write_rows(w, first(w), data):
            return
        w.lds.write(w, first(w)[:, None] + lane, data, w.mask, where=where)

    return operands.step(execute)


def _store(
    operands: Operands,
    addresses: Callable[[Waves], Addresses],
    register: int,
    size: int,
) -> Step:
    where = str(operands.instruction).split(":", maxsplit=1)[0]
    dwords = max(1, size // 4)
    quad = register >> 2 if dwords == 4 and register % 4 == 0 else None

    def execute(w: Waves) -> None:
        address, in_range = addresses(w)
        mask = _enabled(w, in_range)
        rows = [w.v[register + i] for i in range(dwords)] if quad is None else []
        data = np.stack(rows, axis=-1) if quad is None else np.ascontiguousarray(w.quads[quad])
        octets = data.view(np.uint8)[..., :size]
        if mask is not None and mask.ndim == 3:
            each = address[..., None] + 4 * np.arange(dwords)
            offset, inside = w.memory.locate(np.where(mask, each, 0), 4, mask, where=where, write=True)
            w.memory.scatter(offset, inside, octets.reshape(*each.shape, 4))
            return
        offset, inside = w.memory.locate(address, size, mask, where=where, write=True)
        w.memory.scatter(offset, inside, octets)

    return operands.step(execute)


def _atomic(operands: Operands, addresses: Callable[[Waves], Addresses], register: int) -> Step:
    where = str(operands.instruction).split(":", maxsplit=1)[0]

    def execute(w: Waves) -> None:
        address, in_range = addresses(w)
        offset, inside = w.memory.locate(address, 4, _enabled(w, in_range), where=where, write=True)
        value = w.v[register]
        if inside is not None:
            address, offset, value = address[inside], offset[inside], value[inside]
        if (address & 3).any():
            wrong = int(address[address & 3 != 0][0])
            raise MemoryFaultError(
                f"memory access fault: atomic at {wrong:#x}, not a multiple of 4, by {where}"
            )
        add_packed_bf16(w.memory.dwords, offset.ravel() >> 2, value.ravel())

    return operands.step(execute)
