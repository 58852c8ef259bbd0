"""Layouts of weights, declared. A row is a row of N; a column is one byte of it: two fp4 codes, half a bf16.

A name is the tile (rows x bytes of K) and, where two share it, what sets them apart. Patterns: see pattern.
"""

from __future__ import annotations

from scale_layout.layout import Convention, Layout, Tensor

_UNIT = "byte of a row"

WEIGHT_16X16 = Layout(
    name="weight_16x16",
    tensor=Tensor.WEIGHTS,
    pattern="(no n16) (ko k16) -> no ko n16 k16",
    unit=_UNIT,
    doc="Blocks of 16 rows by 16 bytes, each stored whole: what a lane loads at once stays together.",
    conventions=(
        Convention(
            name="aiter_weight_16x16_1byte",
            row_multiple=16,
            col_multiple=32,
            doc="aiter shuffle_weight(layout=(16, 16)) of fp8, int8 and packed fp4",
            checked="run: AITER, FlyDSL",
        ),
        Convention(
            name="aiter_weight_16x16_bf16",
            row_multiple=16,
            col_multiple=64,
            element_bytes=2,
            doc="aiter shuffle_weight(layout=(16, 16)) of bf16",
            checked="run: AITER",
        ),
        Convention(
            name="aiter_weight_NK_16_64",
            row_multiple=16,
            col_multiple=64,
            doc="aiter shuffle_weight_NK(inst_N=16, inst_K=64)",
            checked="run: AITER",
        ),
        Convention(
            name="aiter_weight_a16w4",
            row_multiple=16,
            col_multiple=64,
            doc="aiter shuffle_weight_a16w4(NLane=16, gate_up=False), one expert of packed fp4",
            checked="run: AITER",
        ),
        Convention(
            name="gfx1250_weight_16x16_byte",
            row_multiple=16,
            col_multiple=16,
            doc="aiter shuffle_weight_f4, shuffle_mxfp8fp4_b, shuffle_weight_gfx1250",
            checked="run: AITER, IREE wave",
        ),
    ),
)

WEIGHT_32X16 = Layout(
    name="weight_32x16",
    tensor=Tensor.WEIGHTS,
    pattern="(no n32) (ko k16) -> no ko n32 k16",
    unit=_UNIT,
    doc="Blocks of 32 rows by 16 bytes, each stored whole. Differs from weight_16x16 from byte 256 on.",
    conventions=(
        Convention(
            name="aiter_weight_32x16_1byte",
            row_multiple=32,
            col_multiple=32,
            doc="aiter shuffle_weight(layout=(32, 16)) of int8, for the i8gemm kernels of earlier wheels",
            checked="run: AITER",
        ),
        Convention(
            name="aiter_weight_32x16_bf16",
            row_multiple=32,
            col_multiple=64,
            element_bytes=2,
            doc="aiter shuffle_weight(layout=(32, 16)) of bf16",
            checked="run: AITER",
        ),
        Convention(
            name="aiter_weight_NK_32_32",
            row_multiple=32,
            col_multiple=32,
            doc="aiter shuffle_weight_NK(inst_N=32, inst_K=32)",
            checked="run: AITER",
        ),
    ),
)

WEIGHT_16X32 = Layout(
    name="weight_16x32",
    tensor=Tensor.WEIGHTS,
    pattern="(no n16) (ko k32) -> no ko n16 k32",
    unit="int4 value, one to a byte: nibbles are packed after the shuffle",
    doc="Blocks of 16 rows by 32 values, each stored whole.",
    conventions=(
        Convention(
            name="aiter_weight_16x16_int4",
            row_multiple=16,
            col_multiple=32,
            doc="aiter shuffle_weight(layout=(16, 16), use_int4=True)",
            checked="run: AITER",
        ),
    ),
)

WEIGHT_16X16_GATE_UP_TILES = Layout(
    name="weight_16x16_gate_up_tiles",
    tensor=Tensor.WEIGHTS,
    pattern="(p2 no n16) (ko k16) -> no p2 ko n16 k16",
    unit=_UNIT,
    doc="weight_16x16 of rows [gate | up]: 16 rows of gate, the same 16 of up, the next 16 of gate, …",
    conventions=(
        Convention(
            name="aiter_weight_a16w4_gateup",
            row_multiple=32,
            col_multiple=64,
            doc="aiter shuffle_weight_a16w4(NLane=16, gate_up=True), one expert",
            checked="run: AITER",
        ),
    ),
)

WEIGHT_16X16_GATE_UP_ROWS = Layout(
    name="weight_16x16_gate_up_rows",
    tensor=Tensor.WEIGHTS,
    pattern="(p2 no n8) (ko k16) -> no ko n8 p2 k16",
    unit=_UNIT,
    doc="weight_16x16 of rows [gate | up] taken in the order gate 0, up 0, gate 1, up 1, …",
    conventions=(
        Convention(
            name="gfx1250_weight_16x16_gugu",
            row_multiple=16,
            col_multiple=16,
            doc="aiter moe_shuffle_weight on gfx1250 with is_guinterleave",
            checked="run: AITER",
        ),
    ),
)

WEIGHT_16X32_K_MAJOR = Layout(
    name="weight_16x32_k_major",
    tensor=Tensor.WEIGHTS,
    pattern="(no n16) (ko k2 k16) -> ko no k2 n16 k16",
    unit=_UNIT,
    doc="Panels of 32 bytes of K by all rows; within one, 16 rows by 16 bytes at a time.",
    conventions=(
        Convention(
            name="flydsl_b_kmajor_byte",
            row_multiple=16,
            col_multiple=32,
            doc="FlyDSL make_preshuffle_b_layout(k_major=True)",
            checked="formula: FlyDSL mfma_preshuffle_pipeline.py",
        ),
    ),
)

WEIGHT_LAYOUTS: tuple[Layout, ...] = (
    WEIGHT_16X16,
    WEIGHT_32X16,
    WEIGHT_16X32,
    WEIGHT_16X16_GATE_UP_TILES,
    WEIGHT_16X16_GATE_UP_ROWS,
    WEIGHT_16X32_K_MAJOR,
)
