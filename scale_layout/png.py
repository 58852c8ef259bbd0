"""A figure as PNG, drawn with matplotlib. Imported only where a PNG is asked for: `pip install argpack[plot]`."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from argpack.errors import UnavailableError
from scale_layout.shapes import Box, Figure, Shape, Text, arrow_head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.artist import Artist
    from matplotlib.figure import Figure as Canvas

_DPI = 144  # twice a page's pixels
_POINTS = 0.72  # of a font, for each pixel of the figure at 100 to the inch


def to_png(figure: Figure) -> bytes:
    """The figure as a PNG file, 1.44 pixels for each of its own. Raises UnavailableError without matplotlib."""
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise UnavailableError("a PNG needs matplotlib: pip install 'argpack[plot]'") from error
    canvas = Canvas(figsize=(figure.width / 100, figure.height / 100), dpi=_DPI)
    for position, shape in enumerate(figure.shapes):
        for artist in _artists(canvas, shape, figure):
            artist.set_zorder(position)  # matplotlib would draw all lines above all rectangles
    file = io.BytesIO()
    canvas.savefig(file, format="png", facecolor="white")
    return file.getvalue()


def _artists(canvas: Canvas, shape: Shape, figure: Figure) -> Iterator[Artist]:
    """One shape, in fractions of the page with y upwards, as matplotlib counts."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon, Rectangle

    width, height = figure.width, figure.height
    if isinstance(shape, Box):
        place = (shape.x / width, 1 - (shape.y + shape.height) / height)
        size = (shape.width / width, shape.height / height)
        line = shape.line * _POINTS
        yield canvas.add_artist(
            Rectangle(place, *size, facecolor=shape.fill, edgecolor=shape.stroke, linewidth=line)
        )
    elif isinstance(shape, Text):
        yield canvas.text(
            shape.x / width,
            1 - shape.y / height,
            shape.text,
            fontsize=shape.size * _POINTS,
            family="DejaVu Sans Mono" if shape.mono else "DejaVu Sans",
            weight="bold" if shape.bold else "normal",
            color=shape.fill,
            ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
            va="baseline",
            parse_math=False,
        )
    else:
        xs, ys = ([point[axis] for point in shape.points] for axis in (0, 1))
        yield canvas.add_artist(
            Line2D(
                [x / width for x in xs],
                [1 - y / height for y in ys],
                color=shape.stroke,
                linewidth=shape.line * _POINTS,
            )
        )
        if shape.arrow:
            corners = [(x / width, 1 - y / height) for x, y in arrow_head(shape)]
            yield canvas.add_artist(Polygon(corners, closed=True, facecolor=shape.stroke, edgecolor="none"))
