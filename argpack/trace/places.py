"""Where in a kernel's code something happened: an address and the instruction's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.trace.disassembly import text_of

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """An instruction: its address in the code object and its text as a disassembler prints it."""

    address: int
    text: str

    def __str__(self) -> str:
        return f"{self.text} at {self.address:#x}"


def place(instruction: Instruction) -> Place:
    """The place of an instruction."""
    return Place(instruction.address, text_of(instruction))
