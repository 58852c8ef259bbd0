"""A store of zeros, larger than the machine's memory if need be, that knows which of its pages were touched.

A page takes memory when it is first read or written, by this process or one forked from it. Linux only.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import weakref
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

PAGE = mmap.PAGESIZE


class SparseStore:
    """`map` has `size` bytes (a multiple of a page). Raises InputError where the system grants no such addresses."""

    def __init__(self, size: int) -> None:
        if not hasattr(os, "memfd_create"):
            raise UnavailableError(
                "memory that is filled in part needs memfd_create, which this system lacks"
            )
        self._file = os.memfd_create("argpack")
        weakref.finalize(self, os.close, self._file)
        try:
            os.ftruncate(self._file, size)
            self.map = mmap.mmap(self._file, size)
        except OSError as error:
            raise InputError(f"buffers of {size} bytes: no addresses for them ({error.strerror})") from None
        # Where huge pages of shared memory are switched on, one touch would take 2 MiB.
        with contextlib.suppress(OSError, AttributeError):
            self.map.madvise(mmap.MADV_NOHUGEPAGE)

    def touched(self) -> NDArray[np.int64]:
        """Start and stop of each run of touched pages, bytes, int64 (n, 2)."""
        return np.array(list(self._runs()), np.int64).reshape(-1, 2)

    def _runs(self) -> Iterator[tuple[int, int]]:
        at = 0
        while True:
            try:
                start = os.lseek(self._file, at, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                return
            at = os.lseek(self._file, start, os.SEEK_HOLE)
            yield start, at


def pages_of(ranges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of the pages that byte ranges, int64 (n, 2) of start and stop, have a part in; sorted, each once."""
    ranges = ranges[ranges[:, 1] > ranges[:, 0]]
    first, last = ranges[:, 0] // PAGE, (ranges[:, 1] - 1) // PAGE
    counts = last - first + 1
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.unique(np.repeat(first, counts) + within)


def ranges_of(pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """Byte ranges, int64 (n, 2), of sorted page numbers; neighbours are joined."""
    if not pages.size:
        return np.empty((0, 2), np.int64)
    cuts = np.flatnonzero(np.diff(pages) != 1)
    return np.stack([pages[np.r_[0, cuts + 1]], pages[np.r_[cuts, pages.size - 1]] + 1], axis=1) * PAGE
