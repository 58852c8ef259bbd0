"""Says what a file that is no ELF is instead, so that the message can tell what to do. It unpacks nothing."""

from __future__ import annotations

import struct

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
_BITCODE_MAGICS = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def describe(data: bytes, *, source: str) -> str:
    """What `data` is, for an error message: an empty file, a bundle, bitcode, text or unknown bytes."""
    if not data:
        return "the file is empty"
    if data.startswith(BUNDLE_MAGIC):
        targets = bundle_targets(data)
        inside = f" with {', '.join(targets)}" if targets else ""
        wanted = next((t for t in targets if "amdgcn" in t), "hipv4-amdgcn-amd-amdhsa--gfx950")
        return f"an offload bundle{inside}, not a code object: unbundle it with `{_unbundle(source, wanted)}`"
    if data.startswith(COMPRESSED_MAGIC):
        listing = f"clang-offload-bundler --list --type=o --input={source}"
        return (
            f"a compressed offload bundle (CCOB), not a code object: `{listing}` lists its targets, "
            f"`{_unbundle(source, 'TARGET')}` takes one out"
        )
    if data.startswith(_BITCODE_MAGICS):
        return "LLVM bitcode, not a code object: compile and link it for an amdgcn target"
    head = data[:512]
    if all(32 <= byte < 127 or byte in b"\t\n\r\f" for byte in head):
        return "a text file, not a code object (ELF)"
    return f"not an ELF file: expected it to start with 7f 45 4c 46, found {data[:4].hex(' ')}"


def bundle_targets(data: bytes) -> tuple[str, ...]:
    """The entry ids of an uncompressed bundle, as far as its table is readable (at most 64)."""
    offset = len(BUNDLE_MAGIC) + 8
    if len(data) < offset:
        return ()
    (count,) = struct.unpack_from("<Q", data, offset - 8)
    targets = []
    for _ in range(min(count, 64)):
        if len(data) < offset + 24:
            break
        _, _, length = struct.unpack_from("<QQQ", data, offset)
        text = data[offset + 24 : offset + 24 + min(length, 256)]
        if length > 256 or len(text) < length or not text.isascii() or not text.decode("ascii").isprintable():
            break
        targets.append(text.decode("ascii"))
        offset += 24 + length
    return tuple(targets)


def _unbundle(source: str, target: str) -> str:
    return f"clang-offload-bundler --unbundle --type=o --input={source} --targets={target} --output=out.co"
