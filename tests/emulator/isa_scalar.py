"""What scalar instructions compute, on Python integers, written from the CDNA instruction set manual.

Each row takes the sources and SCC, and gives the result and the new SCC (None: SCC keeps its value).
"""

from __future__ import annotations

from collections.abc import Callable

M32, M64 = (1 << 32) - 1, (1 << 64) - 1

Result = tuple[int, bool | None]
Row = Callable[[int, int, bool], Result]


def signed(value: int, bits: int = 32) -> int:
    """The low `bits` bits as a two's complement number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _flag(value: int) -> Result:
    return value, value != 0


def _carry(total: int) -> Result:
    return total & M32, total > M32


def _overflow(total: int) -> Result:
    return total & M32, not -(1 << 31) <= total < 1 << 31


def _field(b: int) -> tuple[int, int]:
    """Offset and width of a bit field."""
    return b & 31, min(b >> 16 & 127, 32)


def _bfe_i32(a: int, b: int, _: bool) -> Result:
    offset, width = _field(b)
    return _flag(signed(signed(a) >> offset, width) & M32 if width else 0)


def _shifted_add(count: int) -> Row:
    return lambda a, b, _: _carry((a << count) + b)


SOP2: dict[str, Row] = {
    "s_add_u32": lambda a, b, _: _carry(a + b),
    "s_sub_u32": lambda a, b, _: ((a - b) & M32, b > a),
    "s_addc_u32": lambda a, b, c: _carry(a + b + c),
    "s_subb_u32": lambda a, b, c: ((a - b - c) & M32, b + c > a),
    "s_add_i32": lambda a, b, _: _overflow(signed(a) + signed(b)),
    "s_sub_i32": lambda a, b, _: _overflow(signed(a) - signed(b)),
    "s_mul_i32": lambda a, b, _: (a * b & M32, None),
    "s_mul_hi_u32": lambda a, b, _: (a * b >> 32, None),
    "s_mul_hi_i32": lambda a, b, _: (signed(a) * signed(b) >> 32 & M32, None),
    "s_and_b32": lambda a, b, _: _flag(a & b),
    "s_or_b32": lambda a, b, _: _flag(a | b),
    "s_xor_b32": lambda a, b, _: _flag(a ^ b),
    "s_andn2_b32": lambda a, b, _: _flag(a & ~b & M32),
    "s_orn2_b32": lambda a, b, _: _flag((a | ~b) & M32),
    "s_nand_b32": lambda a, b, _: _flag(~(a & b) & M32),
    "s_nor_b32": lambda a, b, _: _flag(~(a | b) & M32),
    "s_xnor_b32": lambda a, b, _: _flag(~(a ^ b) & M32),
    "s_lshl_b32": lambda a, b, _: _flag(a << (b & 31) & M32),
    "s_lshr_b32": lambda a, b, _: _flag(a >> (b & 31)),
    "s_ashr_i32": lambda a, b, _: _flag(signed(a) >> (b & 31) & M32),
    "s_lshl1_add_u32": _shifted_add(1),
    "s_lshl2_add_u32": _shifted_add(2),
    "s_lshl3_add_u32": _shifted_add(3),
    "s_lshl4_add_u32": _shifted_add(4),
    "s_bfm_b32": lambda a, b, _: (((1 << (a & 31)) - 1) << (b & 31) & M32, None),
    "s_bfe_u32": lambda a, b, _: _flag(a >> _field(b)[0] & ((1 << _field(b)[1]) - 1)),
    "s_bfe_i32": _bfe_i32,
    "s_min_u32": lambda a, b, _: (min(a, b), a < b),
    "s_max_u32": lambda a, b, _: (max(a, b), a >= b),
    "s_min_i32": lambda a, b, _: (min(signed(a), signed(b)) & M32, signed(a) < signed(b)),
    "s_max_i32": lambda a, b, _: (max(signed(a), signed(b)) & M32, signed(a) >= signed(b)),
    "s_cselect_b32": lambda a, b, c: (a if c else b, None),
    "s_pack_ll_b32_b16": lambda a, b, _: ((b & 0xFFFF) << 16 | a & 0xFFFF, None),
    "s_pack_lh_b32_b16": lambda a, b, _: ((b >> 16) << 16 | a & 0xFFFF, None),
    "s_pack_hh_b32_b16": lambda a, b, _: ((b >> 16) << 16 | a >> 16, None),
}

SOP2_64: dict[str, Row] = {
    "s_and_b64": lambda a, b, _: _flag(a & b),
    "s_or_b64": lambda a, b, _: _flag(a | b),
    "s_xor_b64": lambda a, b, _: _flag(a ^ b),
    "s_andn2_b64": lambda a, b, _: _flag(a & ~b & M64),
    "s_orn2_b64": lambda a, b, _: _flag((a | ~b) & M64),
    "s_nand_b64": lambda a, b, _: _flag(~(a & b) & M64),
    "s_nor_b64": lambda a, b, _: _flag(~(a | b) & M64),
    "s_xnor_b64": lambda a, b, _: _flag(~(a ^ b) & M64),
    "s_cselect_b64": lambda a, b, c: (a if c else b, None),
}

# The second source has 32 bits.
SOP2_SHIFT: dict[str, Row] = {
    "s_lshl_b64": lambda a, b, _: _flag(a << (b & 63) & M64),
    "s_lshr_b64": lambda a, b, _: _flag(a >> (b & 63)),
    "s_ashr_i64": lambda a, b, _: _flag(signed(a, 64) >> (b & 63) & M64),
}

# The second source of these rows is not used.
SOP1: dict[str, Row] = {
    "s_mov_b32": lambda a, _, __: (a, None),
    "s_not_b32": lambda a, _, __: _flag(~a & M32),
    "s_brev_b32": lambda a, _, __: (int(f"{a:032b}"[::-1], 2), None),
    "s_bcnt0_i32_b32": lambda a, _, __: _flag(f"{a:032b}".count("0")),
    "s_bcnt1_i32_b32": lambda a, _, __: _flag(f"{a:032b}".count("1")),
    "s_ff1_i32_b32": lambda a, _, __: (f"{a:032b}"[::-1].find("1") & M32, None),
    "s_flbit_i32_b32": lambda a, _, __: (f"{a:032b}".find("1") & M32, None),
    "s_sext_i32_i8": lambda a, _, __: (signed(a, 8) & M32, None),
    "s_sext_i32_i16": lambda a, _, __: (signed(a, 16) & M32, None),
    "s_abs_i32": lambda a, _, __: _flag(abs(signed(a)) & M32),
}

SOP1_64: dict[str, Row] = {
    "s_mov_b64": lambda a, _, __: (a, None),
    "s_not_b64": lambda a, _, __: _flag(~a & M64),
}

# New EXEC from source and old EXEC; SCC says whether a lane is left.
SAVEEXEC: dict[str, Callable[[int, int], int]] = {
    "s_and_saveexec_b64": lambda a, e: a & e,
    "s_or_saveexec_b64": lambda a, e: a | e,
    "s_xor_saveexec_b64": lambda a, e: a ^ e,
    "s_andn1_saveexec_b64": lambda a, e: ~a & e & M64,
    "s_andn2_saveexec_b64": lambda a, e: a & ~e & M64,
    "s_orn2_saveexec_b64": lambda a, e: (a | ~e) & M64,
}

RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}

# SOPK: the result from the destination's old value, the sign-extended immediate and SCC.
SOPK: dict[str, Row] = {
    "s_movk_i32": lambda _, k, __: (k & M32, None),
    "s_cmovk_i32": lambda d, k, c: (k & M32 if c else d, None),
    "s_addk_i32": lambda d, k, _: _overflow(signed(d) + k),
    "s_mulk_i32": lambda d, k, _: (d * k & M32, None),
}
