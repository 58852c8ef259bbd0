"""Runs a snippet of machine code on waves with chosen registers, and the edge values that the tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.lds import Lds
from argpack.emulator.memory import DeviceMemory
from argpack.emulator.program import Program
from argpack.emulator.waves import EXEC, LANES, Waves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

BASE = 0x1000
ENDPGM = (0xBF810000).to_bytes(4, "little")

# Small counts and shift amounts, powers of two and their neighbours, sign changes at 8, 16, 24 and 32 bits.
EDGES = [
    *(0, 1, 2, 3, 7, 8, 15, 16, 17, 24, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF),
    *(0x10000, 0x1F0004, 0x200010, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0x12345678, 0x55555555),
    *(0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xAAAAAAAA, 0xFFFF8000, 0xFFFFFFFE, 0xFFFFFFFF),
]
EDGES_64 = [*EDGES, *(e << 32 for e in EDGES[1:]), 1 << 31 | 1 << 32, (1 << 64) - 1, (1 << 63) - 1, 1 << 63]
# Zeros, denormals, normals with neighbours, the largest, infinities, quiet and signalling NaN, of both signs.
FLOAT_EDGES = [
    sign | bits
    for bits in [
        *(0, 1, 0x400000, 0x7FFFFF, 0x800000, 0x800001, 0x33800000, 0x34000000, 0x3E22F983, 0x3EAAAAAB),
        *(0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FC00000, 0x40000000, 0x40490FDB, 0x4B000001),
        *(0x4B800000, 0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0x7F000000, 0x7F7FFFFF),
        *(0x7F800000, 0x7FC00000, 0x7F800001),
    ]
    for sign in (0, 0x80000000)
]


def start(count: int = 1, *, lds: int = 0, workgroups: Sequence[int] | None = None) -> Waves:
    """`count` waves with zeroed registers, each of its own workgroup unless `workgroups` says otherwise."""
    groups = np.arange(count) if workgroups is None else np.asarray(workgroups)
    memory = DeviceMemory({"unused": 4})
    return Waves.start(groups.astype(np.int64), Lds(int(groups.max()) + 1, lds), memory, pc=BASE)


def set_exec(waves: Waves, lanes: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
    """Enable `lanes`, bool (wave, 64) or (64,)."""
    packed = np.packbits(np.broadcast_to(lanes, (waves.count, LANES)), axis=1, bitorder="little")
    waves.sgpr[EXEC : EXEC + 2] = packed.view(np.uint32).T
    waves.exec_changed()


def execute(
    code: bytes, waves: Waves, *, memory: DeviceMemory | None = None, flush_f32: bool = False
) -> Waves:
    """Run `code`, straight on over barriers, on `waves`, and put waiting matrix products into their registers."""
    program = Program(code + ENDPGM, BASE, flush_f32=flush_f32, name="snippet")
    waves.memory = memory or waves.memory
    block = None
    with np.errstate(all="ignore"):
        while block is None or block.kind == "barrier":
            block = program.block(block.following if block else BASE)
            for step in block.body:
                step(waves)
        waves.matrix.release(waves.quads)
    assert (block.kind, block.following) == ("end", BASE + len(code) + 4)
    return waves


def pair(waves: Waves, register: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """An SGPR pair as uint64 (wave,)."""
    low, high = (waves.sgpr[register + i].astype(np.uint64) for i in range(2))
    return low | high << np.uint64(32)


def set_pair(waves: Waves, register: int, values: Sequence[int]) -> None:
    """Set an SGPR pair from 64-bit integers, one per wave."""
    waves.sgpr[register] = [value & 0xFFFFFFFF for value in values]
    waves.sgpr[register + 1] = [value >> 32 for value in values]


def memory_with(contents: Mapping[str, np.ndarray[Any, Any]]) -> DeviceMemory:
    """Device memory with the given buffers (arrays of any type, taken as bytes)."""
    octets = {name: np.ascontiguousarray(data).view(np.uint8).ravel() for name, data in contents.items()}
    memory = DeviceMemory({name: data.size for name, data in octets.items()})
    for name, data in octets.items():
        memory.view(name)[...] = data
    return memory


def over_read(count: int, name: str, where: str) -> str:
    """The finding about `count` bytes read past the end of buffer `name` by the instruction `where`."""
    return (
        f"{count} bytes read past the end of {name} by {where} (zero here; whatever lies there on a device)"
    )
