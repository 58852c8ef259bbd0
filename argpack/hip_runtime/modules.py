"""Calls that load code objects and find kernels in them, and those that ask about kernels."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

from argpack.hip_runtime import device, images
from argpack.hip_runtime.errors import CallError, Code
from argpack.hip_runtime.functions import hip
from argpack.hip_runtime.loaded import LoadedFunction, LoadedModule, find_kernel
from argpack.hip_runtime.queries import put
from argpack.hip_runtime.runtime import check_pointer

if TYPE_CHECKING:
    from argpack.hip_runtime.runtime import Runtime


@hip("hipModuleLoad", parameters="ww")
def _load(runtime: Runtime, address: int, name: int) -> None:
    check_pointer(address)
    check_pointer(name, "the name")
    path = runtime.host.path(runtime.host.text(name))
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CallError(Code.FILE_NOT_FOUND, f"{path}: {error.strerror}") from error
    module = LoadedModule(images.load(data, source=str(path)))
    put(runtime, address, "Q", runtime.handles.add(module))


@hip("hipModuleLoadData", "hipModuleLoadFatBinary", parameters="ww")
def _load_data(runtime: Runtime, address: int, image: int) -> None:
    check_pointer(address)
    check_pointer(image, "the image")
    data = images.fetch(runtime.host, image)
    module = LoadedModule(images.load(data, source=f"image at {image:#x}"))
    put(runtime, address, "Q", runtime.handles.add(module))


@hip("hipModuleLoadDataEx", parameters="wwuww")
def _load_data_with_options(runtime: Runtime, address: int, image: int, *_: int) -> None:
    _load_data(runtime, address, image)


@hip("hipModuleUnload", parameters="w")
def _unload(runtime: Runtime, handle: int) -> None:
    module = runtime.handles.remove(handle, LoadedModule)
    for function in module.handles.values():
        loaded = runtime.handles.remove(function, LoadedFunction)
        if loaded.kernarg:
            runtime.arena.free(loaded.kernarg.address)


@hip("hipModuleGetFunction", parameters="www")
def _get_function(runtime: Runtime, address: int, handle: int, name: int) -> None:
    check_pointer(address)
    check_pointer(name, "the name")
    module = runtime.handles.get(handle, LoadedModule)
    put(runtime, address, "Q", function_handle(runtime, module, runtime.host.text(name)))


def function_handle(runtime: Runtime, module: LoadedModule, name: str) -> int:
    """The handle of a kernel, the same at every call. Raises CallError."""
    if name not in module.handles:
        kernel = find_kernel(module.code_object, name)
        module.handles[name] = runtime.handles.add(LoadedFunction(module.code_object, kernel))
    return module.handles[name]


@hip("hipModuleGetFunctionCount", parameters="ww")
def _count(runtime: Runtime, address: int, handle: int) -> None:
    put(runtime, address, "I", len(runtime.handles.get(handle, LoadedModule).code_object.kernels))


@hip("hipFuncGetAttribute", parameters="wiw")
def _attribute(runtime: Runtime, address: int, attribute: int, handle: int) -> None:
    function = runtime.handles.get(handle, LoadedFunction)
    values = _numbers(function)
    if not 0 <= attribute < len(values):
        raise CallError(Code.INVALID_VALUE, f"unknown function attribute {attribute}")
    put(runtime, address, "i", values[attribute])


def _numbers(function: LoadedFunction) -> tuple[int, ...]:
    """The values of hipFunction_attribute, by number."""
    kernel = function.kernel
    lds = kernel.group_segment_size
    registers = kernel.vgpr_count
    left = device.LDS_BYTES - lds
    return (
        kernel.max_flat_workgroup_size,
        lds,
        0,
        kernel.private_segment_size,
        registers,
        95,
        95,
        0,
        left,
        0,
    )


def write_attributes(runtime: Runtime, address: int, function: LoadedFunction) -> None:
    """Fill a hipFuncAttributes struct."""
    threads, lds, constant, private, registers, ptx, binary, cache, left, carveout = _numbers(function)
    check_pointer(address)
    layout = struct.Struct("<iiQQiiiiixxxxQ")
    values = (binary, cache, constant, private, left, threads, registers, carveout, ptx, lds)
    runtime.host.write(address, layout.pack(*values))
