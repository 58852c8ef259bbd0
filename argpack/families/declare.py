"""The words in which kernel families are declared: one line a field. It makes Family values and measures nothing.

The names after a field's unit are what code objects call it, `name` or `name:type`; without a type it is `ptr` for
pointers and `i32` for values, which is what AITER's files say of nearly all of them. `-` stands for no name.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from argpack.families.family import Extra, Family, Usage
from argpack.schema import Field, KernargSchema, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from argpack.codeobject import Kernel

LIVE, DEAD, UNREAD = Usage.LIVE, Usage.DEAD, Usage.UNREAD


class Declared(NamedTuple):
    """One field as declared: `pad` is None where the slot size decides it."""

    name: str
    type: str
    unit: str
    role: Role
    metadata: tuple[str, ...]
    use: Usage
    doc: str
    pad: int | None


def pointer(name: str, *metadata: str, use: Usage = LIVE, doc: str = "", pad: int | None = None) -> Declared:
    """An address of 8 bytes."""
    return Declared(name, "ptr", "", Role.POINTER, metadata, use, doc, pad)


def extent(
    name: str,
    unit: str,
    *metadata: str,
    of: str = "u32",
    use: Usage = LIVE,
    doc: str = "",
    pad: int | None = None,
) -> Declared:
    """A size of the problem, of type `of`."""
    return Declared(name, of, unit, Role.EXTENT, metadata, use, doc, pad)


def stride(
    name: str,
    unit: str,
    *metadata: str,
    of: str = "u32",
    use: Usage = LIVE,
    doc: str = "",
    pad: int | None = None,
) -> Declared:
    """A distance in memory, of type `of`."""
    return Declared(name, of, unit, Role.STRIDE, metadata, use, doc, pad)


def scalar(
    name: str,
    unit: str,
    *metadata: str,
    of: str = "u32",
    use: Usage = LIVE,
    doc: str = "",
    pad: int | None = None,
) -> Declared:
    """Any other value, of type `of`."""
    return Declared(name, of, unit, Role.SCALAR, metadata, use, doc, pad)


def declare(
    *,
    name: str,
    title: str,
    source: str,
    slot: int,
    fields: Sequence[Declared],
    names: Sequence[str],
    launch: str,
    segments: Sequence[int],
    extras: Sequence[Extra] = (),
    notes: Sequence[str] = (),
) -> Family:
    """A family that argpack decodes and cannot launch.

    `slot` is the bytes that fields are padded to a multiple of, 0 for none; a field's own `pad` goes before it.
    `names` are patterns of kernel names. What a field is used for holds for every kernel: the strictest use of any.
    """
    from argpack.families import metadata, patterns

    doc = f"{title}. {source}."
    schema = KernargSchema(name, tuple(_field(entry, slot) for entry in fields), doc)
    usage = MappingProxyType({entry.name: entry.use for entry in fields})
    known = MappingProxyType(
        {entry.name: tuple(_typed(m, entry.type) for m in entry.metadata) for entry in fields}
    )

    def matches(kernel_name: str) -> bool:
        return patterns.weight(patterns.plain(kernel_name), names) > 0

    def usage_of(_kernel_name: str) -> Mapping[str, Usage]:
        return usage

    def cross_check(kernel: Kernel) -> tuple[str, ...]:
        return metadata.cross_check(family, kernel)

    family = Family(
        name=name,
        title=title,
        schema=schema,
        matches=matches,
        usage=usage_of,
        cross_check=cross_check,
        launch_rule=launch,
        segments=tuple(segments),
        metadata_names=known,
        extras=tuple(extras),
        notes=tuple(notes),
    )
    return family


def _field(entry: Declared, slot: int) -> Field:
    size = 8 if entry.type in {"ptr", "u64", "i64"} else 4
    pad = entry.pad if entry.pad is not None else -size % slot if slot else 0
    return Field(entry.name, entry.type, entry.unit, entry.role, entry.doc, pad)


def _typed(metadata: str, field_type: str) -> str:
    return metadata if ":" in metadata else f"{metadata}:{'ptr' if field_type == 'ptr' else 'i32'}"
