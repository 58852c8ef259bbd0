"""Which schema `schema` and `emit` are asked for: a family, a file of the user's or a code object. No subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError

if TYPE_CHECKING:
    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.family import Family


class Source(NamedTuple):
    """A family and why it is this one."""

    family: Family
    reason: str


def source_of(text: str, *, kernels: str | None) -> Source:
    """The family of that name, that a TOML file declares, or that a code object's kernel belongs to.

    A kernel of no family has the arguments that its metadata declares. Raises ArgpackError.
    """
    from argpack.families import family_named, family_names

    if text.endswith(".toml"):
        from argpack.families.user import family_from_file

        family = family_from_file(text)
        return Source(family, f"declared in {text}")
    if text in family_names():
        return Source(family_named(text), "declared")
    from argpack.families.choice import family_of_kernel
    from argpack.families.user import family_from_metadata

    code_object, kernel = kernel_of(text, kernels=kernels)
    found = family_of_kernel(kernel, code_object)
    if found is not None:
        return Source(found, f"the family of {kernel.name}")
    return Source(family_from_metadata(kernel), f"from the metadata of {kernel.name} alone")


def kernel_of(text: str, *, kernels: str | None) -> tuple[CodeObject, Kernel]:
    """The only kernel of a code object, by file or name. Raises ArgpackError."""
    from argpack.codeobject import read
    from argpack.kernels import resolve

    code_object = read(resolve(text, root=kernels))
    if len(code_object.kernels) != 1:
        raise InputError(f"{code_object.source}: expected one kernel, found {len(code_object.kernels)}")
    return code_object, code_object.kernels[0]
