"""A recorded launch as a `Launch` for any backend, and its result held against the memory recorded after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.codeobject import bundle, parse
from argpack.codeobject.reader import entries
from argpack.errors import InputError, RefusedError
from argpack.launch import Buffer, Launch, Relocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from argpack.capture.model import Capture, CapturedLaunch, CapturedMemory
    from argpack.codeobject import CodeObject, Kernel
    from argpack.launch import LaunchResult


PROCESSOR = "gfx950"  # what the emulator runs


@dataclass(frozen=True, slots=True)
class Difference:
    """An allocation that the replay left in another state: `count` bytes of `size` differ, the first at `offset`."""

    name: str
    size: int
    count: int
    offset: int
    recorded: int
    found: int


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay showed. `compared` are bytes, `changed` those of them that the recorded launch changed.

    `errors` are the backend's (a memory fault, a store outside every buffer). `left_out` names allocations that were
    not recorded after the launch.
    """

    differences: tuple[Difference, ...]
    errors: tuple[str, ...]
    compared: int
    changed: int
    left_out: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the replay did byte for byte what was recorded."""
        return not self.differences and not self.errors


def launch_of(capture: Capture, launch: CapturedLaunch) -> Launch:
    """The launch with the recorded memory in its buffers. Addresses become relocations.

    A word that is no declared pointer counts as one where it points into recorded memory (a pointer in a struct).
    Raises InputError where code, arguments or memory are not in the capture, RefusedError where a declared pointer
    points into none of the memory, or the last workgroup is not whole.
    """
    where = f"{capture.source}#{launch.number}"
    if launch.code is None:
        raise InputError(f"{where}: the code object of {launch.kernel or 'its kernel'!r} was not recorded")
    if launch.partial:
        raise RefusedError(f"{where}: the grid is no whole number of workgroups; argpack launches whole ones")
    code_object = _code_object(capture.contents(launch.code), launch.kernel, where)
    kernel = next((kernel for kernel in code_object.kernels if kernel.name == launch.kernel), None)
    if kernel is None:
        listed = ", ".join(kernel.name for kernel in code_object.kernels)
        raise InputError(f"{where}: expected kernel {launch.kernel!r} in its code object, found {listed}")
    if kernel.arguments and not launch.arguments:
        raise InputError(f"{where}: its arguments were not recorded: {'; '.join(launch.remarks)}")
    pointers = _pointers(launch, where)
    names = _names(launch, kernel, pointers)
    return Launch(
        code_object=code_object,
        kernel=kernel,
        arguments=launch.arguments,
        relocations=tuple(
            Relocation(offset, names[memory.address], address - memory.address)
            for offset, address, memory in pointers
        ),
        buffers=tuple(_buffer(capture, memory, names[memory.address], where) for memory in launch.memory),
        grid=launch.grid,
        block=launch.block,
        dynamic_lds=launch.dynamic_lds,
    )


def recorded_after(
    capture: Capture, launch: CapturedLaunch, replayed: Launch
) -> dict[str, NDArray[np.uint8]]:
    """Contents after the recorded launch, by the names of `replayed`'s buffers; those not recorded are left out."""
    return {
        buffer.name: np.frombuffer(capture.contents(memory.after), np.uint8)
        for memory, buffer in zip(launch.memory, replayed.buffers, strict=True)
        if memory.after is not None
    }


def compare_with(capture: Capture, launch: CapturedLaunch, replayed: Launch, result: LaunchResult) -> Replay:
    """Hold the buffers after a replay of `replayed`, which `launch_of` made, against those recorded.

    Raises InputError where no memory was recorded after the launch, so that nothing can be compared.
    """
    differences, left_out = [], []
    compared = changed = 0
    after = recorded_after(capture, launch, replayed)
    for memory, buffer in zip(launch.memory, replayed.buffers, strict=True):
        if buffer.name not in after:
            left_out.append(buffer.name)
            continue
        recorded = after[buffer.name]
        found = result.buffers[buffer.name]
        compared += recorded.size
        if memory.before is not None and memory.before != memory.after:
            before = np.frombuffer(capture.contents(memory.before), np.uint8)
            changed += int(np.count_nonzero(before != recorded))
        different = np.flatnonzero(recorded != found)
        if different.size:
            at = int(different[0])
            differences.append(
                Difference(buffer.name, recorded.size, different.size, at, int(recorded[at]), int(found[at]))
            )
    if not compared:
        raise InputError(
            f"{capture.source}#{launch.number}: nothing was recorded after the launch to compare with: "
            "it failed, or the program ended in it"
        )
    return Replay(tuple(differences), result.errors, compared, changed, tuple(left_out))


def _code_object(data: bytes, kernel: str, where: str) -> CodeObject:
    """The code object, also out of a bundle that was recorded whole: the one with the kernel that the emulator runs.

    Which device ran it is not recorded; a GPU of another target refuses the one for gfx950 by name.
    """
    if not bundle.is_bundle(data):
        return parse(data, source=where)
    found = []
    for entry in entries(data, source=where):
        if entry.target is None or entry.target.partition(":")[0] != PROCESSOR or not entry.data:
            continue
        code_object = parse(entry.data, source=f"{where}, entry {entry.number}")
        if any(each.name == kernel for each in code_object.kernels):
            found.append(code_object)
    if len(found) != 1:
        raise InputError(
            f"{where}: expected one code object for {PROCESSOR} with {kernel!r} in the recorded bundle, "
            f"found {len(found)}"
        )
    return found[0]


def _pointers(launch: CapturedLaunch, where: str) -> list[tuple[int, int, CapturedMemory]]:
    """Offset and value of each address in the arguments, and the memory that it lies in."""
    declared = launch.pointers or ()
    found: list[tuple[int, int, CapturedMemory]] = []
    for offset in (*declared, *range(0, len(launch.arguments) - 7, 4)):
        if any(abs(offset - other) < 8 for other, _, _ in found):
            continue
        value = int.from_bytes(launch.arguments[offset : offset + 8], "little")
        memory = _memory_at(launch.memory, value)
        if memory is not None:
            found.append((offset, value, memory))
        elif value and offset in declared:
            if not launch.memory:
                raise InputError(f"{where}: memory was not recorded: capture it with --buffers")
            raise RefusedError(
                f"{where}: the pointer at {offset:#x}, {value:#x}, lies in no allocation that was recorded"
            )
    return sorted(found, key=lambda entry: entry[0])


def _memory_at(memory: Sequence[CapturedMemory], address: int) -> CapturedMemory | None:
    return next((m for m in memory if 0 <= address - m.address < m.size), None)


def _names(
    launch: CapturedLaunch, kernel: Kernel, pointers: list[tuple[int, int, CapturedMemory]]
) -> dict[int, str]:
    """A name for each allocation: that of the first argument that points into it, else its address."""
    titles = {argument.offset: argument.name for argument in kernel.arguments}
    names: dict[int, str] = {}
    for offset, _, memory in pointers:
        title = titles.get(offset)
        if title and title not in names.values():
            names.setdefault(memory.address, title)
    return {memory.address: names.get(memory.address, f"{memory.address:#x}") for memory in launch.memory}


def _buffer(capture: Capture, memory: CapturedMemory, name: str, where: str) -> Buffer:
    if memory.before is None:
        raise InputError(f"{where}: {name}: the contents before the launch were not recorded")
    data = np.frombuffer(capture.contents(memory.before), np.uint8).copy()
    if data.size != memory.size:
        raise InputError(f"{where}: {name}: expected contents of {memory.size} bytes, found {data.size}")
    return Buffer(name, data)
