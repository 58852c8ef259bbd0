"""Registers used while the load that fills them may still be under way: the counters of s_waitcnt, block by block.

The rules are those of the CDNA3 and CDNA4 instruction set manuals, "data dependency resolution": vector memory
operations, loads to LDS and stores among them, return in order and count in vmcnt; LDS operations return in order,
scalar loads in any order, and both count in lgkmcnt. Sources are read when an instruction is issued, so overwriting
them needs no wait (nothing that is executed here counts in expcnt). Waits for results of arithmetic are not looked at.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from argpack.emulator.observe import Code, Operation

_SCALAR = 512  # bit of scalar operand code 0 in a register mask; below are the VGPRs


class Queue(enum.IntEnum):
    """In which queue an operation is until a wait shows that it is done."""

    VECTOR = 0
    LDS = 1
    SCALAR = 2


# The largest value of each counter waits for nothing.
_NO_WAIT = {Queue.VECTOR: 63, Queue.LDS: 15}


class Hazard(NamedTuple):
    """The instruction at `user` reads or overwrites `register` while the load at `load` may still be under way."""

    load: int
    user: int
    register: str
    overwrites: bool


class Ordered(NamedTuple):
    """Addresses of operations that return in order. `earlier` have more behind them than any wait leaves."""

    earlier: frozenset[int] = frozenset()
    last: tuple[int, ...] = ()

    def pushed(self, address: int, queue: Queue) -> Ordered:
        """With one operation more."""
        last = (*self.last, address)
        if len(last) < _NO_WAIT[queue]:
            return Ordered(self.earlier, last)
        return Ordered(self.earlier | {last[0]}, last[1:])

    def waited(self, left: int) -> Ordered:
        """After a wait that leaves at most so many under way."""
        return Ordered(frozenset(), self.last[max(0, len(self.last) - left) :])

    @property
    def all(self) -> Iterable[int]:
        """Every address, the oldest first."""
        return (*sorted(self.earlier), *self.last)


class Pending(NamedTuple):
    """What may be under way."""

    vector: Ordered = Ordered()
    lds: Ordered = Ordered()
    scalar: frozenset[int] = frozenset()

    @property
    def all(self) -> tuple[int, ...]:
        """Every address."""
        return (*self.vector.all, *self.lds.all, *sorted(self.scalar))


class Mark(NamedTuple):
    """Where in its block an operation stands: its number among all operations, and among those of its queue."""

    position: int
    rank: int


class Wait(NamedTuple):
    """Operation `position` waits until the first `vector` and `lds` operations of the block are done; None: no wait."""

    position: int
    vector: int | None
    lds: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The queued operations and the waits of a block, whatever was before it. `marks` are by address."""

    length: int
    vector: int
    lds: int
    marks: dict[int, Mark]
    waits: tuple[Wait, ...]


@dataclass(frozen=True, slots=True)
class _Op:
    """An operation as masks of registers; `fills` are those that a load writes when it returns."""

    address: int
    touches: int
    writes: int
    fills: int
    queue: Queue | None
    wait: tuple[int | None, int | None] | None


@dataclass(slots=True)
class WaitModel:
    """Follows the queues from block to block. Answers are remembered, so that a loop costs nothing."""

    _ops: dict[Code, tuple[_Op, ...]] = field(default_factory=dict)
    _by_address: dict[int, _Op] = field(default_factory=dict)
    _after: dict[tuple[Code, Pending], tuple[Pending, tuple[Hazard, ...]]] = field(default_factory=dict)
    _stretches: dict[Code, Stretch] = field(default_factory=dict)

    def after(self, code: Code, before: Pending) -> tuple[Pending, tuple[Hazard, ...]]:
        """What may be under way behind `code`, and the hazards in it, one for a pair of instructions."""
        known = self._after.get((code, before))
        if known is None:
            known = self._after[code, before] = self._run(self._operations(code), before)
        return known

    def stretch(self, code: Code) -> Stretch:
        """Counts of the block's operations and waits."""
        known = self._stretches.get(code)
        if known is None:
            known = self._stretches[code] = _stretch(self._operations(code))
        return known

    def _operations(self, code: Code) -> tuple[_Op, ...]:
        found = self._ops.get(code)
        if found is None:
            found = self._ops[code] = tuple(_op(operation) for operation in code.operations)
            self._by_address.update((op.address, op) for op in found if op.queue is not None)
        return found

    def _run(self, ops: tuple[_Op, ...], before: Pending) -> tuple[Pending, tuple[Hazard, ...]]:
        hazards: dict[tuple[int, int], Hazard] = {}
        vector, lds, scalar = before
        filling = self._filling(before)
        for op in ops:
            if filling & op.touches:
                self._note(op, Pending(vector, lds, scalar), hazards)
            if op.queue is not None:
                filling |= op.fills
                if op.queue is Queue.VECTOR:
                    vector = vector.pushed(op.address, op.queue)
                elif op.queue is Queue.LDS:
                    lds = lds.pushed(op.address, op.queue)
                else:
                    scalar |= {op.address}
            elif op.wait is not None:
                most_vector, most_lgkm = op.wait
                if most_vector is not None:
                    vector = vector.waited(most_vector)
                if most_lgkm is not None:
                    # Scalar loads may return last, whatever the count: only 0 shows that they are done.
                    lds, scalar = lds.waited(most_lgkm), scalar if most_lgkm else frozenset()
                filling = self._filling(Pending(vector, lds, scalar))
        return Pending(vector, lds, scalar), tuple(hazards.values())

    def _filling(self, pending: Pending) -> int:
        mask = 0
        for address in pending.all:
            mask |= self._by_address[address].fills
        return mask

    def _note(self, op: _Op, pending: Pending, hazards: dict[tuple[int, int], Hazard]) -> None:
        for address in pending.all:
            load = self._by_address[address]
            common = load.fills & op.touches
            overwritten = common & op.writes
            if common == overwritten and load.queue is op.queue and op.queue is not Queue.SCALAR:
                # Loads of one queue return in order: the later one wins.
                continue
            if common:
                register = _name((common & ~overwritten) or common)
                hazard = Hazard(address, op.address, register, common == overwritten)
                hazards.setdefault((address, op.address), hazard)


def _op(operation: Operation) -> _Op:
    instruction = operation.instruction
    writes = _mask(operation.writes) | _mask(operation.scalar_writes) << _SCALAR
    reads = _mask(operation.reads) | _mask(operation.scalar_reads) << _SCALAR
    queue = _queue(operation)
    wait = None
    if instruction.mnemonic == "s_waitcnt":
        bits = instruction.fields["simm16"]
        counts = {Queue.VECTOR: bits & 15 | bits >> 14 << 4, Queue.LDS: bits >> 8 & 15}
        vector, lgkm = (None if count >= _NO_WAIT[q] else count for q, count in counts.items())
        wait = (vector, lgkm)
    fills = writes if queue is not None else 0
    return _Op(instruction.address, reads | writes, writes & ~reads, fills, queue, wait)


def _queue(operation: Operation) -> Queue | None:
    instruction = operation.instruction
    if instruction.encoding in {"MUBUF", "GLOBAL"}:
        # Cache control counts in neither counter that matters here.
        return Queue.VECTOR if instruction.mnemonic.count("_") > 1 else None
    if instruction.encoding == "DS":
        return Queue.LDS
    return Queue.SCALAR if instruction.encoding == "SMEM" and operation.scalar_writes else None


def _mask(registers: frozenset[int]) -> int:
    mask = 0
    for register in registers:
        mask |= 1 << register
    return mask


def _name(mask: int) -> str:
    """The lowest register of a mask, as assemblers write it."""
    number = (mask & -mask).bit_length() - 1
    if number < 256:
        return f"v{number}"
    if number < _SCALAR:
        return f"a{number - 256}"
    named = {106: "vcc_lo", 107: "vcc_hi", 124: "m0", 126: "exec_lo", 127: "exec_hi"}
    return named.get(number - _SCALAR, f"s{number - _SCALAR}")


def _stretch(ops: tuple[_Op, ...]) -> Stretch:
    counts = [0, 0, 0]
    marks: dict[int, Mark] = {}
    waits = []
    for index, op in enumerate(ops):
        if op.queue is not None:
            marks[op.address] = Mark(index, counts[op.queue])
            counts[op.queue] += 1
        elif op.wait is not None:
            vector, lgkm = op.wait
            waits.append(
                Wait(
                    index,
                    None if vector is None else counts[Queue.VECTOR] - vector,
                    None if lgkm is None else counts[Queue.LDS] - lgkm,
                )
            )
    return Stretch(len(ops), counts[Queue.VECTOR], counts[Queue.LDS], marks, tuple(waits))
