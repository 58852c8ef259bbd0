"""Calls on streams and events, and those that wait. Every call's work is done when it returns."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from argpack.hip_runtime.errors import CallError, Code
from argpack.hip_runtime.functions import hip
from argpack.hip_runtime.queries import put
from argpack.hip_runtime.runtime import Event, Stream, check_pointer

if TYPE_CHECKING:
    from argpack.hip_runtime.runtime import Runtime


@hip("hipDeviceSynchronize", "hipCtxSynchronize", parameters="")
def _synchronize(runtime: Runtime) -> None:
    runtime.check_fault()


@hip("hipStreamCreate", parameters="w")
def _create(runtime: Runtime, address: int) -> None:
    _create_with_priority(runtime, address, 0, 0)


@hip("hipStreamCreateWithFlags", parameters="wu")
def _create_with_flags(runtime: Runtime, address: int, flags: int) -> None:
    _create_with_priority(runtime, address, flags, 0)


@hip("hipStreamCreateWithPriority", parameters="wui")
def _create_with_priority(runtime: Runtime, address: int, flags: int, priority: int) -> None:
    check_pointer(address)
    if flags > 1:
        raise CallError(Code.INVALID_VALUE, f"stream flags {flags:#x}: expected 0 or 1")
    put(runtime, address, "Q", runtime.handles.add(Stream(flags, priority)))


@hip("hipStreamDestroy", parameters="w")
def _destroy(runtime: Runtime, stream: int) -> None:
    runtime.handles.remove(stream, Stream)


@hip(
    "hipStreamSynchronize", "hipStreamSynchronize_spt", "hipStreamQuery", "hipStreamQuery_spt", parameters="w"
)
def _wait(runtime: Runtime, stream: int) -> None:
    runtime.stream(stream)
    runtime.check_fault()


@hip("hipStreamWaitEvent", "hipStreamWaitEvent_spt", parameters="wwu")
def _wait_event(runtime: Runtime, stream: int, event: int, _: int) -> None:
    runtime.stream(stream)
    runtime.handles.get(event, Event)


@hip("hipStreamGetFlags", parameters="ww")
def _flags(runtime: Runtime, stream: int, address: int) -> None:
    put(runtime, address, "I", runtime.stream(stream).flags)


@hip("hipStreamGetPriority", parameters="ww")
def _priority(runtime: Runtime, stream: int, address: int) -> None:
    put(runtime, address, "i", runtime.stream(stream).priority)


@hip("hipStreamGetDevice", parameters="ww")
def _device(runtime: Runtime, stream: int, address: int) -> None:
    runtime.stream(stream)
    put(runtime, address, "i", 0)


@hip("hipDeviceGetStreamPriorityRange", parameters="ww")
def _priorities(runtime: Runtime, least: int, greatest: int) -> None:
    for address in (least, greatest):
        if address:
            put(runtime, address, "i", 0)


@hip("hipStreamIsCapturing", parameters="ww")
def _capturing(runtime: Runtime, stream: int, address: int) -> None:
    runtime.stream(stream)
    put(runtime, address, "i", 0)


@hip("hipEventCreate", parameters="w")
def _create_event(runtime: Runtime, address: int) -> None:
    check_pointer(address)
    put(runtime, address, "Q", runtime.handles.add(Event()))


@hip("hipEventCreateWithFlags", parameters="wu")
def _create_event_with_flags(runtime: Runtime, address: int, _: int) -> None:
    _create_event(runtime, address)


@hip("hipEventDestroy", parameters="w")
def _destroy_event(runtime: Runtime, event: int) -> None:
    runtime.handles.remove(event, Event)


@hip("hipEventRecord", "hipEventRecord_spt", parameters="ww")
def _record(runtime: Runtime, event: int, stream: int) -> None:
    runtime.stream(stream)
    runtime.handles.get(event, Event).recorded = time.perf_counter()


@hip("hipEventRecordWithFlags", parameters="wwu")
def _record_with_flags(runtime: Runtime, event: int, stream: int, _: int) -> None:
    _record(runtime, event, stream)


@hip("hipEventSynchronize", "hipEventQuery", parameters="w")
def _wait_for_event(runtime: Runtime, event: int) -> None:
    runtime.handles.get(event, Event)
    runtime.check_fault()


@hip("hipEventElapsedTime", parameters="www")
def _elapsed(runtime: Runtime, address: int, start: int, stop: int) -> None:
    first, last = (runtime.handles.get(event, Event).recorded for event in (start, stop))
    if first is None or last is None:
        raise CallError(
            Code.INVALID_HANDLE, f"the {'first' if first is None else 'second'} event is not recorded"
        )
    check_pointer(address)
    put(runtime, address, "f", (last - first) * 1e3)
