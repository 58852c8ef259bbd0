"""A schema as C and C++ text: a packed struct whose layout the compiler itself checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argpack.schema.field import Slot
    from argpack.schema.kernarg import KernargSchema


def header_of(schema: KernargSchema) -> str:
    """The header. Names of C keywords are refused by the compiler, not here."""
    struct = f"{schema.name}_kernargs"
    guard = f"{struct.upper()}_H"
    asserts = [
        f'static_assert(offsetof(struct {struct}, {slot.name}) == {slot.offset}, "{slot.name}");'
        for slot in schema.slots
    ]
    lines = [
        f"/* {_comment(schema.doc or schema.name)} */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <assert.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        f"struct __attribute__((packed)) {struct} {{",
        *(_member(slot) for slot in schema.slots),
        "};",
        "",
        *asserts,
        f'static_assert(sizeof(struct {struct}) == {schema.size}, "size of {struct}");',
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _member(slot: Slot) -> str:
    if slot.field is None:
        return f"  uint8_t {slot.name}[{slot.size}];"
    ctype = slot.field.scalar.ctype
    gap = "" if ctype.endswith("*") else " "
    about = ": ".join(text for text in (slot.field.unit, slot.field.doc) if text)
    about = f" /* {_comment(about)} */" if about else ""
    return f"  {ctype}{gap}{slot.name};{about}"


def _comment(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")
