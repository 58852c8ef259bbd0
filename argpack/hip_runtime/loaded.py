"""What a program has loaded: modules, their functions, fat binaries registered for host functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from argpack.hip_runtime import images
from argpack.hip_runtime.errors import CallError, Code

if TYPE_CHECKING:
    from argpack.codeobject import CodeObject, Kernel
    from argpack.emulator.memory import Allocation
    from argpack.emulator.program import Program


@dataclass(slots=True, eq=False)
class LoadedFunction:
    """A kernel; its compiled program and its kernarg segment are made by the first launch."""

    code_object: CodeObject
    kernel: Kernel
    program: Program | None = None
    kernarg: Allocation | None = None


@dataclass(slots=True)
class LoadedModule:
    """A code object and the handles of those of its kernels that the program asked for."""

    code_object: CodeObject
    handles: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class FatBinary:
    """An image registered before anybody asks for its kernels; what is wrong with it is told then."""

    image: bytes
    source: str
    module: LoadedModule | None = None

    def load(self) -> LoadedModule:
        """The module, loaded at the first call. Raises CallError."""
        if self.module is None:
            self.module = LoadedModule(images.load(self.image, source=self.source))
        return self.module


def find_kernel(code_object: CodeObject, name: str) -> Kernel:
    """A kernel by its exact name. Raises CallError naming those that are there."""
    for kernel in code_object.kernels:
        if kernel.name == name:
            return kernel
    import difflib

    names = [kernel.name for kernel in code_object.kernels]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4) or names[:3]
    hint = f"; it has {', '.join(near)}" if near else "; it has no kernels"
    raise CallError(Code.NOT_FOUND, f"{code_object.source}: no kernel {name!r}{hint}")
