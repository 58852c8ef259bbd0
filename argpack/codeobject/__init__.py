"""What a code object (`.co`) says of itself: target, kernels, `.args` metadata, descriptor, loadable bytes.

It knows nothing of schemas or instructions. Where metadata, descriptor and ELF disagree, all values are kept.
"""

from argpack.codeobject.bundle import Entry
from argpack.codeobject.descriptor import KernelDescriptor, UserSgpr
from argpack.codeobject.model import Argument, CodeObject, Kernel, Segment
from argpack.codeobject.reader import parse, read
from argpack.codeobject.target import TargetId, incompatibility

__all__ = [
    "Argument",
    "CodeObject",
    "Entry",
    "Kernel",
    "KernelDescriptor",
    "Segment",
    "TargetId",
    "UserSgpr",
    "incompatibility",
    "parse",
    "read",
]
