"""Calls that allocate and free: device memory, and host memory that the device sees at the same address."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from argpack.hip_runtime.errors import CallError, Code
from argpack.hip_runtime.functions import hip
from argpack.hip_runtime.queries import put
from argpack.hip_runtime.runtime import check_pointer

if TYPE_CHECKING:
    from argpack.emulator.memory import Allocation
    from argpack.hip_runtime.runtime import Runtime

# hipMemoryType since HIP 6.
_HOST, _DEVICE = 1, 2


@hip("hipMalloc", parameters="ww")
def _malloc(runtime: Runtime, address: int, size: int) -> None:
    check_pointer(address)
    put(runtime, address, "Q", _allocate(runtime, size, "hipMalloc"))


@hip("hipMallocAsync", parameters="www")
def _malloc_async(runtime: Runtime, address: int, size: int, stream: int) -> None:
    runtime.stream(stream)
    _malloc(runtime, address, size)


@hip("hipExtMallocWithFlags", parameters="wwu")
def _malloc_with_flags(runtime: Runtime, address: int, size: int, _: int) -> None:
    _malloc(runtime, address, size)


@hip("hipMallocManaged", parameters="wwu")
def _malloc_managed(runtime: Runtime, address: int, size: int, _: int) -> None:
    _host_malloc(runtime, address, size, 0)


@hip("hipHostMalloc", "hipHostAlloc", parameters="wwu")
def _host_malloc(runtime: Runtime, address: int, size: int, _: int) -> None:
    check_pointer(address)
    pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    buffer = _allocate(runtime, size, "hipHostMalloc")
    if buffer and not runtime.host.show(buffer, pages, runtime.arena.offset(buffer)):
        runtime.arena.free(buffer)
        raise CallError(Code.OUT_OF_MEMORY, f"the host cannot map {size:,} bytes")
    if buffer:
        runtime.pinned[buffer] = pages
    put(runtime, address, "Q", buffer)


@hip("hipMallocHost", "hipMemAllocHost", parameters="ww")
def _malloc_host(runtime: Runtime, address: int, size: int) -> None:
    _host_malloc(runtime, address, size, 0)


def _allocate(runtime: Runtime, size: int, what: str) -> int:
    """The address, null for no bytes."""
    if not size:
        return 0
    buffer = runtime.arena.allocate(size, what)
    if buffer is None:
        left = runtime.arena.capacity - runtime.arena.used
        raise CallError(Code.OUT_OF_MEMORY, f"{size:,} bytes asked for, {left:,} are left")
    return buffer.address


@hip("hipFree", parameters="w")
def _free(runtime: Runtime, address: int) -> None:
    if not address:
        return
    if address in runtime.pinned:
        runtime.host.hide(address, runtime.pinned.pop(address))
    if not runtime.arena.free(address):
        raise CallError(Code.INVALID_VALUE, _no_start(runtime, address))


def _no_start(runtime: Runtime, address: int) -> str:
    buffer = runtime.arena.holding(address)
    if buffer:
        return f"{address:#x} is {address - buffer.address:,} bytes into {buffer.name}: only its start can be freed"
    return f"{address:#x} was not allocated, or is freed already"


@hip("hipFreeAsync", parameters="ww")
def _free_async(runtime: Runtime, address: int, stream: int) -> None:
    runtime.stream(stream)
    check_pointer(address, "the address to free")
    _free(runtime, address)


@hip("hipHostFree", "hipFreeHost", parameters="w")
def _host_free(runtime: Runtime, address: int) -> None:
    if address and address not in runtime.pinned:
        raise CallError(
            Code.INVALID_VALUE, f"{address:#x} is no memory of hipHostMalloc, or is freed already"
        )
    _free(runtime, address)


@hip("hipHostGetDevicePointer", parameters="wwu")
def _device_pointer(runtime: Runtime, address: int, pointer: int, _: int) -> None:
    buffer = runtime.arena.holding(pointer)
    if buffer is None or buffer.address not in runtime.pinned:
        raise CallError(Code.INVALID_VALUE, f"{pointer:#x} is no memory of hipHostMalloc")
    put(runtime, address, "Q", pointer)


@hip("hipPointerGetAttributes", parameters="ww")
def _pointer_attributes(runtime: Runtime, address: int, pointer: int) -> None:
    check_pointer(address)
    buffer = _holding(runtime, pointer)
    pinned = buffer.address in runtime.pinned
    put(runtime, address, "iiQQiI", _HOST if pinned else _DEVICE, 0, pointer, pointer if pinned else 0, 0, 0)


@hip("hipMemGetAddressRange", parameters="www")
def _range(runtime: Runtime, start: int, size: int, pointer: int) -> None:
    buffer = _holding(runtime, pointer)
    if start:
        put(runtime, start, "Q", buffer.address)
    if size:
        put(runtime, size, "Q", buffer.size)


@hip("hipMemPtrGetInfo", parameters="ww")
def _info(runtime: Runtime, pointer: int, size: int) -> None:
    put(runtime, size, "Q", _holding(runtime, pointer).size)


def _holding(runtime: Runtime, pointer: int) -> Allocation:
    buffer = runtime.arena.holding(pointer)
    if buffer is None:
        raise CallError(Code.INVALID_VALUE, f"{pointer:#x} is in no allocation")
    return buffer
