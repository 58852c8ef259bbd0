"""Device allocations of a launch and what they hold before it: an array, or a function that makes any part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

_PART = 1 << 22  # bytes that are made at once


@dataclass(frozen=True, slots=True)
class Buffer:
    """One device allocation: `data` is uint8, shape (bytes,), its contents before the launch.

    `initialised` is False where the host never wrote the buffer (an output): the bytes still have the value in `data`,
    but a kernel that reads them reads garbage on a real device.
    """

    name: str
    data: NDArray[np.uint8]
    initialised: bool = True

    @property
    def size(self) -> int:
        """Bytes."""
        return self.data.size

    def part(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Bytes `start` up to `stop`, uint8."""
        return self.data[start:stop]

    def parts(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Start and bytes of the parts that make up the whole."""
        yield 0, self.data


@dataclass(frozen=True, slots=True, eq=False)
class MadeBuffer:
    """One device allocation of `size` bytes whose contents are made where they are needed.

    `make(start, stop)` gives bytes as uint8; both are multiples of `unit`, or `stop` is `size`. `needed` are the bytes
    that the workgroups of the launch should access, int64 (n, 2) of start and stop; None where all run. `initialised`
    is as in `Buffer`.
    """

    name: str
    size: int
    make: Callable[[int, int], NDArray[np.uint8]]
    unit: int = 1
    needed: NDArray[np.int64] | None = None
    initialised: bool = True

    @property
    def data(self) -> NDArray[np.uint8]:
        """All of it, made anew, uint8 (size,)."""
        return self.make(0, self.size)

    def part(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Bytes `start` up to `stop`, uint8."""
        first = start // self.unit * self.unit
        last = min(-(-stop // self.unit) * self.unit, self.size)
        return self.make(first, last)[start - first : stop - first]

    def parts(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Start and bytes of the parts that make up the whole, none much larger than a few MiB where units are not."""
        step = -(-_PART // self.unit) * self.unit
        for start in range(0, self.size, step):
            yield start, self.make(start, min(start + step, self.size))
