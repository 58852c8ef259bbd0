"""The table of HIP functions: names, symbol versions, parameters, and the Python function that answers each call.

`symbols.txt` has the names that AMD's libamdhip64.so exports, behind the symbol version they have there.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from argpack.hip_runtime.errors import CallError, Code

Handler = Callable[..., "int | None"]

# How a parameter is passed: a 64-bit word (pointers, sizes, handles), int, unsigned, dim3 by value.
C_TYPES = {"w": "word", "i": "int", "u": "unsigned", "d": "dim3"}
# What shim.c answers by itself.
IN_THE_HOST = (
    *(
        "hipGetLastError",
        "hipPeekAtLastError",
        "hipExtGetLastError",
        "hipLaunchHostFunc",
        "hipStreamAddCallback",
    ),
    *("__hipPushCallConfiguration", "__hipPopCallConfiguration"),
)
_MODULES = ("buffers", "copies", "events", "launches", "modules", "queries", "symbols")


@dataclass(frozen=True, slots=True)
class Function:
    """One exported function: a letter of `C_TYPES` per parameter; `result` is `status`, `word`, `text` or `void`."""

    name: str
    parameters: str
    handler: Handler
    result: str = "status"

    @property
    def plain_name(self) -> str:
        """The name as people write it: without C++'s decoration."""
        mangled = re.match(r"_Z(\d+)", self.name)
        return self.name[mangled.end() :][: int(mangled[1])] if mangled else self.name


_TABLE: dict[str, Function] = {}


def hip(*names: str, parameters: str, result: str = "status") -> Callable[[Handler], Handler]:
    """Have the decorated function answer calls of `names`.

    It gets the `Runtime` and the arguments as ints (a dim3 as three), and gives None or what the call returns.
    """

    def enter(handler: Handler) -> Handler:
        for name in names:
            _TABLE[name] = Function(name, parameters, handler, result)
        return handler

    return enter


def symbols() -> dict[str, tuple[str, ...]]:
    """Exported names by symbol version (`4.2`), oldest first."""
    found: dict[str, tuple[str, ...]] = {}
    for line in Path(__file__).with_name("symbols.txt").read_text().splitlines():
        version, *names = line.split()
        found[version] = (*found.get(version, ()), *names)
    return found


def table() -> tuple[Function, ...]:
    """Every function that is forwarded, in the order of their numbers."""
    for module in _MODULES:  # importing them fills the table
        importlib.import_module(f"argpack.hip_runtime.{module}")
    missing = [
        Function(name, "", _not_supported)
        for names in symbols().values()
        for name in names
        if name not in _TABLE and name not in IN_THE_HOST
    ]
    return tuple(sorted((*_TABLE.values(), *missing), key=lambda function: function.name))


def _not_supported(_: object) -> None:
    raise CallError(Code.NOT_SUPPORTED, "the emulated runtime does not have this function")
