"""The metadata note: a msgpack map in which a code object describes its kernels and their arguments.

Values are checked for type only: what the metadata claims is kept, also where it contradicts the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgpack

from argpack.codeobject.model import Argument
from argpack.errors import InputError

# What msgpack raises for damaged bytes, the narrower classes first: its messages change with its version, these do not.
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (msgpack.exceptions.ExtraData, "there are more bytes behind its end"),
    (msgpack.exceptions.StackError, "nested too deeply"),
    (msgpack.exceptions.FormatError, "a byte that starts no value"),
    (UnicodeDecodeError, "text that is not UTF-8"),
    (TypeError, "a map's key that cannot be one"),
    (ValueError, "a value ends behind the note"),
)
_LEAKS = (msgpack.exceptions.UnpackException, ValueError, TypeError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The top of the note: `kernels` still as maps."""

    version: tuple[int, int] | None
    target: str | None
    kernels: tuple[dict[str, Any], ...]


def decode(note: bytes) -> Metadata:
    """Unpack the note's contents. Raises InputError."""
    try:
        top = msgpack.unpackb(note, strict_map_key=False)
    except _LEAKS as error:
        reason = next((text for kind, text in _REASONS if isinstance(error, kind)), "it cannot be unpacked")
        raise InputError(f"damaged metadata note ({len(note)} bytes of msgpack): {reason}") from error
    if not isinstance(top, dict):
        raise InputError(f"damaged metadata note: expected a map, found {type(top).__name__}")
    kernels = top.get("amdhsa.kernels")
    if not isinstance(kernels, list) or not all(isinstance(kernel, dict) for kernel in kernels):
        raise InputError("damaged metadata note: expected 'amdhsa.kernels' to be a list of maps")
    if not kernels:
        raise InputError("the metadata note lists no kernel")
    version = top.get("amdhsa.version")
    pair = (
        (version[0], version[1])
        if isinstance(version, list) and [type(v) for v in version] == [int, int]
        else None
    )
    return Metadata(pair, text(top, "amdhsa.target", "the note", required=False), tuple(kernels))


def arguments(kernel: dict[str, Any], where: str) -> tuple[Argument, ...]:
    """The entries of `.args`, in file order. Raises InputError that names the argument by its place."""
    entries = kernel.get(".args", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{where}: expected '.args' to be a list of maps")
    return tuple(_argument(entry, f"{where}: argument {index}") for index, entry in enumerate(entries))


def _argument(entry: dict[str, Any], where: str) -> Argument:
    return Argument(
        name=text(entry, ".name", where, required=False),
        offset=number(entry, ".offset", where),
        size=number(entry, ".size", where),
        kind=text(entry, ".value_kind", where) or "",
        type=text(entry, ".value_type", where, required=False),
        address_space=text(entry, ".address_space", where, required=False),
        access=text(entry, ".access", where, required=False),
        actual_access=text(entry, ".actual_access", where, required=False),
        type_name=text(entry, ".type_name", where, required=False),
    )


def number(entry: dict[str, Any], key: str, where: str) -> int:
    """A required count, size or offset. Raises InputError."""
    value = entry.get(key)
    if type(value) is not int or value < 0:
        raise InputError(f"{where}: metadata {key!r}: expected a number, found {_shown(value)}")
    return value


def optional_number(entry: dict[str, Any], key: str, where: str) -> int | None:
    """Like `number`, but None where the metadata has no such key."""
    return number(entry, key, where) if key in entry else None


def text(entry: dict[str, Any], key: str, where: str, *, required: bool = True) -> str | None:
    """A printable string, or None where it is not required and absent. Raises InputError."""
    value = entry.get(key)
    if value is None and not required:
        return None
    if not isinstance(value, str) or not value.isprintable():
        raise InputError(f"{where}: metadata {key!r}: expected text, found {_shown(value)}")
    return value


def triple(entry: dict[str, Any], key: str, where: str) -> tuple[int, int, int] | None:
    """Three numbers x, y, z, or None where the metadata has no such key. Raises InputError."""
    value = entry.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or [type(v) for v in value] != [int, int, int]:
        raise InputError(f"{where}: metadata {key!r}: expected three numbers, found {_shown(value)}")
    return (value[0], value[1], value[2])


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)[:60]
