"""The connection to the host program: calls come in, and the host's memory is read and written by asking for it.

What shim.c does on the other side is the same protocol: words of 64 bits, one call at a time.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from argpack.hip_runtime.errors import CallError, Code

if TYPE_CHECKING:
    import mmap

_REQUEST = struct.Struct("<17q")
_REPLY = struct.Struct("<4Q")
_WORD = struct.Struct("<Q")
_RETURN, _PEEK, _POKE, _KEEP, _MAP, _UNMAP = range(6)
# The first bytes of the store carry what is read and written; no buffer lies there.
_SCRATCH_BYTES = 1 << 20
_MASK = (1 << 64) - 1


class Host:
    """The program that calls. `store` is device memory, which both sides see; addresses are the host's, sizes bytes."""

    def __init__(self, connection: socket.socket, store: mmap.mmap) -> None:
        self._connection = connection
        self._store = store

        # Whoever made the pair of sockets: the program.
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        self._pid = struct.unpack("<3i", peer)[0]

    def path(self, name: str) -> Path:
        """A file as the program names it, relative to where it stands now."""
        return Path(f"/proc/{self._pid}/cwd").resolve() / name

    def next_call(self) -> tuple[int, tuple[int, ...]] | None:
        """Number and 16 words (signed) of the next call, or None where the program has ended."""
        request = self._receive(_REQUEST.size)
        if request is None:
            return None
        function, *words = _REQUEST.unpack(request)
        return function, tuple(words)

    def answer(self, value: int) -> None:
        """Let the call return `value`."""
        self._send(_RETURN, value & _MASK)

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes of the program. Raises CallError for what it may not read itself."""
        parts = []
        for at in range(0, size, _SCRATCH_BYTES):
            part = min(size - at, _SCRATCH_BYTES)
            self.upload(address + at, part, 0)
            parts.append(self._store[:part])
        return b"".join(parts)

    def write(self, address: int, data: bytes) -> None:
        """Put bytes (at most 1 MiB) into the program's memory. Raises CallError for what it may not write itself."""
        self._store[: len(data)] = data
        self.download(address, len(data), 0)

    def word(self, address: int) -> int:
        """A 64-bit word of the program."""
        return int.from_bytes(self.read(address, 8), "little")

    def text(self, address: int, *, limit: int = 4096) -> str:
        """The string that ends with a zero byte."""
        data = b""
        while b"\0" not in data and len(data) <= limit:
            # Up to the next page's end: what follows may not be readable.
            start = address + len(data)
            data += self.read(start, 4096 - start % 4096)
        text, end, _ = data.partition(b"\0")
        if not end or len(text) > limit:
            raise CallError(Code.INVALID_VALUE, f"the string at {address:#x} has no end")
        return text.decode(errors="replace")

    def upload(self, address: int, size: int, offset: int) -> None:
        """Copy the program's bytes into the store. Raises CallError."""
        if self._ask(_PEEK, address, size, offset):
            raise CallError(Code.INVALID_VALUE, f"the host cannot read {size:,} bytes at {address:#x}")

    def download(self, address: int, size: int, offset: int) -> None:
        """Copy the store's bytes into the program. Raises CallError."""
        if self._ask(_POKE, address, size, offset):
            raise CallError(Code.INVALID_VALUE, f"the host cannot write {size:,} bytes at {address:#x}")

    def keep(self, data: bytes) -> int:
        """Address of a copy of `data` in the program that lasts as long as it."""
        address = self._ask(_KEEP, 0, len(data), 0)
        self.write(address, data)
        return address

    def show(self, address: int, size: int, offset: int) -> bool:
        """Make part of the store (whole pages) readable and writable by the program at `address`."""
        return not self._ask(_MAP, address, size, offset)

    def hide(self, address: int, size: int) -> None:
        """Take it away again."""
        self._ask(_UNMAP, address, size, 0)

    def stop_if_gone(self) -> None:
        """End this process and those that run workgroups for it, if the program has ended in the middle of a call."""
        if select.select([self._connection], [], [], 0)[0]:
            os.killpg(0, signal.SIGKILL)

    def _ask(self, operation: int, address: int, size: int, offset: int) -> int:
        self._send(operation, address & _MASK, size, offset)
        answer = self._receive(_WORD.size)
        if answer is None:
            raise SystemExit
        return int(_WORD.unpack(answer)[0])

    def _send(self, operation: int, first: int, second: int = 0, third: int = 0) -> None:
        try:
            self._connection.sendall(_REPLY.pack(operation, first, second, third))
        except OSError:
            raise SystemExit from None

    def _receive(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            try:
                part = self._connection.recv(size - len(data))
            except OSError:
                return None
            if not part:
                return None
            data += part
        return data
