"""Every declared convention against offsets of upstream code or its formulas (vectors/, a file each)."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from scale_layout import (
    LAYOUTS,
    Tensor,
    apply,
    convention_named,
    formula_text,
    image_schema,
    invert,
    layout_named,
    offset,
    padded_shape,
)

VECTORS = Path(__file__).parent / "vectors"
NAMES = sorted(path.stem for path in VECTORS.glob("*.json") if path.stem != "nibbles")


def cases(name: str) -> list[tuple[int, int, tuple[int, int], np.ndarray]]:
    """(rows, columns in bytes, padded shape in bytes, byte offsets (rows, columns)) of each case."""
    size = convention_named(name).element_bytes
    found = []
    for case in json.loads((VECTORS / f"{name}.json").read_text())["cases"]:
        elements = np.array(case["offsets_row_major"], np.int64).reshape(case["rows"], case["cols"])
        offsets = (elements[..., None] * size + np.arange(size)).reshape(case["rows"], -1)
        padded = (case["padded"][0], case["padded"][1] * size)
        found.append((case["rows"], case["cols"] * size, padded, offsets))
    return found


def test_every_vector_file_is_declared_and_every_convention_has_one() -> None:
    assert len(NAMES) == 41
    assert sorted(alias for layout in LAYOUTS for alias in layout.aliases) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_all_directions_agree_with_upstream_offsets(evaluate: Callable[..., np.ndarray], name: str) -> None:
    layout, convention = layout_named(name), convention_named(name)
    multiples = {"row_multiple": convention.row_multiple, "col_multiple": convention.col_multiple}
    for rows, cols, padded, offsets in cases(name):
        assert padded_shape(layout, rows, cols, **multiples) == padded
        r, c = np.indices((rows, cols))
        assert np.array_equal(offset(layout, r, c, rows_padded=padded[0], cols_padded=padded[1]), offsets)
        assert np.array_equal(evaluate(formula_text(layout), r, c, padded), offsets)
        logical = np.random.default_rng(rows).integers(0, 256, (rows, cols), dtype=np.uint8)
        expected = np.full(padded[0] * padded[1], 0xA5, np.uint8)
        expected[offsets] = logical
        image = apply(layout, logical, pad_value=0xA5, **multiples)
        assert np.array_equal(image, expected)
        assert np.array_equal(invert(layout, expected, rows=rows, cols=cols, **multiples), logical)
        schema = image_schema(layout, rows, cols, **multiples)
        assert schema.sizeof() == expected.size
        assert schema.build(schema.parse(expected.tobytes())) == expected.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_pad_values_and_units_are_upstreams(name: str) -> None:
    vector = json.loads((VECTORS / f"{name}.json").read_text())
    convention = convention_named(name)
    assert convention.pad_value == vector["pad_value"]
    tensors = {"scale": Tensor.SCALES, "weight": Tensor.WEIGHTS, "activation": Tensor.ACTIVATIONS}
    assert layout_named(name).tensor is tensors[vector["unit"].split()[0]]
