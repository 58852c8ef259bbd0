"""Steps of memory instructions that tell an observer where they go before they go there.

Addresses are computed by the functions that the instructions themselves use; nothing here moves data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.lds import access_parts
from argpack.emulator.observe import Access, Direction
from argpack.emulator.operands import Array, Operands, Step
from argpack.emulator.scalar_memory import scalar_address
from argpack.emulator.vector_memory import LOADS, STORES, lane_addresses, lds_target

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.observe import Observer
    from argpack.emulator.waves import Waves

I64 = np.int64
Report = Callable[["Waves"], None]

_VERBS = {"load": Direction.READ, "store": Direction.WRITE, "atomic": Direction.ATOMIC}


def watched(step: Step, instruction: Instruction, observer: Observer) -> Step:
    """The step with its accesses reported first; the step itself where the instruction accesses nothing."""
    operands = Operands(instruction)
    report: Report | None = None
    if instruction.encoding == "SMEM" and instruction.mnemonic.startswith("s_load_"):
        report = _scalar(operands, observer)
    elif instruction.encoding in {"MUBUF", "GLOBAL"} and instruction.mnemonic.count("_") > 1:
        report = _vector(operands, observer)
    elif instruction.encoding == "DS" and instruction.mnemonic != "ds_bpermute_b32":
        report = _lds(operands, observer)
    if report is None:
        return step
    tell, execute = report, step.execute

    def both(w: Waves) -> None:
        tell(w)
        execute(w)

    return replace(step, execute=both)


def _scalar(operands: Operands, observer: Observer) -> Report:
    address, count = scalar_address(operands)
    instruction = operands.instruction

    def report(w: Waves) -> None:
        start: Array = np.broadcast_to(address(w), (w.count,))[:, None]
        observer.memory_access(w, Access(instruction, Direction.READ, start, 4 * count))

    return report


def _vector(operands: Operands, observer: Observer) -> Report:
    instruction = operands.instruction
    _, verb, kind = instruction.mnemonic.split("_", maxsplit=2)
    direction = _VERBS[verb]
    # The one atomic that is executed adds to a dword.
    size = LOADS[kind][0] if verb == "load" else STORES.get(kind, 4)
    addresses = lane_addresses(operands)(size)
    to_lds = lds_target(operands, size) if instruction.fields.get("lds") else None

    def report(w: Waves) -> None:
        address, in_range = addresses(w)
        observer.memory_access(w, Access(instruction, direction, address, size, w.mask, in_range))
        if to_lds is not None:
            # What is out of range is written, too: as zeros.
            observer.lds_access(w, Access(instruction, Direction.WRITE, to_lds(w), size, w.mask))

    return report


def _lds(operands: Operands, observer: Observer) -> Report:
    instruction = operands.instruction
    direction = Direction.READ if "_read" in instruction.mnemonic else Direction.WRITE
    lane = operands.vector(operands.field("addr") + 256)
    parts = access_parts(instruction)

    def report(w: Waves) -> None:
        start = lane(w).astype(I64)
        for offset, size in parts:
            observer.lds_access(w, Access(instruction, direction, start + offset, size, w.mask))

    return report
