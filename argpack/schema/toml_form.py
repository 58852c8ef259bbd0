"""A schema as TOML: what `emit --toml` writes and what users write by hand for `--schema FILE`.

`align` has no default: where fields lie is the mistake that this file is there to prevent.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

from argpack.errors import InputError
from argpack.schema.field import Field, Role
from argpack.schema.kernarg import KernargSchema
from argpack.schema.scalar import TYPES

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

_LARGEST_FILE = 1 << 20
_ALIGNS = ("packed", "natural", 8, 16)
_TOP_KEYS = {"name": str, "doc": str, "align": (str, int), "size": int, "field": list}
_FIELD_KEYS = {
    "name": str,
    "type": str,
    "unit": str,
    "role": str,
    "doc": str,
    "pad": int,
    "offset": int,
    "use": str,
    "metadata": list,
}
_USES = ("live", "dead", "unread")


class Document(NamedTuple):
    """A schema and what the file says beside it: `uses` (live, dead, unread) and `metadata` names by field."""

    schema: KernargSchema
    uses: Mapping[str, str]
    metadata: Mapping[str, tuple[str, ...]]


def load(path: str | os.PathLike[str]) -> Document:
    """The schema of a file. Raises InputError that names the file, the field and what was expected."""
    name = str(path)
    try:
        with io.FileIO(path) as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    if data is None or len(data) > _LARGEST_FILE:
        raise InputError(f"{name}: expected a schema of at most {_LARGEST_FILE} bytes, found more")
    try:
        return parse(data.decode(), source=name)
    except UnicodeDecodeError:
        raise InputError(f"{name}: expected TOML, found bytes that are not UTF-8") from None


def parse(text: str, *, source: str = "schema") -> Document:
    """The schema that a text declares. Raises InputError."""
    import tomllib

    try:
        top = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{source}: expected TOML: {' '.join(str(error).split())}") from None
    try:
        return _document(top)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def dump(
    schema: KernargSchema,
    *,
    uses: Mapping[str, str] | None = None,
    metadata: Mapping[str, tuple[str, ...]] | None = None,
) -> str:
    """The text that `parse` reads back to an equal schema."""
    lines = [f"name = {_string(schema.name)}"]
    if schema.doc:
        lines.append(f"doc = {_string(schema.doc)}")
    lines += ['align = "packed"  # pads are given with each field', f"size = {schema.size}"]
    for slot in schema.slots:
        field = slot.field
        if field is None:
            continue
        lines += ["", "[[field]]", f"name = {_string(field.name)}", f"type = {_string(field.type)}"]
        lines.append(f"offset = 0x{slot.offset:x}")
        if field.pad:
            lines.append(f"pad = {field.pad}")
        if field.role is not _usual_role(field.type):
            lines.append(f"role = {_string(field.role.value)}")
        if field.unit:
            lines.append(f"unit = {_string(field.unit)}")
        if use := (uses or {}).get(field.name):
            lines.append(f"use = {_string(use)}")
        if names := (metadata or {}).get(field.name):
            lines.append(f"metadata = [{', '.join(_string(name) for name in names)}]")
        if field.doc:
            lines.append(f"doc = {_string(field.doc)}")
    return "\n".join(lines) + "\n"


def _document(top: dict[str, Any]) -> Document:
    _check_keys(top, _TOP_KEYS, "")
    name = _required(top, "name", "")
    if not (name.isascii() and name.isidentifier()):
        raise InputError(f"name: expected an identifier of ASCII letters, digits and _, found {name!r}")
    entries = top.get("field") or []
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("expected a [[field]] for each argument, found none")
    for number, entry in enumerate(entries, 1):
        _check_keys(entry, _FIELD_KEYS, f"field {entry.get('name', number)}: ")
    fields = _placed(entries, _align(top, entries), top.get("size"))
    schema = KernargSchema(name, tuple(fields), top.get("doc", ""))
    _check_offsets(schema, entries, top.get("size"))
    uses = {entry["name"]: _choice(entry, "use", _USES) for entry in entries if "use" in entry}
    metadata = {entry["name"]: _names(entry) for entry in entries if "metadata" in entry}
    return Document(schema, uses, metadata)


def _placed(entries: list[dict[str, Any]], align: str | int, size: int | None) -> list[Field]:
    """The fields with the pads that bring each to its place."""
    fields = []
    starts = _starts(entries, align)
    for index, (entry, start) in enumerate(zip(entries, starts, strict=True)):
        kind = _type(entry)
        pad = entry.get("pad", 0)
        if align != "packed":
            if "pad" in entry:
                raise InputError(f"field {entry['name']}: pad goes with align packed alone, found {align}")
            end = start + TYPES[kind].size
            after = starts[index + 1] if index + 1 < len(starts) else max(size or 0, end)
            pad = after - end
        usual = _usual_role(kind).value
        role = Role(_choice(entry, "role", tuple(r.value for r in Role)) if "role" in entry else usual)
        fields.append(Field(entry["name"], kind, entry.get("unit", ""), role, entry.get("doc", ""), pad))
    return fields


def _starts(entries: list[dict[str, Any]], align: str | int) -> list[int]:
    """Where each field starts under an alignment rule."""
    starts = []
    offset = 0
    for entry in entries:
        size = TYPES[_type(entry)].size
        multiple = size if align == "natural" else 1 if align == "packed" else int(align)
        offset = -(-offset // multiple) * multiple
        starts.append(offset)
        offset += size + (entry.get("pad", 0) if align == "packed" else 0)
    return starts


def _align(top: dict[str, Any], entries: list[dict[str, Any]]) -> str | int:
    align: str | int | None = top.get("align")
    if align is not None and align in _ALIGNS:
        return align
    found = "nothing" if align is None else repr(align)
    raise InputError(f"align: expected packed, natural, 8 or 16, found {found}{_difference(entries)}")


def _difference(entries: list[dict[str, Any]]) -> str:
    """Where the field lies that the rules disagree about most."""
    places = {align: _starts(entries, align) for align in _ALIGNS}
    index = max(range(len(entries)), key=lambda i: len({places[align][i] for align in _ALIGNS}))
    offsets: dict[int, list[str]] = {}
    for align in _ALIGNS:
        offsets.setdefault(places[align][index], []).append(str(align))
    if len(offsets) < 2:
        return ""
    where = ", ".join(f"0x{offset:x} ({' and '.join(names)})" for offset, names in offsets.items())
    return f": {entries[index]['name']} would be at {where}"


def _check_offsets(schema: KernargSchema, entries: list[dict[str, Any]], size: int | None) -> None:
    for entry in entries:
        expected = entry.get("offset")
        if expected is not None and expected != schema.offset(entry["name"]):
            found = schema.offset(entry["name"])
            raise InputError(
                f"field {entry['name']}: offset 0x{expected:x} is given, its place is 0x{found:x}"
            )
    if size is not None and size != schema.size:
        raise InputError(f"size: {size} bytes are given, the fields take {schema.size}")


def _check_keys(table: dict[str, Any], known: dict[str, Any], where: str) -> None:
    for key, value in table.items():
        if key not in known:
            import difflib

            near = difflib.get_close_matches(key, known, n=1)
            raise InputError(f"{where}no key is named {key!r}{f'; did you mean {near[0]}?' if near else ''}")
        if not isinstance(value, known[key]) or isinstance(value, bool):
            raise InputError(f"{where}{key}: found {value!r}, of the wrong kind")


def _required(table: dict[str, Any], key: str, where: str) -> str:
    if key not in table:
        raise InputError(f"{where}{key}: expected a value, found nothing")
    return str(table[key])


def _type(entry: dict[str, Any]) -> str:
    name = _required(entry, "name", "field: ")
    kind = _required(entry, "type", f"field {name}: ")
    if kind not in TYPES:
        raise InputError(f"field {name}: expected a type of {', '.join(TYPES)}, found {kind!r}")
    return kind


def _choice(entry: dict[str, Any], key: str, known: tuple[str, ...]) -> str:
    value = str(entry[key])
    if value not in known:
        raise InputError(f"field {entry['name']}: {key}: expected {', '.join(known)}, found {value!r}")
    return value


def _names(entry: dict[str, Any]) -> tuple[str, ...]:
    names = entry["metadata"]
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"field {entry['name']}: metadata: expected names, found {names!r}")
    kind = "ptr" if entry["type"] == "ptr" else "i32"
    return tuple(name if ":" in name else f"{name}:{kind}" for name in names)


def _usual_role(kind: str) -> Role:
    return Role.POINTER if kind == "ptr" else Role.SCALAR


def _string(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
