"""Calls that launch kernels. A launch has ended when its call returns; a memory access fault is the call's error."""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.errors import ArgpackError, UnsupportedError
from argpack.hip_runtime.arguments import fill_hidden, gather, segment_size
from argpack.hip_runtime.errors import CallError, Code
from argpack.hip_runtime.functions import hip
from argpack.hip_runtime.loaded import LoadedFunction
from argpack.hip_runtime.runtime import Event, check_pointer, say
from argpack.hip_runtime.symbols import function_of

if TYPE_CHECKING:
    from argpack.hip_runtime.runtime import Runtime

Triple = tuple[int, int, int]

# HIP_LAUNCH_CONFIG and hipLaunchConfig_t: grid, block, LDS bytes, stream, attributes and how many.
_DRIVER_CONFIG = struct.Struct("<7I4xQQI")
_RUNTIME_CONFIG = struct.Struct("<6IQQQI")
# hipLaunchAttribute: an id, a value of 64 bytes on an 8-byte boundary.
_ATTRIBUTE_BYTES = 72
_COOPERATIVE, _CLUSTER = 2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Geometry:
    """`grid` counts workgroups, `block` work-items, `lds` bytes beyond those the kernel declares."""

    grid: Triple
    block: Triple
    lds: int
    stream: int


@hip("hipModuleLaunchKernel", parameters="wuuuuuuuwww")
def _launch(
    runtime: Runtime,
    function: int,
    gx: int,
    gy: int,
    gz: int,
    bx: int,
    by: int,
    bz: int,
    lds: int,
    stream: int,
    params: int,
    extra: int,
) -> None:
    geometry = _Geometry(grid=(gx, gy, gz), block=(bx, by, bz), lds=lds, stream=stream)
    _run(runtime, runtime.handles.get(function, LoadedFunction), geometry, params, extra)


@hip(
    "hipExtModuleLaunchKernel",
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
    parameters="wuuuuuuwwwwwwu",
)
def _launch_threads(
    runtime: Runtime,
    function: int,
    gx: int,
    gy: int,
    gz: int,
    bx: int,
    by: int,
    bz: int,
    lds: int,
    stream: int,
    params: int,
    extra: int,
    start: int,
    stop: int,
    _: int,
) -> None:
    """The grid counts threads."""
    threads, block = (gx, gy, gz), (bx, by, bz)
    if 0 in block or any(all_ % one for all_, one in zip(threads, block, strict=True)):
        raise CallError(
            Code.INVALID_CONFIGURATION,
            f"a grid of {_times(threads)} threads in blocks of {_times(block)}: expected whole blocks "
            "(this function counts threads, not blocks)",
        )
    grid = (gx // bx, gy // by, gz // bz)
    geometry = _Geometry(grid=grid, block=block, lds=lds, stream=stream)
    loaded = runtime.handles.get(function, LoadedFunction)
    _between_events(runtime, loaded, geometry, params, extra, (start, stop))


def _between_events(
    runtime: Runtime,
    function: LoadedFunction,
    geometry: _Geometry,
    params: int,
    extra: int,
    events: tuple[int, int],
) -> None:
    first, last = (runtime.handles.get(event, Event) if event else Event() for event in events)
    first.record()
    _run(runtime, function, geometry, params, extra)
    last.record()


@hip("hipDrvLaunchKernelEx", parameters="wwww")
def _launch_configured(runtime: Runtime, config: int, function: int, params: int, extra: int) -> None:
    check_pointer(config, "the launch configuration")
    *sizes, lds, stream, attributes, count = _DRIVER_CONFIG.unpack(
        runtime.host.read(config, _DRIVER_CONFIG.size)
    )
    _check_attributes(runtime, attributes, count)
    geometry = _Geometry(grid=_triple(sizes[:3]), block=_triple(sizes[3:]), lds=lds, stream=stream)
    _run(runtime, runtime.handles.get(function, LoadedFunction), geometry, params, extra)


@hip("hipLaunchKernelExC", parameters="www")
def _launch_symbol_configured(runtime: Runtime, config: int, symbol: int, params: int) -> None:
    check_pointer(config, "the launch configuration")
    *sizes, lds, stream, attributes, count = _RUNTIME_CONFIG.unpack(
        runtime.host.read(config, _RUNTIME_CONFIG.size)
    )
    _check_attributes(runtime, attributes, count)
    geometry = _Geometry(grid=_triple(sizes[:3]), block=_triple(sizes[3:]), lds=lds, stream=stream)
    _run(runtime, function_of(runtime, symbol)[1], geometry, params, 0)


@hip("hipLaunchKernel", "hipLaunchKernel_spt", parameters="wddwww")
def _launch_symbol(runtime: Runtime, symbol: int, *rest: int) -> None:
    params, lds, stream = rest[6:]
    geometry = _Geometry(grid=_triple(rest[:3]), block=_triple(rest[3:6]), lds=lds, stream=stream)
    _run(runtime, function_of(runtime, symbol)[1], geometry, params, 0)


@hip("hipExtLaunchKernel", parameters="wddwwwwwi")
def _launch_symbol_between_events(runtime: Runtime, symbol: int, *rest: int) -> None:
    params, lds, stream, start, stop, _ = rest[6:]
    geometry = _Geometry(grid=_triple(rest[:3]), block=_triple(rest[3:6]), lds=lds, stream=stream)
    _between_events(runtime, function_of(runtime, symbol)[1], geometry, params, 0, (start, stop))


def _check_attributes(runtime: Runtime, address: int, count: int) -> None:
    """Raises CallError for what changes how the kernel runs; the rest are hints."""
    for at in range(count):
        data = runtime.host.read(address + at * _ATTRIBUTE_BYTES, 20)
        kind, x, y, z = struct.unpack("<I4x3I", data)
        if (kind == _CLUSTER and (x, y, z) != (1, 1, 1)) or (kind == _COOPERATIVE and x):
            what = f"workgroup clusters of {x}×{y}×{z}" if kind == _CLUSTER else "a cooperative launch"
            raise CallError(Code.NOT_SUPPORTED, f"launch attribute: {what}, which gfx950 does not have here")


def _triple(values: list[int] | tuple[int, ...]) -> Triple:
    x, y, z = values
    return x, y, z


def _times(values: Triple) -> str:
    return "×".join(map(str, values))


def _run(runtime: Runtime, function: LoadedFunction, geometry: _Geometry, params: int, extra: int) -> None:
    """Run the kernel to its end. Raises CallError."""
    runtime.check_fault()
    runtime.stream(geometry.stream)
    _check_geometry(function, geometry)
    kernel = function.kernel
    segment = gather(runtime, kernel, params, extra)
    fill_hidden(segment, kernel, geometry.grid, geometry.block)
    # The emulator is imported by the first launch: programs that only ask start sooner.
    from argpack.emulator.memory import MemoryFaultError
    from argpack.emulator.schedule import Schedule, run_schedule
    from argpack.launch import emulated

    try:
        if function.program is None:
            function.program = emulated.load(function.code_object, kernel)
        if function.kernarg is None:
            function.kernarg = runtime.arena.allocate(
                segment_size(kernel), f"kernarg segment of {kernel.name}"
            )
        if function.kernarg is None:
            raise CallError(Code.OUT_OF_MEMORY, "no room for the kernarg segment")
        address = function.kernarg.address
        runtime.arena.view(address, len(segment))[:] = bytes(segment)
        start = emulated.dispatch(
            kernel, block=geometry.block, dynamic_lds=geometry.lds, kernarg_address=address
        )
        memory = runtime.arena.bound()
        schedule = Schedule(geometry.grid, len(os.sched_getaffinity(0)))
        run_schedule(
            function.program, start, memory, schedule, progress=lambda _, __: runtime.host.stop_if_gone()
        )
    except MemoryFaultError as error:
        runtime.fault = str(error)
        raise CallError(Code.ILLEGAL_ADDRESS, f"{kernel.name}: {error}") from error
    except UnsupportedError as error:
        raise CallError(Code.NOT_SUPPORTED, str(error)) from error
    except ArgpackError as error:
        raise CallError(Code.INVALID_IMAGE, str(error)) from error
    for finding in memory.findings():
        say(f"{kernel.name}: {finding}")


def _check_geometry(function: LoadedFunction, geometry: _Geometry) -> None:
    from argpack.launch.emulated import LDS_BYTES

    grid, block = geometry.grid, geometry.block
    kernel = function.kernel
    where = f"{kernel.name}: grid {_times(grid)}, block {_times(block)}"
    if min(*grid, *block) < 1:
        raise CallError(Code.INVALID_CONFIGURATION, f"{where}: expected 1 or more of each")
    most = min(1024, kernel.max_flat_workgroup_size or 1024)
    if math.prod(block) > most:
        raise CallError(Code.INVALID_CONFIGURATION, f"{where}: the kernel takes at most {most} work-items")
    if any(blocks * items >= 1 << 32 for blocks, items in zip(grid, block, strict=True)):
        raise CallError(Code.INVALID_CONFIGURATION, f"{where}: blocks × work-items reach 2^32")
    if kernel.cluster_size not in (None, (1, 1, 1)):
        raise CallError(Code.NOT_SUPPORTED, f"{kernel.name} needs workgroup clusters")
    total = kernel.group_segment_size + geometry.lds
    if total > LDS_BYTES:
        raise CallError(
            Code.INVALID_VALUE, f"{kernel.name}: {total:,} bytes of LDS, the device has {LDS_BYTES:,}"
        )
