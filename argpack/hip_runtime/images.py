"""Code object images as a program hands them over: an address without a length, an ELF file or a bundle of them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from argpack.codeobject import CodeObject, TargetId, bundle, compressed, incompatibility, parse
from argpack.errors import InputError, UnavailableError
from argpack.hip_runtime import device
from argpack.hip_runtime.errors import CallError, Code

if TYPE_CHECKING:
    from argpack.hip_runtime.host import Host

_ELF = b"\x7fELF"
_LARGEST = 1 << 31
_ENTRY = struct.Struct("<QQQ")


def fetch(host: Host, address: int) -> bytes:
    """The image at an address of the program, as long as its own tables say. Raises CallError."""
    head = host.read(address, 4)
    if head == _ELF:
        return host.read(address, _elf_size(host, address))
    if head == compressed.MAGIC:
        return host.read(address, _compressed_size(host, address))
    if head == bundle.MAGIC[:4] and host.read(address, len(bundle.MAGIC)) == bundle.MAGIC:
        return host.read(address, _bundle_size(host, address))
    return head


def _elf_size(host: Host, address: int) -> int:
    header = host.read(address, 64)
    if header[4:6] != b"\x02\x01":
        raise CallError(Code.INVALID_IMAGE, f"the ELF file at {address:#x} is not 64-bit little-endian")
    program_headers, section_headers = struct.unpack_from("<QQ", header, 32)
    size, count, section_size, sections = struct.unpack_from("<4H", header, 54)
    end = max(64, section_headers + section_size * sections)
    if program_headers < _LARGEST and size == 56:
        for at in range(count):
            entry = host.read(address + program_headers + at * size, size)
            offset, length = struct.unpack_from("<Q16xQ", entry, 8)
            end = max(end, offset + length)
    return _plausible(end, address)


def _bundle_size(host: Host, address: int) -> int:
    at = address + len(bundle.MAGIC)
    count = _plausible(host.word(at), address)
    at, end = at + 8, 0
    for _ in range(count):
        offset, size, length = _ENTRY.unpack(host.read(at, _ENTRY.size))
        end = max(end, offset + size)
        at += _ENTRY.size + _plausible(length, address)
    return _plausible(max(end, at - address), address)


def _compressed_size(host: Host, address: int) -> int:
    version = int.from_bytes(host.read(address + 4, 2), "little")
    if version not in {2, 3}:
        raise CallError(
            Code.INVALID_IMAGE,
            f"the image at {address:#x}: a compressed offload bundle of version {version}, which does not say its size",
        )
    return _plausible(int.from_bytes(host.read(address + 8, 4 if version == 2 else 8), "little"), address)


def _plausible(size: int, address: int) -> int:
    if size >= _LARGEST:
        raise CallError(
            Code.INVALID_IMAGE, f"the image at {address:#x} is damaged: a size of {size:,} bytes in it"
        )
    return size


def load(data: bytes, *, source: str) -> CodeObject:
    """The code object for the device in an image; `source` names it in messages. Raises CallError."""
    here = TargetId.from_text(device.TARGET)
    if bundle.is_bundle(data):
        data, name = _pick(data, source, here)
        source = f"{source}, {name}"
    try:
        code_object = parse(data, source=source)
    except InputError as error:
        raise CallError(Code.INVALID_IMAGE, str(error)) from error
    reason = incompatibility(code_object.target, here)
    if reason:
        raise CallError(Code.NO_BINARY_FOR_GPU, f"{source}: {reason}")
    return code_object


def _pick(data: bytes, source: str, here: TargetId) -> tuple[bytes, str]:
    """The bundle's entry for the device: of several that fit, the one that says most of its features."""
    try:
        found = bundle.unbundle(data)
        targets = [(TargetId.from_text(entry.target), entry) for entry in found if entry.target is not None]
    except UnavailableError as error:
        raise CallError(Code.NOT_SUPPORTED, f"{source}: {error}") from error
    except InputError as error:
        raise CallError(Code.INVALID_IMAGE, f"{source}: {error}") from error
    fitting = [
        (str(target).count(":"), entry) for target, entry in targets if not incompatibility(target, here)
    ]
    if not fitting:
        raise CallError(
            Code.NO_BINARY_FOR_GPU,
            f"{source}: bundle of {', '.join(entry.id for entry in found) or 'nothing'}, the device is {here}",
        )
    _, best = max(fitting, key=lambda pair: pair[0])
    return best.data, best.id
