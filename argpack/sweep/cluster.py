"""Checks units on a cluster of dask.distributed, which hands a unit to another worker where one dies."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from argpack import __version__
from argpack.errors import UnavailableError
from argpack.sweep.check import check, not_checked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from argpack.sweep.plan import SweptKernel, Unit
    from argpack.sweep.results import Result

_SECONDS_TO_CONNECT = 10
# BLAS threads are limited for a whole process: a worker with several threads checks one unit at a time all the same.
_ONE_AT_A_TIME = threading.Lock()


def run_on_cluster(
    units: Sequence[Unit], kernels: Mapping[str, SweptKernel], *, scheduler: str
) -> Iterator[tuple[Unit, Result]]:
    """Each unit with its result, as they come. `scheduler` is its address, `tcp://host:8786`.

    Workers need argpack of this version and its emulator; kernels, by label, are sent to them. Raises UnavailableError
    where dask.distributed, the scheduler or every worker is missing, also midway.
    """
    try:
        from distributed import Client, as_completed
        from distributed.comm import get_address_host_port
    except ImportError:
        raise UnavailableError("--scheduler needs dask.distributed: pip install 'argpack[cluster]'") from None
    # What goes wrong is said below in one line.
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] == "distributed":  # it gives each of its loggers a level
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(
            scheduler
        )  # a Client that fails on an address prints a traceback when it is collected
        client = Client(scheduler, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise UnavailableError(f"{scheduler}: no dask scheduler answers: {reason}") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise UnavailableError(f"{scheduler}: this scheduler has no workers")
        # As tasks of the cluster: what a dead worker held is made again. Data that is scattered would be lost.
        data = {label: client.submit(_itself, kernel, pure=False) for label, kernel in kernels.items()}
        waiting: dict[Any, Unit] = {
            client.submit(_check, unit, data[unit.kernel], __version__, pure=False): unit for unit in units
        }
        for future in as_completed(list(waiting), loop=client.loop):
            unit = waiting.pop(future)
            yield unit, _result(future, unit, scheduler)
            future.release()


def _result(future: Any, unit: Unit, scheduler: str) -> Result:
    if future.status == "finished":
        found: Result = future.result()
        return found
    if future.status == "error":
        error = future.exception()
        return not_checked(unit, f"{type(error).__name__}: {error}".partition("\n")[0])
    raise UnavailableError(f"{scheduler}: lost the dask scheduler")


def _itself(kernel: SweptKernel) -> SweptKernel:
    return kernel


def _check(unit: Unit, kernel: SweptKernel, version: str) -> Result:
    if version != __version__:
        return not_checked(unit, f"a worker has argpack {__version__}, this sweep is of {version}")
    with _ONE_AT_A_TIME:
        return check(unit, kernel)
