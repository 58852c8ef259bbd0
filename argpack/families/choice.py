"""Which family a code object's kernel belongs to: its name and folder propose, its declared arguments decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack import families
from argpack.errors import InputError
from argpack.families import index
from argpack.families.metadata import contradictions, is_pad

if TYPE_CHECKING:
    from argpack.codeobject import CodeObject, Kernel
    from argpack.families.family import Family


def family_of_kernel(kernel: Kernel, code_object: CodeObject | None = None) -> Family | None:
    """The family of a kernel; None where neither its name nor the folder of its file is known.

    Of those that its name proposes, the kernel is of the one that agrees with its declared arguments. Of several that
    agree, those with the narrowest pattern for its name stay; of several versions still, the shortest, where all have
    the same fields as far as the kernel declares any. A single proposal that disagrees is the kernel's family all the
    same: `cross_check` says what contradicts. Raises InputError where the choice would be a guess.
    """
    for family in families.FAMILIES:
        if family.matches(kernel.name):
            return family
    processor = code_object.target.processor if code_object else ""
    source = code_object.source if code_object else ""
    found = index.proposed(kernel.name, processor=processor, source=source)
    if len(found) < 2:
        return index.load(found[0][1]) if found else None
    fitting = [(weight, entry) for weight, entry in found if not contradictions(index.load(entry), kernel)]
    narrowest = max(weight for weight, _ in fitting or found)
    chosen = [index.load(entry) for weight, entry in fitting or found if weight == narrowest]
    chosen.sort(key=lambda family: family.schema.size)
    if len(chosen) > 1 and not fitting:
        raise InputError(f"kernel {kernel.name}: its declared arguments fit none of {_names(chosen)}")
    if any(_declared(family, kernel) != _declared(chosen[0], kernel) for family in chosen):
        raise InputError(
            f"kernel {kernel.name}: its declared arguments fit several families, {_names(chosen)}"
        )
    return chosen[0]


def kernel_of(code_object: CodeObject) -> tuple[Kernel, Family]:
    """The kernel of a code object that argpack can launch, and its family. Raises InputError for none or
    several.
    """
    found = [(kernel, family_of_kernel(kernel, code_object)) for kernel in code_object.kernels]
    known = [(kernel, family) for kernel, family in found if family and family.workload]
    if len(known) == 1:
        return known[0]
    names = ", ".join(kernel.name for kernel in code_object.kernels) or "no kernel"
    declared = sorted({family.name for _, family in found if family})
    if known:
        what = f"{len(known)} that argpack launches, not one"
    elif declared:
        what = f"of {' and '.join(declared)}, whose arguments argpack knows; it launches others"
    else:
        what = "of no family that argpack launches"
    launched = ", ".join(family.name for family in families.FAMILIES)
    raise InputError(f"{code_object.source}: {names} for {code_object.target}: {what} ({launched})")


def _declared(family: Family, kernel: Kernel) -> list[tuple[str, int, str]]:
    """The fields within the arguments that the kernel declares."""
    end = max((argument.end for argument in kernel.arguments if not is_pad(argument)), default=0)
    slots = [slot for slot in family.schema.slots if slot.offset < end]
    return [(slot.name, slot.offset, slot.field.type) for slot in slots if slot.field is not None]


def _names(chosen: list[Family]) -> str:
    return ", ".join(f"{family.name} ({family.schema.size} bytes)" for family in chosen)
