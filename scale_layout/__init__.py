"""Tiled layouts of MX scales and preshuffled weights, each declared once; image, inverse and formula come
from that.

Knows numpy only: no kernel, no GPU. `layout_named("scale_32x8")`, then `apply`, `invert`, `offset`,
`formula_text`.
"""

from scale_layout.formula import formula_text, offset
from scale_layout.image import apply, invert, padded_shape
from scale_layout.layout import Convention, Layout, Tensor
from scale_layout.registry import LAYOUTS, convention_named, layout_named
from scale_layout.schema import image_schema

__all__ = [
    "LAYOUTS",
    "Convention",
    "Layout",
    "Tensor",
    "apply",
    "convention_named",
    "formula_text",
    "image_schema",
    "invert",
    "layout_named",
    "offset",
    "padded_shape",
]
