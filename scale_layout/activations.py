"""Layouts of activations, declared. A row is a row of M; a column is one byte of it."""

from __future__ import annotations

from scale_layout.layout import Convention, Layout, Tensor

ACTIVATION_2X128 = Layout(
    name="activation_2x128",
    tensor=Tensor.ACTIVATIONS,
    pattern="(mo m2) (ko k128) -> mo ko m2 k128",
    unit="byte of a row",
    doc="Blocks of 2 rows by 128 bytes, each stored whole.",
    conventions=(
        Convention(
            name="gfx1250_act_2x128_byte",
            row_multiple=2,
            col_multiple=128,
            doc="aiter shuffle_mxfp8fp4_a: A of the mxfp8 x mxfp8/fp4 GEMM",
            checked="run: AITER",
        ),
    ),
)

ACTIVATION_LAYOUTS: tuple[Layout, ...] = (ACTIVATION_2X128,)
