"""Tiled layouts of MX scales and preshuffled weights, each declared once; image, inverse and formula come
from that.

Knows numpy only: no kernel, no GPU. `layout_named("scale_32x8")`, then `apply`, `invert`, `offset`,
`formula_text`.
"""

from scale_layout.formula import formula_text, offset
from scale_layout.image import apply, invert, padded_shape
from scale_layout.layout import Convention, Layout, Tensor
from scale_layout.nibbles import (
    NIBBLE_ORDERS,
    NibbleOrder,
    nibble_order_named,
    pack_nibbles,
    unpack_nibbles,
)
from scale_layout.registry import LAYOUTS, convention_named, layout_named
from scale_layout.schema import image_schema

__all__ = [
    "LAYOUTS",
    "NIBBLE_ORDERS",
    "Convention",
    "Layout",
    "NibbleOrder",
    "Tensor",
    "apply",
    "convention_named",
    "formula_text",
    "image_schema",
    "invert",
    "layout_named",
    "nibble_order_named",
    "offset",
    "pack_nibbles",
    "padded_shape",
    "unpack_nibbles",
]
