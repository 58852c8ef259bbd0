"""Reads a capture file: whole records only, each checked; what is torn or damaged is reported, never repaired."""

from __future__ import annotations

import hashlib
import mmap
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from argpack.capture import layout
from argpack.capture.model import Capture, CapturedLaunch, CapturedMemory, CapturedProcess
from argpack.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    Bytes = bytes | mmap.mmap

_HEADER = layout.RECORD_HEADER.size
_REMARKS = {
    layout.NOT_PACKED: "the arguments came as kernelParams, and no metadata says where they lie: not recorded",
    layout.NULL_PARAMETER: "kernelParams has a null entry",
    layout.BAD_EXTRA: "`extra` is no list of buffer pointer, size and end in this order: no arguments are recorded",
    layout.STREAM_CAPTURED: "the stream was being captured into a graph: memory is not recorded",
    layout.MEMORY_LEFT_OUT: "some memory could not be copied",
}


class Record(NamedTuple):
    """One whole record: what its header says, and where its payload lies in the file."""

    kind: int
    process: int
    sequence: int
    time_ns: int
    thread: int
    start: int
    end: int


class _Kernel(NamedTuple):
    name: str
    code: str | None
    arguments: tuple[tuple[int, int, int], ...] | None
    record: Record


def read(path: str | os.PathLike[str]) -> Capture:
    """The capture in a file, which is mapped, not loaded. Raises InputError with the file's name for what is none."""
    try:
        with Path(path).open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path}: cannot read the capture: {text}") from None
    return parse(data, source=str(path))


def parse(data: Bytes, *, source: str) -> Capture:
    """The capture that `data` is. Raises InputError where it does not begin with a capture's header."""
    marker = _marker(data, source)
    problems: list[str] = []
    records = list(_records(data, marker, source, problems))
    try:
        return _Assembly(data, source, problems).capture(records)
    except (struct.error, UnicodeDecodeError, IndexError) as error:
        raise InputError(
            f"{source}: a whole record does not fit version {layout.VERSION}: {error}"
        ) from error


def _marker(data: Bytes, source: str) -> bytes:
    head = data[: layout.FILE_HEADER.size]
    if not head.startswith(layout.MAGIC):
        raise InputError(
            f"{source}: expected a capture, which starts with {layout.MAGIC!r}, found {head[:16]!r}"
        )
    if len(head) < layout.FILE_HEADER.size:
        raise InputError(f"{source}: the header of the capture is cut off: {len(head)} bytes")
    _, version, marker, _, crc = layout.FILE_HEADER.unpack(head)
    if zlib.crc32(head[:-4]) != crc:
        raise InputError(f"{source}: the header of the capture is damaged: its checksum differs")
    if version != layout.VERSION:
        raise InputError(f"{source}: expected a capture of version {layout.VERSION}, found {version}")
    return bytes(marker)


def _records(data: Bytes, marker: bytes, source: str, problems: list[str]) -> Iterator[Record]:
    """Every whole record. Behind a torn one the next is found by the file's marker, 16 random bytes."""
    size = len(data)
    at = layout.FILE_HEADER.size
    while at < size:
        record, fault = _record(data, at, marker)
        if record is not None:
            yield record
            at = record.end
            continue
        following = data.find(marker, at + 1)
        end = size if following < 0 else following
        what = "torn record at the end" if following < 0 else "torn or damaged record"
        problems.append(f"{source}: {what}: {end - at} bytes at {at:#x} are not used ({fault})")
        at = end


def _record(data: Bytes, at: int, marker: bytes) -> tuple[Record | None, str]:
    head = data[at : at + _HEADER]
    if len(head) < _HEADER:
        return None, f"a record's header has {_HEADER} bytes"
    found, kind, length, process, sequence, time_ns, thread, payload_crc, crc = layout.RECORD_HEADER.unpack(
        head
    )
    if found != marker:
        return None, "no record starts there"
    if zlib.crc32(head[:-4]) != crc:
        return None, "the header's checksum differs"
    start = at + _HEADER
    payload = data[start : start + length]
    if len(payload) < length:
        return None, f"it has {length} bytes, {len(payload)} are there"
    if zlib.crc32(payload) != payload_crc:
        return None, "the checksum differs"
    return Record(kind, process, sequence, time_ns, thread, start, start + length), ""


class _Assembly:
    """Records put together: launches with their kernels and results, contents from their parts."""

    def __init__(self, data: Bytes, source: str, problems: list[str]) -> None:
        self._data = data
        self._source = source
        self._problems = problems
        self._kernels: dict[tuple[int, int], _Kernel] = {}
        self._results: dict[tuple[int, int], Record] = {}
        # Offset in the contents to offset in the file and size, by digest, with the whole size.
        self._parts: dict[str, tuple[int, dict[int, tuple[int, int]]]] = {}

    def capture(self, records: list[Record]) -> Capture:
        by_kind: dict[int, list[Record]] = {}
        for record in records:
            by_kind.setdefault(record.kind, []).append(record)
        for record in by_kind.get(layout.BLOB, ()):
            self._add_part(record)
        for record in by_kind.get(layout.KERNEL, ()):
            self._add_kernel(record)
        for record in by_kind.get(layout.RESULT, ()):
            (launch,) = struct.unpack_from("<Q", self._data, record.start)
            self._results[record.process, launch] = record
        processes = self._processes(records, by_kind)
        pids = {process.token: process.pid for process in processes}
        launches = by_kind.get(layout.LAUNCH, [])

        def cut(number: int) -> bytes:
            return self._excerpt(launches[number - 1])

        return Capture(
            source=self._source,
            launches=tuple(self._launch(n, record, pids) for n, record in enumerate(launches, 1)),
            processes=processes,
            problems=tuple(self._problems),
            notes=tuple(
                self._data[r.start : r.end].decode(errors="replace") for r in by_kind.get(layout.NOTE, ())
            ),
            load=self._contents,
            cut=cut,
        )

    def _processes(
        self, records: list[Record], by_kind: dict[int, list[Record]]
    ) -> tuple[CapturedProcess, ...]:
        numbers: dict[int, set[int]] = {}
        for record in records:
            numbers.setdefault(record.process, set()).add(record.sequence)
        ended = {record.process for record in by_kind.get(layout.END, ())}
        starts = {record.process: record for record in by_kind.get(layout.PROCESS, ())}
        found = []
        for token, seen in numbers.items():
            pid, parent = 0, 0
            command: tuple[str, ...] = ()
            if token in starts:
                start = starts[token].start
                pid, parent = layout.PROCESS_HEAD.unpack_from(self._data, start)
                text = self._data[start + layout.PROCESS_HEAD.size : starts[token].end].decode(
                    errors="replace"
                )
                command = tuple(text.rstrip("\0").split("\0")) if text else ()
            missing = max(seen) + 1 - len(seen)
            if missing:
                self._problems.append(
                    f"{self._source}: process {pid}: {missing} of its first {max(seen) + 1} records "
                    "are not in the file"
                )
            found.append(CapturedProcess(token, pid, parent, command, token in ended, missing))
        return tuple(found)

    def _add_part(self, record: Record) -> None:
        digest, total, offset = layout.BLOB_HEAD.unpack_from(self._data, record.start)
        start = record.start + layout.BLOB_HEAD.size
        self._parts.setdefault(digest.hex(), (total, {}))[1][offset] = (start, record.end - start)

    def _add_kernel(self, record: Record) -> None:
        identity, digest, has_code, name_size, count = layout.KERNEL_HEAD.unpack_from(
            self._data, record.start
        )
        at = record.start + layout.KERNEL_HEAD.size
        arguments = None
        if count != layout.NO_ARGUMENT_TABLE:
            arguments = tuple(
                layout.ARGUMENT.unpack_from(self._data, at + i * layout.ARGUMENT.size) for i in range(count)
            )
            at += count * layout.ARGUMENT.size
        name = self._data[at : at + name_size].decode(errors="replace")
        code = digest.hex() if has_code else None
        self._kernels[record.process, identity] = _Kernel(name, code, arguments, record)

    def _launch(self, number: int, record: Record, pids: dict[int, int]) -> CapturedLaunch:
        identity, lds, stream, api, flags, gx, gy, gz, bx, by, bz, how, size, count, attributes = (
            layout.LAUNCH_HEAD.unpack_from(self._data, record.start)
        )
        at = record.start + layout.LAUNCH_HEAD.size
        arguments = self._data[at : at + size]
        remarks = [text for flag, text in _REMARKS.items() if flags & flag]
        kernel = self._kernels.get((record.process, identity))
        if kernel is None:
            remarks.append("the record of its kernel is not in the file")
        elif not kernel.name:
            remarks.append("the program got the kernel's handle in a way that is not recorded")
        if attributes:
            remarks.append(f"{attributes} launch attributes (a cluster size, say) are not recorded")
        name, counts_items = layout.APIS[api]
        grid, block = (gx, gy, gz), (bx, by, bz)
        partial = False
        if counts_items and all(block):
            partial = any(items % each for items, each in zip(grid, block, strict=True))
            grid = (-(-gx // bx), -(-gy // by), -(-gz // bz))
        result = self._results.get((record.process, record.sequence))
        error, after = (0, {}) if result is None else self._result(result)
        table = kernel.arguments if kernel else None
        return CapturedLaunch(
            number=number,
            process=record.process,
            pid=pids.get(record.process, 0),
            thread=record.thread,
            time_ns=record.time_ns,
            api=name,
            kernel=kernel.name if kernel else "",
            code=kernel.code if kernel else None,
            arguments=arguments,
            known=_known(size, table if how == layout.PARAMETERS else None),
            pointers=None if table is None else tuple(o for o, _, kind in table if kind == layout.POINTER),
            grid=grid,
            partial=partial,
            block=block,
            dynamic_lds=lds,
            stream=stream,
            memory=tuple(
                CapturedMemory(address, length, before, after.get(address))
                for address, length, before in self._memory(at + size, count)
            ),
            finished=result is not None,
            error=error,
            remarks=tuple(remarks),
        )

    def _result(self, record: Record) -> tuple[int, dict[int, str | None]]:
        _, error, count, _ = layout.RESULT_HEAD.unpack_from(self._data, record.start)
        after = self._memory(record.start + layout.RESULT_HEAD.size, count)
        return error, {address: digest for address, _, digest in after}

    def _memory(self, at: int, count: int) -> list[tuple[int, int, str | None]]:
        entries = (layout.MEMORY.unpack_from(self._data, at + i * layout.MEMORY.size) for i in range(count))
        return [(address, size, digest.hex() if any(digest) else None) for address, size, digest in entries]

    def _contents(self, digest: str) -> bytes:
        where = f"{self._source}: contents {digest[:16]}"
        if digest not in self._parts:
            raise InputError(f"{where}: not in the file")
        total, parts = self._parts[digest]
        joined = bytearray()
        while len(joined) < total and len(joined) in parts:
            start, size = parts[len(joined)]
            if not size:
                break
            joined += self._data[start : start + size]
        if len(joined) != total:
            raise InputError(f"{where}: expected {total} bytes, only {len(joined)} are in the file")
        if hashlib.sha256(joined).hexdigest() != digest:
            raise InputError(f"{where}: the bytes in the file have another SHA-256")
        return bytes(joined)

    def _excerpt(self, launch: Record) -> bytes:
        (identity,) = struct.unpack_from("<Q", self._data, launch.start)
        kernel = self._kernels.get((launch.process, identity))
        kept = [kernel.record, launch] if kernel else [launch]
        parts = [self._data[r.start - _HEADER : r.end] for r in kept]
        return b"".join([self._data[: layout.FILE_HEADER.size], *parts])


def _known(size: int, table: tuple[tuple[int, int, int], ...] | None) -> bytes:
    """All bytes, or with a table those of the arguments that the program gives one by one."""
    if table is None:
        return b"\x01" * size
    known = bytearray(size)
    for offset, length, kind in table:
        if kind in {layout.BY_VALUE, layout.POINTER}:
            known[offset : offset + length] = b"\x01" * len(known[offset : offset + length])
    return bytes(known)
