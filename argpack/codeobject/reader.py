"""Reads a code object from a file or from bytes, also out of a bundle. msgpack is imported by the first one read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argpack.codeobject import bundle, descriptor
from argpack.codeobject.foreign import describe
from argpack.codeobject.model import CodeObject, Kernel
from argpack.codeobject.target import TargetId
from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from argpack.codeobject.elf import Elf

_MAGIC = b"\x7fELF"
_NEWEST_ABI = 4


def read(path: str | Path) -> CodeObject:
    """Read one code object: a `.co` file, or an offload bundle that has one for an AMD GPU.

    `FILE#2` is entry 2 of a bundle, `FILE#gfx950` the one for that target. Raises InputError, naming the file, for
    what is not a readable code object or leaves open which.
    """
    file, chosen = split(path)
    return parse(read_bytes(file), source=file, chosen=chosen)


def split(path: str | Path) -> tuple[str, str | None]:
    """A path and what it names behind a `#`, where no file has the whole as its name."""
    text = str(path)
    file, sign, chosen = text.rpartition("#")
    return (file, chosen) if sign and chosen and _is_file(file) and not _is_file(text) else (text, None)


def read_bytes(path: str | Path) -> bytes:
    """The file's bytes. Raises InputError."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror}") from error
    except ValueError as error:  # a null byte in the name
        raise InputError(f"{str(path)!r}: cannot read the file: {error}") from error


def parse(data: bytes, *, source: str, chosen: str | None = None) -> CodeObject:
    """Read a code object from its bytes; `source` names it in messages, `chosen` an entry of a bundle.

    Raises InputError.
    """
    if bundle.is_bundle(data):
        entry = _entry(data, source, chosen)
        source, data = f"{source}#{entry.number}", entry.data
    elif chosen is not None:
        raise InputError(f"{source}#{chosen}: expected an offload bundle, of which # names an entry")
    try:
        return _parse(data, source)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error


def entries(data: bytes, *, source: str) -> tuple[bundle.Entry, ...]:
    """The entries of an offload bundle, or of several in one file. Raises InputError that names the file."""
    try:
        return bundle.unbundle(data)
    except (InputError, UnavailableError) as error:
        raise type(error)(f"{source}: {error}") from error


def _entry(data: bytes, source: str, chosen: str | None) -> bundle.Entry:
    """The entry that is meant: the only one for a GPU, or the one chosen by number or target."""
    found = entries(data, source=source)
    fitting = [entry for entry in found if entry.target is not None and entry.data]
    if chosen is not None:
        fitting = [entry for entry in fitting if chosen in {str(entry.number), entry.target}]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(f"{source}#{entry.number} ({entry.target or entry.id})" for entry in fitting or found)
    if fitting:
        raise InputError(f"{source}: an offload bundle with {len(fitting)} code objects, name one: {listed}")
    wanted = "a code object" if chosen is None else f"a code object {chosen}"
    raise InputError(f"{source}: expected {wanted} in the offload bundle, found {listed or 'no entry'}")


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long, or with a null byte
        return False


def _parse(data: bytes, source: str) -> CodeObject:
    if not data.startswith(_MAGIC):
        raise InputError(describe(data))
    from argpack.codeobject import metadata
    from argpack.codeobject.elf import read_elf

    elf = read_elf(data, source=source)
    if not 1 <= elf.abi_version <= _NEWEST_ABI:
        raise InputError(
            f"code object V{elf.abi_version + 2} (EI_ABIVERSION {elf.abi_version}): argpack reads V3 to "
            f"V{_NEWEST_ABI + 2}"
        )
    target = TargetId.from_flags(elf.flags, elf.abi_version)
    if elf.note is None:
        raise InputError("no AMDGPU metadata note: nothing says which kernels and arguments the file has")
    note = metadata.decode(elf.note)
    return CodeObject(
        source=source,
        data=data,
        target=target,
        abi_version=elf.abi_version,
        metadata_version=note.version,
        declared_target=note.target,
        kernels=tuple(_kernel(entry, index, elf, target) for index, entry in enumerate(note.kernels)),
        segments=elf.segments,
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _kernel(entry: dict[str, Any], index: int, elf: Elf, target: TargetId) -> Kernel:
    from argpack.codeobject import metadata

    name = metadata.text(entry, ".name", f"kernel {index}") or ""
    where = f"kernel {name!r}"
    symbol = metadata.text(entry, ".symbol", where) or ""
    desc = _descriptor(symbol, where, elf, target)
    code_address = desc.address + desc.entry_offset
    return Kernel(
        name=name,
        symbol=symbol,
        descriptor=desc,
        arguments=metadata.arguments(entry, where),
        kernarg_segment_size=metadata.number(entry, ".kernarg_segment_size", where),
        kernarg_segment_align=metadata.number(entry, ".kernarg_segment_align", where),
        group_segment_size=metadata.number(entry, ".group_segment_fixed_size", where),
        private_segment_size=metadata.number(entry, ".private_segment_fixed_size", where),
        max_flat_workgroup_size=metadata.number(entry, ".max_flat_workgroup_size", where),
        required_workgroup_size=metadata.triple(entry, ".reqd_workgroup_size", where),
        cluster_size=metadata.triple(entry, ".cluster_dims", where),
        wavefront_size=metadata.number(entry, ".wavefront_size", where),
        sgpr_count=metadata.number(entry, ".sgpr_count", where),
        vgpr_count=metadata.number(entry, ".vgpr_count", where),
        agpr_count=metadata.optional_number(entry, ".agpr_count", where),
        code_address=code_address,
        code_size=_code_size(code_address, where, elf),
    )


def _descriptor(symbol: str, where: str, elf: Elf, target: TargetId) -> descriptor.KernelDescriptor:
    found = elf.symbols.get(symbol)
    if found is None:
        raise InputError(f"{where}: the kernel descriptor {symbol!r} is not in the symbol table")
    for segment in elf.segments:
        start = found.address - segment.address
        if 0 <= start <= len(segment.data) - descriptor.SIZE:
            stored = segment.data[start : start + descriptor.SIZE]
            return descriptor.decode(stored, processor=target.processor, address=found.address)
    raise InputError(f"{where}: the kernel descriptor at {found.address:#x} lies outside the file's segments")


def _code_size(address: int, where: str, elf: Elf) -> int:
    segment = next((s for s in elf.segments if s.executable and 0 <= address - s.address < len(s.data)), None)
    if segment is None:
        raise InputError(f"{where}: its code at {address:#x} lies outside the file's executable segments")
    end = segment.address + len(segment.data)
    for symbol in elf.symbols.values():
        if not symbol.function:
            continue
        if symbol.address == address and symbol.size:
            return min(symbol.size, end - address)
        if symbol.address > address:
            end = min(end, symbol.address)
    return end - address
