"""Pictures say what the formula says: numbers, order of memory, distances; as text, SVG and PNG."""

import re
import sys
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.errors import UnavailableError
from scale_layout import LAYOUTS, Layout, layout_named, layout_of_pattern, offset
from scale_layout.drawn import drawn_shape, row_colour, shown
from scale_layout.figure import figure
from scale_layout.png import to_png
from scale_layout.shapes import Box, Text, to_svg
from scale_layout.terminal import draw

by_name = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)


@by_name
def test_the_drawn_tile_has_the_offsets_of_the_formula(layout: Layout) -> None:
    check_drawn_tile(layout)


@by_name
def test_the_drawn_memory_is_the_inverse(layout: Layout) -> None:
    check_drawn_memory(layout)


@by_name
def test_the_figure_has_the_offsets_and_the_order_of_memory(layout: Layout) -> None:
    check_figure(layout)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Any pattern: up to three axes a side, any of them free, in any order of memory, tiles larger than a screen."""
    groups, names = [], []
    for side in "mk":
        count = draw(st.integers(1, 3))
        free = draw(st.integers(0, count - 1))
        extents = draw(st.lists(st.sampled_from([1, 2, 3, 7, 16, 40]), min_size=count, max_size=count))
        axes = [f"{side}{'abc'[i]}" + ("" if i == free else str(extents[i])) for i in range(count)]
        names += axes
        groups.append(f"({' '.join(axes)})")
    return f"{' '.join(groups)} -> {' '.join(draw(st.permutations(names)))}"


@settings(max_examples=40)
@given(patterns())
def test_pictures_of_any_pattern_say_what_its_formula_says(pattern: str) -> None:
    layout = layout_of_pattern(pattern)
    check_drawn_tile(layout)
    check_drawn_memory(layout)
    check_figure(layout)
    expat.ParserCreate().Parse(to_svg(figure(layout)), True)


def check_drawn_tile(layout: Layout) -> None:
    rows, cols = drawn_shape(layout)
    lines = draw(layout, colour=False).splitlines()
    assert lines[0] == f"byte offset of each element in an image of {rows} rows x {cols} columns"
    columns = [int(found) for found in re.findall(r"c(\d+)", lines[1])]
    drawn = [line for line in lines[2 : lines.index("")] if line.startswith("r")]
    assert len(drawn) >= 4
    for line in drawn:
        label, *numbers = line.replace("…", " ").split()
        expected = offset(layout, int(label[1:]), np.array(columns), rows_padded=rows, cols_padded=cols)
        assert [int(number) for number in numbers] == expected.tolist()


def check_drawn_memory(layout: Layout) -> None:
    rows, cols = drawn_shape(layout)
    lines = draw(layout, colour=False).splitlines()
    memory = lines[lines.index("what lies in memory, byte after byte") + 1 :]
    for line in memory:
        for position, (r, c) in enumerate(re.findall(r"r(\d+)c(\d+)", line)):
            place = int(line.split()[0]) + position
            assert offset(layout, int(r), int(c), rows_padded=rows, cols_padded=cols) == place


def test_lines_of_a_picture_fit_a_screen() -> None:
    for layout in LAYOUTS:
        lines = draw(layout, colour=False).splitlines()
        assert max(map(len, lines)) <= 132
        assert len(lines) <= 50


def test_a_colour_for_each_row_and_none_where_colour_is_off() -> None:
    text = draw(layout_named("scale_32x8"), colour=True)
    assert "\x1b[" not in draw(layout_named("scale_32x8"), colour=False)
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == draw(layout_named("scale_32x8"), colour=False)
    assert len({row_colour(row, 32) for row in range(32)}) == 32


def test_two_tiles_are_drawn_where_one_would_hide_the_order() -> None:
    assert drawn_shape(layout_named("scale_32x8")) == (32, 8)
    assert drawn_shape(layout_named("scale_64x4_k_outer")) == (64, 8)
    assert drawn_shape(layout_named("scale_k4_panels")) == (4, 8)
    assert drawn_shape(layout_named("row_major")) == (4, 8)
    assert drawn_shape(layout_named("scale_32x8_gate_up")) == (64, 8)


def test_long_sides_are_shown_around_the_distances_of_axes() -> None:
    assert shown(4, 8, [1]) == [0, 1, 2, 3]
    assert shown(128, 34, [1, 32]) == [0, 1, 2, 3, None, 32, 33, None, 64, 65, None, 96, 97, None, 127]


def check_figure(layout: Layout) -> None:
    rows, cols = drawn_shape(layout)
    drawn = figure(layout)
    texts = [shape for shape in drawn.shapes if isinstance(shape, Text)]
    places = [shape for shape in texts if shape.mono and shape.size == 10.5]
    shapes = list(drawn.shapes)
    for text in places:
        box = shapes[shapes.index(text) - 1]
        assert isinstance(box, Box)
        assert box.x < text.x < box.x + box.width
        assert box.y < text.y < box.y + box.height
    assert {int(text.text) for text in places} <= set(range(rows * cols))
    memory = [tuple(map(int, text.text.split(","))) for text in texts if text.mono and text.size == 9]
    r, c = np.array(memory).T
    assert offset(layout, r, c, rows_padded=rows, cols_padded=cols).tolist() == list(range(len(memory)))


@by_name
def test_nothing_is_drawn_outside_the_page_and_no_two_texts_on_one_place(layout: Layout) -> None:
    drawn = figure(layout)
    places = set()
    for shape in drawn.shapes:
        if isinstance(shape, Box):
            assert shape.x >= 0
            assert shape.x + shape.width <= drawn.width
            assert shape.y + shape.height <= drawn.height
        elif isinstance(shape, Text):
            widths = {"start": 0.0, "middle": 0.5, "end": 1.0}
            left = shape.x - widths[shape.anchor] * 0.55 * shape.size * len(shape.text)
            assert left >= 0
            assert left + 0.55 * shape.size * len(shape.text) <= drawn.width + 60
            assert (shape.x, shape.y, shape.anchor) not in places
            places.add((shape.x, shape.y, shape.anchor))


def test_distances_of_scale_32x8_are_annotated() -> None:
    texts = {shape.text for shape in figure(layout_named("scale_32x8")).shapes if isinstance(shape, Text)}
    assert {"+1", "+2", "+4", "+64", "32·C", "32·C + 256", "every 256 bytes: C/8 columns, 8 apart"} <= texts
    outer = {
        shape.text for shape in figure(layout_named("scale_64x4_k_outer")).shapes if isinstance(shape, Text)
    }
    assert {"+C", "+16·C", "64·C + 4"} <= outer


def test_parts_of_rows_have_no_order_of_tiles_but_say_where_the_next_part_is() -> None:
    texts = [
        shape.text for shape in figure(layout_named("scale_32x8_gate_up")).shapes if isinstance(shape, Text)
    ]
    assert {"in tiles of 16 x 8", "third row: the next part, R/2 rows on", "32·C + 256", "1 + 256"} <= set(
        texts
    )
    assert "line: order of the tiles in memory" not in texts


@by_name
def test_svg_is_one_well_formed_document(layout: Layout) -> None:
    text = to_svg(figure(layout))
    expat.ParserCreate().Parse(text, True)
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg" ')
    assert "href" not in text
    assert layout.name in text


def test_text_is_escaped() -> None:
    layout = Layout(name="x", tensor="any", pattern="m k -> m k", unit="byte", doc="a < b & c")
    assert "a &lt; b &amp; c" in to_svg(figure(layout))


def test_png_has_the_pixels_of_the_figure() -> None:
    drawn = figure(layout_named("weight_16x16"))
    data = to_png(drawn)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert abs(width - 1.44 * drawn.width) < 2
    assert abs(height - 1.44 * drawn.height) < 2


def test_png_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UnavailableError, match=r"a PNG needs matplotlib: pip install 'argpack\[plot\]'"):
        to_png(figure(layout_named("row_major")))


@pytest.mark.parametrize("name", ["scale_32x8", "weight_16x16"])
def test_the_figures_in_the_documentation_are_those_drawn_today(name: str) -> None:
    path = Path(__file__).parents[2] / "docs" / "layouts" / f"{name}.svg"
    assert path.read_text(encoding="utf-8") == to_svg(figure(layout_named(name)))
