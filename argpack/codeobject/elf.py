"""The ELF layer: header, loadable segments, symbols and the metadata note of a linked AMDGPU file.

It reads the tables that LLVM writes, 64-bit little-endian, and nothing else; every extent is checked against the file
before it is used. Structures and numbers are those of the System V ABI and of LLVM's "User Guide for AMDGPU Backend".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

from argpack.codeobject.model import Segment
from argpack.errors import InputError

MAGIC = b"\x7fELF"
_FAT = b"\0.hip_fatbin\0"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NOTE = struct.Struct("<III")
_EM_AMDGPU = 224
_ET_REL, _ET_DYN = 1, 3
_OSABI_HSA = 64
_PT_LOAD, _PT_NOTE = 1, 4
_PF_X = 1
_SHT_SYMTAB, _SHT_NOBITS, _SHT_DYNSYM = 2, 8, 11
_STT_FUNC = 2
_NT_AMDGPU_METADATA = 32
_ADDRESS_LIMIT = 1 << 48


@dataclass(frozen=True, slots=True)
class Symbol:
    """A defined symbol: virtual address and size in bytes."""

    address: int
    size: int
    function: bool


@dataclass(frozen=True, slots=True)
class Elf:
    """What the rest needs of an ELF file. `note` is the metadata note's contents, None when there is none."""

    flags: int
    abi_version: int
    segments: tuple[Segment, ...]
    symbols: dict[str, Symbol]
    note: bytes | None


class _Header(NamedTuple):
    ident: bytes
    type: int
    machine: int
    version: int
    entry: int
    phoff: int
    shoff: int
    flags: int
    ehsize: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int


class _Program(NamedTuple):
    type: int
    flags: int
    offset: int
    vaddr: int
    paddr: int
    filesz: int
    memsz: int
    align: int


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    addr: int
    offset: int
    size: int
    link: int
    info: int
    addralign: int
    entsize: int


def read_elf(data: bytes, *, source: str) -> Elf:
    """Read a linked AMDGPU ELF file that starts with MAGIC; a message may name `source`. Raises InputError."""
    header = _header(data, source)
    programs = [
        _Program._make(fields)
        for fields in _table(data, _PROGRAM, header.phoff, header.phnum, header.phentsize, "program")
    ]
    sections = [
        _Section._make(fields)
        for fields in _table(data, _SECTION, header.shoff, header.shnum, header.shentsize, "section")
    ]
    if not sections:
        raise InputError("an ELF file without section headers: its symbols cannot be found")
    for section in sections:
        if section.type != _SHT_NOBITS:
            _check_inside(data, section.offset, section.size, "a section")
    return Elf(
        header.flags,
        header.ident[8],
        tuple(_segment(program, data) for program in programs if program.type == _PT_LOAD),
        _symbols(sections, data),
        _metadata_note([program for program in programs if program.type == _PT_NOTE], data),
    )


def _header(data: bytes, source: str) -> _Header:
    if len(data) < _HEADER.size:
        raise InputError(f"truncated ELF file: expected a header of {_HEADER.size} bytes, found {len(data)}")
    header = _Header._make(_HEADER.unpack_from(data))
    if header.ident[4:6] != b"\x02\x01" or header.machine != _EM_AMDGPU:
        order = "big-endian" if header.ident[5] == 2 else "little-endian"
        machine = int.from_bytes(data[18:20], "big" if header.ident[5] == 2 else "little")
        take_out = f"`llvm-objcopy --dump-section .hip_fatbin=gpu.hipfb {source}`"
        hint = (
            f"; its GPU code is in the section .hip_fatbin: take it out with {take_out}"
            if _FAT in data
            else ""
        )
        raise InputError(
            f"an ELF file for another machine: expected 64-bit little-endian AMDGPU (machine {_EM_AMDGPU}), "
            f"found {'64' if header.ident[4] == 2 else '32'}-bit {order} machine {machine}{hint}"
        )
    if header.ident[7] != _OSABI_HSA:
        raise InputError(
            f"an AMDGPU ELF file for another system: expected OS/ABI {_OSABI_HSA} (HSA), found {header.ident[7]}"
        )
    if header.type == _ET_REL:
        raise InputError("a relocatable object, not linked yet: link it with `ld.lld -shared`")
    if header.type != _ET_DYN:
        raise InputError(f"expected an ELF shared object (type {_ET_DYN}), found type {header.type}")
    return header


def _table(
    data: bytes, entry: struct.Struct, offset: int, count: int, size: int, what: str
) -> list[tuple[Any, ...]]:
    if count and size != entry.size:
        raise InputError(f"damaged ELF file: expected {what} headers of {entry.size} bytes, found {size}")
    end = offset + count * entry.size
    if end > len(data):
        raise InputError(
            f"truncated ELF file: expected {count} {what} headers at {offset:#x}, found {len(data):#x} bytes"
        )
    return list(entry.iter_unpack(data[offset:end]))


def _segment(program: _Program, data: bytes) -> Segment:
    _check_inside(data, program.offset, program.filesz, "a segment")
    if program.filesz > program.memsz:
        raise InputError(
            f"damaged ELF file: a segment stores {program.filesz} bytes but occupies {program.memsz}"
        )
    if program.vaddr + program.memsz > _ADDRESS_LIMIT:
        raise InputError(
            f"damaged ELF file: a segment of {program.memsz} bytes at {program.vaddr:#x} ends outside 48 bits"
        )
    stored = data[program.offset : program.offset + program.filesz]
    return Segment(program.vaddr, stored, program.memsz, bool(program.flags & _PF_X))


def _symbols(sections: list[_Section], data: bytes) -> dict[str, Symbol]:
    """The defined symbols by name; of the two symbol tables the dynamic one, which is what a loader sees."""
    tables = {section.type: section for section in sections}
    table = tables.get(_SHT_DYNSYM) or tables.get(_SHT_SYMTAB)
    if table is None:
        raise InputError("an ELF file without a symbol table (.dynsym)")
    if table.entsize != _SYMBOL.size or table.size % _SYMBOL.size:
        raise InputError(
            f"damaged ELF file: expected a symbol table of {_SYMBOL.size}-byte entries, found {table.size} bytes "
            f"of {table.entsize}-byte entries"
        )
    if table.link >= len(sections):
        raise InputError(
            f"damaged ELF file: the symbols' names are in section {table.link} of {len(sections)}"
        )
    strings = sections[table.link]
    names = data[strings.offset : strings.offset + strings.size]
    found = {}
    for name_at, info, _, section, address, size in _SYMBOL.iter_unpack(
        data[table.offset : table.offset + table.size]
    ):
        if section:
            end = names.find(b"\0", name_at)
            if end < 0:
                raise InputError(f"damaged ELF file: a symbol's name at {name_at:#x} of its table has no end")
            name = names[name_at:end].decode("utf-8", "backslashreplace")
            found[name] = Symbol(address, size, info & 15 == _STT_FUNC)
    return found


def _metadata_note(programs: list[_Program], data: bytes) -> bytes | None:
    for program in programs:
        _check_inside(data, program.offset, program.filesz, "a note segment")
        offset, end = program.offset, program.offset + program.filesz
        while offset + _NOTE.size <= end:
            name_size, size, kind = _NOTE.unpack_from(data, offset)
            name_at = offset + _NOTE.size
            contents_at = name_at + _aligned(name_size)
            if contents_at + size > end:
                raise InputError(
                    f"damaged ELF file: the note at {offset:#x} ends behind its segment ({end:#x})"
                )
            if kind == _NT_AMDGPU_METADATA and data[name_at : name_at + name_size] == b"AMDGPU\0":
                return data[contents_at : contents_at + size]
            offset = contents_at + _aligned(size)
    return None


def _check_inside(data: bytes, offset: int, size: int, what: str) -> None:
    if offset + size > len(data):
        raise InputError(f"truncated ELF file: {what} ends at {offset + size:#x}, the file at {len(data):#x}")


def _aligned(size: int) -> int:
    return (size + 3) & ~3
