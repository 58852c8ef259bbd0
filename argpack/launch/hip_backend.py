"""Runs a `Launch` on a real GPU through HIP. What the calls are is the runtime's matter (`hip_runtime`).

Each buffer lies between guard zones whose damage is reported. A store that faults on the GPU ends the
process: the HIP runtime aborts it, which nothing in Python can prevent.
"""

from __future__ import annotations

import re
import struct
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argpack.codeobject import TargetId, incompatibility
from argpack.errors import InputError, RefusedError, UnavailableError
from argpack.launch.hip_runtime import HipError, HipRuntime, mapped_runtimes
from argpack.launch.launch import LaunchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import Kernel
    from argpack.launch.buffer import Buffer, MadeBuffer
    from argpack.launch.launch import Launch

_CLUSTER_IN_NAME = re.compile(r"_\d{2,}x\d{2,}_(\d)x(\d)(?=_|E|$)")
# On both sides of a buffer. A whole number of pages, so that the buffer is aligned as hipMalloc aligns.
GUARD_BYTES = 65536
# Neighbouring bytes differ, so that a store of one repeated value cannot hide in it.
_GUARD = (np.arange(GUARD_BYTES, dtype=np.uint32) * np.uint32(0x9E3779B1) >> np.uint32(24)).astype(np.uint8)


class HipBackend:
    """The Backend on one HIP device; `open_hip` picks the device."""

    name = "hip"

    def __init__(self, runtime: HipRuntime, *, device: int) -> None:
        """Raises HipError where the device's properties cannot be read."""
        self._runtime = runtime
        self._device = device
        product, self.target = runtime.device_names(device)
        self.description = f"{product} ({self.target}), HIP device {device}, runtime {runtime.version()}"
        mapped = mapped_runtimes()
        if len(mapped) > 1:
            self.description += f", beside another HIP runtime in this process: {', '.join(mapped)}"

    def run(self, launch: Launch, *, progress: Callable[[int, int], None] | None = None) -> LaunchResult:
        """Run to the end. `progress` is called with no and with all workgroups done.

        Raises RefusedError or InputError before the device is touched, UnavailableError for another target,
        HipError for a HIP call that fails. Damaged guard zones are `errors` of the result.
        """
        total = launch.grid[0] * launch.grid[1] * launch.grid[2]
        if progress:
            progress(0, total)
        with self._placed(launch) as (function, addresses, arguments):
            seconds = self._launch(launch, function, arguments, count=1)
            contents = {}
            errors: list[str] = []
            for buffer in launch.buffers:
                contents[buffer.name], damage = self._collect(buffer, addresses[buffer.name])
                errors += damage
        if progress:
            progress(total, total)
        return LaunchResult(contents, seconds, arguments[: len(launch.arguments)], errors=tuple(errors))

    def time(self, launch: Launch, *, repeat: int) -> float:
        """Seconds that one launch takes: the mean of `repeat` launches in a row, after one that is not counted.

        All use the same buffers, which each launch finds as the one before it left them. Raises as `run` does.
        """
        with self._placed(launch) as (function, _, arguments):
            self._launch(launch, function, arguments, count=1)
            return self._launch(launch, function, arguments, count=repeat) / repeat

    @contextmanager
    def _placed(self, launch: Launch) -> Iterator[tuple[Any, dict[str, int], bytes]]:
        """The loaded kernel, the addresses of the buffers by name, the bytes to pass; all is freed afterwards."""
        where = f"{launch.code_object.source}: kernel {launch.kernel.name!r}"
        check_launch(launch)
        reason = mismatch(launch.code_object.target, self.target)
        if reason:
            raise UnavailableError(f"{launch.code_object.source}: {reason}")
        runtime = self._runtime
        try:
            with ExitStack() as cleanup:
                runtime.set_device(self._device)
                module = self._load(launch)
                _release(cleanup, runtime.unload_module, module)
                function = runtime.get_function(module, launch.kernel.name)
                addresses = {}
                for buffer in launch.buffers:
                    start = runtime.allocate(buffer.size + 2 * GUARD_BYTES)
                    _release(cleanup, runtime.free, start)
                    addresses[buffer.name] = start + GUARD_BYTES
                    for address, data in _parts(addresses[buffer.name], np.ascontiguousarray(buffer.data)):
                        runtime.upload(address, data)
                yield function, addresses, argument_buffer(launch, addresses)
        except HipError as error:
            raise HipError(f"{where}: {error}") from error

    def _launch(self, launch: Launch, function: Any, arguments: bytes, *, count: int) -> float:
        """Seconds that the device needs for `count` launches in a row."""
        runtime = self._runtime
        with ExitStack() as cleanup:
            events = []
            for _ in range(2):
                events.append(runtime.create_event())
                _release(cleanup, runtime.destroy_event, events[-1])
            return runtime.timed_launches(
                function,
                grid=launch.grid,
                block=launch.block,
                dynamic_lds=launch.dynamic_lds,
                arguments=arguments,
                events=(events[0], events[1]),
                count=count,
            )

    def _load(self, launch: Launch) -> Any:
        code_object = launch.code_object
        try:
            return self._runtime.load_module(code_object.data)
        except HipError as error:
            raise HipError(
                f"{error}: code object V{code_object.code_object_version} for {code_object.target}, "
                f"device {self.target}, runtime {self._runtime.version()}"
            ) from error

    def _collect(self, buffer: Buffer | MadeBuffer, address: int) -> tuple[NDArray[np.uint8], list[str]]:
        """The buffer's contents now, and what happened to its guard zones."""
        parts = _parts(address, np.empty(buffer.size, np.uint8))
        fetched = []
        for start, data in parts:
            fetched.append(np.empty_like(data))
            self._runtime.download(start, fetched[-1])
        below, contents, above = fetched
        errors = []
        for zone, first in ((below, -GUARD_BYTES), (above, buffer.size)):
            changed = np.flatnonzero(zone != _GUARD)
            if changed.size:
                side = "before" if first < 0 else "behind"
                lowest, highest = (_place(buffer.name, first + int(at)) for at in (changed[0], changed[-1]))
                errors.append(
                    f"store outside every buffer: {changed.size} bytes changed {side} {buffer.name!r} "
                    f"({buffer.size} bytes), between {lowest} and {highest}"
                )
        return contents, errors


def open_hip(target: TargetId) -> HipBackend:
    """The backend on the first device that runs code for `target`.

    Raises UnavailableError where hip-python, the runtime or a fitting device is missing, HipError where a HIP
    call fails otherwise.
    """
    runtime = HipRuntime()
    reasons = []
    for device in range(runtime.device_count):
        reason = mismatch(target, runtime.device_names(device)[1])
        if reason is None:
            return HipBackend(runtime, device=device)
        reasons.append(reason)
    raise UnavailableError(f"no HIP device fits: {'; '.join(dict.fromkeys(reasons))}")


def mismatch(code: TargetId, device: str) -> str | None:
    """Why code for `code` does not run on a device that HIP calls `device`, or None."""
    try:
        return incompatibility(code, TargetId.from_text(device))
    except InputError as error:  # a GPU newer than the table
        return f"the code object is for {code}, the device is {device} ({error})"


def argument_buffer(launch: Launch, addresses: Mapping[str, int]) -> bytes:
    """The bytes to pass: pointers filled in, zeros up to the end of the last argument that the metadata has.

    HIP copies each declared argument from its offset, whatever buffer size it is told. `addresses` are those
    of the buffers by name. Raises InputError for a relocation that does not fit.
    """
    end = max((argument.end for argument in launch.kernel.arguments), default=0)
    filled = bytearray(launch.arguments)
    for relocation in launch.relocations:
        where = f"relocation at {relocation.offset:#x}"
        if not 0 <= relocation.offset <= len(filled) - 8:
            raise InputError(f"{where}: expected 8 bytes inside the {len(filled)} bytes of arguments")
        if relocation.buffer not in addresses:
            raise InputError(
                f"{where}: expected one of the buffers {sorted(addresses)}, found {relocation.buffer!r}"
            )
        address = addresses[relocation.buffer] + relocation.addend
        if not 0 <= address < 1 << 64:
            raise InputError(f"{where}: {relocation.buffer!r} plus {relocation.addend} is no 64-bit address")
        struct.pack_into("<Q", filled, relocation.offset, address)
    return bytes(filled).ljust(end, b"\0")


def check_launch(launch: Launch) -> None:
    """Raises RefusedError for what HIP would run wrongly or not at all, InputError for what is no launch."""
    kernel = launch.kernel
    where = f"{launch.code_object.source}: kernel {kernel.name!r}"
    _check_geometry(launch, kernel, where)
    if launch.workgroups is not None:
        raise RefusedError(
            f"{where}: a GPU runs whole grids, not {len(launch.workgroups)} of their workgroups"
        )
    if launch.arguments and not kernel.arguments:
        raise RefusedError(
            f"{where}: its metadata declares no arguments, "
            f"so HIP would pass none of the {len(launch.arguments)} bytes"
        )
    _check_clusters(launch, where)
    names = [buffer.name for buffer in launch.buffers]
    for buffer in launch.buffers:
        if names.count(buffer.name) > 1:
            raise InputError(f"buffer {buffer.name!r}: the name is given twice")
        if buffer.data.dtype != np.uint8 or buffer.data.ndim != 1:
            found = f"{buffer.data.dtype} of shape {buffer.data.shape}"
            raise InputError(f"buffer {buffer.name!r}: expected uint8 of one dimension, found {found}")
    # Addresses are not known yet; any will do to see whether the relocations fit.
    argument_buffer(launch, dict.fromkeys(names, 1 << 40))


def _check_clusters(launch: Launch, where: str) -> None:
    size, said = launch.kernel.cluster_size, "its metadata"
    if size is None and launch.code_object.target.processor.startswith("gfx125"):
        # Some of AITER's files leave .cluster_dims out; their names have it behind the tile: 256x256_4x4_ps.
        stem = Path(launch.code_object.source).stem
        found = _CLUSTER_IN_NAME.search(launch.kernel.name) or _CLUSTER_IN_NAME.search(stem)
        size, said = (int(found[1]), int(found[2]), 1) if found else None, "its name"
    if size not in (None, (1, 1, 1)):
        raise RefusedError(
            f"{where}: it needs workgroup clusters of {_times(size)}, says {said}, "
            "and hipModuleLaunchKernel starts none: its numbers would be wrong"
        )


def _check_geometry(launch: Launch, kernel: Kernel, where: str) -> None:
    for axis, blocks, items in zip("xyz", launch.grid, launch.block, strict=True):
        if blocks < 1 or items < 1:
            raise InputError(
                f"{where}: grid {_times(launch.grid)}, block {_times(launch.block)}: expected 1 or more"
            )
        if blocks * items >= 1 << 32:
            raise RefusedError(
                f"{where}: {axis}: {blocks} blocks × {items} work-items = {blocks * items}, "
                "HIP launches fewer than 2^32 = 4294967296"
            )
    items = launch.block[0] * launch.block[1] * launch.block[2]
    if items > kernel.max_flat_workgroup_size:
        raise RefusedError(
            f"{where}: block {_times(launch.block)} has {items} work-items, "
            f"the kernel declares at most {kernel.max_flat_workgroup_size}"
        )
    if not 0 <= launch.dynamic_lds < 1 << 32:
        raise InputError(f"{where}: dynamic LDS: expected 0 to 2^32 - 1 bytes, found {launch.dynamic_lds}")


def _parts(address: int, data: NDArray[np.uint8]) -> tuple[tuple[int, NDArray[np.uint8]], ...]:
    """Guard zone, data, guard zone, with the device address of each, for data at `address`."""
    return ((address - GUARD_BYTES, _GUARD), (address, data), (address + data.size, _GUARD))


def _release(cleanup: ExitStack, free: Callable[[Any], None], handle: Any) -> None:
    """Free `handle` on every path. A failure to free counts only where nothing failed before it."""

    def release(kind: type[BaseException] | None, *_: object) -> None:
        try:
            free(handle)
        except HipError:
            if kind is None:
                raise

    cleanup.push(release)


def _place(name: str, offset: int) -> str:
    return f"{name}{'-' if offset < 0 else '+'}{abs(offset):#x}"


def _times(values: tuple[int, ...] | None) -> str:
    return "×".join(str(value) for value in values or ())
