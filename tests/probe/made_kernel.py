"""Kernels made of numpy for the tests of probing: any layout of any operand, launched like a real one."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from argpack.numerics import float64_to_bf16
from argpack.numerics.e8m0 import decode_e8m0_float64
from argpack.numerics.fp4 import FP4_VALUES, unpack_fp4
from argpack.probe.subject import Subject
from scale_layout import layout_named, offset, padded_shape


def byte_offsets(layout, rows, columns):
    """Byte of (row, column), int64 (rows, columns), and the size of the image; `layout` may be a name."""
    if isinstance(layout, str):
        layout = layout_named(layout)
    padded = padded_shape(layout, rows, columns)
    r, c = np.arange(rows)[:, None], np.arange(columns)[None, :]
    return offset(layout, r, c, cols_padded=padded[1], rows_padded=padded[0]), padded[0] * padded[1]


def nibbles_of(offsets):
    """Nibble addresses (rows, k) of byte offsets (rows, k / 2), the low nibble first."""
    return np.stack([2 * offsets, 2 * offsets + 1], axis=2).reshape(len(offsets), -1)


class MadeKernel:
    """D = A·Bᵀ with nibbles at `a` (m, k) and `b` (n, k), scales at `scale_a`, `scale_b` (m or n, k).

    `sizes` are the bytes of the four buffers; `launches` counts.
    """

    def __init__(
        self, m, n, k, *, a="row_major", b="row_major", scale_a="row_major", scale_b="row_major", block=32
    ):
        self.m, self.n, self.k = m, n, k
        offsets = {
            "A": byte_offsets(a, m, k // 2),
            "B": byte_offsets(b, n, k // 2),
            "ScaleA": byte_offsets(scale_a, m, k // block),
            "ScaleB": byte_offsets(scale_b, n, k // block),
        }
        self.bytes = {name: table for name, (table, _) in offsets.items()}
        self.sizes = {name: size for name, (_, size) in offsets.items()}
        self.a, self.b = nibbles_of(self.bytes["A"]), nibbles_of(self.bytes["B"])
        self.scale_a, self.scale_b = (np.repeat(self.bytes[s], block, axis=1) for s in ("ScaleA", "ScaleB"))
        self.launches = 0

    def operand(self, contents, codes, places, scales, scale_places):
        values = FP4_VALUES[unpack_fp4(contents[codes])[places]].astype(np.float64)
        return values * decode_e8m0_float64(contents[scales][scale_places])

    def product(self, contents):
        left = self.operand(contents, "A", self.a, "ScaleA", self.scale_a)
        right = self.operand(contents, "B", self.b, "ScaleB", self.scale_b)
        return left @ right.T

    def run(self, contents):
        self.launches += 1
        with threadpool_limits(1):
            bits = float64_to_bf16(self.product(contents))
        return {"D": bits.reshape(-1).view(np.uint8)}

    def subject(self):
        return Subject(
            name="made", m=self.m, n=self.n, k=self.k, row_stride=self.n, sizes=self.sizes, run=self.run
        )
