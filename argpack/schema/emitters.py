"""A schema as source text of C++, Python's ctypes and Rust; C is in `c_header`, TOML in `toml_form`.

Each text checks itself: offsets and sizes are asserted where the language compiles or imports it. Pointers of Python
and Rust are integers: they are addresses of a device. Half floats are their bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argpack.schema.field import Slot
    from argpack.schema.kernarg import KernargSchema

_CPP = {"ptr": "void*", "f16": "std::uint16_t", "f32": "float", "f64": "double"}
_CTYPES = {"ptr": "c_uint64", "f16": "c_uint16", "f32": "c_float", "f64": "c_double"}
_RUST = {"ptr": "u64", "f16": "u16"}
_RUST_KEYWORDS = (
    " as async await break const continue dyn else enum extern false fn for gen if impl in let loop match mod move mut "
    "pub ref return static struct trait true type unsafe use where while abstract become box do final macro override "
    "priv try typeof unsized virtual yield "
)


def struct_name(schema: KernargSchema) -> str:
    """What the struct is called in every language."""
    return f"{schema.name}_kernargs"


def cpp_of(schema: KernargSchema) -> str:
    """A C++17 header. Every member starts as zero, pads too: nothing of the stack reaches the kernel."""
    name = struct_name(schema)
    members = [
        f"  std::uint8_t {slot.name}[{slot.size}]{{}};"
        if slot.field is None
        else f"  {_cpp_type(slot)} {slot.name}{{}};{_remark(slot, ' //')}"
        for slot in schema.slots
    ]
    lines = [
        f"// {_text(schema.doc or schema.name)}",
        "#pragma once",
        "",
        "#include <cstddef>",
        "#include <cstdint>",
        "#include <type_traits>",
        "",
        "namespace argpack {",
        "",
        "#pragma pack(push, 1)",
        f"struct {name} {{",
        *members,
        "};",
        "#pragma pack(pop)",
        "",
        f"static_assert(std::is_standard_layout_v<{name}>);",
        *(f"static_assert(offsetof({name}, {slot.name}) == {slot.offset});" for slot in schema.slots),
        f"static_assert(sizeof({name}) == {schema.size});",
        "",
        "}  // namespace argpack",
    ]
    return "\n".join(lines) + "\n"


def ctypes_of(schema: KernargSchema) -> str:
    """A Python module with a ctypes Structure."""
    name = struct_name(schema)
    fields = [
        f'        ("{slot.name}", ctypes.{_ctype(slot)}),{_remark(slot, " #")}' for slot in schema.slots
    ]
    offsets = [f'    ("{slot.name}", {slot.offset}),' for slot in schema.slots]
    about = _text(schema.doc or schema.name).replace("\\", "\\\\").replace('"""', "'''")
    lines = [
        f'"""{about} """' if about.endswith('"') else f'"""{about}"""',
        "",
        "import ctypes",
        "",
        "",
        f"class {name}(ctypes.LittleEndianStructure):",
        f'    """{schema.size} bytes. Fields are zero unless given: `bytes({name}(...))` is the buffer."""',
        "",
        "    _pack_ = 1",
        '    _layout_ = "ms"',
        "    _fields_ = [",
        *fields,
        "    ]",
        "",
        "",
        "for _name, _offset in [",
        *offsets,
        "]:",
        f"    assert getattr({name}, _name).offset == _offset, _name",
        f"assert ctypes.sizeof({name}) == {schema.size}",
    ]
    return "\n".join(lines) + "\n"


def rust_of(schema: KernargSchema) -> str:
    """A Rust module, edition 2021, Rust 1.77 or later."""
    name = struct_name(schema)
    members = []
    for slot in schema.slots:
        if about := _remark(slot, "///"):
            members.append(f"    {about.strip()}")
        members.append(f"    pub {_rust_name(slot.name)}: {_rust_type(slot)},")
    offsets = [
        f"    assert!(core::mem::offset_of!({name}, {_rust_name(slot.name)}) == {slot.offset});"
        for slot in schema.slots
    ]
    lines = [
        f"/// {_text(schema.doc or schema.name)}",
        "#[allow(non_camel_case_types, non_snake_case)]",
        "#[derive(Clone, Copy)]",
        "#[repr(C, packed)]",
        f"pub struct {name} {{",
        *members,
        "}",
        "",
        "const _: () = {",
        *offsets,
        f"    assert!(core::mem::size_of::<{name}>() == {schema.size});",
        "};",
    ]
    return "\n".join(lines) + "\n"


def _cpp_type(slot: Slot) -> str:
    kind = slot.field.type if slot.field else ""
    return _CPP.get(kind) or f"std::{'u' if kind[0] == 'u' else ''}int{kind[1:]}_t"


def _ctype(slot: Slot) -> str:
    if slot.field is None:
        return f"c_uint8 * {slot.size}"
    kind = slot.field.type
    return _CTYPES.get(kind) or f"c_{'u' if kind[0] == 'u' else ''}int{kind[1:]}"


def _rust_type(slot: Slot) -> str:
    return f"[u8; {slot.size}]" if slot.field is None else _RUST.get(slot.field.type, slot.field.type)


def _rust_name(name: str) -> str:
    if name in {"self", "Self", "super", "crate"}:  # not even raw identifiers
        return f"{name}_"
    return f"r#{name}" if f" {name} " in _RUST_KEYWORDS else name


def _remark(slot: Slot, mark: str) -> str:
    """Unit and description of a field as a comment, with a blank before it; empty for a pad."""
    if slot.field is None:
        return ""
    about = ": ".join(text for text in (slot.field.unit, slot.field.doc) if text)
    return f" {mark} {_text(about)}" if about else ""


def _text(text: str) -> str:
    """One line, which a backslash at its end does not continue."""
    return " ".join(text.split()).rstrip("\\")
