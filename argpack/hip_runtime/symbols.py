"""Calls that compiled HIP programs make: fat binaries and host functions that stand for kernels."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from argpack.hip_runtime import images
from argpack.hip_runtime.errors import CallError, Code
from argpack.hip_runtime.functions import hip
from argpack.hip_runtime.loaded import FatBinary, LoadedFunction
from argpack.hip_runtime.modules import function_handle, write_attributes
from argpack.hip_runtime.queries import put
from argpack.hip_runtime.runtime import check_pointer

if TYPE_CHECKING:
    from argpack.hip_runtime.runtime import Runtime

# The wrapper that clang emits: magic "FPIH", version, address of the image.
_WRAPPER = struct.Struct("<IIQ")
_MAGIC = 0x48495046


@hip("__hipRegisterFatBinary", parameters="w", result="word")
def _register(runtime: Runtime, wrapper: int) -> int:
    magic, version, image = _WRAPPER.unpack(runtime.host.read(wrapper, _WRAPPER.size))
    if (magic, version) != (_MAGIC, 1):
        raise CallError(
            Code.INVALID_IMAGE,
            f"fat binary wrapper: expected {_MAGIC:#x} version 1, found {magic:#x} {version}",
        )
    source = f"fat binary at {image:#x}"
    return runtime.handles.add(FatBinary(images.fetch(runtime.host, image), source))


@hip("__hipRegisterFunction", parameters="wwwwiwwwww", result="void")
def _register_function(
    runtime: Runtime, binary: int, host_function: int, _: int, name: int, *__: int
) -> None:
    fat = runtime.handles.get(binary, FatBinary)
    runtime.symbols[host_function] = (fat, runtime.host.text(name))


@hip("__hipRegisterVar", "__hipRegisterManagedVar", parameters="", result="void")
def _register_variable(_: Runtime) -> None:
    """Device variables: nothing asks for them here."""


@hip("__hipUnregisterFatBinary", parameters="w", result="void")
def _unregister(runtime: Runtime, binary: int) -> None:
    fat = runtime.handles.remove(binary, FatBinary)
    for function in [address for address, (owner, _) in runtime.symbols.items() if owner is fat]:
        del runtime.symbols[function]


def function_of(runtime: Runtime, symbol: int) -> tuple[int, LoadedFunction]:
    """Handle and kernel that a host function stands for. Raises CallError."""
    if symbol not in runtime.symbols:
        raise CallError(
            Code.INVALID_DEVICE_FUNCTION, f"{symbol:#x} is no host function that stands for a kernel"
        )
    fat, name = runtime.symbols[symbol]
    handle = function_handle(runtime, fat.load(), name)
    return handle, runtime.handles.get(handle, LoadedFunction)


@hip("hipGetFuncBySymbol", parameters="ww")
def _by_symbol(runtime: Runtime, address: int, symbol: int) -> None:
    check_pointer(address)
    put(runtime, address, "Q", function_of(runtime, symbol)[0])


@hip("hipFuncGetAttributes", parameters="ww")
def _attributes(runtime: Runtime, address: int, symbol: int) -> None:
    write_attributes(runtime, address, function_of(runtime, symbol)[1])


@hip("hipFuncSetAttribute", parameters="wii")
def _set_attribute(runtime: Runtime, symbol: int, _: int, __: int) -> None:
    function_of(runtime, symbol)


@hip("hipFuncSetCacheConfig", "hipFuncSetSharedMemConfig", parameters="wi")
def _set_config(runtime: Runtime, symbol: int, _: int) -> None:
    function_of(runtime, symbol)
