"""A schema from a code object's metadata alone: right as far as the metadata is, which no other source confirms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.metadata import is_pad
from argpack.schema import Field, KernargSchema, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.codeobject import Argument, Kernel

# The metadata's type names, by size; AITER's files say i32 of every value, pads and floats included.
_TYPES = {
    1: {"i8": "i8", "u8": "u8"},
    2: {"i16": "i16", "u16": "u16", "f16": "f16"},
    4: {"i32": "i32", "u32": "u32", "f32": "f32", "fp32": "f32"},
    8: {"i64": "i64", "u64": "u64", "f64": "f64"},
}
_UNTYPED = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}


def derive(kernel: Kernel) -> KernargSchema:
    """The schema that the metadata declares, `kernarg_segment_size` bytes long.

    Arguments without a name are `arg_0x10`, hidden ones as their kind, a second one of a name `name_0x10`; bytes of no
    argument are pads, before the first argument and within blocks of odd size unsigned fields. Hidden arguments are
    fields where they say they are. Raises InputError for a kernel without arguments, and where arguments overlap or
    leave the segment.
    """
    arguments = sorted((a for a in kernel.arguments if not is_pad(a)), key=lambda a: a.offset)
    if not arguments:
        raise InputError(f"kernel {kernel.name}: the metadata declares no argument")
    pieces = list(_pieces(kernel, arguments))
    ends = [start for _, start, *_ in pieces[1:]] + [kernel.kernarg_segment_size]
    names: set[str] = set()
    fields = []
    for (name, start, size, kind), after in zip(pieces, ends, strict=True):
        unique = name if name not in names else f"{name}_0x{start:x}"
        names.add(unique)
        role = Role.POINTER if kind == "ptr" else Role.SCALAR
        fields.append(Field(unique, kind, role=role, pad=after - start - size))
    return KernargSchema(
        _identifier(kernel.name), tuple(fields), f"Derived from the metadata of {kernel.name}."
    )


def _pieces(kernel: Kernel, arguments: list[Argument]) -> Iterator[tuple[str, int, int, str]]:
    """Name, offset, size and type of each field."""
    end = 0
    last = arguments[0]
    yield from _words("unknown", 0, arguments[0].offset)
    for argument in arguments:
        where = f"kernel {kernel.name}: argument {argument.name or 'without a name'} at 0x{argument.offset:x}"
        if argument.offset < end:
            raise InputError(f"{where} overlaps {last.name or 'the argument'} at 0x{last.offset:x}")
        if argument.end > kernel.kernarg_segment_size:
            raise InputError(
                f"{where} ends at 0x{argument.end:x}, the segment at 0x{kernel.kernarg_segment_size:x}"
            )
        end, last = argument.end, argument
        name = _name(argument)
        kind = _type_of(argument)
        if kind is None:
            yield from _words(name, argument.offset, argument.end)
        else:
            yield name, argument.offset, argument.size, kind


def _name(argument: Argument) -> str:
    """Hidden arguments have no name and say what they are: `hidden_block_count_x`."""
    return _identifier(argument.name or (argument.kind if argument.hidden else f"arg_0x{argument.offset:x}"))


def _type_of(argument: Argument) -> str | None:
    """The schema's type; None for a block of bytes that is no scalar."""
    if argument.size == 8 and (argument.kind.endswith("_buffer") or argument.kind.endswith("pointer")):
        return "ptr"
    return _TYPES.get(argument.size, {}).get(argument.type or "", _UNTYPED.get(argument.size))


def _words(name: str, start: int, end: int) -> Iterator[tuple[str, int, int, str]]:
    """Bytes that nothing describes, as unsigned fields of 4 bytes and single bytes at the end."""
    while start < end:
        size = 4 if end - start >= 4 else 1
        yield f"{name}_0x{start:x}", start, size, _UNTYPED[size]
        start += size


def _identifier(text: str) -> str:
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in text)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
