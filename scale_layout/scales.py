"""Layouts of scale bytes, declared. A row is a row of M or N; a column is one block of K (32 elements for
MX)."""

from __future__ import annotations

from scale_layout.layout import Convention, Layout, Tensor

SCALE_32X8 = Layout(
    name="scale_32x8",
    tensor=Tensor.SCALES,
    pattern="(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2",
    unit="scale byte of one block of K",
    doc="Scales of 32 rows and 8 blocks of K; a dword serves one lane of a gfx950 16x16x128 MFMA.",
    conventions=(
        Convention(
            name="aiter_e8m0_shuffle_gfx950",
            row_multiple=256,
            col_multiple=8,
            pads_rows=True,
            pads_cols=True,
            pad_value=None,
            doc="aiter shuffle_scale, fp4_utils.e8m0_shuffle; padding uninitialised (torch.empty)",
            checked="run: AITER, FlyDSL, IREE wave",
        ),
        Convention(
            name="aiter_e8m0_shuffle_2025_05",
            row_multiple=32,
            col_multiple=8,
            pads_rows=True,
            pads_cols=True,
            pad_value=None,
            doc="AITER's first form (3cde945a73, May 2025): per_1x32_f4_quant(shuffle=True)",
            checked="run: AITER",
        ),
        Convention(
            name="hipblaslt_blk32_ue8m0_32_8_ext",
            row_multiple=32,
            col_multiple=8,
            pads_rows=True,
            pads_cols=True,
            pad_value=0x00,
            doc="HIPBLASLT_MATMUL_MATRIX_SCALE_BLK32_UE8M0_32_8_EXT (1001), preSwizzleScalesGFX950",
            checked="formula: XLA, rocm-libraries PreSwizzle.hpp",
        ),
    ),
)

SCALE_LAYOUTS: tuple[Layout, ...] = (SCALE_32X8,)
