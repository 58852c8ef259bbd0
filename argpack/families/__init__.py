"""The kernel families that argpack knows, and how to find one. Importing this imports no numpy."""

from __future__ import annotations

from argpack.errors import InputError
from argpack.families.aiter_f4gemm import FAMILY as AITER_F4GEMM
from argpack.families.family import Family, Problem, Usage, Workload
from argpack.families.own_sgemm import FAMILY as OWN_SGEMM

FAMILIES: tuple[Family, ...] = (AITER_F4GEMM, OWN_SGEMM)

__all__ = [
    "FAMILIES",
    "Family",
    "Problem",
    "Usage",
    "Workload",
    "family_named",
    "family_of",
    "family_of_size",
]


def family_named(name: str) -> Family:
    """The family of that name. Raises InputError, with the nearest name, for an unknown one."""
    for family in FAMILIES:
        if family.name == name:
            return family
    import difflib

    names = [family.name for family in FAMILIES]
    near = difflib.get_close_matches(name, names, n=1)
    raise InputError(
        f"unknown family {name!r}; {f'did you mean {near[0]}?' if near else 'known: ' + ', '.join(names)}"
    )


def family_of(kernel_name: str) -> Family | None:
    """The family that a kernel belongs to by its name, mangled or not; None where it is in none."""
    return next((family for family in FAMILIES if family.matches(kernel_name)), None)


def family_of_size(size: int) -> Family | None:
    """The only family whose argument buffer has `size` bytes; None where none or several have."""
    fitting = [family for family in FAMILIES if family.schema.size == size]
    return fitting[0] if len(fitting) == 1 else None
