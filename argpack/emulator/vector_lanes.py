"""Vector instructions that compare into a mask or move data between lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.floats import flush
from argpack.emulator.operands import Array, Operands, Read, Step
from argpack.emulator.scalar import COMPARE
from argpack.emulator.vector import float_source, sources
from argpack.emulator.waves import EXEC, LANES, VCC

if TYPE_CHECKING:
    from collections.abc import Callable

    from argpack.emulator.decoder import Instruction
    from argpack.emulator.waves import Waves

U32, I32, F32 = np.uint32, np.int32, np.float32

_UNORDERED = {
    "nlt": np.less,
    "ngt": np.greater,
    "nle": np.less_equal,
    "nge": np.greater_equal,
    "neq": np.equal,
}


def _float_comparison(name: str) -> Callable[[Array, Array], Array] | None:
    if name in {"eq", "gt", "ge", "lt", "le"}:
        return COMPARE[name]
    if name == "lg":
        return lambda a, b: (a < b) | (a > b)
    if name in {"u", "o"}:
        unordered = name == "u"
        return lambda a, b: (np.isnan(a) | np.isnan(b)) == unordered
    if name in _UNORDERED:
        compare = _UNORDERED[name]
        return lambda a, b: ~compare(a, b)
    return None


def compile_lanes(instruction: Instruction, *, flush_f32: bool) -> Step | None:
    """The step of a comparison or lane move; None where it is neither."""
    operands = Operands(instruction)
    name = instruction.mnemonic
    if instruction.encoding.endswith(("_SDWA", "_DPP16", "_SDWA_SDST")):
        return None
    if name.startswith(("v_cmp_", "v_cmpx_")):
        return _compare(operands, name, flush_f32=flush_f32)
    if name == "v_readfirstlane_b32":
        return _read_first_lane(operands)
    if name == "v_readlane_b32":
        return _read_lane(operands)
    if name == "v_writelane_b32":
        return _write_lane(operands)
    if name in {"v_permlane16_swap_b32", "v_permlane32_swap_b32"}:
        return _swap_rows(operands, 16 if "16" in name else 32)
    return None


def _compare(operands: Operands, name: str, *, flush_f32: bool) -> Step | None:
    operands.must_be_zero("omod", "clmp", "opsel")
    _, kind, relation, form = name.split("_")
    codes = sources(operands)
    destination = operands.instruction.fields.get("vdst", VCC)
    write = operands.write_lanes(destination)
    if form == "f32":
        compare = _float_comparison(relation)
        first, second = (_float_source(operands, codes[i], i, flush_f32=flush_f32) for i in range(2))
    elif form in {"u32", "i32", "u64", "i64"}:
        operands.must_be_zero("neg", "abs")
        compare = COMPARE.get({"ne": "lg"}.get(relation, relation))
        read = operands.vector64 if form.endswith("64") else operands.vector
        left, right = read(codes[0]), read(codes[1])
        signed = {"i32": I32, "i64": np.int64}.get(form)
        first = (lambda w: left(w).view(signed)) if signed else left
        second = (lambda w: right(w).view(signed)) if signed else right
    else:
        return None
    if compare is None:
        return None

    def execute(w: Waves) -> None:
        write(w, compare(first(w), second(w)))
        if kind == "cmpx":
            w.sgpr[EXEC : EXEC + 2] = w.sgpr[destination : destination + 2]
            w.exec_changed()

    return operands.step(execute)


def _float_source(operands: Operands, code: int, position: int, *, flush_f32: bool) -> Read:
    read = float_source(operands, code, position)
    return (lambda w: flush(read(w))) if flush_f32 else read


def _read_first_lane(operands: Operands) -> Step:
    read, write = operands.vector(operands.field("src0")), operands.write_scalar(operands.field("vdst"))

    def execute(w: Waves) -> None:
        value = np.broadcast_to(read(w), (w.count, LANES))
        if w.exec_full:
            write(w, value[:, 0])
        else:
            # With no lane enabled the hardware reads lane 0; argmax gives 0 then.
            write(w, value[np.arange(w.count), w.exec_mask.argmax(axis=1)])

    return operands.step(execute)


def _read_lane(operands: Operands) -> Step:
    codes = sources(operands)
    read, lane = operands.vector(codes[0]), operands.scalar(codes[1])
    write = operands.write_scalar(operands.field("vdst"))

    def execute(w: Waves) -> None:
        chosen = np.broadcast_to(lane(w) & U32(63), (w.count,))
        write(w, np.broadcast_to(read(w), (w.count, LANES))[np.arange(w.count), chosen])

    return operands.step(execute)


def _write_lane(operands: Operands) -> Step:
    codes = sources(operands)
    read, lane = operands.scalar(codes[0]), operands.scalar(codes[1])
    register = operands.destination(operands.field("vdst"))
    operands.vgpr(operands.field("vdst"))

    def execute(w: Waves) -> None:
        w.v[register][np.arange(w.count), np.broadcast_to(lane(w) & U32(63), (w.count,))] = read(w)
        w.changed(register)

    return operands.step(execute)


def _swap_rows(operands: Operands, row: int) -> Step:
    """Odd rows of vdst change places with even rows of the source."""
    if operands.field("src0") < 256:
        raise operands.fail("a swap with a constant or an SGPR")
    other = operands.vgpr(operands.field("src0") - 256)
    own = operands.vgpr(operands.field("vdst"))
    operands.destination(other)
    operands.destination(own)

    def execute(w: Waves) -> None:
        if not w.exec_full:
            raise operands.fail("EXEC is not all ones: whether the swap honours it is not documented")
        # Splitting the lanes into rows keeps the view of the register.
        odd = w.v[own].reshape(w.count, -1, 2, row)[:, :, 1]
        even = w.v[other].reshape(w.count, -1, 2, row)[:, :, 0]
        moved = odd.copy()
        odd[...] = even
        even[...] = moved
        w.changed(own)
        w.changed(other)

    return operands.step(execute)
