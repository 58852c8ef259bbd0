"""The HIP calls that argpack makes, through hip-python, each return code checked. It decides nothing.

Written against what hip-python 6.3 to 10 share: a call returns a tuple that starts with its error code, a
pointer may be given as an int, and the library is opened at the first call (RuntimeError where that fails).
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argpack.errors import ArgpackError, UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LIBRARY = "libamdhip64.so"
# The slots of `extra`, from hip_runtime_api.h.
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3


class HipError(ArgpackError):
    """A HIP call failed: `hipModuleLoadData: hipErrorInvalidImage (200)`."""


class HipRuntime:
    """The HIP runtime of this machine with at least one device. Device addresses are ints, sizes bytes.

    Module, function and event handles are hip-python's own objects. Every method raises HipError.
    """

    def __init__(self) -> None:
        """Raises UnavailableError where hip-python, the runtime or a device is missing, else HipError."""
        self._hip = _import_hip()
        self._call("hipInit", 0)
        self.device_count = int(self._call("hipGetDeviceCount"))
        if not self.device_count:
            raise UnavailableError("no HIP device (hipGetDeviceCount counts 0)")

    def _call(self, name: str, *arguments: object) -> Any:
        try:
            code, *values = getattr(self._hip, name)(*arguments)
        except ValueError as error:  # an error code that is newer than hip-python
            raise HipError(f"{name}: {error}") from error
        except RuntimeError as error:
            raise _not_loaded(name, str(error)) from error
        if code.name == "hipErrorNoDevice":
            raise UnavailableError(f"no HIP device ({name}: {code.name} ({code.value}))")
        if code.value:
            raise HipError(f"{name}: {code.name} ({code.value})")
        return values[0] if values else None

    def version(self) -> str:
        """The runtime's version, such as `7.2.53211`."""
        number = int(self._call("hipRuntimeGetVersion"))
        return f"{number // 10_000_000}.{number // 100_000 % 100}.{number % 100_000}"

    def device_names(self, device: int) -> tuple[str, str]:
        """Marketing name and target id text (`gfx950:sramecc+:xnack-`) of a device."""
        try:
            properties = self._call("hipGetDeviceProperties", device)
        except TypeError:  # hip-python up to 7 fills a struct that it is given
            properties = self._hip.hipDeviceProp_t()
            self._call("hipGetDeviceProperties", properties, device)
        target = _text(properties.gcnArchName)
        if not target.startswith("gfx"):  # the struct moved: this hip-python does not fit the runtime
            raise HipError(
                f"hipGetDeviceProperties: device {device}: expected gfx… as its name, found {target!r}"
            )
        return _text(properties.name), target

    def set_device(self, device: int) -> None:
        """Make `device` the one that this thread's calls talk to."""
        self._call("hipSetDevice", device)

    def load_module(self, image: bytes) -> Any:
        """Load a code object; `image` must live as long as the module."""
        return self._call("hipModuleLoadData", image)

    def unload_module(self, module: Any) -> None:
        """Unload a module; its functions are void after it."""
        self._call("hipModuleUnload", module)

    def get_function(self, module: Any, name: str) -> Any:
        """The kernel called `name`."""
        return self._call("hipModuleGetFunction", module, name.encode())

    def allocate(self, size: int) -> int:
        """Address of `size` (over 0) new bytes of device memory."""
        return int(self._call("hipMalloc", size))

    def free(self, address: int) -> None:
        """Free what `allocate` gave."""
        self._call("hipFree", address)

    def upload(self, address: int, data: NDArray[np.uint8]) -> None:
        """Copy a contiguous array to device memory."""
        if data.size:
            kind = self._hip.hipMemcpyKind.hipMemcpyHostToDevice
            self._call("hipMemcpy", address, data.ctypes.data, data.size, kind)

    def download(self, address: int, into: NDArray[np.uint8]) -> None:
        """Fill a contiguous array from device memory, after all that the device was asked to do before."""
        if into.size:
            kind = self._hip.hipMemcpyKind.hipMemcpyDeviceToHost
            self._call("hipMemcpy", into.ctypes.data, address, into.size, kind)

    def create_event(self) -> Any:
        """A new event for timing."""
        return self._call("hipEventCreate")

    def destroy_event(self, event: Any) -> None:
        """Free an event."""
        self._call("hipEventDestroy", event)

    def timed_launches(
        self,
        function: Any,
        *,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        dynamic_lds: int,
        arguments: bytes,
        events: tuple[Any, Any],
        count: int,
    ) -> float:
        """Launch `grid` workgroups of `block` work-items `count` times, wait, return seconds between the two events.

        The arguments go as raw bytes: hip-python's own packing cannot express 16-byte slots.
        """
        buffer = ctypes.create_string_buffer(arguments, len(arguments))
        size = ctypes.c_size_t(len(arguments))
        slots = (_BUFFER_POINTER, ctypes.addressof(buffer), _BUFFER_SIZE, ctypes.addressof(size), _END)
        extra = (ctypes.c_void_p * len(slots))(*slots)
        start, stop = events
        self._call("hipEventRecord", start, None)
        for _ in range(count):
            self._call(
                "hipModuleLaunchKernel",
                function,
                *grid,
                *block,
                dynamic_lds,
                None,
                None,
                ctypes.addressof(extra),
            )
        self._call("hipEventRecord", stop, None)
        self._call("hipEventSynchronize", stop)
        return float(self._call("hipEventElapsedTime", start, stop)) / 1e3


def mapped_runtimes() -> tuple[str, ...]:
    """Paths of the HIP runtimes mapped into this process: two of them do not know each other's streams."""
    lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if _LIBRARY in line}
    return tuple(sorted(path for path in paths if Path(path).name.startswith(_LIBRARY)))


def _import_hip() -> Any:
    try:
        from hip import hip
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "hip":
            raise UnavailableError("hip-python is not installed: pip install 'argpack[hip]'") from error
        raise UnavailableError(f"hip-python cannot be imported: {error}") from error
    return hip


def _not_loaded(name: str, text: str) -> ArgpackError:
    """What a RuntimeError of hip-python means: no library, one that does not load, a missing function."""
    if "dlopen" not in text:
        return HipError(f"{name}: {text}")
    reason = text.rpartition("': ")[2].removeprefix("b").strip("'\"")
    library, _, rest = reason.partition(": ")
    if Path(library).name == _LIBRARY and "No such file" in rest:
        reason = f"{_LIBRARY} not found"
    return UnavailableError(f"no HIP runtime ({reason})")


def _text(value: str | bytes) -> str:
    """hip-python gives bytes up to 7, str from 10 on."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value
