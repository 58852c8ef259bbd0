"""What integer vector instructions compute in one lane, on Python integers, from the CDNA instruction set manual."""

from __future__ import annotations

from collections.abc import Callable

from isa_scalar import M32, M64, signed

Row = Callable[..., int]


def _low24(value: int) -> int:
    return value & 0xFFFFFF


def _bfe_i32(a: int, b: int, c: int) -> int:
    width = c & 31
    return signed(signed(a) >> (b & 31), width) & M32 if width else 0


def _permuted_byte(octets: bytes, select: int) -> int:
    """A byte of the two sources; 8 to 11 repeat the sign of every second byte, 12 is zero, more is 0xff."""
    if select < 8:
        return octets[select]
    if select < 12:
        return 0xFF if octets[2 * (select - 8) + 1] >> 7 else 0
    return 0 if select == 12 else 0xFF


def _perm(a: int, b: int, c: int) -> int:
    octets = (a << 32 | b).to_bytes(8, "little")
    return int.from_bytes(bytes(_permuted_byte(octets, s) for s in c.to_bytes(4, "little")), "little")


# Rows with a VOP1 or VOP2 encoding and a VOP3 one.
SHORT: dict[str, tuple[int, Row]] = {
    "v_mov_b32": (1, lambda a: a),
    "v_not_b32": (1, lambda a: ~a & M32),
    "v_bfrev_b32": (1, lambda a: int(f"{a:032b}"[::-1], 2)),
    "v_ffbh_u32": (1, lambda a: f"{a:032b}".find("1") & M32),
    "v_add_u32": (2, lambda a, b: (a + b) & M32),
    "v_sub_u32": (2, lambda a, b: (a - b) & M32),
    "v_subrev_u32": (2, lambda a, b: (b - a) & M32),
    "v_and_b32": (2, lambda a, b: a & b),
    "v_or_b32": (2, lambda a, b: a | b),
    "v_xor_b32": (2, lambda a, b: a ^ b),
    "v_xnor_b32": (2, lambda a, b: ~(a ^ b) & M32),
    "v_lshlrev_b32": (2, lambda a, b: b << (a & 31) & M32),
    "v_lshrrev_b32": (2, lambda a, b: b >> (a & 31)),
    "v_ashrrev_i32": (2, lambda a, b: signed(b) >> (a & 31) & M32),
    "v_mul_i32_i24": (2, lambda a, b: signed(a, 24) * signed(b, 24) & M32),
    "v_mul_u32_u24": (2, lambda a, b: _low24(a) * _low24(b) & M32),
    "v_min_u32": (2, min),
    "v_max_u32": (2, max),
    "v_min_i32": (2, lambda a, b: min(signed(a), signed(b)) & M32),
    "v_max_i32": (2, lambda a, b: max(signed(a), signed(b)) & M32),
}

# Rows with a VOP3 encoding alone.
LONG: dict[str, tuple[int, Row]] = {
    "v_add_i32": (2, lambda a, b: (a + b) & M32),
    "v_sub_i32": (2, lambda a, b: (a - b) & M32),
    "v_mul_lo_u32": (2, lambda a, b: a * b & M32),
    "v_mul_hi_u32": (2, lambda a, b: a * b >> 32),
    "v_mul_hi_i32": (2, lambda a, b: signed(a) * signed(b) >> 32 & M32),
    "v_bcnt_u32_b32": (2, lambda a, b: (a.bit_count() + b) & M32),
    "v_mad_u32_u24": (3, lambda a, b, c: (_low24(a) * _low24(b) + c) & M32),
    "v_mad_i32_i24": (3, lambda a, b, c: (signed(a, 24) * signed(b, 24) + c) & M32),
    "v_lshl_add_u32": (3, lambda a, b, c: ((a << (b & 31)) + c) & M32),
    "v_add_lshl_u32": (3, lambda a, b, c: (a + b) << (c & 31) & M32),
    "v_add3_u32": (3, lambda a, b, c: (a + b + c) & M32),
    "v_lshl_or_b32": (3, lambda a, b, c: (a << (b & 31) | c) & M32),
    "v_and_or_b32": (3, lambda a, b, c: a & b | c),
    "v_or3_b32": (3, lambda a, b, c: a | b | c),
    "v_xad_u32": (3, lambda a, b, c: ((a ^ b) + c) & M32),
    "v_bfe_u32": (3, lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1)),
    "v_bfe_i32": (3, _bfe_i32),
    "v_bfi_b32": (3, lambda a, b, c: (a & b | ~a & c) & M32),
    "v_alignbit_b32": (3, lambda a, b, c: (a << 32 | b) >> (c & 31) & M32),
    "v_perm_b32": (3, _perm),
}

# Lanes below this one, of the wave's lower or upper half, that have their bit set in the mask.
LANE_COUNTS: dict[str, Callable[[int, int, int], int]] = {
    "v_mbcnt_lo_u32_b32": lambda a, b, lane: ((a & ((1 << lane) - 1)).bit_count() + b) & M32,
    "v_mbcnt_hi_u32_b32": lambda a, b, lane: ((a << 32 & ((1 << lane) - 1)).bit_count() + b) & M32,
}

# Bits per source; the result has 64.
WIDE: dict[str, tuple[tuple[int, ...], Row]] = {
    "v_mov_b64": ((64,), lambda a: a),
    "v_lshlrev_b64": ((32, 64), lambda a, b: b << (a & 63) & M64),
    "v_lshrrev_b64": ((32, 64), lambda a, b: b >> (a & 63)),
    "v_ashrrev_i64": ((32, 64), lambda a, b: signed(b, 64) >> (a & 63) & M64),
    "v_lshl_add_u64": ((64, 32, 64), lambda a, b, c: ((a << (b & 7)) + c) & M64),
}

# Result, and carry or borrow out, from sources and carry in.
CARRY: dict[str, Callable[[int, int, int], tuple[int, bool]]] = {
    "v_add_co_u32": lambda a, b, _: ((a + b) & M32, a + b > M32),
    "v_sub_co_u32": lambda a, b, _: ((a - b) & M32, b > a),
    "v_subrev_co_u32": lambda a, b, _: ((b - a) & M32, a > b),
    "v_addc_co_u32": lambda a, b, c: ((a + b + c) & M32, a + b + c > M32),
    "v_subb_co_u32": lambda a, b, c: ((a - b - c) & M32, b + c > a),
    "v_subbrev_co_u32": lambda a, b, c: ((b - a - c) & M32, a + c > b),
}

# The carry is bit 64 of the sum, computed with 65 bits.
MAD_64: dict[str, Callable[[int, int, int], tuple[int, bool]]] = {
    "v_mad_u64_u32": lambda a, b, c: ((a * b + c) & M64, bool(a * b + c >> 64 & 1)),
    "v_mad_i64_i32": lambda a, b, c: (
        (signed(a) * signed(b) + signed(c, 64)) & M64,
        bool(signed(a) * signed(b) + signed(c, 64) >> 64 & 1),
    ),
}
