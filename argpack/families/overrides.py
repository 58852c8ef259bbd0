"""Fields set by hand over those that a problem needs: which of them are known to be wrong. It knows no family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.families.family import Usage
from argpack.schema import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.schema import Field, KernargSchema


def contradictions(
    schema: KernargSchema,
    values: Mapping[str, int | float],
    overrides: Mapping[str, int | float],
    usage: Mapping[str, Usage],
) -> tuple[str, ...]:
    """What is wrong with `overrides`, a sentence each: live fields that differ from `values`, the right ones.

    Fields that the kernel ignores may hold anything. Raises InputError for a name the schema does not have.
    """
    found = []
    for name, value in overrides.items():
        field = schema.slot(name).field
        if field is None or usage[name] is not Usage.LIVE:
            continue
        if field.role is Role.POINTER:
            found.append(f"{name} is set to {value:#x}, not to where its buffer is")
        elif value != values[name]:
            needed = values[name]
            found.append(
                f"{name} is set to {value}, this problem needs {needed}{_likely(field, value, needed)}"
            )
    return tuple(found)


def _likely(field: Field, value: float, needed: float) -> str:
    if field.role is Role.STRIDE and value in {needed * 2, needed / 2}:
        return f" {field.unit}: the wrong unit?"
    return f" {field.unit}" if field.unit else ""
