"""All declared layouts, and how to find one by its own name or by the name of who uses it."""

from __future__ import annotations

import difflib

from argpack.errors import InputError
from scale_layout.activations import ACTIVATION_LAYOUTS
from scale_layout.layout import Convention, Layout, Tensor
from scale_layout.scales import SCALE_LAYOUTS
from scale_layout.weights import WEIGHT_LAYOUTS

ROW_MAJOR = Layout(
    name="row_major",
    tensor=Tensor.ANY,
    pattern="m k -> m k",
    unit="byte of a row",
    doc="Rows one after the other: no permutation, no padding.",
)

LAYOUTS: tuple[Layout, ...] = (ROW_MAJOR, *SCALE_LAYOUTS, *WEIGHT_LAYOUTS, *ACTIVATION_LAYOUTS)

_BY_NAME = {name: layout for layout in LAYOUTS for name in (layout.name, *layout.aliases)}
_CONVENTIONS = {convention.name: convention for layout in LAYOUTS for convention in layout.conventions}


def layout_named(name: str) -> Layout:
    """The layout of that name or alias. Raises InputError with near matches for an unknown one."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    raise InputError(f"unknown layout {name!r}; {_near(name, list(_BY_NAME))}")


def convention_named(name: str) -> Convention:
    """The paddings behind an alias. Raises InputError with near matches for an unknown one."""
    if name in _CONVENTIONS:
        return _CONVENTIONS[name]
    raise InputError(f"unknown layout convention {name!r}; {_near(name, list(_CONVENTIONS))}")


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=4, cutoff=0.5)
    if near:
        return f"did you mean {', '.join(near)}?"
    return f"known are {', '.join(layout.name for layout in LAYOUTS)} and the names of their users"
