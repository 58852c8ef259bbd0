"""Which arguments a kernel reads and which of them matter: found by changing each and watching what the kernel does.

Nothing is assumed of a field but its type. What is found holds for the launch that was changed: a field that another
problem needs can be dead in this one, so `strictest` puts several launches together.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError, UnsupportedError
from argpack.launch import Buffer, Relocation
from argpack.launch.emulator_backend import EmulatorBackend
from argpack.trace.alternatives import alternatives, garbage, other_bytes, value_text
from argpack.trace.difference import Change, DifferenceError, Load, Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from argpack.launch import Launch
    from argpack.schema import Field, KernargSchema, Slot

_MOVED = "moved"


class Kind(enum.StrEnum):
    """What a kernel does with bytes of the argument buffer.

    `LIVE`: changing them changes control flow, addresses or output. `DEAD`: loaded, and nothing changes. `UNREAD`: no
    instruction loads them. `PAD`: between the fields, and nothing changes.
    """

    LIVE = "live"
    DEAD = "dead"
    UNREAD = "unread"
    PAD = "pad"


@dataclass(frozen=True, slots=True)
class Argument:
    """A field or pad of the argument buffer, `size` bytes at `offset`, and what the kernel does with it.

    `loads` are the instructions that read any of its bytes. For a live one `change` is the first thing that became
    different and `evidence` says by which value; for the others `tried` counts the contents that changed nothing.
    """

    name: str
    offset: int
    size: int
    kind: Kind
    loads: tuple[Load, ...]
    change: Change | None = None
    evidence: str = ""
    tried: int = 0


def perturb(
    launch: Launch, schema: KernargSchema, *, progress: Callable[[int, int], None] | None = None
) -> tuple[Argument, ...]:
    """Every field and pad of `launch`'s arguments in order of offset. `progress(done, total)` counts them.

    A pointer is moved to another buffer of the same size with other contents, a null one to a buffer. Raises InputError
    for a launch that faults as it is, or whose arguments are not of the schema's size.
    """
    schema.check_size(len(launch.arguments))
    runs = _Runs(launch)
    loads = {slot.name: runs.loads_of(slot) for slot in schema.slots}
    # What nothing loads is changed all at once: where that shows, it is loaded in other cases, and each is looked at.
    silent = [slot for slot in schema.slots if not loads[slot.name]]
    unread = {slot.name for slot in silent} if runs.indifferent_to(silent) else set()
    found = []
    for number, slot in enumerate(schema.slots):
        if progress:
            progress(number, len(schema.slots))
        if slot.name in unread:
            kind = Kind.UNREAD if slot.field else Kind.PAD
            found.append(Argument(slot.name, slot.offset, slot.size, kind, (), tried=len(garbage(0))))
        else:
            found.append(_examined(runs, slot, loads[slot.name]))
    return tuple(found)


def strictest(*launches: Sequence[Argument]) -> tuple[Argument, ...]:
    """What several launches of one kernel need together: a field is live where it is in any, and so on."""
    order = (Kind.LIVE, Kind.DEAD, Kind.UNREAD, Kind.PAD)
    merged = []
    for same in zip(*launches, strict=True):
        first = min(same, key=lambda argument: order.index(argument.kind))
        loads = {(load.instruction.address, load.first): load for argument in same for load in argument.loads}
        tried = 0 if first.kind is Kind.LIVE else sum(argument.tried for argument in same)
        merged.append(replace(first, loads=tuple(loads[key] for key in sorted(loads)), tried=tried))
    return tuple(merged)


class _Runs:
    """Launches of one kernel, held against the first one."""

    def __init__(self, launch: Launch) -> None:
        # Contents that are made when asked for would be made anew for every launch.
        made = tuple(Buffer(b.name, b.data, initialised=b.initialised) for b in launch.buffers)
        self._launch = launch = replace(launch, buffers=made)
        self._recorder = Recorder()
        self._backend = EmulatorBackend(processes=1, observer=self._recorder)
        self._recorder.record()
        self._expected = self._backend.run(launch)
        if self._expected.errors:
            raise InputError(
                f"{launch.kernel.name}: {self._expected.errors[0]}: nothing to hold others against"
            )
        self._loads = tuple(self._recorder.loads.values())
        if (found := self._difference(launch)) is not None:
            raise InputError(f"{launch.kernel.name}: two equal launches differ ({found.text})")

    def loads_of(self, slot: Slot) -> tuple[Load, ...]:
        """The instructions that load any byte of a slot."""
        return tuple(load for load in self._loads if load.first < slot.end and slot.offset < load.end)

    def indifferent_to(self, slots: Sequence[Slot]) -> bool:
        """Whether garbage in all of `slots` at once changes nothing."""
        return all(
            self._with({slot.offset: garbage(slot.size)[which] for slot in slots}) is None
            for which in range(len(garbage(0)))
        )

    def changes(self, slot: Slot) -> Iterator[tuple[str, DifferenceError | None]]:
        """Other contents of a slot, as text, and what each makes the kernel do differently."""
        data = self._launch.arguments[slot.offset : slot.offset + slot.size]
        if slot.field is None:
            for other in garbage(slot.size):
                yield f"{data.hex()} -> {other.hex()}", self._with({slot.offset: other})
        elif slot.field.scalar.kind == "pointer":
            yield from self._moved(slot)
        else:
            yield from self._other_values(slot, slot.field, data)

    def _other_values(
        self, slot: Slot, field: Field, data: bytes
    ) -> Iterator[tuple[str, DifferenceError | None]]:
        for other in alternatives(field, data):
            text = f"{value_text(field, data)} -> {value_text(field, other)}"
            yield text, self._with({slot.offset: other})

    def _moved(self, slot: Slot) -> Iterator[tuple[str, DifferenceError | None]]:
        here = [relocation for relocation in self._launch.relocations if relocation.offset == slot.offset]
        buffers = {buffer.name: buffer for buffer in self._launch.buffers}
        old = here[0].buffer if here else "null"
        model = buffers[old] if here else max(self._launch.buffers, key=lambda buffer: buffer.size)
        spare = Buffer(_MOVED, other_bytes(model.data), initialised=model.initialised)
        launch = replace(
            self._launch,
            buffers=(*self._launch.buffers, spare),
            relocations=(
                *(relocation for relocation in self._launch.relocations if relocation not in here),
                Relocation(slot.offset, _MOVED, here[0].addend if here else 0),
            ),
        )
        yield f"{old} -> another buffer with other contents", self._difference(launch)
        if here:
            yield f"{old} -> null", self._with({slot.offset: bytes(slot.size)})

    def _with(self, contents: Mapping[int, bytes]) -> DifferenceError | None:
        """What is different with these bytes at these offsets; pointers there lose their buffer."""
        arguments = bytearray(self._launch.arguments)
        for offset, data in contents.items():
            arguments[offset : offset + len(data)] = data
        kept = tuple(r for r in self._launch.relocations if r.offset not in contents)
        return self._difference(replace(self._launch, arguments=bytes(arguments), relocations=kept))

    def _difference(self, launch: Launch) -> DifferenceError | None:
        self._recorder.compare()
        try:
            result = self._backend.run(launch)
            self._recorder.finish()
        except DifferenceError as difference:
            return difference
        except UnsupportedError as error:
            return DifferenceError(Change.CONTROL_FLOW, str(error))
        if result.errors:
            return DifferenceError(Change.ADDRESSES, result.errors[0])
        for name, before in self._expected.buffers.items():
            count = np.count_nonzero(before != result.buffers[name])
            if count:
                return DifferenceError(Change.OUTPUT, f"{count} of {before.size} bytes of {name} differ")
        return None


def _examined(runs: _Runs, slot: Slot, loads: tuple[Load, ...]) -> Argument:
    tried = 0
    for text, difference in runs.changes(slot):
        if difference is not None:
            return Argument(
                slot.name,
                slot.offset,
                slot.size,
                Kind.LIVE,
                loads,
                difference.change,
                f"{text}: {difference.text}",
            )
        tried += 1
    kind = Kind.PAD if slot.field is None else Kind.DEAD if loads else Kind.UNREAD
    return Argument(slot.name, slot.offset, slot.size, kind, loads, tried=tried)
