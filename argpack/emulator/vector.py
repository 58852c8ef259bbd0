"""Vector integer and float instructions: VOP1, VOP2, VOP3, VOP3SD. Rows say what one lane computes.

Integer rows take and give uint32 (uint64 where the name ends in 64); float rows take and give float32. Comparisons and
lane moves are in `vector_compare` and `vector_lanes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.floats import flush, from_bf16, fused_multiply_add, to_bf16, to_integer
from argpack.emulator.operands import Array, Operands, Read, Step
from argpack.emulator.scalar import reverse_bits
from argpack.emulator.waves import ACC, LANES, VCC, lanes_of

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.waves import Waves

U32, U64, I32, I64, F32 = np.uint32, np.uint64, np.int32, np.int64, np.float32
Compute = Callable[..., Array]


def _i(value: Array) -> Array:
    return value.view(I32)


def _s24(value: Array) -> Array:
    return np.asarray((value << U32(8)).view(I32) >> 8)


def _bfe(a: Array, b: Array, c: Array) -> Array:
    return np.asarray((a >> (b & U32(31))) & ((U32(1) << (c & U32(31))) - U32(1)))


def _bfe_signed(a: Array, b: Array, c: Array) -> Array:
    width = (c & U32(31)).astype(I64)
    shifted = _i(a).astype(I64) >> (b & U32(31)).astype(I64)
    up = 64 - np.maximum(width, 1)
    return np.where(width == 0, 0, (shifted << up) >> up).astype(U32)


def _perm(a: Array, b: Array, c: Array) -> Array:
    both = (a.astype(U64) << U64(32)) | b
    result = np.zeros(np.broadcast(both, c).shape, dtype=U32)
    for byte in range(4):
        select = (c >> U32(8 * byte)) & U32(0xFF)
        picked = (both >> (U64(8) * (select & U32(7)).astype(U64))).astype(U32) & U32(0xFF)
        # Above 7: the sign of byte 1, 3, 5 or 7 in all bits, then zero, then all ones.
        sign_at = U64(16) * (select & U32(3)).astype(U64) + U64(15)
        special = np.where(select == 12, 0, np.where(select > 12, 1, both >> sign_at & U64(1)))
        result |= np.where(select < 8, picked, special.astype(U32) * U32(0xFF)) << U32(8 * byte)
    return result


def _mbcnt(low: bool) -> Compute:
    below = np.array([(1 << lane) - 1 for lane in range(LANES)], dtype=U64)
    lane_bits = (below & U64(0xFFFFFFFF)).astype(U32) if low else (below >> U64(32)).astype(U32)
    return lambda a, b: np.bitwise_count(a & lane_bits).astype(U32) + b


def _first_one_high(value: Array) -> Array:
    position = 32 - np.frexp(value.astype(np.float64))[1]
    return np.where(value == 0, 0xFFFFFFFF, position).astype(U32)


INTEGER: dict[str, Compute] = {
    "v_mov_b32": lambda a: a,
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": reverse_bits,
    "v_ffbh_u32": _first_one_high,
    "v_add_u32": lambda a, b: a + b,
    "v_sub_u32": lambda a, b: a - b,
    "v_subrev_u32": lambda a, b: b - a,
    "v_add_i32": lambda a, b: a + b,
    "v_sub_i32": lambda a, b: a - b,
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32": lambda a, b: b << (a & U32(31)),
    "v_lshrrev_b32": lambda a, b: b >> (a & U32(31)),
    "v_ashrrev_i32": lambda a, b: (_i(b) >> (a & U32(31)).astype(I32)).view(U32),
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: (a.astype(U64) * b >> U64(32)).astype(U32),
    "v_mul_hi_i32": lambda a, b: (_i(a).astype(I64) * _i(b) >> 32).astype(U32),
    "v_mul_i32_i24": lambda a, b: (_s24(a) * _s24(b)).view(U32),
    "v_mul_u32_u24": lambda a, b: (a & U32(0xFFFFFF)) * (b & U32(0xFFFFFF)),
    "v_min_u32": np.minimum,
    "v_max_u32": np.maximum,
    "v_min_i32": lambda a, b: np.minimum(_i(a), _i(b)).view(U32),
    "v_max_i32": lambda a, b: np.maximum(_i(a), _i(b)).view(U32),
    "v_bcnt_u32_b32": lambda a, b: np.bitwise_count(a).astype(U32) + b,
    "v_mbcnt_lo_u32_b32": _mbcnt(low=True),
    "v_mbcnt_hi_u32_b32": _mbcnt(low=False),
    "v_mad_u32_u24": lambda a, b, c: (a & U32(0xFFFFFF)) * (b & U32(0xFFFFFF)) + c,
    "v_mad_i32_i24": lambda a, b, c: (_s24(a) * _s24(b)).view(U32) + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & U32(31))) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << (c & U32(31)),
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_or_b32": lambda a, b, c: (a << (b & U32(31))) | c,
    "v_and_or_b32": lambda a, b, c: (a & b) | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfe_u32": _bfe,
    "v_bfe_i32": _bfe_signed,
    "v_bfi_b32": lambda a, b, c: (a & b) | (~a & c),
    "v_alignbit_b32": lambda a, b, c: (((a.astype(U64) << U64(32)) | b) >> (c & U32(31)).astype(U64)).astype(
        U32
    ),
    "v_perm_b32": _perm,
}

# First operand may be narrower: (32 or 64 bit) sources per position, 64-bit result.
INTEGER_64: dict[str, tuple[str, Compute]] = {
    "v_lshlrev_b64": ("sw", lambda a, b: b << (a & U32(63)).astype(U64)),
    "v_lshrrev_b64": ("sw", lambda a, b: b >> (a & U32(63)).astype(U64)),
    "v_ashrrev_i64": ("sw", lambda a, b: (b.view(I64) >> (a & U32(63)).astype(I64)).view(U64)),
    "v_lshl_add_u64": ("wsw", lambda a, b, c: (a << (b & U32(7)).astype(U64)) + c),
    "v_mov_b64": ("w", lambda a: a),
}


def _with_zeros(choose: Compute, zeros: Compute) -> Compute:
    """np.fmin or np.fmax, made to tell -0 from +0: `zeros` picks the sign bit of two zeros."""

    def pick(a: Array, b: Array) -> Array:
        both_zero = ((a.view(U32) | b.view(U32)) & U32(0x7FFFFFFF)) == 0
        return np.where(both_zero, zeros(a.view(U32), b.view(U32)), choose(a, b).view(U32)).view(F32)

    return pick


# Arithmetic that flushes denormals where the mode says so.
FLOAT: dict[str, Compute] = {
    "v_add_f32": np.add,
    "v_sub_f32": np.subtract,
    "v_subrev_f32": lambda a, b: b - a,
    "v_mul_f32": np.multiply,
    "v_min_f32": _with_zeros(np.fmin, np.bitwise_or),
    "v_max_f32": _with_zeros(np.fmax, np.bitwise_and),
    "v_fma_f32": fused_multiply_add,
    "v_fmac_f32": fused_multiply_add,
    "v_rcp_f32": lambda a: F32(1) / a,
    # Differs from v_rcp_f32 only in the exceptions that it raises.
    "v_rcp_iflag_f32": lambda a: F32(1) / a,
    "v_rsq_f32": lambda a: F32(1) / np.sqrt(a),
    "v_sqrt_f32": np.sqrt,
    "v_exp_f32": np.exp2,
    "v_log_f32": np.log2,
    "v_rndne_f32": np.rint,
    "v_floor_f32": np.floor,
    "v_ceil_f32": np.ceil,
    "v_trunc_f32": np.trunc,
}

# Table lookups in the hardware, which flush denormals in every mode: LLVM scales operands around them.
_APPROXIMATE = {"v_rcp_f32", "v_rcp_iflag_f32", "v_rsq_f32", "v_sqrt_f32", "v_exp_f32", "v_log_f32"}

CONVERT: dict[str, Compute] = {
    "v_cvt_f32_u32": lambda a: a.astype(F32).view(U32),
    "v_cvt_f32_i32": lambda a: _i(a).astype(F32).view(U32),
    "v_cvt_u32_f32": lambda a: to_integer(a.view(F32), 0, 0xFFFFFFFF).astype(U32),
    "v_cvt_i32_f32": lambda a: to_integer(a.view(F32), -(1 << 31), (1 << 31) - 1).astype(U32),
    # src0 goes to the low half.
    "v_cvt_pk_bf16_f32": lambda a, b: to_bf16(a.view(F32)) | (to_bf16(b.view(F32)) << U32(16)),
}

# Result and carry or borrow out of (a, b, carry in).
CARRY: dict[str, Callable[[Array, Array, Array], tuple[Array, Array]]] = {
    "v_add_co_u32": lambda a, b, _: (a + b, a + b < a),
    "v_sub_co_u32": lambda a, b, _: (a - b, b > a),
    "v_subrev_co_u32": lambda a, b, _: (b - a, a > b),
    "v_addc_co_u32": lambda a, b, c: _split(a.astype(U64) + b + c),
    "v_subb_co_u32": lambda a, b, c: _split(a.astype(U64) - b - c),
    "v_subbrev_co_u32": lambda a, b, c: _split(b.astype(U64) - a - c),
}


def _split(total: Array) -> tuple[Array, Array]:
    return total.astype(U32), (total >> U64(32)) != 0


def sources(operands: Operands) -> list[int]:
    """Operand codes of a VOP1, VOP2, VOPC, VOP3 or VOP3SD instruction, in order."""
    fields = operands.instruction.fields
    if operands.instruction.encoding.startswith(("VOP3", "VOP3SD")):
        return [fields["src0"], fields["src1"], fields["src2"]]
    codes = [fields["src0"]]
    if "vsrc1" in fields:
        codes.append(fields["vsrc1"] + 256)
    return codes


def float_source(operands: Operands, code: int, position: int) -> Read:
    """A float32 source with the VOP3 modifiers |x| and -x applied."""
    read = operands.vector(code)
    absolute = operands.instruction.fields.get("abs", 0) >> position & 1
    negative = operands.instruction.fields.get("neg", 0) >> position & 1
    if absolute and negative:
        return lambda w: -np.abs(read(w).view(F32))
    if absolute:
        return lambda w: np.abs(read(w).view(F32))
    if negative:
        return lambda w: -read(w).view(F32)
    return lambda w: read(w).view(F32)


def compile_vector(instruction: Instruction, *, flush_f32: bool) -> Step | None:
    """The step of an arithmetic vector instruction; None where no table has it."""
    operands = Operands(instruction)
    name = instruction.mnemonic
    if instruction.encoding.endswith(("_SDWA", "_DPP16")):
        return None
    if name in FLOAT:
        return _float(operands, name, flush_f32=flush_f32)
    if name in INTEGER or name in CONVERT:
        return _integer(operands, INTEGER.get(name) or CONVERT[name])
    if name in INTEGER_64:
        return _integer_64(operands, *INTEGER_64[name])
    if name in CARRY:
        return _carry(operands, name)
    if name in {"v_mad_u64_u32", "v_mad_i64_i32"}:
        return _mad_64(operands, signed=name == "v_mad_i64_i32")
    if name == "v_cndmask_b32":
        return _select(operands)
    if name in {"v_accvgpr_read", "v_accvgpr_write", "v_accvgpr_mov_b32"}:
        return _acc_move(operands, name)
    return None


def _integer(operands: Operands, compute: Compute) -> Step:
    operands.must_be_zero("omod", "neg", "abs", "clmp", "opsel")
    count = compute.__code__.co_argcount if hasattr(compute, "__code__") else 2
    reads = [operands.vector(code) for code in sources(operands)[:count]]
    register = operands.destination(operands.field("vdst"))
    if count == 1:
        (first,) = reads
        return operands.step(lambda w: w.write(register, compute(first(w))))
    if count == 2:
        first, second = reads
        return operands.step(lambda w: w.write(register, compute(first(w), second(w))))
    first, second, third = reads
    return operands.step(lambda w: w.write(register, compute(first(w), second(w), third(w))))


def _integer_64(operands: Operands, widths: str, compute: Compute) -> Step:
    operands.must_be_zero("omod", "neg", "abs", "clmp", "opsel")
    reads = [
        operands.vector64(code) if width == "w" else operands.vector(code)
        for code, width in zip(sources(operands), widths, strict=False)
    ]
    register = operands.destination(operands.field("vdst"), 2)
    return operands.step(lambda w: write_64(w, register, compute(*(read(w) for read in reads))))


def write_64(w: Waves, register: int, value: Array) -> None:
    """Write a uint64 result to a VGPR pair."""
    w.write(register, (value & U64(0xFFFFFFFF)).astype(U32))
    w.write(register + 1, (value >> U64(32)).astype(U32))


def _float(operands: Operands, name: str, *, flush_f32: bool) -> Step:
    operands.must_be_zero("omod", "clmp", "opsel")
    compute = FLOAT[name]
    counts = {"v_fma_f32": 3, "v_fmac_f32": 2}
    unary = isinstance(compute, np.ufunc) and compute.nin == 1
    count = counts.get(name, 1 if unary or name.startswith(("v_rcp", "v_rsq")) else 2)
    codes = sources(operands)
    reads = [float_source(operands, codes[i], i) for i in range(count)]
    register = operands.destination(operands.field("vdst"))
    if name == "v_fmac_f32":
        accumulator = operands.vector(operands.field("vdst") + 256)
        reads.append(lambda w: accumulator(w).view(F32))

    flushes = flush_f32 or name in _APPROXIMATE

    def execute(w: Waves) -> None:
        values = [read(w) for read in reads]
        if flushes:
            result = flush(np.asarray(compute(*map(flush, values)), dtype=F32))
        else:
            result = np.asarray(compute(*values), dtype=F32)
        w.write(register, result.view(U32))

    return operands.step(execute)


def _carry(operands: Operands, name: str) -> Step:
    operands.must_be_zero("omod", "neg", "clmp")
    codes, compute = sources(operands), CARRY[name]
    first, second = operands.vector(codes[0]), operands.vector(codes[1])
    write_carry = operands.write_lanes(operands.instruction.fields.get("sdst", VCC))
    carry_in = codes[2] if len(codes) > 2 else VCC
    takes_carry = "c_co" in name or "bb" in name
    if takes_carry:
        operands.sgprs(carry_in, 2)
    register = operands.destination(operands.field("vdst"))

    def execute(w: Waves) -> None:
        carry = lanes_of(w.sgpr[carry_in : carry_in + 2]) if takes_carry else np.zeros((), dtype=np.bool_)
        value, out = compute(first(w), second(w), carry)
        w.write(register, value)
        write_carry(w, out)

    return operands.step(execute)


def _mad_64(operands: Operands, *, signed: bool) -> Step:
    operands.must_be_zero("omod", "neg", "clmp")
    codes = sources(operands)
    first, second, third = operands.vector(codes[0]), operands.vector(codes[1]), operands.vector64(codes[2])
    write_carry = operands.write_lanes(operands.field("sdst"))
    register = operands.destination(operands.field("vdst"), 2)

    def execute(w: Waves) -> None:
        a, b, c = first(w), second(w), third(w)
        product = (_i(a).astype(I64) * _i(b)).view(U64) if signed else a.astype(U64) * b
        total = product + c
        carry = total < c
        if signed:
            # Bit 64 of a sum of 65 bits, to which both signs are extended.
            carry = carry ^ ((product ^ c) >> U64(63) != 0)
        write_64(w, register, total)
        write_carry(w, carry)

    return operands.step(execute)


def _select(operands: Operands) -> Step:
    operands.must_be_zero("omod", "neg", "abs", "clmp", "opsel")
    codes = sources(operands)
    first, second = operands.vector(codes[0]), operands.vector(codes[1])
    condition = codes[2] if len(codes) > 2 else VCC
    operands.sgprs(condition, 2)
    register = operands.destination(operands.field("vdst"))
    return operands.step(
        lambda w: w.write(
            register, np.where(lanes_of(w.sgpr[condition : condition + 2]), second(w), first(w))
        )
    )


def _acc_move(operands: Operands, name: str) -> Step:
    from_acc, to_acc = name != "v_accvgpr_write", name != "v_accvgpr_read"
    code = operands.field("src0")
    read = operands.vector(code, acc=from_acc)
    register = operands.destination(operands.field("vdst"), acc=to_acc)
    if not from_acc or code < 256:
        return operands.step(lambda w: w.write(register, read(w)))
    base = code - 256 + ACC
    # The register index of s_set_gpr_idx_on can reach any AccVGPR.
    operands.reads.update(range(ACC, 2 * ACC))

    def move(w: Waves) -> None:
        if not w.index_mode & 1:
            w.write(register, w.v[base])
            return
        chosen = base + (w.sgpr[124] & U32(0xFF)).astype(np.intp)
        if (chosen >= 2 * ACC).any():
            raise operands.fail(f"register index {int(chosen.max())} beyond the register file")
        wave = np.arange(w.count)
        w.write(register, w.quads[chosen >> 2, wave, :, chosen & 3])

    return operands.step(move)


__all__ = ["compile_vector", "float_source", "from_bf16", "sources", "write_64"]
