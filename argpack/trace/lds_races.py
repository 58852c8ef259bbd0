"""LDS accesses of one stretch between barriers that no wait and no barrier puts in order.

Two accesses to a byte, one of them a write, are in order where the first was waited for and then, between different
waves, a barrier passed. Accesses of one wave that go the same way (DS instructions, or loads to LDS) stay in order.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from argpack.trace.waits import Queue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from argpack.emulator.decoder import Instruction

# Conflicting bytes looked at to name the instructions: a race of a loop has the same pair everywhere.
_SAMPLE = 4096


@dataclass(slots=True, eq=False)
class LdsEvent:
    """One execution of an instruction that accesses LDS, by the waves `numbers` (int64) of a batch.

    `start` is int64 (wave, lane), bytes of the batch's LDS images; `lanes` masks, None is all. `queue` is VECTOR for a
    load to LDS. `issued` counts the wave's instructions; `done` is the count at the wait that shows that it is done,
    None while there was none. `carried` is True from the first barrier passed on.
    """

    instruction: Instruction
    queue: Queue
    writes: bool
    numbers: NDArray[np.int64]
    start: NDArray[np.int64]
    size: int
    lanes: NDArray[np.bool_] | None
    rank: int
    issued: int
    done: int | None = None
    carried: bool = False


class Order(enum.StrEnum):
    """Why two accesses to the same bytes of LDS are not in order."""

    NO_BARRIER = "no barrier between two waves"
    NO_WAIT = "a barrier between two waves, but the first access was not waited for before it"
    OWN = "one wave, and the first access was not waited for"
    # A read that was issued and a load from memory that was issued after it: the load takes far longer, but nothing
    # in the instruction set promises that it comes second.
    TIMED = "the first, a read, is still under way when the load that overwrites it is issued: time alone orders them"


class Race(NamedTuple):
    """Two accesses to `byte` of a workgroup's LDS that are not in order, the one issued first coming first if known."""

    first: Instruction
    second: Instruction
    order: Order
    byte: int


class LdsShadow:
    """Which waves touch which bytes of the LDS images of a batch: `pitch` bytes for each of `workgroups`."""

    def __init__(self, workgroups: int, pitch: int) -> None:
        self._workgroups = workgroups
        self._pitch = pitch
        self._granule = 4
        self._loads, self._writes, self._reads = self._empty()

    def _empty(self) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
        # One bit a wave: a workgroup has at most 16.
        size = self._workgroups * self._pitch // self._granule
        return np.zeros(size, np.uint16), np.zeros(size, np.uint16), np.zeros(size, np.uint16)

    def races(self, events: Sequence[LdsEvent]) -> list[Race]:
        """The races among the accesses of one stretch and those still under way at its start; one for each pair."""
        if self._granule > 1 and any(_is_narrow(event) for event in events):
            self._granule = 1
            self._loads, self._writes, self._reads = self._empty()
        touched = [self._mark(event) for event in events]
        suspects = self._suspects(touched)
        found = self._name(events, suspects) if suspects.size else []
        for index in touched:
            for shadow in (self._loads, self._writes, self._reads):
                shadow[index] = 0
        return found

    def _mark(self, event: LdsEvent) -> NDArray[np.int64]:
        shadow = self._reads
        if event.writes:
            shadow = self._loads if event.queue is Queue.VECTOR else self._writes
        index = self._granules(event)
        wave = event.numbers // self._workgroups
        for number in np.unique(wave):
            rows = wave == number
            part = index if rows.all() else index[rows]
            if event.lanes is not None:
                part = part[event.lanes[rows]]
            shadow[part] |= np.uint16(1 << int(number))
        return index if event.lanes is None else index[event.lanes]

    def _granules(self, event: LdsEvent) -> NDArray[np.int64]:
        """Numbers of the granules that each lane touches, int64 (wave, lane, granules)."""
        first = event.start // self._granule
        return np.asarray(first[..., None] + np.arange(event.size // self._granule))

    def _suspects(self, touched: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Granules with a write by one wave and anything by another, or a load to LDS and a DS access by one."""
        found = []
        for index in touched:
            flat = index.ravel()
            loads, other = self._loads[flat], self._writes[flat] | self._reads[flat]
            written, all_of_them = loads | self._writes[flat], loads | other
            several = (all_of_them & (all_of_them - np.uint16(1))) != 0
            found.append(flat[(several & (written != 0)) | ((loads & other) != 0)])
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def _name(self, events: Sequence[LdsEvent], suspects: NDArray[np.int64]) -> list[Race]:
        step = -(-len(suspects) // _SAMPLE)
        chosen = suspects[::step]
        visits: dict[int, list[tuple[LdsEvent, int]]] = {}
        for event in events:
            index = self._granules(event)
            hit = np.isin(index, chosen)
            if event.lanes is not None:
                hit &= event.lanes[..., None]
            for row, lane, part in np.argwhere(hit).tolist():
                visits.setdefault(int(index[row, lane, part]), []).append((event, int(event.numbers[row])))
        found: dict[tuple[int, int, Order], Race] = {}
        for granule, visitors in visits.items():
            distinct = list(dict.fromkeys(visitors))
            for one, other in combinations(distinct, 2):
                order = _order(one, other)
                if order is None:
                    continue
                first, second = sorted((one[0], other[0]), key=_issue)
                key = (first.instruction.address, second.instruction.address, order)
                if key not in found:
                    byte = granule * self._granule % self._pitch
                    found[key] = Race(first.instruction, second.instruction, order, byte)
        return list(found.values())


def _is_narrow(event: LdsEvent) -> bool:
    return bool((event.size | int(np.bitwise_or.reduce(event.start, axis=None))) & 3)


def _issue(event: LdsEvent) -> tuple[bool, int]:
    """A key that puts the access before a barrier first, and those of one wave in order."""
    return not event.carried, event.issued


def _order(one: tuple[LdsEvent, int], other: tuple[LdsEvent, int]) -> Order | None:
    """Why two accesses by waves are not in order; None where they are, or need not be."""
    (first, first_wave), (second, second_wave) = sorted((one, other), key=lambda visit: _issue(visit[0]))
    if not (first.writes or second.writes) or (first.carried and second.carried):
        return None
    same = first_wave == second_wave
    if same and (first.queue is second.queue or (first.done is not None and first.done <= second.issued)):
        return None
    if not same and not first.carried:
        return Order.NO_BARRIER
    if not first.writes and first.queue is Queue.LDS and second.queue is Queue.VECTOR:
        return Order.TIMED
    return Order.OWN if same else Order.NO_WAIT
