"""Holds the arguments that a code object declares against a schema and names every disagreement.

Neither side is the truth: the metadata was written by hand or taken from another kernel, the schema from the host's
struct. A disagreement with a `reason` is one that is known to do no harm; one without contradicts.
"""

from __future__ import annotations

import bisect
import enum
import itertools
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from argpack.codeobject import Argument, Kernel
    from argpack.families.family import Extra, Family
    from argpack.schema import KernargSchema, Slot

_ANY_VALUE = frozenset({"i32", "u32", "-"})
_FLOATS = {"f16": {"f16", "fp16"}, "f32": {"f32", "fp32"}, "f64": {"f64", "fp64"}}


class Kind(enum.StrEnum):
    """What disagrees. `LACKING` is a field that no argument covers, `EXTRA` an argument where no field is."""

    NAME = "name"
    TYPE = "type"
    SIZE = "size"
    OFFSET = "offset"
    LACKING = "lacking"
    EXTRA = "extra"
    GAP = "gap"
    OVERLAP = "overlap"
    BEYOND = "beyond the segment"
    SEGMENT = "segment"
    DESCRIPTOR = "descriptor"


class Disagreement(NamedTuple):
    """One disagreement at a byte `offset`. `reason` is why it does no harm; empty for a contradiction."""

    kind: Kind
    offset: int
    text: str
    reason: str = ""


def disagreements(family: Family, kernel: Kernel) -> tuple[Disagreement, ...]:
    """Everything in which the metadata of `kernel` and the family's schema disagree, by offset."""
    return compare(
        kernel,
        family.schema,
        names=family.metadata_names,
        extras=family.extras,
        segments=family.segments,
    )


def compare(
    kernel: Kernel,
    schema: KernargSchema,
    *,
    names: Mapping[str, Sequence[str]],
    extras: Sequence[Extra] = (),
    segments: Sequence[int] = (),
) -> tuple[Disagreement, ...]:
    """As `disagreements`, for a schema of no family: `names` has what the metadata may call a field."""
    found = list(_Comparison(kernel, schema, names, extras).run())
    found += _ranges(kernel, schema)
    found += _segment(kernel, schema, segments)
    return tuple(sorted(found, key=lambda one: (one.offset, list(Kind).index(one.kind))))


def contradictions(family: Family, kernel: Kernel) -> tuple[Disagreement, ...]:
    """The disagreements without a reason: with any, the kernel is not of this family, or its metadata is wrong."""
    return tuple(one for one in disagreements(family, kernel) if not one.reason)


def cross_check(family: Family, kernel: Kernel) -> tuple[str, ...]:
    """What differs without harm, a sentence for each kind. Raises InputError that names the first contradiction."""
    found = disagreements(family, kernel)
    wrong = [one for one in found if not one.reason]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise InputError(f"kernel {kernel.name}: {family.name}: {wrong[0].text}{more}")
    return tuple(summary(found, family.schema))


def summary(found: Iterable[Disagreement], schema: KernargSchema) -> Iterator[str]:
    """The disagreements with a reason, a sentence for each kind."""
    for kind, group in itertools.groupby(
        sorted(found, key=lambda one: list(Kind).index(one.kind)), lambda d: d.kind
    ):
        some = list(group)
        if kind is Kind.NAME:
            yield f"the metadata has other names for {len(some)} of {len(schema.fields)} fields: {some[0].text}"
        elif kind is Kind.LACKING:
            fields = ", ".join(one.text.partition(":")[0] for one in some)
            yield f"passed and not declared: {fields}; {some[0].reason}"
        elif len(some) > 1:
            yield f"{some[0].text} and {len(some) - 1} more; {some[0].reason}"
        else:
            yield f"{some[0].text}; {some[0].reason}"


class _Comparison:
    """One pass over the arguments; `covered` are the fields that an argument was found for."""

    def __init__(
        self,
        kernel: Kernel,
        schema: KernargSchema,
        names: Mapping[str, Sequence[str]],
        extras: Sequence[Extra],
    ) -> None:
        self.kernel = kernel
        self.schema = schema
        self.names = names
        self.extras = {(extra.offset, extra.metadata) for extra in extras}
        self.fields = [slot for slot in schema.slots if slot.field is not None]
        self.starts = [slot.offset for slot in self.fields]
        self.at = {slot.offset: slot for slot in self.fields}
        self.offsets = {argument.offset for argument in kernel.arguments if not is_pad(argument)}
        self.covered: set[str] = set()

    def run(self) -> Iterator[Disagreement]:
        """The disagreements of single arguments and fields."""
        for argument in self.kernel.arguments:
            yield from self._argument(argument)
        yield from self._lacking()

    def _argument(self, argument: Argument) -> Iterator[Disagreement]:
        inside = self._fields_within(argument.offset, argument.end)
        slot = self.at.get(argument.offset)
        where = argument.offset
        if argument.hidden:
            for other in inside:
                yield Disagreement(Kind.OVERLAP, where, f"{_label(argument)} overlaps {_place(other)}")
        elif not inside:
            yield from self._outside(argument)
        elif slot is None and self._second_half(argument, inside[0]):
            return
        elif slot is None:
            yield Disagreement(Kind.OFFSET, where, f"{_label(argument)}: expected {_place(inside[0])}")
        elif len(inside) > 1:
            yield from self._block(argument, inside)
        elif is_pad(argument) and not self._known(slot, argument):
            yield Disagreement(Kind.OVERLAP, where, f"{_label(argument)} is a pad: expected {_place(slot)}")
        else:
            self.covered.add(slot.name)
            yield from self._field(argument, slot)

    def _fields_within(self, start: int, end: int) -> list[Slot]:
        """The fields that bytes `start` to `end` touch."""
        index = max(bisect.bisect_right(self.starts, start) - 1, 0)
        found = []
        while index < len(self.fields) and self.fields[index].offset < end:
            if start < self.fields[index].end:
                found.append(self.fields[index])
            index += 1
        return found

    def _outside(self, argument: Argument) -> Iterator[Disagreement]:
        if is_pad(argument) or (argument.name is None and argument.end <= self.schema.size):
            return
        text = f"{_label(argument)}: {self.schema.name} has no field there"
        known = (argument.offset, _said(argument)) in self.extras
        yield Disagreement(Kind.EXTRA, argument.offset, text, "no kernel loads it" if known else "")

    def _block(self, argument: Argument, inside: list[Slot]) -> Iterator[Disagreement]:
        """One by-value argument over several fields: the metadata names none of them."""
        text = f"{_label(argument)} covers {len(inside)} fields from {_place(inside[0])}"
        whole = argument.kind == "by_value" and inside[-1].end <= argument.end <= self.schema.size
        if whole:
            self.covered.update(slot.name for slot in inside)
        yield Disagreement(
            Kind.SIZE, argument.offset, text, "one block of bytes that says nothing" if whole else ""
        )

    def _field(self, argument: Argument, slot: Slot) -> Iterator[Disagreement]:
        where = slot.offset
        known = self._known(slot, argument)
        if argument.name != slot.name:
            reason = "the metadata's name for it" if known else "unnamed" if argument.name is None else ""
            yield Disagreement(Kind.NAME, where, f"{argument.name or 'no name'} for {slot.name}", reason)
        if argument.size != slot.size:
            reason = self._size_reason(argument, slot) or ("known of this family's files" if known else "")
            text = f"{_label(argument)}: expected {slot.size} bytes, found {argument.size}"
            yield Disagreement(Kind.SIZE, where, text, reason)
            if argument.size < slot.size and reason:
                return
        if text := _type_difference(argument, slot):
            common = argument.kind == "by_value" and argument.type == "i32" and _kind_of(slot) == "float"
            reason = (
                "the files say i32 of every value"
                if common
                else "known of this family's files"
                if known
                else ""
            )
            yield Disagreement(Kind.TYPE, where, text, reason)

    def _size_reason(self, argument: Argument, slot: Slot) -> str:
        if slot.size == 8 and argument.size == 4 and slot.offset + 4 in self.offsets:
            return "declared in two halves"
        pad = next((s for s in self.schema.slots if s.offset == slot.end and s.field is None), None)
        return "its pad is counted in" if pad and slot.end < argument.end <= pad.end else ""

    def _second_half(self, argument: Argument, slot: Slot) -> bool:
        return (
            slot.size == 8
            and argument.size == 4
            and argument.offset == slot.offset + 4
            and slot.name in self.covered
        )

    def _known(self, slot: Slot, argument: Argument) -> bool:
        return _said(argument) in self.names.get(slot.name, ())

    def _lacking(self) -> Iterator[Disagreement]:
        """Fields behind all arguments are those of newer kernels; before the end, HIP may leave their bytes out."""
        end = max((argument.end for argument in self.kernel.arguments if not is_pad(argument)), default=0)
        for slot in self.fields:
            if slot.name in self.covered:
                continue
            behind = slot.offset >= end and bool(self.kernel.arguments)
            reason = "this kernel has no such argument" if behind else ""
            more = "" if behind else ", and HIP copies only what the metadata declares"
            yield Disagreement(
                Kind.LACKING, slot.offset, f"{_place(slot)}: no argument declares it{more}", reason
            )


def _ranges(kernel: Kernel, schema: KernargSchema) -> Iterator[Disagreement]:
    """Arguments that overlap each other, bytes that none declares, arguments that leave the segment."""
    end = 0
    last = None
    for argument in sorted(kernel.arguments, key=lambda a: (a.offset, a.end)):
        if last is not None and argument.offset < end:
            yield Disagreement(Kind.OVERLAP, argument.offset, f"{_label(argument)} overlaps {_label(last)}")
        elif argument.offset > end:
            text = f"no argument declares bytes 0x{end:x} to 0x{argument.offset:x}"
            yield Disagreement(
                Kind.GAP, end, text, _gap_reason(schema, end, argument.offset, hidden=argument.hidden)
            )
        if argument.end > kernel.kernarg_segment_size:
            text = f"{_label(argument)} ends at 0x{argument.end:x}, the segment at 0x{kernel.kernarg_segment_size:x}"
            reason = "a pad" if is_pad(argument) else ""
            yield Disagreement(Kind.BEYOND, argument.offset, text, reason)
        if argument.end >= end:
            end, last = argument.end, argument


def _gap_reason(schema: KernargSchema, start: int, end: int, *, hidden: bool) -> str:
    fields = any(s.field is not None and s.offset < end and start < s.end for s in schema.slots)
    if fields:
        return ""
    return "hidden arguments begin behind it" if hidden else "padding"


def _segment(kernel: Kernel, schema: KernargSchema, segments: Sequence[int]) -> Iterator[Disagreement]:
    declared, passed = kernel.kernarg_segment_size, schema.size
    if declared != passed:
        rest = abs(declared - passed)
        if declared > passed:
            text = f"{passed} bytes are passed, {declared} declared"
            reason = f"HIP copies the last {rest} from behind the buffer"
            expected = declared in segments or rest < max(kernel.kernarg_segment_align, 1)
        else:
            text = f"{passed} bytes are passed, {declared} declared"
            reason = f"the last {rest} do not reach this kernel"
            expected = declared in segments
        yield Disagreement(Kind.SEGMENT, min(declared, passed), text, reason if expected else "")
    stored = kernel.descriptor.kernarg_size
    if stored != declared:
        text = f"the kernel descriptor says {stored} bytes, the metadata {declared}"
        reason = "hand-written descriptors leave it 0" if stored == 0 else ""
        yield Disagreement(Kind.DESCRIPTOR, declared, text, reason)


def _type_difference(argument: Argument, slot: Slot) -> str:
    if slot.field is None:
        return ""
    kind = _kind_of(slot)
    if kind == "pointer":
        fits = argument.kind == "global_buffer"
    elif argument.kind != "by_value":
        fits = False
    elif kind == "float":
        fits = (argument.type or "-") in _FLOATS[slot.field.type] | {"-"}
    else:
        fits = argument.size != 4 or (argument.type or "-") in _ANY_VALUE
    found = argument.kind if argument.kind != "by_value" or not argument.type else argument.type
    return "" if fits else f"{_label(argument)}: expected {slot.field.type}, found {found}"


def _kind_of(slot: Slot) -> str:
    return slot.field.scalar.kind if slot.field else ""


def is_pad(argument: Argument) -> bool:
    """Whether an argument calls itself a pad."""
    return (argument.name or "").lower().lstrip("_").startswith("pad")


def _said(argument: Argument) -> str:
    """Name and type as families declare them."""
    kind = "ptr" if argument.kind == "global_buffer" else argument.type or "-"
    return f"{argument.name or '-'}:{kind}"


def _label(argument: Argument) -> str:
    return f"argument {argument.name or 'without a name'} at 0x{argument.offset:x}"


def _place(slot: Slot) -> str:
    return f"{slot.name} at 0x{slot.offset:x}"
