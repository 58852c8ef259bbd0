"""The kernel families that argpack knows, and how to find one. Importing this imports no numpy.

`FAMILIES` are those it can launch. Many more are declared: they are found through an index and imported when chosen.
"""

from __future__ import annotations

from argpack.errors import InputError
from argpack.families.aiter_f4gemm import FAMILY as AITER_F4GEMM
from argpack.families.family import Extra, Family, Problem, Region, Usage, Workload
from argpack.families.own_sgemm import FAMILY as OWN_SGEMM

FAMILIES: tuple[Family, ...] = (AITER_F4GEMM, OWN_SGEMM)

__all__ = [
    "FAMILIES",
    "Extra",
    "Family",
    "Problem",
    "Region",
    "Usage",
    "Workload",
    "families_of",
    "families_of_size",
    "family_named",
    "family_names",
    "family_of",
    "family_of_size",
]


def family_names() -> tuple[str, ...]:
    """The names of all families, those that argpack can launch first."""
    from argpack.families.index import ENTRIES

    return (*(family.name for family in FAMILIES), *(entry.name for entry in ENTRIES))


def family_named(name: str) -> Family:
    """The family of that name. Raises InputError, with the nearest name, for an unknown one."""
    for family in FAMILIES:
        if family.name == name:
            return family
    from argpack.families.index import ENTRIES, load

    for entry in ENTRIES:
        if entry.name == name:
            return load(entry)
    import difflib

    names = family_names()
    near = difflib.get_close_matches(name, names, n=1)
    raise InputError(
        f"unknown family {name!r}; {f'did you mean {near[0]}?' if near else 'known: ' + ', '.join(names)}"
    )


def families_of(kernel_name: str) -> tuple[Family, ...]:
    """The families that a kernel may belong to by its name, mangled or not: several versions may share names."""
    for family in FAMILIES:
        if family.matches(kernel_name):
            return (family,)
    from argpack.families.index import load, proposed

    found = proposed(kernel_name)
    narrowest = max((weight for weight, _ in found), default=0)
    return tuple(load(entry) for weight, entry in found if weight == narrowest)


def family_of(kernel_name: str) -> Family | None:
    """The family that a kernel belongs to by its name alone; None where it is in none.

    Raises InputError where several versions share the name: the code object's arguments decide, see
    `argpack.families.choice.family_of_kernel`.
    """
    found = families_of(kernel_name)
    if len(found) > 1:
        names = ", ".join(f"{family.name} ({family.schema.size} bytes)" for family in found)
        raise InputError(
            f"{kernel_name} may be of {names}: its code object tells which, a name alone does not"
        )
    return found[0] if found else None


def families_of_size(size: int) -> tuple[Family, ...]:
    """The families whose argument buffer has `size` bytes; another library's launch of one is left out."""
    from argpack.families.index import ENTRIES, load

    known = tuple(family for family in FAMILIES if family.schema.size == size)
    return known + tuple(load(entry) for entry in ENTRIES if entry.size == size and not entry.launch_of)


def family_of_size(size: int) -> Family | None:
    """The only family whose argument buffer has `size` bytes; None where none or several have."""
    fitting = families_of_size(size)
    return fitting[0] if len(fitting) == 1 else None
