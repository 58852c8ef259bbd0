"""Code object images as a program hands them over: an address without a length, an ELF file or a bundle of them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from argpack.codeobject import CodeObject, TargetId, bundle, incompatibility, parse
from argpack.errors import InputError
from argpack.hip_runtime import device
from argpack.hip_runtime.errors import CallError, Code

if TYPE_CHECKING:
    from argpack.hip_runtime.host import Host

_ELF = b"\x7fELF"
_LARGEST = 1 << 31
_ENTRY = struct.Struct("<QQQ")
_DEVICE_ENTRIES = ("hip-amdgcn-amd-amdhsa-", "hipv4-amdgcn-amd-amdhsa-")


def fetch(host: Host, address: int) -> bytes:
    """The image at an address of the program, as long as its own tables say. Raises CallError."""
    head = host.read(address, 4)
    if head == _ELF:
        return host.read(address, _elf_size(host, address))
    if head == bundle.COMPRESSED_MAGIC:
        return head
    if (
        head == bundle.BUNDLE_MAGIC[:4]
        and host.read(address, len(bundle.BUNDLE_MAGIC)) == bundle.BUNDLE_MAGIC
    ):
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
    at = address + len(bundle.BUNDLE_MAGIC)
    count = _plausible(host.word(at), address)
    at, end = at + 8, 0
    for _ in range(count):
        offset, size, length = _ENTRY.unpack(host.read(at, _ENTRY.size))
        end = max(end, offset + size)
        at += _ENTRY.size + _plausible(length, address)
    return _plausible(max(end, at - address), address)


def _plausible(size: int, address: int) -> int:
    if size >= _LARGEST:
        raise CallError(
            Code.INVALID_IMAGE, f"the image at {address:#x} is damaged: a size of {size:,} bytes in it"
        )
    return size


def load(data: bytes, *, source: str) -> CodeObject:
    """The code object for the device in an image; `source` names it in messages. Raises CallError."""
    here = TargetId.from_text(device.TARGET)
    if data.startswith(bundle.COMPRESSED_MAGIC):
        raise CallError(
            Code.INVALID_IMAGE,
            f"{source}: a compressed offload bundle (CCOB), which is not unpacked here: take the code object out with "
            "clang-offload-bundler --unbundle, or build with --no-offload-compress",
        )
    if data.startswith(bundle.BUNDLE_MAGIC):
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
    fitting = []
    found = []
    at = len(bundle.BUNDLE_MAGIC)
    try:
        (count,) = struct.unpack_from("<Q", data, at)
        at += 8
        for _ in range(count):
            offset, size, length = _ENTRY.unpack_from(data, at)
            name = data[at + _ENTRY.size :][:length].decode()
            at += _ENTRY.size + length
            found.append(name)
            prefix = next((text for text in _DEVICE_ENTRIES if name.startswith(text)), None)
            if prefix is None:
                continue
            target = TargetId.from_text(name.removeprefix(prefix).lstrip("-"))
            if incompatibility(target, here) is None:
                fitting.append((str(target).count(":"), data[offset : offset + size], name))
    except (struct.error, UnicodeDecodeError, InputError) as error:
        raise CallError(Code.INVALID_IMAGE, f"{source}: damaged offload bundle: {error}") from error
    if not fitting:
        raise CallError(
            Code.NO_BINARY_FOR_GPU,
            f"{source}: bundle of {', '.join(found) or 'nothing'}, the device is {here}",
        )
    _, best, name = max(fitting, key=lambda entry: entry[0])
    return best, name
