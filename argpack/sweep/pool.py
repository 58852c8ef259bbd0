"""Checks units on processes of this machine, one unit at a time in each, and outlives a process that dies.

A process ends by itself when the one that started it is gone, however that ended.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from argpack.families import FAMILIES
from argpack.sweep.check import check, not_checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from multiprocessing.process import BaseProcess

    from argpack.sweep.plan import SweptKernel, Unit
    from argpack.sweep.results import Result


def run_here(
    units: Iterable[Unit], kernels: Mapping[str, SweptKernel], *, processes: int
) -> Iterator[tuple[Unit, Result]]:
    """Each unit with its result, as they come; the results are the same for any number of processes.

    `kernels` are by label. A unit whose process dies is not checked, and a new process takes the next.
    """
    pending = iter(units)
    busy: dict[Any, tuple[_Worker, Unit]] = {}
    try:
        while len(busy) < processes and (unit := next(pending, None)) is not None:
            _give(busy, _start(), unit, kernels)
        while busy:
            for pipe in wait(list(busy)):
                worker, unit = busy.pop(pipe)
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    result = not_checked(unit, f"its process {_end(worker)}")
                    worker = _start()
                upcoming = next(pending, None)
                if upcoming is None:
                    _stop(worker)
                else:
                    _give(busy, worker, upcoming, kernels)
                yield unit, result
    finally:
        for worker, _ in busy.values():
            _stop(worker)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection


def _start() -> _Worker:
    # Not forked from here: a child would hold the pipes of the others open. The server imports once for all of them.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["argpack.launch.emulator_backend", *(f.workload for f in FAMILIES if f.workload)]
    )
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    # Ctrl-C goes to all processes of a terminal; this one alone decides what it means. Children inherit the mask, but
    # the start of Python's own tracker of resources takes it off: that one first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return _Worker(process, ours)


def _give(
    busy: dict[Any, tuple[_Worker, Unit]], worker: _Worker, unit: Unit, kernels: Mapping[str, SweptKernel]
) -> None:
    busy[worker.pipe] = worker, unit
    with contextlib.suppress(BrokenPipeError):  # it died meanwhile: its pipe will tell
        worker.pipe.send((unit, kernels[unit.kernel]))


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.terminate()
    worker.process.join()


def _end(worker: _Worker) -> str:
    """How a process came to its end."""
    worker.pipe.close()
    worker.process.join()
    code = worker.process.exitcode or 0
    if code < 0:
        why = " (out of memory?)" if code == -signal.SIGKILL else ""
        return f"was ended by {signal.Signals(-code).name}{why}"
    return f"ended with exit code {code}"


def _work(pipe: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            unit, kernel = pipe.recv()
        except EOFError:
            return
        pipe.send(check(unit, kernel))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
