"""One mistake behind many differences: cut off, swapped bytes, another layout, exchanged or shifted fields.

A mistake is named only where it explains every live difference exactly; a mere difference in values is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.mistakes.evidence import Mistake, views
from argpack.hexdump.mistakes.exchange import exchanged
from argpack.hexdump.mistakes.layout import cut_off, other_rule, other_schema, swapped_bytes
from argpack.hexdump.mistakes.shift import lacking, shifted, widened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from argpack.hexdump.diff import Diff
    from argpack.schema import KernargSchema

__all__ = ["Mistake", "find_mistake"]


def find_mistake(found: Diff, others: Iterable[KernargSchema] = ()) -> Mistake | None:
    """The mistake that explains all live differences; None where there is none, or none is known that does.

    Either dump may be the wrong one; where both could be, it is the second. `others` are schemas that one of the
    dumps may follow instead, other versions of a family for example: they are tried with the field names that both
    schemas have.
    """
    if found.same:
        return None
    both = views(found)
    for view in both:
        if mistake := cut_off(view, found) or swapped_bytes(view):
            return mistake
    for view in both:
        if mistake := other_rule(view):
            return mistake
    alternatives = tuple(others)
    for view in both:
        if mistake := other_schema(view, alternatives):
            return mistake
    if mistake := exchanged(found):
        return mistake
    for hypothesis in (widened, lacking, shifted):
        for view in both:
            if mistake := hypothesis(view, found):
                return mistake
    return None
