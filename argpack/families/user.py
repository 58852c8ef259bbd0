"""A family for arguments that no family declares: from a user's TOML file, or from what a code object says itself."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from argpack.families.family import Family, Usage

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from argpack.codeobject import Kernel
    from argpack.schema import KernargSchema


def family_from_file(path: str | os.PathLike[str]) -> Family:
    """The family that a TOML file declares; a field whose use it does not tell counts as live. Raises InputError."""
    from argpack.schema.toml_form import load

    document = load(path)
    uses = {field.name: Usage(document.uses.get(field.name, "live")) for field in document.schema.fields}
    return _family(document.schema, f"schema {path}", uses, document.metadata)


def family_from_metadata(kernel: Kernel) -> Family:
    """The family of one kernel, its arguments as its metadata declares them, all live. Raises InputError."""
    from argpack.families.derive import derive

    schema = derive(kernel)
    uses = dict.fromkeys((field.name for field in schema.fields), Usage.LIVE)
    return _family(schema, f"arguments as the metadata of {kernel.name} declares them", uses, {})


def _family(
    schema: KernargSchema, title: str, uses: Mapping[str, Usage], metadata: Mapping[str, tuple[str, ...]]
) -> Family:
    usage = MappingProxyType(dict(uses))

    def cross_check(kernel: Kernel) -> tuple[str, ...]:
        from argpack.families.metadata import cross_check as check

        return check(family, kernel)

    family = Family(
        name=schema.name,
        title=title,
        schema=schema,
        matches=lambda _name: False,
        usage=lambda _name: usage,
        cross_check=cross_check,
        metadata_names=metadata,
    )
    return family
