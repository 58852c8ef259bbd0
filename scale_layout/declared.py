"""Layouts that users declare: a pattern in one line, or a TOML file of named layouts. Nothing in it is guessed.

A file holds one table for each layout, named by it:

    [scale_24x4]
    pattern = "(mo m24) (ko k4) -> mo ko m24 k4"    # required
    tensor = "scales"                               # scales, weights, activations or any
    unit = "scale byte of one block of K"
    doc = "Blocks of 24 rows by 4 columns."
    wave = 64                                       # 32 or 64, where the order is made for such waves

    [[scale_24x4.conventions]]                      # who uses it, with which padding; as many as there are
    name = "our_kernel"
    row_multiple = 24
    col_multiple = 4
    pads_rows = true
    pad_value = 0x7F
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from typing import TYPE_CHECKING, Any

from argpack.errors import InputError
from scale_layout.layout import Convention, Layout, Tensor
from scale_layout.registry import layout_named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LAYOUT_KEYS: dict[str, type] = {
    "pattern": str,
    "tensor": str,
    "unit": str,
    "doc": str,
    "wave": int,
    "conventions": list,
}
_CONVENTION_KEYS: dict[str, type] = {
    "name": str,
    "row_multiple": int,
    "col_multiple": int,
    "pads_rows": bool,
    "pads_cols": bool,
    "pad_value": int,
    "element_bytes": int,
    "doc": str,
    "checked": str,
}


def layout_of_pattern(pattern: str) -> Layout:
    """An unnamed layout of bytes. Raises InputError for a pattern that means nothing."""
    return Layout(
        name="pattern",
        tensor=Tensor.ANY,
        pattern=" ".join(pattern.split()),
        unit="byte",
        doc="A pattern given by hand.",
    )


def find_layout(text: str, declared: Sequence[Layout] = ()) -> Layout:
    """The layout that `text` names: a pattern (it has an arrow), a name or alias of `declared`, or a known one."""
    if "->" in text:
        return layout_of_pattern(text)
    for layout in declared:
        if text in {layout.name, *layout.aliases}:
            return layout
    return layout_named(text)


def read_layouts(path: Path) -> tuple[Layout, ...]:
    """The layouts of a TOML file. Raises InputError naming file, table and key."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    if not tables:
        raise InputError(f"{path}: expected a table for each layout, found none")
    layouts = tuple(_layout(f"{path}: [{name}]", name, table) for name, table in tables.items())
    seen: set[str] = set()
    for layout in layouts:
        for name in (layout.name, *layout.aliases):
            if name in seen or _known(name):
                raise InputError(f"{path}: [{layout.name}]: {name!r} is taken; choose another name")
            seen.add(name)
    return layouts


def _layout(where: str, name: str, table: object) -> Layout:
    values = _values(where, name, table, _LAYOUT_KEYS, ("pattern",))
    tensor = values.get("tensor", "any")
    if tensor not in list(Tensor):
        raise InputError(f"{where}: tensor: expected {', '.join(Tensor)}, found {tensor!r}")
    try:
        layout = Layout(
            name=name,
            tensor=Tensor(tensor),
            pattern=values["pattern"],
            unit=values.get("unit", "byte"),
            doc=values.get("doc", "Declared by hand."),
            wave=values.get("wave"),
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    conventions = tuple(
        _convention(f"{where}: conventions[{i}]", layout, item)
        for i, item in enumerate(values.get("conventions", []))
    )
    return dataclasses.replace(layout, conventions=conventions)


def _convention(where: str, layout: Layout, table: object) -> Convention:
    name = table.get("name") if isinstance(table, dict) else None
    values = _values(where, name, table, _CONVENTION_KEYS, ("name", "row_multiple", "col_multiple"))
    for key, tile in zip(("row_multiple", "col_multiple"), layout.tile, strict=True):
        if values[key] < 1 or values[key] % tile:
            raise InputError(f"{where}: {key}: expected a multiple of {tile}, found {values[key]}")
    pad_value = values.get("pad_value")
    if pad_value is not None and not 0 <= pad_value <= 255:
        raise InputError(f"{where}: pad_value: expected 0..255, found {pad_value}")
    if values.get("element_bytes", 1) < 1:
        raise InputError(f"{where}: element_bytes: expected 1 or more, found {values['element_bytes']}")
    return Convention(**{"doc": "declared by hand", "checked": "not checked", **values})


def _values(
    where: str, name: object, table: object, keys: dict[str, type], required: tuple[str, ...]
) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise InputError(f"{where}: expected a table, found {table!r}")
    for key, value in table.items():
        if key not in keys:
            raise InputError(f"{where}: unknown key {key!r}; known are {', '.join(keys)}")
        if type(value) is not keys[key]:
            raise InputError(f"{where}: {key}: expected {keys[key].__name__}, found {value!r}")
    for key in required:
        if key not in table:
            raise InputError(f"{where}: {key} is missing")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{where}: name: expected small letters, digits and _, found {name!r}")
    return table


def _known(name: str) -> bool:
    try:
        layout_named(name)
    except InputError:
        return False
    return True
