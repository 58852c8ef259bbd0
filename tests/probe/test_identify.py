"""A measured table gets its name, and its pattern without looking at names."""

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


def test_the_pattern_of_the_32x8_tile_is_solved_without_its_name():
    found = identify(table_of("scale_32x8", 528, 16, behind=3840))
    assert found.bits == ("r4", "c2", "r0", "r1", "r2", "r3", "c0", "c1", "c3")
    assert found.block == (32, 16)
    assert found.solved.layout.pattern == "(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2"


@pytest.mark.parametrize("name", SCALES)
def test_a_solved_layout_is_the_declared_one_wherever_both_are_found(name):
    found = identify(table_of(name, 384, 64))
    assert name in {match.layout.name for match in found.known}
    if found.solved is not None:
        expected, size = byte_offsets(name, 384, 64)
        offsets, solved_size = byte_offsets(found.solved.layout, 384, 64)
        assert np.array_equal(offsets, expected)
        assert solved_size == size


def test_a_pattern_that_nobody_declared_is_solved():
    found = identify(table_of(layout_of_pattern("(mo m8) (ko k16) -> mo ko m8 k16"), 64, 128, operand="B"))
    assert found.known == ()
    assert found.bits[:7] == ("c0", "c1", "c2", "c3", "r0", "r1", "r2")
    assert found.layouts == (found.solved,)
    assert found.solved.layout.pattern == "(mo m8) (ko k16) -> mo ko m8 k16"


def test_a_swizzle_has_bits_and_no_pattern():
    rows, columns = np.arange(512)[:, None], np.arange(256)[None, :]
    found = identify(Table("B", rows * 256 + (columns ^ rows % 8 * 16), 2, 512 * 256))
    assert found.layouts == ()
    assert found.bits[:9] == ("c0", "c1", "c2", "c3", "c4^r0", "c5^r1", "c6^r2", "c7", "r0")


def test_an_order_that_is_not_linear_has_neither():
    offsets = np.random.default_rng(0).permutation(64 * 64).reshape(64, 64)
    found = identify(Table("B", offsets, 2, 64 * 64))
    assert (found.layouts, found.bits) == ((), ())


def test_a_problem_of_one_tile_is_ambiguous():
    found = identify(table_of("scale_32x8", 32, 8))
    assert {match.layout.name for match in found.known} == {"scale_32x8", "scale_32x8_gate_up"}
