"""The argument buffer of AITER's f4gemm kernels on gfx950: 24 fields in 16-byte slots, 372 bytes.

Names and types follow the host struct `KernelArgs` of AITER's csrc/py_itfs_cu/asm_gemm_a4w4.cu; what each
argument counts was measured on the 35 code objects, whose metadata has other names and types them all i32.
"""

from __future__ import annotations

from argpack.schema import Field, KernargSchema, Role


def _pointer(name: str, doc: str) -> Field:
    return Field(name, "ptr", "", Role.POINTER, doc, 8)


def _u32(name: str, unit: str, role: Role, doc: str) -> Field:
    return Field(name, "u32", unit, role, doc, 12)


SCHEMA = KernargSchema(
    "aiter_f4gemm",
    (
        _pointer("ptr_D", "Output, bf16, M rows of stride_C0 elements."),
        _pointer("ptr_C", "Loaded and never used: no kernel adds C. Pass null."),
        _pointer("ptr_A", "Activations, packed fp4, M rows of stride_A0 elements."),
        _pointer("ptr_B", "Weights, packed fp4, N rows of stride_B0 elements; BpreShuffle: 16x16 tiles."),
        Field(
            "alpha", "f32", "", Role.SCALAR, "Factor of A·Bᵀ; three kernels apply it, the rest ignore it.", 12
        ),
        Field("beta", "f32", "", Role.SCALAR, "Factor of C; loaded and never used.", 12),
        _u32(
            "stride_D0", "bf16 elements", Role.STRIDE, "Never loaded: D's row stride is read from stride_C0."
        ),
        _u32("stride_D1", "bf16 elements", Role.STRIDE, "Never loaded: elements of a row of D are adjacent."),
        _u32(
            "stride_C0", "bf16 elements", Role.STRIDE, "D's row stride, in elements; stride_D0 is never read."
        ),
        _u32("stride_C1", "bf16 elements", Role.STRIDE, "Never loaded."),
        _u32(
            "stride_A0",
            "fp4 elements",
            Role.STRIDE,
            "A's row stride, in elements: twice a packed row's bytes.",
        ),
        _u32("stride_A1", "fp4 elements", Role.STRIDE, "Never loaded: elements of a row of A are adjacent."),
        _u32(
            "stride_B0",
            "fp4 elements",
            Role.STRIDE,
            "B's row stride, in elements: twice a packed row's bytes.",
        ),
        _u32("stride_B1", "fp4 elements", Role.STRIDE, "Never loaded: elements of a row of B are adjacent."),
        _u32("M", "rows", Role.EXTENT, "Rows of A and D."),
        _u32("N", "columns", Role.EXTENT, "Columns of D, rows of B."),
        _u32("K", "fp4 elements", Role.EXTENT, "Length of the dot products; 32 elements share a scale."),
        _pointer("ptr_ScaleA", "Scales of A: E8M0, a byte per 32 elements, in tiles of 32x8."),
        _pointer("ptr_ScaleB", "Scales of B: E8M0, a byte per 32 elements, in tiles of 32x8."),
        _u32(
            "stride_ScaleA0",
            "bytes",
            Role.STRIDE,
            "Scale columns of A with their padding: K/32 rounded up to 8.",
        ),
        _u32("stride_ScaleA1", "bytes", Role.STRIDE, "Never loaded."),
        _u32(
            "stride_ScaleB0",
            "bytes",
            Role.STRIDE,
            "Scale columns of B with their padding: K/32 rounded up to 8.",
        ),
        _u32("stride_ScaleB1", "bytes", Role.STRIDE, "Never loaded."),
        Field(
            "log2_k_split",
            "i32",
            "log2",
            Role.SCALAR,
            "K is cut into 2^log2_k_split slices; two kernels read it, 0 is none.",
        ),
    ),
    "Arguments of AITER's gfx950 f4gemm kernels, D = alpha·A·Bᵀ; the segment is declared 384 or 368 bytes.",
)
