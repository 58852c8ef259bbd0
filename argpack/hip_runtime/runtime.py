"""The state of the emulated device: its memory, the handles given out, and whether a launch has broken it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from argpack.hip_runtime.errors import CallError, Code

if TYPE_CHECKING:
    from argpack.emulator.arena import Arena
    from argpack.hip_runtime.host import Host
    from argpack.hip_runtime.loaded import FatBinary

    T = TypeVar("T")


@dataclass(slots=True)
class Stream:
    """A stream; all work is done when its call returns, so that there is nothing in it. `flags` are the caller's."""

    flags: int = 0
    priority: int = 0


@dataclass(slots=True)
class Event:
    """An event and when it was recorded, in seconds; None before."""

    recorded: float | None = None

    def record(self) -> None:
        """It happened now."""
        self.recorded = time.perf_counter()


class Handles:
    """Numbers that stand for objects in the host program. None is given out twice."""

    def __init__(self) -> None:
        self._objects: dict[int, object] = {}
        self._last = 0x10000

    def add(self, value: object) -> int:
        """A new handle."""
        self._last += 16
        self._objects[self._last] = value
        return self._last

    def get(self, handle: int, kind: type[T]) -> T:
        """What a handle stands for. Raises CallError where it stands for nothing of this kind."""
        value = self._objects.get(handle)
        if not isinstance(value, kind):
            raise CallError(
                Code.INVALID_HANDLE, f"{handle:#x} is no {kind.__name__.removeprefix('Loaded').lower()}"
            )
        return value

    def remove(self, handle: int, kind: type[T]) -> T:
        """Forget a handle and give what it stood for. Raises CallError as `get` does."""
        value = self.get(handle, kind)
        del self._objects[handle]
        return value


@dataclass(slots=True)
class Runtime:
    """The device and what the program has of it.

    `pinned` has the buffers that the program sees too, address to bytes mapped; `symbols` the kernels registered for
    host functions; `fault` is the memory access fault after which nothing runs any more.
    """

    host: Host
    arena: Arena
    handles: Handles = field(default_factory=Handles)
    pinned: dict[int, int] = field(default_factory=dict)
    symbols: dict[int, tuple[FatBinary, str]] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)
    fault: str | None = None
    said: set[str] = field(default_factory=set)

    def string(self, text: str) -> int:
        """Address of a constant string in the host program."""
        if text not in self.strings:
            self.strings[text] = self.host.keep(text.encode() + b"\0")
        return self.strings[text]

    def check_fault(self) -> None:
        """Raises CallError after a memory access fault: a device is lost then."""
        if self.fault:
            raise CallError(Code.ILLEGAL_ADDRESS, f"after the {self.fault}")

    def stream(self, handle: int) -> Stream:
        """A stream by handle; null, legacy and per-thread are streams too. Raises CallError."""
        return Stream() if handle in (0, 1, 2) else self.handles.get(handle, Stream)

    def say_once(self, line: str) -> None:
        """Tell people something on stderr, the first time."""
        if line not in self.said:
            self.said.add(line)
            say(line)


def say(line: str) -> None:
    """One line on stderr."""
    print(f"argpack hip: {line}", file=sys.stderr, flush=True)


def check_device(device: int) -> None:
    """Raises CallError for another device than the only one."""
    if device != 0:
        raise CallError(Code.INVALID_DEVICE, f"device {device}: there is one device, 0")


def check_pointer(address: int, what: str = "the result's address") -> None:
    """Raises CallError for a null pointer."""
    if not address:
        raise CallError(Code.INVALID_VALUE, f"{what} is null")
