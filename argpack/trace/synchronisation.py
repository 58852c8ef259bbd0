"""Watches waits and barriers: registers used too early, LDS races, waves that meet a different number of barriers."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.observe import Direction
from argpack.trace.lds_races import LdsEvent, LdsShadow, Order, Race
from argpack.trace.waits import Hazard, Pending, Queue, Stretch, WaitModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.emulator.decoder import Instruction
    from argpack.emulator.engine import Dispatch
    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.observe import Access, Code
    from argpack.emulator.waves import Waves


_NOTHING = Pending()
_EMPTY = Stretch(0, 0, 0, {}, ())


@dataclass(frozen=True, slots=True)
class BarrierMismatch:
    """A wave passed `fewer` barriers and ended at `end`; another of its workgroup passed `more`.

    `barrier` is the first of those that the other passed alone.
    """

    fewer: int
    more: int
    end: Instruction
    barrier: Instruction


@dataclass(slots=True, eq=False)
class _Track:
    """What is known of a group of waves that have run the same code.

    `issued` and `done` count operations of the vector and of the LDS queue; `waits` are, at each wait, the count of
    instructions and how many of each queue were done.
    """

    count: int
    pending: Pending = _NOTHING
    time: int = 0
    issued: list[int] = field(default_factory=lambda: [0, 0])
    done: list[int] = field(default_factory=lambda: [0, 0])
    waits: list[tuple[int, int, int]] = field(default_factory=list)
    events: list[LdsEvent] = field(default_factory=list)
    stretch: Stretch = _EMPTY
    barriers: list[Instruction] = field(default_factory=list)
    end: Instruction | None = None

    def divided(self, count: int) -> _Track:
        """A copy for a part of the group."""
        return replace(
            self,
            count=count,
            issued=list(self.issued),
            done=list(self.done),
            waits=list(self.waits),
            events=[],
            barriers=list(self.barriers),
        )


class Synchronisation:
    """An `Observer` of one launch after another. After each, `finish` and then read `hazards`, `races`, `mismatches`.

    `instructions` are by address those that a hazard may name.
    """

    def __init__(self) -> None:
        self.hazards: dict[tuple[int, int], Hazard] = {}
        self.races: dict[tuple[int, int, Order], Race] = {}
        self.mismatches: list[BarrierMismatch] = []
        self.instructions: dict[int, Instruction] = {}
        self._waits = WaitModel()
        self._tracks: list[_Track] = []
        self._workgroups = 0
        self._pitch = 0
        self._barriers = 0
        self._shadow: LdsShadow | None = None

    def begin(self, _: DeviceMemory) -> None:
        """As `Observer.begin`: nothing is known of the launch before."""
        self.hazards, self.races, self.mismatches, self._tracks = {}, {}, [], []

    def batch(self, dispatch: Dispatch, workgroups: NDArray[np.int64]) -> None:
        """As `Observer.batch`."""
        self.finish()
        waves = dispatch.waves * len(workgroups)
        self._tracks = [_Track(waves)] * waves
        self._workgroups = len(workgroups)
        self._pitch = -(-max(dispatch.lds_size, 16) // 16) * 16
        self._barriers = 0
        self._shadow = None

    def block(self, waves: Waves, code: Code) -> None:
        """As `Observer.block`."""
        first = int(waves.number[0])
        track = self._tracks[first]
        if len(track.barriers) > self._barriers:
            # The first group behind a barrier: all others have reached theirs, or ended.
            self._close()
            self._barriers += 1
        if track.count != waves.count:
            track = self._divide(track, waves)
        stretch = self._waits.stretch(code)
        if code.start not in self.instructions:
            self.instructions.update((o.instruction.address, o.instruction) for o in code.operations)
        track.pending, hazards = self._waits.after(code, track.pending)
        for hazard in hazards:
            self.hazards.setdefault((hazard.load, hazard.user), hazard)
        self._advance(track, stretch)
        last = code.operations[-1].instruction
        if code.kind == "barrier":
            track.barriers.append(last)
        elif code.kind == "end":
            track.end = last

    def memory_access(self, waves: Waves, access: Access) -> None:
        """As `Observer.memory_access`."""

    def lds_access(self, waves: Waves, access: Access) -> None:
        """As `Observer.lds_access`."""
        track = self._tracks[int(waves.number[0])]
        mark = track.stretch.marks[access.instruction.address]
        queue = Queue.LDS if access.instruction.encoding == "DS" else Queue.VECTOR
        # The counts are those behind the block.
        before = track.issued[queue] - (track.stretch.lds if queue is Queue.LDS else track.stretch.vector)
        track.events.append(
            LdsEvent(
                access.instruction,
                queue,
                access.direction is not Direction.READ,
                waves.number,
                access.address + (waves.workgroup * self._pitch)[:, None],
                access.size,
                access.lanes,
                before + mark.rank,
                track.time - track.stretch.length + mark.position,
            )
        )

    def finish(self) -> None:
        """The last batch has ended, or a fault has ended the launch."""
        if not self._tracks:
            return
        self._close()
        self._compare_barriers()
        self._tracks = []

    def _divide(self, track: _Track, waves: Waves) -> _Track:
        part = track.divided(waves.count)
        for number in waves.number.tolist():
            self._tracks[number] = part
        # What the whole group did before it parted.
        part.events = [_of_waves(event, waves.number) for event in track.events]
        return part

    def _advance(self, track: _Track, stretch: Stretch) -> None:
        for wait in stretch.waits:
            for queue, floor in ((Queue.VECTOR, wait.vector), (Queue.LDS, wait.lds)):
                if floor is not None:
                    track.done[queue] = max(track.done[queue], track.issued[queue] + floor)
            track.waits.append((track.time + wait.position, track.done[0], track.done[1]))
        track.time += stretch.length
        track.issued[Queue.VECTOR] += stretch.vector
        track.issued[Queue.LDS] += stretch.lds
        track.stretch = stretch

    def _close(self) -> None:
        """A stretch between barriers has ended for all waves: look for races in it, keep what is still under way."""
        events = []
        for track in dict.fromkeys(self._tracks):
            for event in track.events:
                _find_wait(event, track)
            events += track.events
        if events:
            if self._shadow is None:
                self._shadow = LdsShadow(self._workgroups, self._pitch)
            for race in self._shadow.races(events):
                key = (race.first.address, race.second.address, race.order)
                self.races.setdefault(key, race)
        for track in dict.fromkeys(self._tracks):
            track.events = [event for event in track.events if event.done is None]
            for event in track.events:
                event.carried = True

    def _compare_barriers(self) -> None:
        tracks = np.array(self._tracks, dtype=object).reshape(-1, self._workgroups)
        seen = set()
        for waves in tracks.T:
            ended = [track for track in waves if track.end is not None]
            if len(ended) != len(waves):
                continue
            fewest = min(ended, key=lambda track: len(track.barriers))
            most = max(ended, key=lambda track: len(track.barriers))
            if len(fewest.barriers) == len(most.barriers) or (fewest, most) in seen:
                continue
            seen.add((fewest, most))
            self.mismatches.append(
                BarrierMismatch(
                    len(fewest.barriers), len(most.barriers), fewest.end, most.barriers[len(fewest.barriers)]
                )
            )


def _of_waves(event: LdsEvent, numbers: NDArray[np.int64]) -> LdsEvent:
    rows = np.isin(event.numbers, numbers)
    lanes = None if event.lanes is None else event.lanes[rows]
    return replace(event, numbers=event.numbers[rows], start=event.start[rows], lanes=lanes)


def _find_wait(event: LdsEvent, track: _Track) -> None:
    """Note when the event was done, if a wait shows it by now."""
    if event.done is None and track.done[event.queue] > event.rank:
        column = 1 + event.queue
        at = bisect_right(track.waits, event.rank, key=lambda wait: wait[column])
        event.done = track.waits[at][0]
