"""Real kernels with single instructions taken out, and launches watched for what that breaks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from argpack import kernels
from argpack.codeobject import read
from argpack.families import Problem
from argpack.families.aiter_f4gemm.workload import prepare, tile
from argpack.launch.emulator_backend import EmulatorBackend
from argpack.trace.lds_races import Order
from argpack.trace.synchronisation import Synchronisation

if TYPE_CHECKING:
    from pathlib import Path

    from argpack.codeobject import CodeObject

NOP = (0xBF800000).to_bytes(4, "little")


def f4gemm(name: str, root: Path) -> CodeObject:
    """An f4gemm kernel by the end of its name, `BpreShuffle_32x128`."""
    return read(kernels.resolve(f"f4gemm_bf16_per1x32Fp4_{name}.co", root=root))


def without(code_object: CodeObject, address: int) -> CodeObject:
    """The code object with an s_nop for the four bytes at an address."""
    segments = []
    for segment in code_object.segments:
        at = address - segment.address
        data = segment.data
        if 0 <= at < len(data):
            data = data[:at] + NOP + data[at + 4 :]
        segments.append(dataclasses.replace(segment, data=data))
    return dataclasses.replace(code_object, segments=tuple(segments))


def watch(
    code_object: CodeObject, *depths: int, m: int | None = None, n: int | None = None
) -> Synchronisation:
    """A watched launch for each K of `depths`, of one tile unless M and N are given; the findings of all."""
    kernel = code_object.kernels[0]
    rows, columns = tile(kernel.name)
    watched = Synchronisation()
    hazards, races, mismatches = {}, {}, []
    backend = EmulatorBackend(observer=watched)
    for k in depths:
        work = prepare(code_object, kernel, Problem(m=m or rows, n=n or columns, k=k))
        backend.run(work.launch)
        watched.finish()
        hazards |= watched.hazards
        races |= watched.races
        mismatches += watched.mismatches
    watched.hazards, watched.races, watched.mismatches = hazards, races, mismatches
    return watched


def orders(watched: Synchronisation) -> set[Order]:
    """Why the races found are races."""
    return {race.order for race in watched.races.values()}


def kinds(watched: Synchronisation) -> set[str]:
    """What was found, but for reads that are only just in time: names of orders, hazard, barriers."""
    found = {order.name for order in orders(watched) - {Order.TIMED}}
    found |= {"hazard"} if watched.hazards else set()
    return found | ({"barriers"} if watched.mismatches else set())


def synchronising(watched: Synchronisation) -> dict[int, str]:
    """Address and mnemonic of every s_waitcnt and s_barrier that ran."""
    return {
        address: instruction.mnemonic
        for address, instruction in sorted(watched.instructions.items())
        if instruction.mnemonic in {"s_waitcnt", "s_barrier"}
    }
