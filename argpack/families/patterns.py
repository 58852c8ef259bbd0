"""Names of kernels held against patterns with `*`. No regular expressions: looking a family up must cost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCOPE = "_ZN5aiter"


def plain(kernel_name: str) -> str:
    """The name without the mangling of namespace aiter, `.kd` and `.co`: `_ZN5aiter7fmoe_abE.kd` is `fmoe_ab`.

    Names that are mangled in another way, those of functions with parameters, stay as they are.
    """
    name = kernel_name.removesuffix(".co").removesuffix(".kd")
    if not name.startswith(_SCOPE):
        return name
    digits = name.removeprefix(_SCOPE)
    rest = digits.lstrip("0123456789")
    return rest[:-1] if rest != digits and rest.endswith("E") and rest[:-1].isidentifier() else name


def weight(name: str, patterns: Sequence[str]) -> int:
    """How many characters of `name` the narrowest pattern that it fits spells out; 0 where it fits none."""
    best = 0
    for pattern in patterns:
        start, star, end = pattern.partition("*")
        if star:
            fits = (
                len(name) >= len(start) + len(end)
                and name.startswith(start)
                and _fits_end(name[len(start) :], end)
            )
        else:
            fits = name == pattern
        if fits:
            best = max(best, len(pattern.replace("*", "")) + (not star))
    return best


def _fits_end(rest: str, end: str) -> bool:
    """Whether `rest` ends as the pattern does after its first star; a second star lets more follow."""
    middle, star, last = end.partition("*")
    if not star:
        return rest.endswith(end)
    return middle in rest and rest.partition(middle)[2].endswith(last)
