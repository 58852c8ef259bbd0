"""The process behind a host program's HIP calls: answers them one by one until the program ends."""

from __future__ import annotations

import mmap
import os
import signal
import socket
from typing import TYPE_CHECKING

from argpack.emulator.arena import Arena
from argpack.hip_runtime import build
from argpack.hip_runtime.device import MEMORY_BYTES
from argpack.hip_runtime.errors import NAMES, CallError, Code
from argpack.hip_runtime.functions import Function, table
from argpack.hip_runtime.host import Host
from argpack.hip_runtime.runtime import Runtime, say

if TYPE_CHECKING:
    from collections.abc import Sequence

# Pages of device memory are counted when they are touched, not before.
_MAP_NORESERVE = 0x4000
# Codes that a correct program gets too.
_UNREMARKABLE = frozenset([600])


def main(arguments: Sequence[str]) -> None:
    """Serve the program that started this process: socket, memory file, base address, hash of the library."""
    connection, memory, base = map(int, arguments[:3])
    if os.fork():
        os._exit(0)  # the program waits for this one, and never sees the other
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    functions = table()
    if arguments[3] != build.fingerprint():
        say("the library was built by another argpack: start the program with `argpack hip -- …` again")
        return
    size = os.fstat(memory).st_size
    store = mmap.mmap(memory, size, flags=mmap.MAP_SHARED | _MAP_NORESERVE)
    host = Host(socket.socket(fileno=connection), store)
    runtime = Runtime(host, Arena(store, base, capacity=MEMORY_BYTES))
    serve(runtime, functions)


def serve(runtime: Runtime, functions: Sequence[Function]) -> None:
    """Answer calls until the program ends."""
    while (call := runtime.host.next_call()) is not None:
        number, words = call
        runtime.host.answer(answer(runtime, functions[number], words))


def answer(runtime: Runtime, function: Function, words: tuple[int, ...]) -> int:
    """What the call returns; a failure's reason is told on stderr."""
    try:
        return function.handler(runtime, *_arguments(function, words)) or 0
    except CallError as error:
        line = f"{function.plain_name}: {NAMES[error.code]}: {error}"
        if error.code == Code.NOT_SUPPORTED:
            runtime.say_once(line)
        elif error.code not in _UNREMARKABLE:
            say(line)
        return int(error.code) if function.result == "status" else 0


def _arguments(function: Function, words: tuple[int, ...]) -> list[int]:
    """Words are unsigned, ints signed."""
    kinds = function.parameters.replace("d", "uuu")
    return [word if kind == "i" else word % (1 << 64) for kind, word in zip(kinds, words, strict=False)]
