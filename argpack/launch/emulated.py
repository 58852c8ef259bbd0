"""A kernel made ready for the emulator: what it does not run is refused, its code is found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from argpack.emulator.engine import Dispatch, unsupported_start
from argpack.emulator.program import Program
from argpack.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from argpack.codeobject import CodeObject, Kernel
    from argpack.emulator.observe import Observer

PROCESSOR = "gfx950"
LDS_BYTES = 160 * 1024
WORK_ITEMS = 1024


def check_sizes(
    code_object: CodeObject,
    kernel: Kernel,
    *,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    dynamic_lds: int,
) -> None:
    """Raises InputError for a grid, block or LDS that no gfx950 device starts."""
    where = f"{code_object.source}: kernel {kernel.name!r}"
    if min(*grid, *block) < 1 or math.prod(block) > WORK_ITEMS:
        raise InputError(
            f"{where}: grid {grid}, block {block}: expected 1 or more of each, and at most {WORK_ITEMS} work-items"
        )
    for axis, blocks, items in zip("xyz", grid, block, strict=True):
        if blocks * items >= 1 << 32:
            raise InputError(
                f"{where}: {axis}: {blocks} blocks x {items} work-items = {blocks * items}, a launch has fewer "
                "than 2^32"
            )
    lds = kernel.group_segment_size + dynamic_lds
    if not 0 <= lds <= LDS_BYTES:
        raise InputError(f"{where}: {lds} bytes of LDS, {PROCESSOR} has {LDS_BYTES}")


def load(code_object: CodeObject, kernel: Kernel, *, observer: Observer | None = None) -> Program:
    """The kernel's code, for any memory and many launches. `observer` sees all that it does.

    Raises UnsupportedError for a foreign target or a start that the emulator does not have, InputError for a file
    without the kernel's code.
    """
    if code_object.target.processor != PROCESSOR:
        raise UnsupportedError(
            f"{code_object.source}: code object for {code_object.target}, this emulator executes {PROCESSOR}"
        )
    missing = unsupported_start(kernel.descriptor)
    if missing:
        raise UnsupportedError(
            f"{code_object.source}: kernel {kernel.name!r}: the emulator does not have {missing}"
        )
    for segment in code_object.segments:
        if segment.address <= kernel.code_address < segment.address + len(segment.data):
            return Program(
                segment.data,
                segment.address,
                flush_f32=kernel.descriptor.denorm_mode_32 == 0,
                name=kernel.name,
                observer=observer,
            )
    raise InputError(
        f"{code_object.source}: no segment holds the entry {kernel.code_address:#x} of {kernel.name}"
    )


def dispatch(
    kernel: Kernel, *, block: tuple[int, int, int], dynamic_lds: int, kernarg_address: int
) -> Dispatch:
    """One launch of the kernel. `block` counts work-items, `dynamic_lds` bytes."""
    return Dispatch(
        descriptor=kernel.descriptor,
        entry=kernel.code_address,
        block=block,
        lds_size=kernel.group_segment_size + dynamic_lds,
        kernarg_address=kernarg_address,
    )
