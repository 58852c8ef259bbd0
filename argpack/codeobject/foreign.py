"""Says what a file that is no ELF is instead, so that the message can tell what to do."""

from __future__ import annotations

_BITCODE_MAGICS = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def describe(data: bytes) -> str:
    """What `data` is, for an error message: an empty file, bitcode, text or unknown bytes."""
    if not data:
        return "the file is empty"
    if data.startswith(_BITCODE_MAGICS):
        return "LLVM bitcode, not a code object: compile and link it for an amdgcn target"
    head = data[:512]
    if all(32 <= byte < 127 or byte in b"\t\n\r\f" for byte in head):
        return "a text file, not a code object (ELF)"
    return f"not an ELF file: expected it to start with 7f 45 4c 46, found {data[:4].hex(' ')}"
