"""Writes a capture file from Python: its header for the preload library, or whole records for a program in Python."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from argpack.capture import layout
from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHUNK = 4 << 20


def create(path: str | os.PathLike[str]) -> bytes:
    """Make a file that its owner alone may read, with a header; returns its marker. Raises InputError if it exists."""
    marker = os.urandom(16)
    head = layout.FILE_HEADER.pack(layout.MAGIC, layout.VERSION, marker, time.time_ns(), 0)
    head = head[:-4] + layout.CRC.pack(zlib.crc32(head[:-4]))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise InputError(
            f"{path}: it exists; a capture never overwrites a file, name another with -o"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot make the capture: {error.strerror}") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(head)
    return marker


class CaptureWriter:
    """Appends records as one process. Each is one write, so that other processes may append to the same file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Create the file. Raises InputError."""
        self._marker = create(path)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._process = int.from_bytes(os.urandom(8), "little")
        self._sequence = 0
        self._lock = threading.Lock()
        self._blobs: set[bytes] = set()
        head = layout.PROCESS_HEAD.pack(os.getpid(), os.getppid())
        self.write(layout.PROCESS, head + Path("/proc/self/cmdline").read_bytes()[:4096])

    def close(self) -> None:
        """Write the end record and close the file."""
        self.write(layout.END, b"")
        os.close(self._descriptor)

    def write(self, kind: int, payload: bytes) -> int:
        """Append one record; its sequence number. Raises InputError where the file cannot be written."""
        with self._lock:
            number = self._sequence
            self._sequence += 1
            head = layout.RECORD_HEADER.pack(
                self._marker, kind, len(payload), self._process, number, time.time_ns(),
                threading.get_native_id(), zlib.crc32(payload), 0,
            )  # fmt: skip
            record = head[:-4] + layout.CRC.pack(zlib.crc32(head[:-4])) + payload
            try:
                wrote = os.write(self._descriptor, record)
            except OSError as error:
                raise InputError(f"the capture cannot be written: {error.strerror}") from None
            if wrote != len(record):
                raise InputError("the capture cannot be written: no space left")
        return number

    def blob(self, data: bytes) -> bytes:
        """Write bytes under their digest, once; returns the digest (32 bytes)."""
        digest = hashlib.sha256(data).digest()
        if digest not in self._blobs:
            for offset in range(0, max(len(data), 1), _CHUNK):
                head = layout.BLOB_HEAD.pack(digest, len(data), offset)
                self.write(layout.BLOB, head + data[offset : offset + _CHUNK])
            self._blobs.add(digest)
        return digest

    def kernel(
        self, identity: int, name: str, code: bytes | None, arguments: Sequence[tuple[int, int, int]] | None
    ) -> None:
        """Write a kernel, with its code as a blob; `arguments` are offset, size and kind of each."""
        digest = b"\0" * 32 if code is None else self.blob(code)
        text = name.encode()
        count = layout.NO_ARGUMENT_TABLE if arguments is None else len(arguments)
        head = layout.KERNEL_HEAD.pack(identity, digest, code is not None, len(text), count)
        table = b"".join(layout.ARGUMENT.pack(*entry) for entry in arguments or ())
        self.write(layout.KERNEL, head + table + text)
