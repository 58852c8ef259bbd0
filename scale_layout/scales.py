"""Layouts of scale bytes, declared. A row is a row of M or N; a column is one block of K: 32 elements (MX) or
16.

A name is the tile (rows x columns of K) and, where two share it, what sets them apart. Patterns: see pattern.
`wave` is 64 for what gfx950 reads, a dword a lane, and 32 for gfx1250, a dword a lane or two.
"""

from __future__ import annotations

from scale_layout.layout import Convention, Layout, Tensor

_UNIT = "scale byte of one block of K"

SCALE_32X8 = Layout(
    name="scale_32x8",
    tensor=Tensor.SCALES,
    pattern="(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2",
    unit=_UNIT,
    doc="A dword holds two rows 16 apart by two blocks of K 4 apart, for a lane of gfx950's 16x16x128 MFMA.",
    wave=64,
    conventions=(
        Convention(
            name="aiter_e8m0_shuffle_gfx950",
            row_multiple=256,
            col_multiple=8,
            pads_rows=True,
            pads_cols=True,
            doc="aiter ops/shuffle.py shuffle_scale, fp4_utils.e8m0_shuffle",
            checked="run: AITER, FlyDSL, IREE wave",
        ),
        Convention(
            name="aiter_e8m0_shuffle_2025_05",
            row_multiple=32,
            col_multiple=8,
            pads_rows=True,
            pads_cols=True,
            doc="aiter 3cde945a73 (May 2025): per_1x32_f4_quant(shuffle=True)",
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
        Convention(
            name="aiter_scale_a16w4",
            row_multiple=32,
            col_multiple=8,
            pads_cols=True,
            pad_value=0x7F,
            doc="aiter shuffle_scale_a16w4(gate_up=False), one expert; experts follow one another",
            checked="run: AITER",
        ),
        Convention(
            name="triton_cdna4_scale",
            row_multiple=32,
            col_multiple=8,
            doc="triton_kernels CDNA4MXScaleLayout; tutorial 10 with mfma_nonkdim=16",
            checked="formula: Triton CDNA4MXScaleLayout.swizzle_data",
        ),
        Convention(
            name="ck_mx_gfx950",
            row_multiple=32,
            col_multiple=8,
            doc="CK preShuffleScaleBuffer<KLast>, ck_tile preShuffleScaleBuffer_gfx950<2, 2, 16, 4>",
            checked="formula: CK profile_gemm_mx",
        ),
    ),
)

SCALE_32X8_GATE_UP = Layout(
    name="scale_32x8_gate_up",
    tensor=Tensor.SCALES,
    pattern="(p2 mo m16) (ko k2 k4) -> mo ko k4 m16 k2 p2",
    unit=_UNIT,
    doc="scale_32x8 of rows [gate | up]: a dword holds the same row of gate and of up in place of two rows.",
    wave=64,
    conventions=(
        Convention(
            name="aiter_scale_a16w4_gateup",
            row_multiple=32,
            col_multiple=8,
            pads_cols=True,
            pad_value=0x7F,
            doc="aiter shuffle_scale_a16w4(gate_up=True), one expert",
            checked="run: AITER",
        ),
    ),
)

SCALE_32X8_PLAIN = Layout(
    name="scale_32x8_plain",
    tensor=Tensor.SCALES,
    pattern="(mo m32) (ko k8) -> mo ko m32 k8",
    unit=_UNIT,
    doc="Blocks of 32 rows by 8 columns, each stored whole, row by row.",
    wave=32,
    conventions=(
        Convention(
            name="aiter_f4_scale_nvfp4_gfx1250",
            row_multiple=32,
            col_multiple=8,
            doc="aiter shuffle_scale_f4(intype=8): nvfp4, one scale for 16 elements",
            checked="run: AITER",
        ),
        Convention(
            name="aiter_triton_scale_moe_gfx1250",
            row_multiple=32,
            col_multiple=8,
            doc="aiter triton shuffle_scale_moe, swizzle_scales_gfx1250",
            checked="run: AITER",
        ),
    ),
)

SCALE_32X8_MFMA32 = Layout(
    name="scale_32x8_mfma32",
    tensor=Tensor.SCALES,
    pattern="(mo m32) (ko k4 k2) -> mo ko k2 m32 k4",
    unit=_UNIT,
    doc="A dword holds four blocks of K 2 apart of one row: for MFMAs of 32 rows.",
    wave=64,
    conventions=(
        Convention(
            name="triton_cdna4_mfma32",
            row_multiple=32,
            col_multiple=8,
            doc="Triton tutorial 10 with mfma_nonkdim=32",
            checked="formula: Triton shuffle_scales_cdna4(32)",
        ),
    ),
)

SCALE_32X4 = Layout(
    name="scale_32x4",
    tensor=Tensor.SCALES,
    pattern="(mo m32) (ko k4) -> mo ko m32 k4",
    unit=_UNIT,
    doc="Blocks of 32 rows by 4 columns, each stored whole, row by row.",
    wave=32,
    conventions=(
        Convention(
            name="aiter_n32k4_gfx1250",
            row_multiple=32,
            col_multiple=4,
            doc="aiter shuffle_scale_n32k4, shuffle_scale_f4(intype=7); CK and TransformerEngine on gfx1250",
            checked="run: AITER; formula: ck_tile preShuffleScaleBuffer_gfx1250, TransformerEngine",
        ),
        Convention(
            name="aiter_mxfp8fp4_scale_gfx1250",
            row_multiple=32,
            col_multiple=4,
            pads_rows=True,
            pad_value=0x7F,
            doc="aiter shuffle_mxfp8fp4_scale",
            checked="run: AITER",
        ),
        Convention(
            name="flydsl_a8w4_wt32_k8",
            row_multiple=32,
            col_multiple=8,
            doc="FlyDSL in aiter: _grouped_a8w4_preshuffle_e8m0_scale(warp_tile=32, scale_k_per_tile=8)",
            checked="run: AITER",
        ),
    ),
)

SCALE_32X4_GATE_UP = Layout(
    name="scale_32x4_gate_up",
    tensor=Tensor.SCALES,
    pattern="(p2 mo m16) (ko k4) -> mo ko m16 p2 k4",
    unit=_UNIT,
    doc="scale_32x4 of rows [gate | up] taken in the order gate 0, up 0, gate 1, up 1, …",
    wave=32,
    conventions=(
        Convention(
            name="aiter_n32k4_gugu_gfx1250",
            row_multiple=32,
            col_multiple=4,
            doc="aiter shuffle_scale_n32k4(is_guinterleave=True, gate_up=True)",
            checked="run: AITER",
        ),
    ),
)

SCALE_16X4 = Layout(
    name="scale_16x4",
    tensor=Tensor.SCALES,
    pattern="(mo m16) (ko k4) -> mo ko m16 k4",
    unit=_UNIT,
    doc="Blocks of 16 rows by 4 columns, each stored whole, row by row.",
    conventions=(
        Convention(
            name="aiter_triton_scale_gemm_gfx1250",
            row_multiple=16,
            col_multiple=4,
            doc="aiter triton shuffle_scale_gemm on gfx1250 with its defaults (16, 4)",
            checked="run: AITER",
        ),
        Convention(
            name="ck_mx_gfx1250_t16",
            row_multiple=16,
            col_multiple=4,
            doc="ck_tile preShuffleScaleBuffer_gfx1250 for the 16x16 WMMA",
            checked="formula: ck_tile",
        ),
    ),
)

SCALE_128X4 = Layout(
    name="scale_128x4",
    tensor=Tensor.SCALES,
    pattern="(mo m4 m32) (ko k4) -> mo ko m32 m4 k4",
    unit=_UNIT,
    doc="512-byte blocks of 128 rows by 4 columns; 16 bytes hold four rows 32 apart.",
    conventions=(
        Convention(
            name="nvidia_128x4",
            row_multiple=128,
            col_multiple=4,
            pads_rows=True,
            pads_cols=True,
            pad_value=0x00,
            doc="cuBLASLt VEC32_UE8M0 and VEC16_UE4M3, CUTLASS Sm1xx, torch to_blocked",
            checked="run: torch 2.13 to_blocked",
        ),
        Convention(
            name="triton_blackwell_scale",
            row_multiple=128,
            col_multiple=8,
            pads_rows=True,
            pads_cols=True,
            pad_value=0x00,
            doc="triton_kernels BlackwellMXScaleLayout: columns to 8 although the tile has 4",
            checked="formula: Triton BlackwellMXScaleLayout.swizzle_data",
        ),
        Convention(
            name="triton_gfx1250_scale",
            row_multiple=128,
            col_multiple=4,
            pads_rows=True,
            pads_cols=True,
            pad_value=0x00,
            doc="triton_kernels GFX1250MXScaleLayout, for 4 columns or more (it leaves fewer unpadded)",
            checked="formula: Triton GFX1250MXScaleLayout.swizzle_data",
        ),
    ),
)

SCALE_128X16 = Layout(
    name="scale_128x16",
    tensor=Tensor.SCALES,
    pattern="(mo m4 m32) (ko k16) -> mo ko m32 m4 k16",
    unit=_UNIT,
    doc="2048-byte blocks of 128 rows by 16 columns; 64 bytes hold four rows 32 apart.",
    conventions=(
        Convention(
            name="aiter_scale_batched_kw16",
            row_multiple=128,
            col_multiple=16,
            doc="aiter triton shuffle_scale_batched(scale_k_width=16): blocks of 16 elements, FP4 MLA",
            checked="run: AITER",
        ),
    ),
)

SCALE_K4_PANELS = Layout(
    name="scale_k4_panels",
    tensor=Tensor.SCALES,
    pattern="m (ko k4) -> ko m k4",
    unit=_UNIT,
    doc="Panels of 4 columns by all rows, one after the other; rows are not padded.",
    conventions=(
        Convention(
            name="hipblaslt_gfx1250_dimk_mx32",
            row_multiple=1,
            col_multiple=4,
            pads_cols=True,
            pad_value=0x00,
            doc="mxDataGenerator preSwizzleScalesGFX1250 for blocks of 32",
            checked="formula: rocm-libraries preSwizzleScalesGFX1250",
        ),
    ),
)

SCALE_K8_PANELS = Layout(
    name="scale_k8_panels",
    tensor=Tensor.SCALES,
    pattern="m (ko k8) -> ko m k8",
    unit=_UNIT,
    doc="Panels of 8 columns by all rows, one after the other; rows are not padded.",
    conventions=(
        Convention(
            name="hipblaslt_gfx1250_dimk_mx16",
            row_multiple=1,
            col_multiple=8,
            pads_cols=True,
            pad_value=0x00,
            doc="mxDataGenerator preSwizzleScalesGFX1250 for blocks of 16",
            checked="formula: rocm-libraries preSwizzleScalesGFX1250",
        ),
    ),
)

SCALE_64X4_K_OUTER = Layout(
    name="scale_64x4_k_outer",
    tensor=Tensor.SCALES,
    pattern="(mo m4 m16) (ko k4) -> mo k4 m16 ko m4",
    unit=_UNIT,
    doc="64 rows over all of K together, split by column modulo 4, then by row modulo 16.",
    conventions=(
        Convention(
            name="rocroller_preswizzle_64_4_4",
            row_multiple=64,
            col_multiple=4,
            doc="mxDataGenerator DGen::preSwizzle {64, 4, 4} without pre-tile",
            checked="formula: rocm-libraries 337e7289 PreSwizzle.hpp",
        ),
    ),
)

SCALE_32X8_K_OUTER = Layout(
    name="scale_32x8_k_outer",
    tensor=Tensor.SCALES,
    pattern="(mo m2 m16) (ko ka2 kb2 kc2) -> mo kc2 m16 ko kb2 ka2 m2",
    unit=_UNIT,
    doc="32 rows over all of K together, split by column modulo 2, then by row modulo 16.",
    conventions=(
        Convention(
            name="rocroller_preswizzle_32_8_4",
            row_multiple=32,
            col_multiple=8,
            doc="mxDataGenerator DGen::preSwizzle {32, 8, 4} without pre-tile",
            checked="formula: rocm-libraries 337e7289 PreSwizzle.hpp",
        ),
    ),
)

SCALE_32X8_K_SPLIT = Layout(
    name="scale_32x8_k_split",
    tensor=Tensor.SCALES,
    pattern="(mo m2 m16) (ko ka2 kb2 kc2) -> mo ko kc2 m16 kb2 ka2 m2",
    unit=_UNIT,
    doc="scale_32x8_k_outer within each 32x8 tile. Close to scale_32x8, but not the same bytes.",
    conventions=(
        Convention(
            name="rocroller_preswizzle_32_8_4_pretile",
            row_multiple=32,
            col_multiple=8,
            doc="mxDataGenerator DGen::preSwizzle {32, 8, 4} with pre-tile {8 of K, 32 of MN}",
            checked="formula: rocm-libraries 337e7289 PreSwizzle.hpp",
        ),
    ),
)

SCALE_1X8_REORDERED = Layout(
    name="scale_1x8_reordered",
    tensor=Tensor.SCALES,
    pattern="m (ko ka2 kb2 kc2) -> m ko kc2 ka2 kb2",
    unit=_UNIT,
    doc="Rows one after the other; eight columns at a time in the order 0 2 4 6 1 3 5 7.",
    conventions=(
        Convention(
            name="rocroller_preswizzle_32_8_2",
            row_multiple=32,
            col_multiple=8,
            doc="mxDataGenerator DGen::preSwizzle {32, 8, 2} without pre-tile",
            checked="formula: rocm-libraries 337e7289 PreSwizzle.hpp",
        ),
    ),
)

SCALE_128X8_PERMUTE_N = Layout(
    name="scale_128x8_permute_n",
    tensor=Tensor.SCALES,
    pattern="(no n4 n16 n2) (ko k2 k4) -> no n4 ko k4 n16 k2 n2",
    unit=_UNIT,
    doc="scale_32x8 whose dword holds two neighbouring rows; a tile of 128 rows is dealt to 4 waves.",
    wave=64,
    conventions=(
        Convention(
            name="ck_mx_gfx950_permuteN",
            row_multiple=128,
            col_multiple=8,
            doc="ck_tile preShuffleScaleBufferPermuteN_gfx950<NWarp=4, NPerBlock=128, 16>",
            checked="formula: ck_tile",
        ),
    ),
)

SCALE_48X8_QUARTILE = Layout(
    name="scale_48x8_quartile",
    tensor=Tensor.SCALES,
    pattern="(mo m4 m12) (ko k8) -> mo ko k8 m12 m4",
    unit=_UNIT,
    doc="A dword holds four rows 12 apart of one column: waves that own 48 rows.",
    conventions=(
        Convention(
            name="wave_quartile_48",
            row_multiple=48,
            col_multiple=8,
            pads_rows=True,
            pads_cols=True,
            pad_value=0x00,
            doc="IREE wave e8m0_shuffle_quartile(n_per_wave=48)",
            checked="formula: IREE wave",
        ),
    ),
)

SCALE_LAYOUTS: tuple[Layout, ...] = (
    SCALE_32X8,
    SCALE_32X8_GATE_UP,
    SCALE_32X8_PLAIN,
    SCALE_32X8_MFMA32,
    SCALE_32X4,
    SCALE_32X4_GATE_UP,
    SCALE_16X4,
    SCALE_128X4,
    SCALE_128X16,
    SCALE_K4_PANELS,
    SCALE_K8_PANELS,
    SCALE_64X4_K_OUTER,
    SCALE_32X8_K_OUTER,
    SCALE_32X8_K_SPLIT,
    SCALE_1X8_REORDERED,
    SCALE_128X8_PERMUTE_N,
    SCALE_48X8_QUARTILE,
)
