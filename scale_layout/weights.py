"""Layouts of weights, declared. A row is a row of N; a column is one byte of it (two fp4 codes, half a
bf16)."""

from __future__ import annotations

from scale_layout.layout import Convention, Layout, Tensor

WEIGHT_16X16 = Layout(
    name="weight_16x16",
    tensor=Tensor.WEIGHTS,
    pattern="(no n16) (ko k16) -> no ko n16 k16",
    unit="byte of a row",
    doc="Blocks of 16 rows by 16 bytes, each stored whole: a lane loads its 16 bytes in one instruction.",
    conventions=(
        Convention(
            name="aiter_weight_16x16_1byte",
            row_multiple=16,
            col_multiple=32,
            pads_rows=False,
            pads_cols=False,
            pad_value=None,
            doc="aiter shuffle_weight(layout=(16, 16)) of fp8, int8 and packed fp4",
            checked="run: AITER, FlyDSL",
        ),
    ),
)

WEIGHT_LAYOUTS: tuple[Layout, ...] = (WEIGHT_16X16,)
