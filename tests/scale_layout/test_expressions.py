"""Offset, formula, inverse, C and words of every layout, and of patterns drawn at random, say the same thing."""

import ctypes
import re
import subprocess
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.errors import InputError
from scale_layout import (
    LAYOUTS,
    Layout,
    Tensor,
    apply,
    c_expression,
    c_functions,
    describe,
    element,
    formula_text,
    image_schema,
    inverse_text,
    layout_named,
    layout_of_pattern,
    offset,
    padded_shape,
)

ODD = (
    Layout(name="planes", tensor=Tensor.ANY, pattern="m (ko k4) -> k4 m ko", unit="byte", doc="Planes."),
    Layout(
        name="thirds",
        tensor=Tensor.ANY,
        pattern="(p3 m q5) (a2 k b3) -> b3 m p3 k a2 q5",
        unit="byte",
        doc="X.",
    ),
)
by_name = pytest.mark.parametrize("layout", [*LAYOUTS, *ODD], ids=lambda layout: layout.name)
BATCH = """
void {name}_batch(uint64_t n, const uint64_t *r, const uint64_t *c, uint64_t R, uint64_t C, uint64_t *out)
{{
    for (uint64_t i = 0; i < n; i++) {{
        uint64_t o = {name}_offset(r[i], c[i], R, C);
        out[3 * i] = o;
        out[3 * i + 1] = {name}_row(o, R, C);
        out[3 * i + 2] = {name}_column(o, R, C);
    }}
}}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The emitted C of all layouts, compiled once without a warning."""
    folder = tmp_path_factory.mktemp("emitted")
    parts = [c_functions(layout) + BATCH.format(name=layout.name) for layout in (*LAYOUTS, *ODD)]
    (folder / "all.c").write_text("\n".join(parts))
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", folder / "all.so", folder / "all.c"], check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def run_c(
    library: ctypes.CDLL, name: str, r: np.ndarray, c: np.ndarray, padded: tuple[int, int]
) -> np.ndarray:
    """(offset, row, column) of each element, by the compiled functions."""
    out = np.zeros((len(r), 3), np.uint64)
    rows, cols = np.ascontiguousarray(r, np.uint64), np.ascontiguousarray(c, np.uint64)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (rows, cols)]
    sizes = [ctypes.c_uint64(x) for x in padded]
    getattr(library, f"{name}_batch")(
        ctypes.c_uint64(len(r)), *pointers, *sizes, ctypes.c_void_p(out.ctypes.data)
    )
    return out.astype(np.int64)


def by_words(layout: Layout, r: int, c: int, padded: tuple[int, int]) -> int:
    """The offset of one element, from the sentences of `describe` alone."""

    total = 0
    for line in describe(layout).splitlines()[1:]:
        found = re.fullmatch(
            r"every (?:byte|(\S+) bytes): (\S+) (row|column)s?, (?:one after the other|(\S+) apart)", line
        )
        stride, count, side, apart = found.groups()
        index = r if side == "row" else c
        total += index // length(apart, padded) % length(count, padded) * length(stride, padded)
    return total


def length(text: str | None, padded: tuple[int, int]) -> int:
    """A product such as `16*C` or `R*C/4`, of whole divisions."""
    value = 1
    for part in (text or "1").split("*"):
        factor, _, divisor = part.partition("/")
        value *= {"R": padded[0], "C": padded[1]}.get(factor) or int(factor)
        value = value // int(divisor or 1)
    return value


def images(layout: Layout) -> st.SearchStrategy[tuple[int, int]]:
    """Logical shapes, ragged where the layout pads, of images from one tile to beyond 4 GiB."""

    def lengths(multiple: int, whole: bool) -> st.SearchStrategy[int]:
        lengths = st.one_of(st.integers(1, 3 * multiple), st.integers(1, 1 << 17))
        return lengths.map(lambda n: -(-n // multiple) * multiple) if whole else lengths

    axes = layout.axes
    return st.tuples(
        lengths(axes.rows.multiple, not axes.rows.extendable),
        lengths(axes.cols.multiple, not axes.cols.extendable),
    )


@by_name
@settings(max_examples=25)
@given(st.data())
def test_offset_formula_inverse_c_and_words_agree_up_to_4_gib(
    evaluate: Callable[..., np.ndarray], compiled: ctypes.CDLL, layout: Layout, data: st.DataObject
) -> None:
    rows, cols = data.draw(images(layout))
    padded = padded_shape(layout, rows, cols)
    rng = np.random.default_rng(rows * cols)
    r, c = rng.integers(0, rows, 50), rng.integers(0, cols, 50)
    r[-1], c[-1] = rows - 1, cols - 1
    expected = evaluate(formula_text(layout), r, c, padded)
    assert np.array_equal(offset(layout, r, c, rows_padded=padded[0], cols_padded=padded[1]), expected)
    assert np.array_equal(run_c(compiled, layout.name, r, c, padded), np.stack([expected, r, c], axis=1))
    found = element(layout, expected, rows_padded=padded[0], cols_padded=padded[1])
    assert np.array_equal(found, (r, c))
    row, column = (evaluate_inverse(evaluate, text, expected, padded) for text in inverse_text(layout))
    assert np.array_equal(row, r)
    assert np.array_equal(column, c)
    i = data.draw(st.integers(0, 49))
    place = (int(r[i]), int(c[i]))
    assert by_words(layout, *place, padded) == expected[i]
    assert element(layout, int(expected[i]), rows_padded=padded[0], cols_padded=padded[1]) == place


def evaluate_inverse(
    evaluate: Callable[..., np.ndarray], text: str, o: np.ndarray, padded: tuple[int, int]
) -> np.ndarray:
    return evaluate(re.sub(r"\bo\b", "r", text), o, o, padded)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Any pattern: up to four axes a side, any of them free, in any order of memory."""
    groups, names = [], []
    for side in "mk":
        count = draw(st.integers(1, 4))
        free = draw(st.integers(0, count - 1))
        axes = [
            f"{side}{'abcd'[i]}" + ("" if i == free else str(draw(st.integers(1, 6)))) for i in range(count)
        ]
        names += axes
        groups.append(f"({' '.join(axes)})")
    return f"{' '.join(groups)} -> {' '.join(draw(st.permutations(names)))}"


@given(patterns(), st.integers(1, 2), st.integers(1, 2))
def test_any_pattern_means_one_thing_in_every_direction(
    evaluate: Callable[..., np.ndarray], pattern: str, row_tiles: int, col_tiles: int
) -> None:
    layout = layout_of_pattern(pattern)
    shape = (layout.tile[0] * row_tiles, layout.tile[1] * col_tiles)
    logical = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    image = apply(layout, logical, pad_value=None)
    r, c = np.indices(shape)
    offsets = evaluate(formula_text(layout), r, c, shape)
    assert np.array_equal(image[offsets], logical)
    assert np.array_equal(offset(layout, r, c, rows_padded=shape[0], cols_padded=shape[1]), offsets)
    assert np.array_equal(element(layout, offsets, rows_padded=shape[0], cols_padded=shape[1]), (r, c))
    texts = inverse_text(layout)
    assert np.array_equal([evaluate_inverse(evaluate, text, offsets, shape) for text in texts], (r, c))
    place = (shape[0] - 1, shape[1] // 2)
    assert by_words(layout, *place, shape) == offsets[place]
    axes = layout.axes
    indices = [
        np.unravel_index(index, group.extents(size))
        for group, index, size in zip((axes.rows, axes.cols), place, shape, strict=True)
    ]
    by_axis = dict(zip(axes.extents(*shape), np.concatenate(indices), strict=True))
    parsed = image_schema(layout, *shape).parse(image.tobytes())
    for name in axes.order:
        parsed = parsed[int(by_axis[name])]
    assert parsed == logical[place]


def test_the_inverse_reads_as_people_write_it() -> None:
    assert inverse_text(layout_named("scale_32x8")) == (
        "(o//(32*C))*32 + (o%2)*16 + (o%64)//4",
        "((o%(32*C))//256)*8 + ((o%4)//2)*4 + (o%256)//64",
    )
    assert inverse_text(layout_named("row_major")) == ("o//C", "o%C")


def test_the_c_expression_reads_as_people_write_it() -> None:
    assert c_expression(layout_named("weight_16x16")) == "(r/16)*16*C + (c/16)*256 + (r%16)*16 + c%16"


def test_the_words_of_scale_32x8() -> None:
    assert describe(layout_named("scale_32x8")) == (
        "Tiles of 32 rows x 8 columns, 256 bytes.\n"
        "every byte: 2 rows, 16 apart\n"
        "every 2 bytes: 2 columns, 4 apart\n"
        "every 4 bytes: 16 rows, one after the other\n"
        "every 64 bytes: 4 columns, one after the other\n"
        "every 256 bytes: C/8 columns, 8 apart\n"
        "every 32*C bytes: R/32 rows, 32 apart"
    )


def test_gate_and_up_rows_have_no_padding_function() -> None:
    text = c_functions(layout_named("scale_32x8_gate_up"))
    assert "padded_columns" in text
    assert "padded_rows" not in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: c_functions(
                Layout(name="a-b", tensor=Tensor.ANY, pattern="m k -> m k", unit="x", doc="x")
            ),
            "layout 'a-b': expected a C identifier",
        ),
        (
            lambda: element(LAYOUTS[1], 0, rows_padded=33, cols_padded=8),
            "rows_padded: expected a multiple of 32, found 33",
        ),
        (
            lambda: element(LAYOUTS[1], 256, rows_padded=32, cols_padded=8),
            r"offset: expected 0\.\.255, found 256",
        ),
        (
            lambda: element(LAYOUTS[1], -1, rows_padded=32, cols_padded=8),
            r"offset: expected 0\.\.255, found -1",
        ),
        (
            lambda: element(LAYOUTS[1], np.array([0.5]), rows_padded=32, cols_padded=8),
            "expected whole numbers, found float64",
        ),
        (
            lambda: element(LAYOUTS[1], 0.5, rows_padded=32, cols_padded=8),
            r"expected whole numbers, found 0\.5",
        ),
    ],
)
def test_what_has_no_answer_is_refused(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
