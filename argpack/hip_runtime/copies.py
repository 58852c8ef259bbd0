"""Calls that copy and fill. Which side an address is on is known: device addresses are reserved in the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.hip_runtime.errors import CallError, Code
from argpack.hip_runtime.functions import hip

if TYPE_CHECKING:
    from argpack.hip_runtime.runtime import Runtime

_HOST_TO_HOST, _HOST_TO_DEVICE, _DEVICE_TO_HOST, _DEVICE_TO_DEVICE, _DEFAULT = range(5)
_NO_COPY = 1024  # hipMemcpyDeviceToDeviceNoCU
_WORDS = {_HOST_TO_DEVICE: "host to device", _DEVICE_TO_HOST: "device to host", _HOST_TO_HOST: "host to host"}


@hip("hipMemcpy", "hipMemcpy_spt", parameters="wwwi")
def copy(runtime: Runtime, to: int, source: int, size: int, kind: int) -> None:
    """Copy bytes; the direction given must be the one that the addresses have. Raises CallError."""
    runtime.check_fault()
    if kind == _NO_COPY:
        kind = _DEVICE_TO_DEVICE
    if not _HOST_TO_HOST <= kind <= _DEFAULT:
        raise CallError(Code.INVALID_MEMCPY_DIRECTION, f"kind {kind}: expected 0 to 4")
    if not size:
        return
    if not to or not source:
        raise CallError(Code.INVALID_VALUE, f"{size:,} bytes {'to' if source else 'from'} a null pointer")
    target, origin = _side(runtime, to, size, "to"), _side(runtime, source, size, "from")
    _check_direction(kind, origin, target)
    arena, host = runtime.arena, runtime.host
    if "host" not in (target, origin):
        data = np.frombuffer(arena.view(source, size), np.uint8)
        np.frombuffer(arena.view(to, size), np.uint8)[...] = data.copy() if abs(to - source) < size else data
    elif origin != "host":
        host.download(to, size, arena.offset(source))
    elif target != "host":
        host.upload(source, size, arena.offset(to))
    else:
        for at in range(0, size, 1 << 20):
            host.write(to + at, host.read(source + at, min(size - at, 1 << 20)))


def _side(runtime: Runtime, address: int, size: int, verb: str) -> str:
    """`device`, `pinned` or `host`. Raises CallError for a range that leaves its buffer, or is in a freed one."""
    if not runtime.arena.owns(address):
        return "host"
    buffer = runtime.arena.holding(address)
    if buffer is None:
        raise CallError(Code.INVALID_VALUE, f"{size:,} bytes {verb} {address:#x}, which is in no allocation")
    over = address + size - buffer.address - buffer.size
    if over > 0:
        raise CallError(
            Code.INVALID_VALUE,
            f"{size:,} bytes {verb} {address:#x}: {over:,} bytes past the end of {buffer.name}",
        )
    return "pinned" if buffer.address in runtime.pinned else "device"


def _check_direction(kind: int, origin: str, target: str) -> None:
    from_host, to_host = kind in (_HOST_TO_HOST, _HOST_TO_DEVICE), kind in (_HOST_TO_HOST, _DEVICE_TO_HOST)
    fits = (origin == "pinned" or from_host == (origin == "host")) and (
        target == "pinned" or to_host == (target == "host")
    )
    if kind != _DEFAULT and not fits:
        said = _WORDS.get(kind, "device to device")
        raise CallError(Code.INVALID_VALUE, f"kind says {said}, the addresses are {origin} to {target}")


@hip("hipMemcpyAsync", "hipMemcpyAsync_spt", "hipMemcpyWithStream", parameters="wwwiw")
def _copy_async(runtime: Runtime, to: int, source: int, size: int, kind: int, stream: int) -> None:
    runtime.stream(stream)
    copy(runtime, to, source, size, kind)


@hip("hipMemcpyHtoD", parameters="www")
def _to_device(runtime: Runtime, to: int, source: int, size: int) -> None:
    copy(runtime, to, source, size, _HOST_TO_DEVICE)


@hip("hipMemcpyDtoH", parameters="www")
def _to_host(runtime: Runtime, to: int, source: int, size: int) -> None:
    copy(runtime, to, source, size, _DEVICE_TO_HOST)


@hip("hipMemcpyDtoD", parameters="www")
def _on_device(runtime: Runtime, to: int, source: int, size: int) -> None:
    copy(runtime, to, source, size, _DEVICE_TO_DEVICE)


@hip("hipMemcpyHtoDAsync", parameters="wwww")
def _to_device_async(runtime: Runtime, to: int, source: int, size: int, stream: int) -> None:
    _copy_async(runtime, to, source, size, _HOST_TO_DEVICE, stream)


@hip("hipMemcpyDtoHAsync", parameters="wwww")
def _to_host_async(runtime: Runtime, to: int, source: int, size: int, stream: int) -> None:
    _copy_async(runtime, to, source, size, _DEVICE_TO_HOST, stream)


@hip("hipMemcpyDtoDAsync", parameters="wwww")
def _on_device_async(runtime: Runtime, to: int, source: int, size: int, stream: int) -> None:
    _copy_async(runtime, to, source, size, _DEVICE_TO_DEVICE, stream)


@hip("hipMemcpy2D", parameters="wwwwwwi")
def _copy_2d(
    runtime: Runtime, to: int, to_pitch: int, source: int, pitch: int, width: int, height: int, kind: int
) -> None:
    if width > min(pitch, to_pitch):
        raise CallError(Code.INVALID_VALUE, f"rows of {width} bytes, pitches {pitch} and {to_pitch}")
    for row in range(height):
        copy(runtime, to + row * to_pitch, source + row * pitch, width, kind)


@hip("hipMemcpy2DAsync", parameters="wwwwwwiw")
def _copy_2d_async(runtime: Runtime, *arguments: int) -> None:
    runtime.stream(arguments[-1])
    _copy_2d(runtime, *arguments[:-1])


@hip("hipMemset", "hipMemset_spt", parameters="wiw")
def _set(runtime: Runtime, to: int, value: int, size: int) -> None:
    _fill(runtime, to, value, size, 1)


@hip("hipMemsetAsync", "hipMemsetAsync_spt", parameters="wiww")
def _set_async(runtime: Runtime, to: int, value: int, size: int, stream: int) -> None:
    runtime.stream(stream)
    _fill(runtime, to, value, size, 1)


@hip("hipMemsetD8", parameters="wuw")
def _set_bytes(runtime: Runtime, to: int, value: int, count: int) -> None:
    _fill(runtime, to, value, count, 1)


@hip("hipMemsetD16", parameters="wuw")
def _set_halves(runtime: Runtime, to: int, value: int, count: int) -> None:
    _fill(runtime, to, value, count, 2)


@hip("hipMemsetD32", parameters="wiw")
def _set_words(runtime: Runtime, to: int, value: int, count: int) -> None:
    _fill(runtime, to, value, count, 4)


@hip("hipMemsetD8Async", parameters="wuww")
def _set_bytes_async(runtime: Runtime, to: int, value: int, count: int, stream: int) -> None:
    runtime.stream(stream)
    _fill(runtime, to, value, count, 1)


@hip("hipMemsetD16Async", parameters="wuww")
def _set_halves_async(runtime: Runtime, to: int, value: int, count: int, stream: int) -> None:
    runtime.stream(stream)
    _fill(runtime, to, value, count, 2)


@hip("hipMemsetD32Async", parameters="wiww")
def _set_words_async(runtime: Runtime, to: int, value: int, count: int, stream: int) -> None:
    runtime.stream(stream)
    _fill(runtime, to, value, count, 4)


def _fill(runtime: Runtime, to: int, value: int, count: int, width: int) -> None:
    """Set `count` units of `width` bytes."""
    runtime.check_fault()
    size = count * width
    if not size:
        return
    if _side(runtime, to, size, "to") == "host":
        raise CallError(Code.INVALID_VALUE, f"{to:#x} is no device memory")
    if to % width:
        raise CallError(Code.INVALID_VALUE, f"{to:#x} is no multiple of {width}")
    unit = np.dtype(f"<u{width}")
    np.frombuffer(runtime.arena.view(to, size), unit)[...] = value % (1 << 8 * width)
