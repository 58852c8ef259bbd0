"""What differs between two code objects: target, sizes, how a wave starts, arguments, machine code.

Addresses do not count: a linker may place the same kernel elsewhere. It judges nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from argpack.codeobject.model import Argument, CodeObject, Kernel

_KERNEL: tuple[tuple[str, str], ...] = (
    ("name", "name"),
    ("kernarg_segment_size", "kernarg segment, bytes"),
    ("kernarg_segment_align", "kernarg segment's alignment, bytes"),
    ("group_segment_size", "LDS, bytes"),
    ("private_segment_size", "scratch, bytes a work-item"),
    ("max_flat_workgroup_size", "largest workgroup, work-items"),
    ("required_workgroup_size", "required workgroup"),
    ("cluster_size", "workgroup cluster"),
    ("wavefront_size", "wave, lanes"),
    ("sgpr_count", "SGPRs used"),
    ("vgpr_count", "VGPRs used"),
    ("agpr_count", "AGPRs used"),
)
_DESCRIPTOR: tuple[tuple[str, str], ...] = (
    ("kernarg_size", "descriptor: kernarg segment, bytes"),
    ("group_segment_size", "descriptor: LDS, bytes"),
    ("private_segment_size", "descriptor: scratch, bytes a work-item"),
    ("kernarg_preload_length", "kernarg preload length, dwords"),
    ("kernarg_preload_offset", "kernarg preload offset, dwords"),
    ("user_sgpr_count", "user SGPRs"),
    ("workgroup_id_x", "workgroup_id_x in an SGPR"),
    ("workgroup_id_y", "workgroup_id_y in an SGPR"),
    ("workgroup_id_z", "workgroup_id_z in an SGPR"),
    ("workgroup_info", "workgroup info in an SGPR"),
    ("workitem_id_mode", "work-item ids in v0: 0 x, 1 xy, 2 xyz"),
    ("private_segment_enabled", "scratch set up"),
    ("round_mode_32", "round mode of f32"),
    ("round_mode_16_64", "round mode of f16 and f64"),
    ("denorm_mode_32", "denormal mode of f32"),
    ("denorm_mode_16_64", "denormal mode of f16 and f64"),
    ("dx10_clamp", "clamp of NaN to 0"),
    ("ieee_mode", "IEEE mode"),
    ("fp16_overflow", "f16 overflow mode"),
    ("wavefront_size", "descriptor: wave, lanes"),
    ("dynamic_stack", "dynamic stack"),
    ("vgpr_total", "VGPRs allocated"),
    ("accum_offset", "first AGPR"),
    ("sgpr_total", "SGPRs allocated"),
)


class Difference(NamedTuple):
    """One of them, in words. `kernel` is None for what is of the whole file; None where a side has no such thing."""

    kernel: str | None
    what: str
    first: str | None
    second: str | None


def differences(first: CodeObject, second: CodeObject) -> tuple[Difference, ...]:
    """All that differs. Kernels are paired by name; where each file has one, these are a pair whatever their names."""
    return tuple(_differences(first, second))


def _differences(first: CodeObject, second: CodeObject) -> Iterator[Difference]:
    of_file: tuple[tuple[str, Callable[[CodeObject], object]], ...] = (
        ("target", lambda code_object: code_object.target),
        ("code object version", lambda code_object: f"V{code_object.code_object_version}"),
    )
    for what, value in of_file:
        if value(first) != value(second):
            yield Difference(None, what, str(value(first)), str(value(second)))
    ours = {kernel.name: kernel for kernel in first.kernels}
    theirs = {kernel.name: kernel for kernel in second.kernels}
    if len(ours) == len(theirs) == 1:
        yield from _of_pair(first, first.kernels[0], second, second.kernels[0])
        return
    for name in dict.fromkeys((*ours, *theirs)):
        if name in ours and name in theirs:
            yield from _of_pair(first, ours[name], second, theirs[name])
        else:
            yield Difference(name, "kernel", *("there" if name in side else None for side in (ours, theirs)))


def _of_pair(first: CodeObject, ours: Kernel, second: CodeObject, theirs: Kernel) -> Iterator[Difference]:
    pairs = ((_KERNEL, ours, theirs), (_DESCRIPTOR, ours.descriptor, theirs.descriptor))
    for fields, one, other in pairs:
        for name, what in fields:
            values = getattr(one, name), getattr(other, name)
            if values[0] != values[1]:
                yield Difference(ours.name, what, *map(_text, values))
    starts = [_start(kernel) for kernel in (ours, theirs)]
    if starts[0] != starts[1]:
        yield Difference(ours.name, "user SGPRs hold", *starts)
    yield from _of_arguments(ours, theirs)
    code = first.code(ours), second.code(theirs)
    if code[0] != code[1]:
        at = next(
            (i for i, pair in enumerate(zip(*code, strict=False)) if pair[0] != pair[1]), min(map(len, code))
        )
        told = [f"{len(each)} bytes, {each[at : at + 8].hex(' ') or 'nothing'} at {at:#x}" for each in code]
        yield Difference(ours.name, "machine code", *told)


def _start(kernel: Kernel) -> str:
    """`s[0:1] kernarg_segment_ptr, s[2:5] kernarg_preload`."""
    parts = []
    for user in kernel.descriptor.user_sgprs:
        last = user.register + user.count - 1
        where = f"s{last}" if user.count == 1 else f"s[{user.register}:{last}]"
        parts.append(f"{where} {user.name}")
    return ", ".join(parts) or "nothing"


def _of_arguments(ours: Kernel, theirs: Kernel) -> Iterator[Difference]:
    sides = [{argument.offset: argument for argument in kernel.arguments} for kernel in (ours, theirs)]
    for offset in sorted({*sides[0], *sides[1]}):
        first, second = (side.get(offset) for side in sides)
        if first != second:
            yield Difference(ours.name, f"argument at {offset:#05x}", _argument(first), _argument(second))


def _argument(argument: Argument | None) -> str | None:
    if argument is None:
        return None
    parts = (argument.kind, argument.type, argument.type_name, argument.access, argument.actual_access)
    said = ", ".join(part for part in (*parts, argument.address_space) if part)
    return f"{argument.name or 'unnamed'}, {argument.size} bytes, {said}"


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "×".join(map(str, value))
    return None if value is None else str(value)
