"""Calls that ask: the device, its properties, versions, memory left, names of errors."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from argpack.hip_runtime import device
from argpack.hip_runtime.errors import NAMES, CallError, Code, text
from argpack.hip_runtime.functions import hip
from argpack.hip_runtime.runtime import check_device, check_pointer

if TYPE_CHECKING:
    from argpack.hip_runtime.runtime import Runtime


def put(runtime: Runtime, address: int, layout: str, *values: float) -> None:
    """Write values where the program wants them. Raises CallError."""
    check_pointer(address)
    runtime.host.write(address, struct.pack(f"<{layout}", *values))


@hip("hipInit", parameters="u")
def _init(_: Runtime, flags: int) -> None:
    if flags:
        raise CallError(Code.INVALID_VALUE, f"flags {flags:#x}: expected 0")


@hip("hipGetDeviceCount", parameters="w")
def _count(runtime: Runtime, count: int) -> None:
    put(runtime, count, "i", 1)


@hip("hipGetDevice", parameters="w")
def _get_device(runtime: Runtime, number: int) -> None:
    put(runtime, number, "i", 0)


@hip("hipDeviceGet", parameters="wi")
def _device(runtime: Runtime, handle: int, number: int) -> None:
    check_device(number)
    put(runtime, handle, "i", 0)


@hip("hipSetDevice", parameters="i")
def _set_device(_: Runtime, number: int) -> None:
    check_device(number)


@hip("hipSetDeviceFlags", parameters="u")
def _set_flags(_: Runtime, __: int) -> None:
    """How to wait, which nobody does here."""


@hip("hipGetDevicePropertiesR0600", parameters="wi")
def _properties_6(runtime: Runtime, address: int, number: int) -> None:
    _write_properties(runtime, address, number, "R0600")


@hip("hipGetDeviceProperties", "hipGetDevicePropertiesR0000", parameters="wi")
def _properties_5(runtime: Runtime, address: int, number: int) -> None:
    _write_properties(runtime, address, number, "R0000")


def _write_properties(runtime: Runtime, address: int, number: int, version: str) -> None:
    check_pointer(address)
    check_device(number)
    runtime.host.write(address, device.properties(version))


@hip("hipDeviceGetAttribute", parameters="wii")
def _attribute(runtime: Runtime, address: int, attribute: int, number: int) -> None:
    check_device(number)
    value = device.attribute(attribute)
    if value is None:
        raise CallError(Code.INVALID_VALUE, f"unknown device attribute {attribute}")
    put(runtime, address, "i", value)


@hip("hipDeviceGetName", parameters="wii")
def _name(runtime: Runtime, address: int, length: int, number: int) -> None:
    check_device(number)
    check_pointer(address)
    if length < 1:
        raise CallError(Code.INVALID_VALUE, f"room for {length} bytes")
    runtime.host.write(address, device.NAME.encode()[: length - 1] + b"\0")


@hip("hipDeviceTotalMem", parameters="wi")
def _total(runtime: Runtime, address: int, number: int) -> None:
    check_device(number)
    put(runtime, address, "Q", device.MEMORY_BYTES)


@hip("hipDeviceComputeCapability", parameters="wwi")
def _capability(runtime: Runtime, major: int, minor: int, number: int) -> None:
    check_device(number)
    put(runtime, major, "i", 9)
    put(runtime, minor, "i", 5)


@hip("hipMemGetInfo", parameters="ww")
def _memory_info(runtime: Runtime, free: int, total: int) -> None:
    put(runtime, free, "Q", runtime.arena.capacity - runtime.arena.used)
    put(runtime, total, "Q", runtime.arena.capacity)


@hip("hipRuntimeGetVersion", "hipDriverGetVersion", parameters="w")
def _version(runtime: Runtime, address: int) -> None:
    put(runtime, address, "i", device.VERSION)


@hip("hipGetErrorName", parameters="i", result="text")
def _error_name(runtime: Runtime, code: int) -> int:
    return runtime.string(NAMES.get(code, "hipErrorUnknown"))


@hip("hipGetErrorString", parameters="i", result="text")
def _error_string(runtime: Runtime, code: int) -> int:
    return runtime.string(text(code))


@hip("hipDrvGetErrorName", parameters="iw")
def _driver_error_name(runtime: Runtime, code: int, address: int) -> None:
    put(runtime, address, "Q", runtime.string(_known(code)))


@hip("hipDrvGetErrorString", parameters="iw")
def _driver_error_string(runtime: Runtime, code: int, address: int) -> None:
    _known(code)
    put(runtime, address, "Q", runtime.string(text(code)))


def _known(code: int) -> str:
    if code not in NAMES:
        raise CallError(Code.INVALID_VALUE, f"unknown error code {code}")
    return NAMES[code]
