"""What each f4gemm kernel does with each argument, and what else was measured of it: its contract in brief.

"Dead" arguments are loaded from the buffer without any effect; "unread" ones are never loaded.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.measured import MEASURED
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.family import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from argpack.families.aiter_f4gemm.brief import Brief

_PREFIX = "f4gemm_bf16_per1x32Fp4_"
# The strictest first.
_USES = {"l": Usage.LIVE, "d": Usage.DEAD, "u": Usage.UNREAD}


def usage(kernel_name: str) -> Mapping[str, Usage]:
    """Usage by field name for a kernel, its name mangled or not.

    The schema's own name stands for all 35 kernels: an argument is then live when it is live in any of them.
    Raises InputError for a kernel that is not one of the 35 measured: what it reads is not known.
    """
    if kernel_name == SCHEMA.name:
        return _table({brief.uses for brief in MEASURED.values()})
    return _table({brief_of(kernel_name).uses})


def brief_of(kernel_name: str) -> Brief:
    """The contract of a kernel in brief, its name mangled or not. Raises InputError for one that was not measured."""
    found = MEASURED.get(_variant(kernel_name))
    if found is None:
        raise InputError(
            f"{kernel_name}: expected one of the {len(MEASURED)} kernels {_PREFIX}* that were measured"
        )
    return found


def _variant(kernel_name: str) -> str:
    """What names the kernel in the family, `BpreShuffle_256x256`; empty for a kernel of another family."""
    name = kernel_name.removesuffix(".co").removesuffix(".kd")
    scope, prefix, variant = name.partition(_PREFIX)
    if not prefix:
        return ""
    if scope.startswith("_ZN5aiter") and scope.removeprefix("_ZN5aiter").isdigit():
        return variant.removesuffix("E")
    return variant if not scope else ""


def _table(uses: Iterable[str]) -> Mapping[str, Usage]:
    """The strictest use of each field among `uses`."""
    columns = zip(*uses, strict=True)
    strictest = (next(_USES[letter] for letter in _USES if letter in column) for column in columns)
    return MappingProxyType(dict(zip((field.name for field in SCHEMA.fields), strictest, strict=True)))
