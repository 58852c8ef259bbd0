"""A contract as TOML and JSON: a line for each argument and value, so that two can be compared line by line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from argpack.contract.values import LIMITS, Argument, Contract, Limit
from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEAD = ("kernel", "code_object", "argpack", "backend")
_USES = ("live", "dead", "unread", "pad")


def as_json(contract: Contract) -> dict[str, Any]:
    """Plain values for JSON; `arguments` is a list of objects with `name`, `offset`, `size`, `class` and more."""
    return {
        **{name: getattr(contract, name) for name in _HEAD},
        "limits": {
            name: {"value": limit.value, "why": limit.why, "problems": list(limit.problems)}
            for name, limit in contract.limits.items()
        },
        "launches": list(contract.launches),
        "arguments": [
            {
                "name": argument.name,
                "offset": argument.offset,
                "size": argument.size,
                "class": argument.use,
                "loaded_by": list(argument.loaded_by),
                "shown_by": argument.shown_by,
            }
            for argument in contract.arguments
        ],
    }


def to_toml(contract: Contract) -> str:
    """The file form."""
    return "\n".join(_lines(contract)) + "\n"


def _lines(contract: Contract) -> Iterator[str]:
    yield "# Measured by `argpack contract`, which writes it anew; docs/contracts.md says what it means."
    for name in _HEAD:
        yield f"{name} = {_text(getattr(contract, name))}"
    for name, limit in contract.limits.items():
        yield ""
        yield f"[limits.{name}]  # {LIMITS[name]}"
        yield f"value = {_text(limit.value)}"
        if limit.why:
            yield f"why = {_text(limit.why)}"
        yield f"problems = {_text(list(limit.problems))}"
    yield ""
    yield "[arguments]"
    yield f"launches = {_text(list(contract.launches))}"
    yield "slots = ["
    for argument in contract.arguments:
        parts = [
            f"name = {_text(argument.name)}",
            f"offset = {argument.offset:#05x}",
            f"size = {argument.size}",
            f"class = {_text(argument.use)}",
        ]
        parts += [f"loaded_by = {_text(list(argument.loaded_by))}"] if argument.loaded_by else []
        parts += [f"shown_by = {_text(argument.shown_by)}"] if argument.shown_by else []
        yield f"  {{ {', '.join(parts)} }},"
    yield "]"


def _text(value: object) -> str:
    """A TOML value: strings, integers, booleans and lists are written as JSON writes them, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def parse(text: str, *, source: str) -> Contract:
    """The contract of a TOML text. Raises InputError that names `source`, the key, what was expected and found."""
    import tomllib

    try:
        top = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{source}: expected TOML: {' '.join(str(error).split())}") from None
    try:
        return _contract(top)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _contract(top: Mapping[str, Any]) -> Contract:
    limits, arguments = _of(top, "limits", dict), _of(top, "arguments", dict)
    if sorted(limits) != sorted(LIMITS):
        odd = sorted(set(limits) ^ set(LIMITS))
        raise InputError(f"limits: expected those of a contract, found {odd[0]} missing or unknown")
    return Contract(
        **{name: _of(top, name, str) for name in _HEAD},
        limits={name: _limit(name, limits[name]) for name in LIMITS},
        arguments=tuple(_argument(entry) for entry in _of(arguments, "slots", list)),
        launches=_texts(arguments, "launches"),
    )


def _limit(name: str, entry: object) -> Limit:
    if not isinstance(entry, dict):
        raise InputError(f"limits.{name}: expected a table, found {entry!r}")
    value = entry.get("value")
    if not isinstance(value, int | str):
        raise InputError(f"limits.{name}: value: expected a number, true, false or a word, found {value!r}")
    return Limit(value, _texts(entry, "problems"), _of(entry, "why", str, default=""))


def _argument(entry: object) -> Argument:
    if not isinstance(entry, dict):
        raise InputError(f"arguments.slots: expected a table, found {entry!r}")
    use = _of(entry, "class", str)
    if use not in _USES:
        raise InputError(f"arguments.slots: class: expected one of {', '.join(_USES)}, found {use!r}")
    return Argument(
        name=_of(entry, "name", str),
        offset=_of(entry, "offset", int),
        size=_of(entry, "size", int),
        use=use,
        loaded_by=_texts(entry, "loaded_by", default=()),
        shown_by=_of(entry, "shown_by", str, default=""),
    )


def _texts(table: Mapping[str, Any], name: str, *, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    found = _of(table, name, list, default=None if default is None else list(default))
    if not all(isinstance(text, str) for text in found):
        raise InputError(f"{name}: expected a list of texts, found {found!r}")
    return tuple(found)


def _of(table: Mapping[str, Any], name: str, kind: type, *, default: object = None) -> Any:
    found = table.get(name, default)
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        words = {str: "a text", int: "a number", list: "a list", dict: "a table"}
        raise InputError(
            f"{name}: expected {words[kind]}, found {'nothing' if found is None else repr(found)}"
        )
    return found
