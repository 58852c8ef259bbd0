"""The results of a sweep in a file that outlives the process: a header, then one JSON object a line, each synced.

What could not be checked is no result and is not kept: the next run tries it again.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any, Self

from argpack.errors import InputError, UnavailableError
from argpack.sweep.results import Answer, Result, as_json, from_json

if TYPE_CHECKING:
    from types import TracebackType

    from argpack.sweep.plan import Plan

_MOST_SHOWN = 60


class Ledger:
    """A context manager that holds the file open and locked. `results` are those found in it, by key.

    `dropped` says what a write that was cut short left at the end, which is cut off; empty where nothing was.
    """

    def __init__(self, path: str, plan: Plan) -> None:
        """Open or begin the ledger of this plan.

        Raises InputError for a file that is no ledger, one of another sweep, one with a line that is no result, or
        where another process has it open: nothing is changed then.
        """
        self._path = path
        self.results: dict[tuple[str, int, int, int], Result] = {}
        self.dropped = ""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot open the ledger: {_why(error)}") from None
        try:
            self._begin(plan)
        except OSError as error:
            os.close(self._file)
            raise InputError(f"{path}: cannot use this file as a ledger: {error.strerror}") from None
        except BaseException:
            os.close(self._file)
            raise

    def append(self, result: Result) -> None:
        """Keep a result: when this returns, it is on the disk. One that could not be checked is not kept.

        Raises UnavailableError where the file cannot be written.
        """
        if result.verdict is not Answer.NOT_CHECKED:
            self._write(_line(as_json(result)))
            self.results[result.key] = result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def _begin(self, plan: Plan) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{self._path}: another argpack sweep is writing this ledger") from None
        header = _line(plan.header)
        data = _content(self._file)
        whole, end, torn = data.rpartition(b"\n")
        if not end and not header.startswith(torn):
            raise InputError(f"{self._path}:1: expected the ledger of a sweep, found {_shown(torn)}")
        lines = whole.split(b"\n") if end else []
        if lines:
            _check_header(lines[0], plan.header, f"{self._path}:1")
            units = {unit.key for unit in plan.units}
            for number, line in enumerate(lines[1:], 2):
                self._take(line, units, f"{self._path}:{number}")
        if torn:
            os.ftruncate(self._file, len(data) - len(torn))
            self.dropped = (
                f"{self._path}:{len(lines) + 1}: cut short, {len(torn)} bytes dropped: {_shown(torn)}"
            )
        if not lines:
            self._write(header)

    def _take(self, line: bytes, units: set[tuple[str, int, int, int]], where: str) -> None:
        try:
            result = from_json(_object(line))
        except InputError as error:
            raise InputError(f"{where}: {error}, found {_shown(line)}") from None
        label = f"{result.kernel} M={result.m} N={result.n} K={result.k}"
        if result.key not in units or result.verdict is Answer.NOT_CHECKED:
            raise InputError(f"{where}: {label}: no result of this sweep")
        if result.key in self.results:
            raise InputError(f"{where}: {label}: a second result of the same kernel and shape")
        self.results[result.key] = result

    def _write(self, line: bytes) -> None:
        try:
            written = os.write(self._file, line)
            os.fsync(self._file)
        except OSError as error:
            raise UnavailableError(f"{self._path}: cannot write the ledger: {error.strerror}") from None
        if written != len(line):
            raise UnavailableError(f"{self._path}: cannot write the ledger: the disk is full?")


def _check_header(line: bytes, expected: dict[str, Any], where: str) -> None:
    found = _object(line)
    if not isinstance(found, dict) or "argpack_sweep" not in found:
        raise InputError(f"{where}: expected the ledger of a sweep, found {_shown(line)}")
    for name, value in expected.items():
        if found.get(name) != value:
            raise InputError(
                f"{where}: this ledger is of another sweep, {_difference(name, value, found.get(name))}; "
                "name another file"
            )


def _difference(name: str, expected: Any, found: Any) -> str:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in (*expected, *found):
            if key not in found or key not in expected:
                return f"{name}: {key} is only in {'this one' if key in expected else 'the ledger'}"
            if expected[key] != found[key]:
                return f"{name}: {key} is another file now"
    if isinstance(expected, list) and isinstance(found, list):
        added = [item for item in expected if item not in found]
        gone = [item for item in found if item not in expected]
        if added or gone:
            return f"{name}: {(added or gone)[0]} is only in {'this one' if added else 'the ledger'}"
        return f"{name}: in another order"
    return f"{name}: expected {expected!r}, found {found!r}"


def _object(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:  # no UTF-8, or no JSON
        return None


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, allow_nan=False).encode() + b"\n"


def _content(file: int) -> bytes:
    parts = []
    offset = 0
    while part := os.pread(file, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def _shown(line: bytes) -> str:
    text = line[:_MOST_SHOWN].decode("utf-8", "backslashreplace")
    return repr(text) + ("..." if len(line) > _MOST_SHOWN else "")


def _why(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error)
