"""What might have mattered: a launch is run again with bytes changed that should not, and its outputs are compared.

Padding that the kernel read, bytes behind a buffer that it read, and bytes that nobody had written.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from argpack.launch import Buffer
from argpack.launch.emulator_backend import EmulatorBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from argpack.families import Region, Workload
    from argpack.launch import LaunchResult
    from argpack.trace.memory import BufferUse

# As a scale: 2^-127, 1, NaN. As FP4: zeros, six and minus six.
_FILLS = (0x00, 0x7F, 0xFF)
# As far as a device forgives reads behind a buffer.
_BEHIND = 1 << 20


class Subject(enum.StrEnum):
    """Which bytes were changed."""

    PADDING = "padding"
    BEHIND = "behind"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class Experiment:
    """The launch once more with other bytes: `size` bytes called `name` in `buffer`, `read` of them by the kernel.

    `changed` says for each fill how many elements of the output became different (bytes of all other buffers where the
    workload does not say what its output is); nothing was run where none was read.
    """

    subject: Subject
    buffer: str
    name: str
    size: int
    read: int
    present: tuple[int, ...]
    changed: Mapping[int, int]

    @property
    def matters(self) -> bool:
        """Whether any fill changed the output."""
        return any(self.changed.values())


def experiments(
    workload: Workload,
    uses: Mapping[str, BufferUse],
    result: LaunchResult,
    behind: Sequence[str],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Experiment, ...]:
    """Every padding of the workload, reads of what nobody wrote, and of what lies behind the buffers in `behind`.

    `uses` and `result` are those of the launch as it is.
    """
    runs = _Runs(workload, result)
    planned = [partial(runs.padding, region, uses) for region in workload.padding]
    if len(workload.padding) > 1:
        planned.append(partial(runs.all_padding, workload.padding, uses))
    planned += [partial(runs.fresh, use) for use in uses.values() if use.fresh.any()]
    planned += [partial(runs.behind, name) for name in behind]
    found = []
    for number, run in enumerate(planned):
        if progress:
            progress(number, len(planned))
        found.append(run())
    return tuple(found)


class _Runs:
    """Launches held against the first one."""

    def __init__(self, workload: Workload, result: LaunchResult) -> None:
        self._launch = workload.launch
        self._output = workload.output
        self._inside = None if workload.output is None else workload.output.mask()
        self._expected = result
        self._backend = EmulatorBackend()

    def padding(self, region: Region, uses: Mapping[str, BufferUse]) -> Experiment:
        """With other values in a padding."""
        return self._filled(region.name, (region,), uses)

    def all_padding(self, regions: Sequence[Region], uses: Mapping[str, BufferUse]) -> Experiment:
        """With other values in all paddings at once: a padding of A may only matter where that of B has a value."""
        return self._filled("all paddings together", regions, uses)

    def _filled(self, name: str, regions: Sequence[Region], uses: Mapping[str, BufferUse]) -> Experiment:
        data = {region.buffer: self._data(region.buffer) for region in regions}
        masks = {buffer: np.zeros(content.size, np.bool_) for buffer, content in data.items()}
        for region in regions:
            masks[region.buffer] |= region.mask()
        read = sum(int((mask & uses[buffer].read).sum()) for buffer, mask in masks.items())
        present = tuple(np.unique(np.concatenate([data[b][mask] for b, mask in masks.items()])).tolist())
        changed = {}
        for fill in _FILLS if read else ():
            if present != (fill,):
                changed[fill] = self._changed({b: np.where(masks[b], fill, data[b]) for b in data})
        size = sum(int(mask.sum()) for mask in masks.values())
        return Experiment(Subject.PADDING, ", ".join(data), name, size, read, present, changed)

    def fresh(self, use: BufferUse) -> Experiment:
        """With other values where nobody had written when it was read."""
        data = self._data(use.name)
        changed = {fill: self._changed({use.name: np.where(use.fresh, fill, data)}) for fill in _FILLS}
        count = int(use.fresh.sum())
        name = f"bytes of {use.name} that nobody had written"
        return Experiment(Subject.FRESH, use.name, name, count, count, (), changed)

    def behind(self, name: str) -> Experiment:
        """With the buffer larger, so that what is read behind it has values."""
        data = self._data(name)
        changed = {
            fill: self._changed({name: np.r_[data, np.full(_BEHIND, fill, np.uint8)]}) for fill in _FILLS[1:]
        }
        return Experiment(Subject.BEHIND, name, f"bytes behind {name}", _BEHIND, 0, (), changed)

    def _data(self, name: str) -> NDArray[np.uint8]:
        return next(buffer.data for buffer in self._launch.buffers if buffer.name == name)

    def _changed(self, contents: Mapping[str, NDArray[np.generic]]) -> int:
        """Elements of the output that differ when buffers hold other contents."""
        buffers = tuple(
            Buffer(buffer.name, contents[buffer.name].astype(np.uint8), initialised=buffer.initialised)
            if buffer.name in contents
            else buffer
            for buffer in self._launch.buffers
        )
        result = self._backend.run(replace(self._launch, buffers=buffers))
        if self._output is None:
            return sum(
                int(np.count_nonzero(before != result.buffers[which][: before.size]))
                for which, before in self._expected.buffers.items()
                if which not in contents
            )
        before, after = (r.buffers[self._output.buffer] for r in (self._expected, result))
        differs = (before != after[: before.size]) & self._inside
        return int(np.count_nonzero(differs.reshape(-1, self._output.item).any(axis=1)))
