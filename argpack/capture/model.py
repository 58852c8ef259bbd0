"""The values that a capture is read into. Sizes and offsets are bytes, grids workgroups, digests SHA-256 in hex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class CapturedProcess:
    """One process that called HIP. `ended` is False where it was killed, crashed, or left without its exit handlers.

    `token` tells processes apart; a pid may come twice. `missing` counts records that it numbered and that are not in
    the file.
    """

    token: int
    pid: int
    parent_pid: int
    command: tuple[str, ...]
    ended: bool
    missing: int


@dataclass(frozen=True, slots=True)
class CapturedMemory:
    """An allocation that an argument points into: its address in that process, its contents before and after.

    A digest is None where the contents were not recorded; `Capture.contents` gives the bytes.
    """

    address: int
    size: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class CapturedLaunch:
    """One launch. `number` counts from 1 in the order of the file.

    `arguments` is the buffer as the kernel sees it; `known` has 1 for each byte that was recorded and 0 for gaps
    between declared arguments. `kernel` is empty where the program got its handle in a way that is not recorded.
    `grid` is in workgroups whatever the call counted; `partial` says that the last workgroup of an axis is not whole.
    `pointers` are the offsets that the metadata declares to be addresses, None without metadata.
    `error` is the code that HIP returned, 0 for none. `remarks` are sentences on what was not recorded, and why.
    """

    number: int
    process: int
    pid: int
    thread: int
    time_ns: int
    api: str
    kernel: str
    code: str | None
    arguments: bytes
    known: bytes
    pointers: tuple[int, ...] | None
    grid: tuple[int, int, int]
    partial: bool
    block: tuple[int, int, int]
    dynamic_lds: int
    stream: int
    memory: tuple[CapturedMemory, ...]
    finished: bool
    error: int
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Capture:
    """A whole capture. `problems` are sentences on torn and damaged records, `notes` those that the recorder wrote."""

    source: str
    launches: tuple[CapturedLaunch, ...]
    processes: tuple[CapturedProcess, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    load: Callable[[str], bytes]
    cut: Callable[[int], bytes]

    def launch(self, number: int | None) -> CapturedLaunch:
        """The launch of this number, or the only one. Raises InputError."""
        count = len(self.launches)
        if not count:
            raise InputError(f"{self.source}: the capture has no launch")
        if number is None and count > 1:
            raise InputError(
                f"{self.source}: the capture has {count} launches: name one, {self.source}#1 to #{count}"
            )
        if number is not None and not 1 <= number <= count:
            raise InputError(f"{self.source}: expected a launch from #1 to #{count}, found #{number}")
        return self.launches[(number or 1) - 1]

    def contents(self, digest: str) -> bytes:
        """The bytes of this digest, checked. Raises InputError where they are not whole in the file."""
        return self.load(digest)

    def excerpt(self, number: int) -> bytes:
        """A capture file of one launch without code and memory."""
        return self.cut(number)
