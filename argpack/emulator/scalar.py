"""Scalar instructions: SOP1, SOP2, SOPC, SOPK. Each table row says what the instruction computes.

Sources are uint32 of shape (wave,) (uint64 for _b64 and _u64); a row gives the result, or result and SCC.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.operands import Array, Operands, Read, Step
from argpack.emulator.waves import EXEC

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.waves import Waves

Result = tuple[Array, Array | None]
U32, U64, I32, I64 = np.uint32, np.uint64, np.int32, np.int64
Binary = Callable[[Array, Array, "Waves"], Result]


def _signed(value: Array) -> Array:
    return value.view(I32)


def _nonzero(value: Array) -> Result:
    return value, value != 0


def _add(a: Array, b: Array, _: Waves) -> Result:
    total = a + b
    return total, total < a


def _addc(a: Array, b: Array, w: Waves) -> Result:
    total = a.astype(U64) + b + w.scc
    return total.astype(U32), total > 0xFFFFFFFF


def _sub(a: Array, b: Array, _: Waves) -> Result:
    return a - b, b > a


def _subb(a: Array, b: Array, w: Waves) -> Result:
    taken = b.astype(U64) + w.scc
    return (a.astype(U64) - taken).astype(U32), taken > a


def _shifted_add(count: int) -> Binary:
    def add(a: Array, b: Array, _: Waves) -> Result:
        total = (a.astype(U64) << U64(count)) + b
        return total.astype(U32), total > 0xFFFFFFFF

    return add


def _add_signed(a: Array, b: Array, _: Waves) -> Result:
    total = a + b
    return total, ((a ^ total) & (b ^ total)) >> U32(31) != 0


def _sub_signed(a: Array, b: Array, _: Waves) -> Result:
    total = a - b
    return total, ((a ^ b) & (a ^ total)) >> U32(31) != 0


def _mul_hi(a: Array, b: Array, _: Waves) -> Result:
    return (a.astype(U64) * b >> U64(32)).astype(U32), None


def _mul_hi_signed(a: Array, b: Array, _: Waves) -> Result:
    return (_signed(a).astype(I64) * _signed(b) >> 32).astype(U32), None


def _bfe(a: Array, b: Array, _: Waves) -> Result:
    offset, width = b & U32(31), (b >> U32(16)) & U32(0x7F)
    kept = (U64(1) << np.minimum(width, 32).astype(U64)) - U64(1)
    return _nonzero(((a >> offset).astype(U64) & kept).astype(U32))


def _bfe_signed(a: Array, b: Array, _: Waves) -> Result:
    offset, width = (b & U32(31)).astype(I64), np.minimum((b >> U32(16)) & U32(0x7F), 32).astype(I64)
    shifted = _signed(a).astype(I64) >> offset
    up = 64 - width
    value = np.where(width == 0, 0, (shifted << np.minimum(up, 63)) >> np.minimum(up, 63))
    return _nonzero(value.astype(U32))


def _pick(first: Callable[[Array, Array], Array], signed: bool) -> Binary:
    def choose(a: Array, b: Array, _: Waves) -> Result:
        condition = first(_signed(a), _signed(b)) if signed else first(a, b)
        return np.where(condition, a, b), np.broadcast_to(condition, np.broadcast(a, b).shape)

    return choose


SOP2: dict[str, Binary] = {
    "s_add_u32": _add,
    "s_sub_u32": _sub,
    "s_addc_u32": _addc,
    "s_subb_u32": _subb,
    "s_add_i32": _add_signed,
    "s_sub_i32": _sub_signed,
    "s_mul_i32": lambda a, b, _: (a * b, None),
    "s_mul_hi_u32": _mul_hi,
    "s_mul_hi_i32": _mul_hi_signed,
    "s_and_b32": lambda a, b, _: _nonzero(a & b),
    "s_or_b32": lambda a, b, _: _nonzero(a | b),
    "s_xor_b32": lambda a, b, _: _nonzero(a ^ b),
    "s_andn2_b32": lambda a, b, _: _nonzero(a & ~b),
    "s_orn2_b32": lambda a, b, _: _nonzero(a | ~b),
    "s_nand_b32": lambda a, b, _: _nonzero(~(a & b)),
    "s_nor_b32": lambda a, b, _: _nonzero(~(a | b)),
    "s_xnor_b32": lambda a, b, _: _nonzero(~(a ^ b)),
    "s_lshl_b32": lambda a, b, _: _nonzero(a << (b & U32(31))),
    "s_lshr_b32": lambda a, b, _: _nonzero(a >> (b & U32(31))),
    "s_ashr_i32": lambda a, b, _: _nonzero((_signed(a) >> _signed(b & U32(31))).view(U32)),
    "s_lshl1_add_u32": _shifted_add(1),
    "s_lshl2_add_u32": _shifted_add(2),
    "s_lshl3_add_u32": _shifted_add(3),
    "s_lshl4_add_u32": _shifted_add(4),
    "s_bfm_b32": lambda a, b, _: (((U32(1) << (a & U32(31))) - U32(1)) << (b & U32(31)), None),
    "s_bfe_u32": _bfe,
    "s_bfe_i32": _bfe_signed,
    "s_min_u32": _pick(np.less, signed=False),
    "s_max_u32": _pick(np.greater_equal, signed=False),
    "s_min_i32": _pick(np.less, signed=True),
    "s_max_i32": _pick(np.greater_equal, signed=True),
    "s_cselect_b32": lambda a, b, w: (np.where(w.scc, a, b), None),
    "s_pack_ll_b32_b16": lambda a, b, _: ((a & U32(0xFFFF)) | (b << U32(16)), None),
    "s_pack_lh_b32_b16": lambda a, b, _: ((a & U32(0xFFFF)) | (b & U32(0xFFFF0000)), None),
    "s_pack_hh_b32_b16": lambda a, b, _: ((a >> U32(16)) | (b & U32(0xFFFF0000)), None),
}

SOP2_64: dict[str, Binary] = {
    "s_and_b64": lambda a, b, _: _nonzero(a & b),
    "s_or_b64": lambda a, b, _: _nonzero(a | b),
    "s_xor_b64": lambda a, b, _: _nonzero(a ^ b),
    "s_andn2_b64": lambda a, b, _: _nonzero(a & ~b),
    "s_orn2_b64": lambda a, b, _: _nonzero(a | ~b),
    "s_nand_b64": lambda a, b, _: _nonzero(~(a & b)),
    "s_nor_b64": lambda a, b, _: _nonzero(~(a | b)),
    "s_xnor_b64": lambda a, b, _: _nonzero(~(a ^ b)),
    "s_cselect_b64": lambda a, b, w: (np.where(w.scc, a, b), None),
}

# 64-bit value, 32-bit shift amount.
SOP2_SHIFT: dict[str, Binary] = {
    "s_lshl_b64": lambda a, b, _: _nonzero(a << (b & U32(63)).astype(U64)),
    "s_lshr_b64": lambda a, b, _: _nonzero(a >> (b & U32(63)).astype(U64)),
    "s_ashr_i64": lambda a, b, _: _nonzero((a.view(I64) >> (b & U32(63)).astype(I64)).view(U64)),
}

Unary = Callable[[Array], Result]


def _first_one(value: Array) -> Array:
    low = value & (~value + value.dtype.type(1))
    position = np.frexp(low.astype(np.float64))[1] - 1
    return np.where(value == 0, 0xFFFFFFFF, position).astype(U32)


def _first_one_high(value: Array) -> Array:
    # float64 holds 32 bits exactly, so the exponent is the position of the highest one.
    position = 32 - np.frexp(value.astype(np.float64))[1]
    return np.where(value == 0, 0xFFFFFFFF, position).astype(U32)


SOP1: dict[str, Unary] = {
    "s_mov_b32": lambda a: (a, None),
    "s_not_b32": lambda a: _nonzero(~a),
    "s_brev_b32": lambda a: (reverse_bits(a), None),
    "s_bcnt0_i32_b32": lambda a: _nonzero(U32(32) - np.bitwise_count(a).astype(U32)),
    "s_bcnt1_i32_b32": lambda a: _nonzero(np.bitwise_count(a).astype(U32)),
    "s_ff1_i32_b32": lambda a: (_first_one(a), None),
    "s_flbit_i32_b32": lambda a: (_first_one_high(a), None),
    "s_sext_i32_i8": lambda a: ((a << U32(24)).view(I32) >> 24, None),
    "s_sext_i32_i16": lambda a: ((a << U32(16)).view(I32) >> 16, None),
    "s_abs_i32": lambda a: _nonzero(np.abs(_signed(a)).view(U32)),
}

SOP1_64: dict[str, Unary] = {
    "s_mov_b64": lambda a: (a, None),
    "s_not_b64": lambda a: _nonzero(~a),
}

# Instructions that combine a mask with EXEC and save the old EXEC: the new EXEC from (source, exec).
SAVEEXEC: dict[str, Callable[[Array, Array], Array]] = {
    "s_and_saveexec_b64": lambda a, e: a & e,
    "s_or_saveexec_b64": lambda a, e: a | e,
    "s_xor_saveexec_b64": lambda a, e: a ^ e,
    "s_andn2_saveexec_b64": lambda a, e: a & ~e,
    "s_andn1_saveexec_b64": lambda a, e: ~a & e,
    "s_orn2_saveexec_b64": lambda a, e: a | ~e,
}

COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "lg": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}


def reverse_bits(value: Array) -> Array:
    """The 32 bits of each element in reverse order."""
    octets = np.ascontiguousarray(value).view(np.uint8).reshape(*value.shape, 4)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    return np.packbits(bits[..., ::-1], axis=-1, bitorder="little").view(U32)[..., 0]


def compile_scalar(instruction: Instruction) -> Step | None:
    """The step of a SOP1, SOP2, SOPC or SOPK instruction; None where no table has it."""
    operands = Operands(instruction)
    name, encoding = instruction.mnemonic, instruction.encoding.removesuffix("_LIT")
    if encoding == "SOP2":
        return _sop2(operands, name)
    if encoding == "SOP1":
        return _sop1(operands, name)
    if encoding == "SOPC":
        return _sopc(operands, name)
    if encoding == "SOPK":
        return _sopk(operands, name)
    return None


def _sop2(operands: Operands, name: str) -> Step | None:
    first, second = operands.field("ssrc0"), operands.field("ssrc1")
    if name in SOP2:
        return _binary(operands, SOP2[name], operands.scalar(first), operands.scalar(second), wide=False)
    if name in SOP2_64:
        return _binary(
            operands, SOP2_64[name], operands.scalar64(first), operands.scalar64(second), wide=True
        )
    if name in SOP2_SHIFT:
        return _binary(
            operands, SOP2_SHIFT[name], operands.scalar64(first), operands.scalar(second), wide=True
        )
    return None


def _binary(operands: Operands, compute: Binary, first: Read, second: Read, *, wide: bool) -> Step:
    code = operands.field("sdst")
    write = operands.write_scalar64(code) if wide else operands.write_scalar(code)

    def execute(w: Waves) -> None:
        value, scc = compute(first(w), second(w), w)
        write(w, value)
        if scc is not None:
            w.scc[...] = scc

    return operands.step(execute)


def _sop1(operands: Operands, name: str) -> Step | None:
    source, destination = operands.field("ssrc0"), operands.field("sdst")
    if name in SAVEEXEC:
        combine, wide = SAVEEXEC[name], operands.scalar64(source)
        old_exec, save, write_exec = (
            operands.scalar64(EXEC),
            operands.write_scalar64(destination),
            operands.write_scalar64(EXEC),
        )

        def save_exec(w: Waves) -> None:
            old = old_exec(w)
            new = combine(wide(w), old)
            save(w, old)
            write_exec(w, new)
            w.scc[...] = new != 0

        return operands.step(save_exec)
    if name in SOP1:
        compute, read, write = SOP1[name], operands.scalar(source), operands.write_scalar(destination)
    elif name in SOP1_64:
        compute, read, write = SOP1_64[name], operands.scalar64(source), operands.write_scalar64(destination)
    else:
        return None

    def execute(w: Waves) -> None:
        value, scc = compute(read(w))
        write(w, value)
        if scc is not None:
            w.scc[...] = scc

    return operands.step(execute)


def _sopc(operands: Operands, name: str) -> Step | None:
    parts = name.split("_")
    if name in {"s_bitcmp0_b32", "s_bitcmp1_b32"}:
        value, bit, wanted = (
            operands.scalar(operands.field("ssrc0")),
            operands.scalar(operands.field("ssrc1")),
            int(name[8]),
        )

        def test(w: Waves) -> None:
            w.scc[...] = ((value(w) >> (bit(w) & U32(31))) & U32(1)) == wanted

        return operands.step(test)
    if (
        len(parts) != 4
        or parts[1] != "cmp"
        or parts[2] not in COMPARE
        or parts[3] not in {"u32", "i32", "u64"}
    ):
        return None
    compare = COMPARE[parts[2]]
    read = operands.scalar64 if parts[3] == "u64" else operands.scalar
    first, second = read(operands.field("ssrc0")), read(operands.field("ssrc1"))
    if parts[3] == "i32":

        def signed(w: Waves) -> None:
            w.scc[...] = compare(first(w).view(I32), second(w).view(I32))

        return operands.step(signed)

    def unsigned(w: Waves) -> None:
        w.scc[...] = compare(first(w), second(w))

    return operands.step(unsigned)


def _sopk(operands: Operands, name: str) -> Step | None:
    code, raw = operands.field("sdst"), operands.field("simm16")
    signed = np.array(raw - 0x10000 if raw & 0x8000 else raw, dtype=I32)
    read = operands.scalar(code)
    parts = name.split("_")
    if parts[1] == "cmpk" and parts[2] in COMPARE:
        compare, plain = COMPARE[parts[2]], np.array(raw, dtype=U32)
        if parts[3] == "i32":
            return operands.step(lambda w: w.scc.__setitem__(..., compare(read(w).view(I32), signed)))
        return operands.step(lambda w: w.scc.__setitem__(..., compare(read(w), plain)))
    write, value = operands.write_scalar(code), signed.view(U32)
    if name == "s_movk_i32":
        return operands.step(lambda w: write(w, value))
    if name == "s_cmovk_i32":
        return operands.step(lambda w: write(w, np.where(w.scc, value, read(w))))
    if name == "s_mulk_i32":
        return operands.step(lambda w: write(w, read(w) * value))
    if name == "s_addk_i32":

        def add(w: Waves) -> None:
            total, overflow = _add_signed(read(w), value, w)
            write(w, total)
            w.scc[...] = overflow

        return operands.step(add)
    return None
