"""Spreads the workgroups of a grid over batches and processes. Memory is shared, so results need no copying back."""

from __future__ import annotations

import multiprocessing
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.engine import Dispatch, run_batch
from argpack.emulator.memory import MemoryFaultError
from argpack.emulator.waves import LANES
from argpack.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

    from argpack.emulator.memory import DeviceMemory
    from argpack.emulator.program import Program

# Waves side by side at most, and bytes of the VGPRs that they use: numpy's cost per call is shared, and neighbours
# share operands, but memory is not free.
_WAVES = 1024
_REGISTER_BYTES = 24 << 20
# Fewer than this are not worth a process of their own.
_WORTH_A_PROCESS = 32
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Schedule:
    """`grid` in workgroups, `processes` at most. `workgroups` are those to run, ids (x, y, z); None for all."""

    grid: tuple[int, int, int]
    processes: int
    workgroups: tuple[tuple[int, int, int], ...] | None = None

    def batches(self, waves_per_workgroup: int, *, vgprs: int = 1) -> list[NDArray[np.int64]]:
        """Workgroup ids, int64 (n, 3), per batch: blocks of the grid, square where they can be, all slices together.

        `vgprs` is how many of them the kernel uses. Neighbours read the same rows of A or of B, which the matrix unit
        then decodes once.
        """
        x, y, z = self.grid
        waves = z * waves_per_workgroup
        most = min(_WAVES, _REGISTER_BYTES // (vgprs * LANES * 4))
        if self.workgroups is not None:
            return _some_batches(self.workgroups, max(1, most // waves), self.processes)
        processes = min(self.processes, max(1, x * y * waves // _WORTH_A_PROCESS))
        # As many for each process, as near as can be: they are of one size, and the last to end is waited for.
        parts = -(-x * y * waves // (most * processes)) * processes
        across, down = _cuts(x, y, most=max(1, min(most // waves, -(-x * y // parts))))
        batches = []
        for rows in np.array_split(np.arange(y), down):
            for columns in np.array_split(np.arange(x), across):
                tiles = np.stack(np.meshgrid(np.arange(z), rows, columns, indexing="ij"), axis=-1)
                batches.append(tiles.reshape(-1, 3)[:, ::-1].astype(np.int64))
        return batches


def _some_batches(
    workgroups: Sequence[tuple[int, int, int]], most: int, processes: int
) -> list[NDArray[np.int64]]:
    """Single tiles of the grid, all slices of each together and in the order of a whole batch."""
    slices: dict[tuple[int, int], list[int]] = {}
    for x, y, z in workgroups:
        slices.setdefault((x, y), []).append(z)
    tiles = list(slices)
    parts = max(-(-len(tiles) // most), min(processes, len(tiles)))
    batches = []
    for chosen in np.array_split(np.arange(len(tiles)), parts):
        ids = [(z, *tiles[number]) for number in chosen for z in slices[tiles[number]]]
        batches.append(np.array([(x, y, z) for z, x, y in sorted(ids, key=lambda one: one[0])], np.int64))
    return batches


def _cuts(x: int, y: int, *, most: int) -> tuple[int, int]:
    """Into how many parts to cut x and y: the fewest blocks of at most `most` workgroups, then the least border."""
    shapes = (
        (-(-x // across), min(y, most // -(-x // across))) for across in range(max(1, -(-x // most)), x + 1)
    )
    cuts = ((-(-x // width), -(-y // height), width + height) for width, height in shapes)
    across, down, _ = min(cuts, key=lambda cut: (cut[0] * cut[1], cut[2]))
    return across, down


def run_schedule(
    program: Program,
    dispatch: Dispatch,
    memory: DeviceMemory,
    schedule: Schedule,
    *,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Run every workgroup once. Raises UnsupportedError and MemoryFaultError as `run_batch` does.

    A program that is observed runs in this process alone.
    """
    if program.observer is not None:
        schedule = replace(schedule, processes=1)
        program.observer.begin(memory)
    program.compile(dispatch.entry)
    batches = schedule.batches(dispatch.waves, vgprs=len(program.vgprs))
    total = sum(map(len, batches))
    processes = min(schedule.processes, len(batches))
    with _one_blas_thread():
        if processes > 1:
            _run_processes(
                program, dispatch, memory, batches, processes, lambda done: progress and progress(done, total)
            )
            return
        done = 0
        for batch in batches:
            run_batch(program, dispatch, memory, batch)
            done += len(batch)
            if progress:
                progress(done, total)


def _run_processes(
    program: Program,
    dispatch: Dispatch,
    memory: DeviceMemory,
    batches: list[NDArray[np.int64]],
    processes: int,
    advance: Callable[[int], object],
) -> None:
    context = multiprocessing.get_context("fork")
    workers = []
    with warnings.catch_warnings():
        # Forking next to BLAS threads is safe here: the children run with one BLAS thread, set before the fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        turn = context.Value("q", 0)
        for _ in range(processes):
            ours, theirs = context.Pipe(duplex=False)
            worker = context.Process(
                target=_work, args=(program, dispatch, memory, batches, turn, theirs), daemon=True
            )
            worker.start()
            theirs.close()
            workers.append((worker, ours))
    failures: list[Exception] = []
    try:
        waiting = dict(workers)
        done = 0
        while waiting:
            for worker, pipe in list(waiting.items()):
                while pipe.poll(_POLL_SECONDS / len(waiting)):
                    try:
                        message = pipe.recv()
                    except EOFError:
                        message = UnsupportedError("an emulator process ended unexpectedly (out of memory?)")
                    if isinstance(message, int):
                        done += message
                        advance(done)
                        continue
                    if isinstance(message, Exception):
                        failures.append(message)
                    else:
                        memory.over_reads.update(message)
                    del waiting[worker]
                    break
    finally:
        for worker, _ in workers:
            if failures:
                worker.terminate()
            worker.join()
    if failures:
        raise failures[0]


def _work(
    program: Program,
    dispatch: Dispatch,
    memory: DeviceMemory,
    batches: list[NDArray[np.int64]],
    turn: multiprocessing.sharedctypes.Synchronized[int],
    pipe: Connection,
) -> None:
    memory.over_reads.clear()
    try:
        while True:
            with turn.get_lock():
                number = turn.value
                turn.value += 1
            if number >= len(batches):
                break
            run_batch(program, dispatch, memory, batches[number])
            pipe.send(len(batches[number]))
        pipe.send(dict(memory.over_reads))
    except (UnsupportedError, MemoryFaultError) as error:
        pipe.send(error)


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """BLAS threads cost more than they bring for matrices of one wave, and would multiply over processes."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
