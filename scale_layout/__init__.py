"""Tiled layouts of MX scales and preshuffled weights, each declared once; image, inverse and formula come
from that.

Knows numpy only: no kernel, no GPU. `layout_named("scale_32x8")`, then `apply`, `invert`, `offset`,
`formula_text`.
"""

from scale_layout.declared import find_layout, layout_of_pattern, read_layouts
from scale_layout.emit import c_expression, c_functions
from scale_layout.formula import formula_text, offset
from scale_layout.image import apply, invert, padded_shape
from scale_layout.inverse import element, inverse_text
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
from scale_layout.strides import Size, Step, steps
from scale_layout.words import describe

__all__ = [
    "LAYOUTS",
    "NIBBLE_ORDERS",
    "Convention",
    "Layout",
    "NibbleOrder",
    "Size",
    "Step",
    "Tensor",
    "apply",
    "c_expression",
    "c_functions",
    "convention_named",
    "describe",
    "element",
    "find_layout",
    "formula_text",
    "image_schema",
    "inverse_text",
    "invert",
    "layout_named",
    "layout_of_pattern",
    "nibble_order_named",
    "offset",
    "pack_nibbles",
    "padded_shape",
    "read_layouts",
    "steps",
    "unpack_nibbles",
]
