"""Holds the argument metadata of an f4gemm code object against the schema: harmless differences are
explained.

The metadata is no ground truth: it has names of its own, types every value i32 and declares more or fewer
bytes than AITER's host code passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.codeobject import Argument, Kernel
    from argpack.schema import Slot

# The metadata's name of each field.
METADATA_NAMES = {
    "D": "ptr_D",
    "C": "ptr_C",
    "A": "ptr_A",
    "B": "ptr_B",
    "alpha": "alpha",
    "beta": "beta",
    "strideD0": "stride_D0",
    "strideD1": "stride_D1",
    "strideC0": "stride_C0",
    "strideC1": "stride_C1",
    "strideA0": "stride_A0",
    "strideA1": "stride_A1",
    "strideB0": "stride_B0",
    "strideB1": "stride_B1",
    "Mdim": "M",
    "Ndim": "N",
    "Kdim": "K",
    "ScaleA": "ptr_ScaleA",
    "ScaleB": "ptr_ScaleB",
    "strideScaleA0": "stride_ScaleA0",
    "strideScaleA1": "stride_ScaleA1",
    "strideScaleB0": "stride_ScaleB0",
    "strideScaleB1": "stride_ScaleB1",
    "log2_k_split": "log2_k_split",
}
_PAD = "pad"
_LAST = "log2_k_split"  # the one field that a kernel may lack
_PADDED_SEGMENT = 384
_SHORT_SEGMENT = 368


def cross_check(kernel: Kernel) -> tuple[str, ...]:
    """What differs without harm, a sentence each. Raises InputError where metadata and schema contradict."""
    slots = [_slot_of(kernel, argument) for argument in kernel.arguments if argument.name != _PAD]
    for argument in kernel.arguments:
        if argument.name == _PAD:
            _check_pad(kernel, argument)
    missing = [field.name for field in SCHEMA.fields if field.name not in {slot.name for slot in slots}]
    if missing not in ([], [_LAST]):
        raise InputError(f"kernel {kernel.name}: the metadata lacks {', '.join(missing)}")
    return tuple(_sentences(kernel, short=bool(missing)))


def _slot_of(kernel: Kernel, argument: Argument) -> Slot:
    where = f"kernel {kernel.name}: metadata argument {argument.name!r} at 0x{argument.offset:x}"
    name = METADATA_NAMES.get(argument.name or "")
    if name is None:
        raise InputError(f"{where}: no such argument in {SCHEMA.name}")
    slot = SCHEMA.slot(name)
    if argument.offset != slot.offset:
        raise InputError(f"{where}: expected {name} at 0x{slot.offset:x}")
    if argument.size != slot.size:
        raise InputError(f"{where}: expected {slot.size} bytes, found {argument.size}")
    pointer = slot.field is not None and slot.field.type == "ptr"
    expected = "global_buffer" if pointer else "by_value"
    if argument.kind != expected:
        raise InputError(f"{where}: expected kind {expected}, found {argument.kind}")
    return slot


def _check_pad(kernel: Kernel, argument: Argument) -> None:
    for slot in SCHEMA.slots:
        if slot.field is not None and argument.offset < slot.end and slot.offset < argument.end:
            raise InputError(
                f"kernel {kernel.name}: metadata at 0x{argument.offset:x}: expected {slot.name}, found a pad"
            )


def _sentences(kernel: Kernel, *, short: bool) -> Iterator[str]:
    passed, declared = SCHEMA.size, kernel.kernarg_segment_size
    if declared == _PADDED_SEGMENT and not short:
        yield (
            f"{passed} bytes are passed, {declared} declared: the last {declared - passed} are a pad that no "
            "kernel reads; HIP copies them from behind the buffer, the emulator leaves them zero"
        )
    elif declared == _SHORT_SEGMENT and short:
        yield (
            f"{passed} bytes are passed, {declared} declared: this kernel has no {_LAST}, the last "
            f"{passed - declared} bytes do not reach it"
        )
    else:
        expected = _SHORT_SEGMENT if short else _PADDED_SEGMENT
        raise InputError(f"kernel {kernel.name}: expected a segment of {expected} bytes, found {declared}")
    yield "the metadata's offsets and sizes agree with the schema; its names differ (D for ptr_D, Mdim for M)"
    types = {argument.name: argument.type for argument in kernel.arguments}
    if types.get("alpha") == types.get("beta") == "i32":
        yield "the metadata types alpha and beta i32: the kernel reads f32"
    if kernel.descriptor.kernarg_size == 0:
        yield "the kernel descriptor declares 0 bytes of arguments: only the metadata has the size"
