"""The few shapes that a figure is made of, and how they are written as SVG. Units are pixels, y grows downwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias
from xml.sax.saxutils import escape

INK, GREY, PALE, ACCENT = "#1b1f24", "#667085", "#d0d5dd", "#c2410c"
_SANS = "DejaVu Sans, Helvetica, Arial, sans-serif"
_MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A filled rectangle with a border."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "none"
    stroke: str = PALE
    line: float = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One line of text on the baseline y; `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    size: float = 12
    anchor: str = "start"
    fill: str = INK
    bold: bool = False
    mono: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A line through points, with an arrow's head at its end if `arrow`."""

    points: tuple[tuple[float, float], ...]
    stroke: str = GREY
    line: float = 1.2
    arrow: bool = False


Shape: TypeAlias = Box | Text | Path


@dataclass(frozen=True, slots=True)
class Figure:
    """Shapes in drawing order on a white page."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def arrow_head(path: Path, size: float = 5) -> tuple[tuple[float, float], ...]:
    """The triangle at the end of a path's last line."""
    (x0, y0), (x1, y1) = path.points[-2:]
    length = max(1e-9, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
    dx, dy = (x1 - x0) / length * size, (y1 - y0) / length * size
    return ((x1, y1), (x1 - dx - 0.5 * dy, y1 - dy + 0.5 * dx), (x1 - dx + 0.5 * dy, y1 - dy - 0.5 * dx))


def to_svg(figure: Figure) -> str:
    """The figure as an SVG document that needs no other file."""
    size = f'width="{figure.width:g}" height="{figure.height:g}" viewBox="0 0 {figure.width:g} {figure.height:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f'<rect width="{figure.width:g}" height="{figure.height:g}" fill="#ffffff"/>',
        *(_element(shape) for shape in figure.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _element(shape: Shape) -> str:
    if isinstance(shape, Box):
        place = f'x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}"'
        return f'<rect {place} fill="{shape.fill}" stroke="{shape.stroke}" stroke-width="{shape.line:g}"/>'
    if isinstance(shape, Text):
        weight = ' font-weight="bold"' if shape.bold else ""
        family = _MONO if shape.mono else _SANS
        return (
            f'<text x="{shape.x:g}" y="{shape.y:g}" font-family="{family}" font-size="{shape.size:g}"'
            f' text-anchor="{shape.anchor}" fill="{shape.fill}"{weight}>{escape(shape.text)}</text>'
        )
    line = (
        f'<polyline points="{_points(shape.points)}" fill="none" stroke="{shape.stroke}"'
        f' stroke-width="{shape.line:g}" stroke-linejoin="round"/>'
    )
    if shape.arrow:
        line += f'<polygon points="{_points(arrow_head(shape))}" fill="{shape.stroke}"/>'
    return line


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
