"""A layout in words: its tile, then what lies at which distance in memory. Parsed back by a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scale_layout.strides import steps

if TYPE_CHECKING:
    from scale_layout.layout import Layout
    from scale_layout.strides import Step


def describe(layout: Layout) -> str:
    """One sentence on the tile and one line for each step in memory, fastest first: `every 4 bytes: 16 rows, …`."""
    rows, cols = layout.tile
    size = _plural(str(rows * cols), "byte")
    tile = f"Tiles of {_plural(str(rows), 'row')} x {_plural(str(cols), 'column')}, {size}."
    return "\n".join([tile, *(_step(step) for step in steps(layout))])


def _step(step: Step) -> str:
    stride = _plain(step.stride.text)
    where = "every byte" if stride == "1" else f"every {stride} bytes"
    apart = _plain(step.apart.text)
    distance = "one after the other" if apart == "1" else f"{apart} apart"
    return f"{where}: {_plural(_plain(step.count.text), step.side)}, {distance}"


def _plural(count: str, noun: str) -> str:
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


def _plain(text: str) -> str:
    """`(C//8)` as people write it: `C/8`."""
    return text.replace("(", "").replace(")", "").replace("//", "/")
