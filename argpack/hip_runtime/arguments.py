"""The kernarg segment of a launch, from `kernelParams` or from `extra`, as HIP fills it: argument by argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hip_runtime.errors import CallError, Code

if TYPE_CHECKING:
    from argpack.codeobject import Argument, Kernel
    from argpack.hip_runtime.runtime import Runtime

_POINTER, _SIZE, _END = 1, 2, 3


def segment_size(kernel: Kernel) -> int:
    """Bytes to hold: what the kernel declares, or its last argument's end where that is more."""
    return max(16, kernel.kernarg_segment_size, *(argument.end for argument in kernel.arguments), 0)


def gather(runtime: Runtime, kernel: Kernel, params: int, extra: int) -> bytearray:
    """The visible arguments in place, zeros elsewhere. `params` and `extra` are addresses in the program, or null.

    Raises CallError for both or neither of them, and for what cannot be read.
    """
    segment = bytearray(segment_size(kernel))
    visible = [argument for argument in kernel.arguments if not argument.hidden]
    if params and extra:
        raise CallError(Code.INVALID_VALUE, "both kernelParams and extra are given")
    if params:
        _from_params(runtime, visible, params, segment)
    elif extra:
        _from_extra(runtime, kernel, visible, extra, segment)
    elif visible:
        raise CallError(Code.INVALID_VALUE, f"{kernel.name} has {len(visible)} arguments, none are given")
    return segment


def _from_params(runtime: Runtime, visible: list[Argument], params: int, segment: bytearray) -> None:
    pointers = runtime.host.read(params, 8 * len(visible))
    for index, argument in enumerate(visible):
        pointer = int.from_bytes(pointers[8 * index : 8 * index + 8], "little")
        if not pointer:
            raise CallError(
                Code.INVALID_VALUE, f"kernelParams[{index}] ({argument.name or 'unnamed'}) is null"
            )
        try:
            segment[argument.offset : argument.end] = runtime.host.read(pointer, argument.size)
        except CallError as error:
            what = f"kernelParams[{index}] ({argument.name or 'unnamed'})"
            raise CallError(
                error.code,
                f"{what}: expected the address of the value, perhaps it is the value itself: {error}",
            ) from error


def _from_extra(
    runtime: Runtime, kernel: Kernel, visible: list[Argument], extra: int, segment: bytearray
) -> None:
    pointer, size = _slots(runtime, extra)
    if not visible:
        if size:
            raise CallError(
                Code.LAUNCH_OUT_OF_RESOURCES, f"{kernel.name} declares no arguments, {size} bytes are given"
            )
        return
    if not pointer or not size:
        raise CallError(Code.INVALID_VALUE, f"extra: {size} bytes of arguments at {pointer:#x}")
    given = runtime.host.read(pointer, min(size, len(segment)))
    for argument in visible:
        segment[argument.offset : argument.end] = given[argument.offset : argument.end].ljust(
            argument.size, b"\0"
        )
    short = [argument for argument in visible if argument.end > size and _means_something(argument)]
    if short:
        runtime.say_once(
            f"{kernel.name}: the argument buffer has {size} bytes, {short[0].name} ends at {short[0].end}: "
            "HIP reads what lies behind the buffer, here are zeros"
        )
    covered = {byte for argument in visible for byte in range(argument.offset, argument.end)}
    lost = [at for at, byte in enumerate(given) if byte and at not in covered]
    if lost:
        runtime.say_once(
            f"{kernel.name}: the byte at {lost[0]:#x} of the argument buffer is in no declared argument: not passed"
        )


def _means_something(argument: Argument) -> bool:
    return not (argument.name or "pad").lower().startswith(("pad", "_pad"))


def _slots(runtime: Runtime, extra: int) -> tuple[int, int]:
    """Pointer and size, in the order that HIP insists on: POINTER, SIZE, END."""
    names = {0: (_POINTER, "BUFFER_POINTER, 1"), 2: (_SIZE, "BUFFER_SIZE, 2"), 4: (_END, "END, 3")}
    for index, (wanted, name) in names.items():
        found = runtime.host.word(extra + 8 * index)
        if found != wanted:
            raise CallError(
                Code.INVALID_VALUE, f"extra[{index}]: expected HIP_LAUNCH_PARAM_{name}, found {found:#x}"
            )
    pointer, size = (runtime.host.word(extra + 8 * index) for index in (1, 3))
    return pointer, runtime.host.word(size) if size else 0


def fill_hidden(
    segment: bytearray, kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> None:
    """Put in what the runtime passes of its own, each at its own offset; what the device does not have is zero."""
    values = {"hidden_grid_dims": 3 if grid[2] * block[2] > 1 else 2 if grid[1] * block[1] > 1 else 1}
    for axis, blocks, items in zip("xyz", grid, block, strict=True):
        values[f"hidden_block_count_{axis}"] = blocks
        values[f"hidden_group_size_{axis}"] = items
    for argument in kernel.arguments:
        if argument.hidden and argument.end <= len(segment):
            value = values.get(argument.kind, 0)
            segment[argument.offset : argument.end] = value.to_bytes(argument.size, "little")
