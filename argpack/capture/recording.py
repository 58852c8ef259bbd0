"""Recording from inside a Python program: a context manager around hip-python's launch functions, without preloading.

It sees calls that go through the module `hip.hip` while it is entered, and those alone; `argpack capture` sees all.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import fnmatch
import importlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from argpack.capture import layout
from argpack.capture.run import pattern
from argpack.capture.writer import CaptureWriter
from argpack.errors import ArgpackError, UnavailableError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

_LAUNCH = (
    "f", "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes", "stream",
    "kernelParams", "extra",
)  # fmt: skip
_NOT_SEEN = (
    "hipExtModuleLaunchKernel", "hipModuleLaunchCooperativeKernel", "hipDrvLaunchKernelEx", "hipLaunchKernel",
    "hipLaunchKernelExC", "hipLaunchCooperativeKernel", "hipExtLaunchKernel",
)  # fmt: skip
_ALLOCATE = ("hipMalloc", "hipMallocAsync", "hipExtMallocWithFlags")
_FREE = ("hipFree", "hipFreeAsync")
_KINDS = {"by_value": layout.BY_VALUE, "global_buffer": layout.POINTER}


@contextlib.contextmanager
def recording(
    path: str | os.PathLike[str], *, kernel: str | None = None, buffers: bool = False
) -> Iterator[None]:
    """Record what `hip.hip.hipModuleLaunchKernel` launches into a new file at `path`.

    `kernel` and `buffers` are those of `argpack capture`. Enter it before modules are loaded and memory is allocated:
    what was before is not known. Kernels started by other functions are noted, not recorded. Raises InputError where
    the file exists or cannot be written, UnavailableError without hip-python.
    """
    try:
        hip = importlib.import_module("hip.hip")
    except ImportError:
        try:
            hip = importlib.import_module("hip").hip
        except ImportError as error:
            raise UnavailableError(f"hip-python cannot be imported: {error}") from error
    recorder = _Recorder(hip, CaptureWriter(path), pattern(kernel), buffers=buffers)
    replaced = {name: getattr(hip, name) for name in recorder.functions if hasattr(hip, name)}
    try:
        for name, real in replaced.items():
            setattr(hip, name, recorder.functions[name](name, real))
        yield
    finally:
        for name, real in replaced.items():
            setattr(hip, name, real)
        recorder.writer.close()


class _Kernel(NamedTuple):
    identity: int
    name: str
    code: bytes | None
    arguments: tuple[tuple[int, int, int], ...] | None


class _Recorder:
    """Knows modules, functions and allocations by their addresses; `functions` makes each replacement."""

    def __init__(self, hip: Any, writer: CaptureWriter, wanted: str, *, buffers: bool) -> None:
        self._hip = hip
        self.writer = writer
        self._wanted = wanted
        self._buffers = buffers
        self._images: dict[int, bytes] = {}
        self._kernels: dict[int, _Kernel] = {}
        self._written: set[int] = set()
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}
        # Held from the copies before a launch to those after it.
        self._lock = threading.RLock()
        self.functions: dict[str, Callable[[str, Any], Any]] = {
            "hipModuleLoad": self._load,
            "hipModuleLoadData": self._load,
            "hipModuleGetFunction": self._get_function,
            "hipModuleLaunchKernel": self._launch,
            **dict.fromkeys(_ALLOCATE, self._allocate),
            **dict.fromkeys(_FREE, self._free),
            **dict.fromkeys(_NOT_SEEN, self._not_seen),
        }

    def _load(self, name: str, real: Any) -> Any:
        def load(source: Any) -> Any:
            result = real(source)
            if _succeeded(result):
                with contextlib.suppress(TypeError, OSError, ValueError):
                    named = name == "hipModuleLoad"
                    image = Path(_text(source)).read_bytes() if named else bytes(memoryview(source))
                    self._images[int(result[1])] = image
            return result

        return load

    def _get_function(self, _: str, real: Any) -> Any:
        def get(module: Any, kname: Any) -> Any:
            result = real(module, kname)
            if _succeeded(result):
                image = self._images.get(int(module))
                name = _text(kname)
                known = _kernel(len(self._kernels) + 1, name, image)
                self._kernels[int(result[1])] = known
            return result

        return get

    def _allocate(self, _: str, real: Any) -> Any:
        def allocate(size: int, *rest: Any) -> Any:
            result = real(size, *rest)
            if _succeeded(result) and size:
                with self._lock:
                    address = int(result[1])
                    if address not in self._sizes:
                        bisect.insort(self._starts, address)
                    self._sizes[address] = size
            return result

        return allocate

    def _free(self, _: str, real: Any) -> Any:
        def free(pointer: Any, *rest: Any) -> Any:
            with self._lock, contextlib.suppress(TypeError, ValueError):
                address = int(pointer)
                if self._sizes.pop(address, None):
                    self._starts.remove(address)
            return real(pointer, *rest)

        return free

    def _not_seen(self, name: str, real: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            self.writer.write(layout.NOTE, f"a call of {name} is not recorded: use argpack capture".encode())
            return real(*arguments, **named)

        return call

    def _launch(self, _: str, real: Any) -> Any:
        def launch(*arguments: Any, **named: Any) -> Any:
            given = {**dict(zip(_LAUNCH, arguments, strict=False)), **named}
            kernel = self._kernel_of(given.get("f"))
            if self._wanted and kernel.name and not fnmatch.fnmatchcase(kernel.name, self._wanted):
                return real(*arguments, **named)
            with self._lock:
                if kernel.identity not in self._written:
                    self.writer.kernel(kernel.identity, kernel.name, kernel.code, kernel.arguments)
                    self._written.add(kernel.identity)
                how, flags, packed = _arguments(given, kernel)
                memory = self._reached(packed) if self._buffers else []
                number = self._write_launch(given, kernel, how, flags, packed, memory)
                result = real(**given)
                code = int(getattr(result[0], "value", result[0]))
                if code or memory:
                    entries = self._copies(memory)
                    head = layout.RESULT_HEAD.pack(number, code, len(memory), 0)
                    self.writer.write(layout.RESULT, head + entries)
            return result

        return launch

    def _kernel_of(self, function: Any) -> _Kernel:
        address = int(function)
        return self._kernels.setdefault(address, _Kernel(len(self._kernels) + 1, "", None, None))

    def _write_launch(
        self,
        given: dict[str, Any],
        kernel: _Kernel,
        how: int,
        flags: int,
        packed: bytes,
        memory: list[tuple[int, int]],
    ) -> int:
        entries = self._copies(memory)
        sizes = [int(given[name]) for name in _LAUNCH[1:7]]
        head = layout.LAUNCH_HEAD.pack(
            kernel.identity, int(given.get("sharedMemBytes") or 0), _address(given.get("stream")), 0, flags,
            *sizes, how, len(packed), len(memory), 0,
        )  # fmt: skip
        return self.writer.write(layout.LAUNCH, head + packed + entries)

    def _reached(self, packed: bytes) -> list[tuple[int, int]]:
        """Address and size of the allocations that a word of the arguments points into."""
        found: dict[int, int] = {}
        for offset in range(0, len(packed) - 7, 4):
            address = int.from_bytes(packed[offset : offset + 8], "little")
            at = bisect.bisect_right(self._starts, address) - 1
            if at >= 0 and address - self._starts[at] < self._sizes[self._starts[at]]:
                found[self._starts[at]] = self._sizes[self._starts[at]]
        return list(found.items())

    def _copies(self, memory: list[tuple[int, int]]) -> bytes:
        entries = b""
        if memory:
            self._hip.hipDeviceSynchronize()
        for address, size in memory:
            data = (ctypes.c_ubyte * size)()
            kind = self._hip.hipMemcpyKind.hipMemcpyDeviceToHost
            result = self._hip.hipMemcpy(ctypes.addressof(data), address, size, kind)
            digest = self.writer.blob(bytes(data)) if _succeeded(result) else bytes(32)
            entries += layout.MEMORY.pack(address, size, digest)
        return entries


def _kernel(identity: int, name: str, image: bytes | None) -> _Kernel:
    from argpack.codeobject import parse

    table = None
    if image is not None:
        with contextlib.suppress(ArgpackError):
            kernels = {kernel.name: kernel for kernel in parse(image, source="module").kernels}
            if name in kernels:
                table = tuple((a.offset, a.size, _kind(a.kind)) for a in kernels[name].arguments)
    return _Kernel(identity, name, image, table)


def _kind(kind: str) -> int:
    return layout.HIDDEN if kind.startswith("hidden_") else _KINDS.get(kind, layout.OTHER)


def _arguments(given: dict[str, Any], kernel: _Kernel) -> tuple[int, int, bytes]:
    """How they were given, flags, the buffer. `extra` is converted once, for the call as well as for the record."""
    if given.get("extra") is not None:
        extra = given["extra"] = _helper("HipModuleLaunchKernel_extra").fromObj(given["extra"])
        slots = (ctypes.c_uint64 * 5).from_address(int(extra))
        if (slots[0], slots[2], slots[4]) != (1, 2, 3):
            return layout.EXTRA, layout.BAD_EXTRA, b""
        size = ctypes.c_size_t.from_address(slots[3]).value
        return layout.EXTRA, 0, ctypes.string_at(slots[1], size)
    if given.get("kernelParams") is None:
        return 0, 0, b""
    if kernel.arguments is None:
        return layout.PARAMETERS, layout.NOT_PACKED, b""
    parameters = given["kernelParams"] = _list_of_pointer().fromObj(given["kernelParams"])
    visible = [entry for entry in kernel.arguments if entry[2] != layout.HIDDEN]
    packed = bytearray(max((offset + size for offset, size, _ in visible), default=0))
    addresses = (ctypes.c_uint64 * len(visible)).from_address(int(parameters))
    for (offset, size, kind), address in zip(visible, addresses, strict=True):
        if not address:
            return layout.PARAMETERS, layout.NOT_PACKED | layout.NULL_PARAMETER, b""
        if kind != layout.OTHER:
            packed[offset : offset + size] = ctypes.string_at(address, size)
    return layout.PARAMETERS, 0, bytes(packed)


def _helper(name: str) -> Any:
    """A class of hip-python's own conversions; the package moved with version 10."""
    for module in ("rocm.bindings._hip_helpers", "hip._hip_helpers"):
        with contextlib.suppress(ImportError):
            return getattr(importlib.import_module(module), name)
    raise UnavailableError("this hip-python has no _hip_helpers: argpack capture records without them")


def _list_of_pointer() -> Any:
    for module in ("rocm.bindings.util.types", "hip._util.types"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(module).ListOfPointer
    raise UnavailableError("this hip-python has no ListOfPointer: argpack capture records without it")


def _succeeded(result: Any) -> bool:
    return int(getattr(result[0], "value", result[0])) == 0


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _address(value: Any) -> int:
    return 0 if value is None else int(value)
