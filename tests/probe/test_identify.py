"""A measured table gets the names of the layouts that equal it."""

import numpy as np
import pytest
from made_kernel import byte_offsets

from argpack.probe.identify import identify
from argpack.probe.tables import Table
from scale_layout import LAYOUTS, Tensor, layout_of_pattern

SCALES = [layout.name for layout in LAYOUTS if layout.tensor is Tensor.SCALES]


def table_of(layout, rows, columns, *, operand="ScaleA", behind=0):
    offsets, size = byte_offsets(layout, rows, columns)
    return Table(operand, np.asarray(offsets), 32 if operand.startswith("Scale") else 2, size + behind)


@pytest.mark.parametrize(
    ("rows", "padded", "padding"), [(512, 512, 0), (528, 544, 256), (80, 96, 256), (33, 64, 496)]
)
@pytest.mark.parametrize("behind", [0, 3840])
def test_padding_and_what_lies_behind_are_told_apart(rows, padded, padding, behind):
    found = identify(table_of("scale_32x8", rows, 16, behind=behind))
    (match,) = found.known
    assert match.layout.name == "scale_32x8"
    assert (match.rows, match.columns, match.padding, match.outside) == (padded, 16, padding, behind)


@pytest.mark.parametrize("name", SCALES)
def test_every_declared_layout_is_named(name):
    assert name in {match.layout.name for match in identify(table_of(name, 384, 64)).known}


def test_a_layout_that_nobody_declared_has_no_name():
    found = identify(table_of(layout_of_pattern("(mo m8) (ko k16) -> mo ko m8 k16"), 64, 128, operand="B"))
    assert found.known == ()


def test_a_problem_of_one_tile_is_ambiguous():
    found = identify(table_of("scale_32x8", 32, 8))
    assert {match.layout.name for match in found.known} == {"scale_32x8", "scale_32x8_gate_up"}
