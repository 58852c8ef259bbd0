"""The values that a code object is read into. Sizes, offsets and addresses are bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argpack.codeobject.descriptor import KernelDescriptor
    from argpack.codeobject.target import TargetId


@dataclass(frozen=True, slots=True)
class Argument:
    """One entry of the metadata's `.args`: what the file declares, which is not always what the kernel reads.

    `kind` is `.value_kind` (`global_buffer`, `by_value`, `hidden_…`), `type` is `.value_type`: AITER's files
    say `i32` for every value, floats and 8-byte pads included. What the metadata leaves out is None.
    """

    name: str | None
    offset: int
    size: int
    kind: str
    type: str | None = None
    address_space: str | None = None
    access: str | None = None
    actual_access: str | None = None
    type_name: str | None = None

    @property
    def end(self) -> int:
        """Offset of the first byte behind the argument."""
        return self.offset + self.size

    @property
    def hidden(self) -> bool:
        """Whether the runtime fills it in, not the caller."""
        return self.kind.startswith("hidden_")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: sizes and counts are the metadata's, `descriptor` has its own; they may differ.

    `code_address` is the virtual address of the first instruction. `code_size` is the symbol's size, or where
    that is 0 (hand-written assembly) all bytes up to the next function or the end of the segment.
    """

    name: str
    symbol: str
    descriptor: KernelDescriptor
    arguments: tuple[Argument, ...]
    kernarg_segment_size: int
    kernarg_segment_align: int
    group_segment_size: int
    private_segment_size: int
    max_flat_workgroup_size: int
    required_workgroup_size: tuple[int, int, int] | None
    cluster_size: tuple[int, int, int] | None
    wavefront_size: int
    sgpr_count: int
    vgpr_count: int
    agpr_count: int | None
    code_address: int
    code_size: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A loadable part: `data` goes to virtual `address`, zeros follow up to `size` bytes."""

    address: int
    data: bytes
    size: int
    executable: bool = False


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A whole code object. `source` is the file's name for messages, `data` its bytes, `sha256` their digest.

    `target` comes from the ELF flags; `declared_target` is the metadata's own text, which AITER's files lack.
    `abi_version` is the EI_ABIVERSION byte. `metadata_version` says little: 1.0 in files of every version.
    """

    source: str
    data: bytes
    target: TargetId
    abi_version: int
    metadata_version: tuple[int, int] | None
    declared_target: str | None
    kernels: tuple[Kernel, ...]
    segments: tuple[Segment, ...]
    sha256: str

    @property
    def code_object_version(self) -> int:
        """The version as LLVM counts it: 4 for V4."""
        return self.abi_version + 2

    def code(self, kernel: Kernel) -> bytes:
        """The machine code of one of `kernels`, from its first instruction: `kernel.code_size` bytes."""
        return self.bytes_at(kernel.code_address, kernel.code_size) or b""

    def bytes_at(self, address: int, size: int) -> bytes | None:
        """`size` bytes from virtual `address` as loaded, zeros behind the file's part, or None."""
        for segment in self.segments:
            start = address - segment.address
            if start >= 0 and start + size <= segment.size:
                return segment.data[start : start + size].ljust(size, b"\0")
        return None
