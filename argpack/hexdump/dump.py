"""A dump: bytes, and which of them are known. What a dump leaves out is unknown, never zero."""

from __future__ import annotations

from argpack.errors import InputError
from argpack.values import value

_NOT_ZERO = b"\x00" + b"\x01" * 255


@value(uncompared=("source", "kernel", "form"))
class Dump:
    """Bytes of an argument buffer from offset 0. `known` has one byte per byte of `data`, 1 or 0.

    Unknown bytes are 0 in `data`, so that equal dumps compare equal. `source` is what messages call the dump,
    `kernel` the name of the kernel recorded with it, if any, `form` how it was read where that decided the order
    of bytes (`xxd-e, little-endian words of 4 bytes`); none of the three takes part in comparisons.
    Raises InputError when empty or when `data` and `known` do not go together.
    """

    data: bytes
    known: bytes
    source: str = "dump"
    kernel: str = ""
    form: str = ""

    def __post_init__(self) -> None:
        if not self.data:
            raise InputError(f"{self.source}: expected at least one byte, found none")
        if len(self.data) != len(self.known):
            raise InputError(
                f"{self.source}: expected a mask of {len(self.data)} bytes, found {len(self.known)}"
            )
        if self.known.translate(None, b"\x00\x01"):
            offset = next(offset for offset, known in enumerate(self.known) if known > 1)
            raise InputError(f"{self.source}: mask at {offset}: expected 0 or 1, found {self.known[offset]}")
        # Whole numbers rather than a loop: a dump may have a megabyte.
        flags = int.from_bytes(self.data.translate(_NOT_ZERO), "little")
        stray = flags & ~int.from_bytes(self.known, "little")
        if stray:
            offset = ((stray & -stray).bit_length() - 1) // 8
            raise InputError(
                f"{self.source}: byte {offset} is unknown: expected 0, found 0x{self.data[offset]:02x}"
            )

    @classmethod
    def whole(cls, data: bytes, source: str = "dump", kernel: str = "") -> Dump:
        """A dump of which every byte is known."""
        return cls(data, b"\x01" * len(data), source, kernel)

    @property
    def size(self) -> int:
        """Bytes, unknown ones included."""
        return len(self.data)

    @property
    def known_count(self) -> int:
        """Known bytes."""
        return self.known.count(1)

    def cells(self, start: int, end: int) -> list[str]:
        """Bytes `start` to `end` as two hex digits each, `??` where unknown."""
        return [
            f"{byte:02x}" if known else "??"
            for byte, known in zip(self.data[start:end], self.known[start:end], strict=True)
        ]
