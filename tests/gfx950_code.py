"""Machine code for the emulator's tests, made by LLVM's assembler: bare snippets, and whole code objects."""

from __future__ import annotations

import io
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CODE_OBJECT = """
.amdgcn_target "amdgcn-amd-amdhsa--{processor}"
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{text}
s_endpgm
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr 128
  .amdhsa_next_free_sgpr 96
  .amdhsa_accum_offset 64
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_float_denorm_mode_32 0
  {directives}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {kernarg}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 96
    .vgpr_count: 128
    .max_flat_workgroup_size: 1024
    .args:
      - {{.name: pointer, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
      - {{.name: other, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


class Assembler:
    """LLVM's assembler and linker for gfx950; `find` gives the path of one of LLVM's tools."""

    def __init__(self, find: Callable[[str], str]) -> None:
        self._find = find

    def snippets(self, texts: Mapping[str, str]) -> dict[str, bytes]:
        """The machine code of each text, all in one run of the assembler."""
        names = list(texts)
        lines = [f"snippet_{number}:\n{texts[name]}\n" for number, name in enumerate(names)]
        elf = ELFFile(io.BytesIO(self._object("".join(lines), "gfx950")))
        code = elf.get_section_by_name(".text").data()
        symbols = elf.get_section_by_name(".symtab")
        starts = [symbols.get_symbol_by_name(f"snippet_{i}")[0]["st_value"] for i in range(len(names))]
        ends = [*starts[1:], len(code)]
        return {name: code[a:b] for name, a, b in zip(names, starts, ends, strict=True)}

    def code(self, text: str) -> bytes:
        """The machine code of one text."""
        return self.snippets({"": text})[""]

    def code_object(
        self,
        text: str,
        *,
        name: str = "snippet",
        lds: int = 0,
        kernarg: int = 16,
        directives: str = "",
        processor: str = "gfx950",
    ) -> bytes:
        """A linked code object with one kernel, whose argument buffer holds two pointers."""
        source = _CODE_OBJECT.format(
            text=text, name=name, lds=lds, kernarg=kernarg, directives=directives, processor=processor
        )
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.o").write_bytes(self._object(source, processor))
            command = [self._find("ld.lld"), "-shared", "a.o", "-o", "a.co"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            return (Path(folder) / "a.co").read_bytes()

    def _object(self, text: str, processor: str) -> bytes:
        command = [self._find("llvm-mc"), "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", "-filetype=obj"]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout
