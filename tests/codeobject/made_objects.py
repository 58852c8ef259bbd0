"""Code objects built by LLVM's assembler and linker, with the metadata that a test wants."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import msgpack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

# One kernel with the least that the assembler wants of a descriptor.
_KERNEL = """
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{code}
.L{name}_end:
{size}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr {sgprs}
{directives}
.end_amdhsa_kernel
"""


class Builder:
    """Assembles and links kernels into the bytes of a code object."""

    def __init__(self, llvm_tool: Callable[[str], str], folder: Path) -> None:
        self._assembler, self._linker = llvm_tool("llvm-mc"), llvm_tool("ld.lld")
        self._folder = folder

    def __call__(
        self,
        *assembly: str,
        note: bytes | None = None,
        processor: str = "gfx950",
        options: Sequence[str] = (),
        link: bool = True,
    ) -> bytes:
        """`note` is the metadata note's content, None for none at all; `link` False stops at the object file."""
        source = [*assembly, *([] if note is None else [_note(note)])]
        objects, linked = self._folder / "a.o", self._folder / "a.co"
        command = [self._assembler, "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", "-filetype=obj"]
        subprocess.run([*command, *options, "-o", objects], input="\n".join(source), text=True, check=True)
        if not link:
            return objects.read_bytes()
        subprocess.run([self._linker, "-shared", objects, "-o", linked], check=True)
        return linked.read_bytes()


def _note(content: bytes) -> str:
    data = ",".join(str(byte) for byte in content)
    header = f'.section .note,"a",@note\n.p2align 2\n.long 7, {len(content)}, 32\n.asciz "AMDGPU"\n.p2align 2'
    return f"{header}\n.byte {data}\n.p2align 2"


def assembly(
    name: str = "k",
    *directives: str,
    code: str = "s_endpgm",
    sized: bool = True,
    vgprs: int = 8,
    sgprs: int = 8,
    accum_offset: int | None = 8,
) -> str:
    """One kernel in assembly; `sized` False leaves its symbol's size at 0, as hand-written kernels do."""
    size = f".size {name}, .L{name}_end-{name}" if sized else ""
    extra = [f".amdhsa_accum_offset {accum_offset}"] if accum_offset else []
    lines = "\n".join(f"  {line}" for line in (*directives, *extra))
    return _KERNEL.format(name=name, code=code, size=size, directives=lines, vgprs=vgprs, sgprs=sgprs)


def described(name: str = "k", **changes: Any) -> dict[str, Any]:
    """The metadata of one kernel as a map; a change of None leaves the key out."""
    values = {
        ".name": name,
        ".symbol": f"{name}.kd",
        ".args": [],
        ".kernarg_segment_size": 0,
        ".kernarg_segment_align": 8,
        ".group_segment_fixed_size": 0,
        ".private_segment_fixed_size": 0,
        ".max_flat_workgroup_size": 256,
        ".wavefront_size": 64,
        ".sgpr_count": 8,
        ".vgpr_count": 8,
    }
    values |= {f".{key}": value for key, value in changes.items()}
    return {key: value for key, value in values.items() if value is not None}


def packed(*kernels: object, **top: object) -> bytes:
    """A metadata note of these kernels; `top` changes keys of the map around them."""
    values = {"version": [1, 2], "kernels": list(kernels)} | top
    note: bytes = msgpack.packb(
        {f"amdhsa.{key}": value for key, value in values.items() if value is not None}
    )
    return note
