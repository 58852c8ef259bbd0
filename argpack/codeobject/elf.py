"""The ELF layer: header, loadable segments, symbols and the metadata note, through pyelftools.

pyelftools trusts its input; table sizes are checked here before it walks them, and whatever it raises becomes
one InputError.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

from argpack.codeobject.model import Segment
from argpack.errors import InputError

MAGIC = b"\x7fELF"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_EM_AMDGPU = 224
_ET_REL, _ET_DYN = 1, 3
_OSABI_HSA = 64
_NOTE = struct.Struct("<III")
_NT_AMDGPU_METADATA = 32
_PROGRAM_HEADER_SIZE, _SECTION_HEADER_SIZE, _SYMBOL_SIZE = 56, 64, 24

# What pyelftools is known to leak on damaged tables, besides its own errors.
_LEAKS = (
    ELFError,
    ConstructError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


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


def read_elf(data: bytes) -> Elf:
    """Read a linked AMDGPU ELF file that starts with MAGIC. Raises InputError."""
    flags, abi_version = _check_header(data)
    try:
        elf = ELFFile(io.BytesIO(data))
        headers = [segment.header for segment in elf.iter_segments()]
        symbols = _symbols(elf)
    except _LEAKS as error:
        raise InputError(f"damaged ELF file: {_one_line(error)}") from error
    return Elf(flags, abi_version, _segments(headers, data), symbols, _metadata_note(headers, data))


def _check_header(data: bytes) -> tuple[int, int]:
    if len(data) < _HEADER.size:
        raise InputError(f"truncated ELF file: expected a header of {_HEADER.size} bytes, found {len(data)}")
    ident, kind, machine, _, _, phoff, shoff, flags, _, phentsize, phnum, shentsize, shnum, _ = (
        _HEADER.unpack_from(data)
    )
    if ident[4:6] != b"\x02\x01" or machine != _EM_AMDGPU:
        raise InputError(
            f"an ELF file for another machine: expected 64-bit little-endian AMDGPU (machine {_EM_AMDGPU}), "
            f"found machine {machine} ({'64' if ident[4] == 2 else '32'}-bit)"
        )
    if ident[7] != _OSABI_HSA:
        raise InputError(
            f"an AMDGPU ELF file for another system: expected OS/ABI {_OSABI_HSA} (HSA), found {ident[7]}"
        )
    if kind == _ET_REL:
        raise InputError("a relocatable object, not linked yet: link it with `ld.lld -shared`")
    if kind != _ET_DYN:
        raise InputError(f"expected an ELF shared object (type {_ET_DYN}), found type {kind}")
    for name, offset, size, count, expected in (
        ("program", phoff, phentsize, phnum, _PROGRAM_HEADER_SIZE),
        ("section", shoff, shentsize, shnum, _SECTION_HEADER_SIZE),
    ):
        if count and size != expected:
            raise InputError(f"damaged ELF file: expected {name} headers of {expected} bytes, found {size}")
        if offset + count * expected > len(data):
            raise InputError(
                f"truncated ELF file: {count} {name} headers at {offset:#x} end behind {len(data):#x}, its end"
            )
    if not shnum:
        raise InputError("an ELF file without section headers: its symbols cannot be found")
    return flags, ident[8]


def _symbols(elf: ELFFile) -> dict[str, Symbol]:
    section = elf.get_section_by_name(".dynsym") or elf.get_section_by_name(".symtab")
    if section is None:
        raise InputError("an ELF file without a symbol table (.dynsym)")
    if section["sh_entsize"] != _SYMBOL_SIZE or section["sh_offset"] + section["sh_size"] > elf.stream_len:
        raise InputError(f"damaged ELF file: symbol table at {section['sh_offset']:#x} has no sound size")
    return {
        symbol.name: Symbol(symbol["st_value"], symbol["st_size"], symbol["st_info"]["type"] == "STT_FUNC")
        for symbol in section.iter_symbols()
        if symbol["st_shndx"] != "SHN_UNDEF"
    }


def _segments(headers: list[Any], data: bytes) -> tuple[Segment, ...]:
    segments = []
    for header in headers:
        if header["p_type"] != "PT_LOAD":
            continue
        offset, stored, size = header["p_offset"], header["p_filesz"], header["p_memsz"]
        if offset + stored > len(data):
            raise InputError(
                f"truncated ELF file: a segment ends at {offset + stored:#x}, the file at {len(data):#x}"
            )
        if stored > size:
            raise InputError(f"damaged ELF file: a segment stores {stored} bytes but occupies {size}")
        segments.append(
            Segment(header["p_vaddr"], data[offset : offset + stored], size, bool(header["p_flags"] & 1))
        )
    return tuple(segments)


def _metadata_note(headers: list[Any], data: bytes) -> bytes | None:
    for header in headers:
        if header["p_type"] != "PT_NOTE":
            continue
        offset, end = header["p_offset"], header["p_offset"] + header["p_filesz"]
        if end > len(data):
            raise InputError(
                f"truncated ELF file: a note segment ends at {end:#x}, the file at {len(data):#x}"
            )
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


def _aligned(size: int) -> int:
    return (size + 3) & ~3


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
