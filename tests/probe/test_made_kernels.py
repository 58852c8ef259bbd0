"""Probing finds any layout that a kernel may have, and refuses to explain what one place a byte cannot."""

import numpy as np
import pytest
from made_kernel import MadeKernel, byte_offsets, nibbles_of

from argpack.probe.confirm import confirm
from argpack.probe.identify import identify
from argpack.probe.measure import measure
from argpack.probe.subject import ProbeError
from argpack.probe.tables import tables_of
from scale_layout import LAYOUTS, Tensor

SCALES = [layout.name for layout in LAYOUTS if layout.tensor is Tensor.SCALES]
WEIGHTS = [layout.name for layout in LAYOUTS if layout.tensor in {Tensor.WEIGHTS, Tensor.ACTIVATIONS}]


def tables(kernel):
    subject = kernel.subject()
    found = tables_of(subject, measure(subject))
    assert confirm(subject, found).passed
    return found


def names(table):
    return [match.layout.name for match in identify(table).known]


@pytest.mark.parametrize("scale", SCALES)
def test_every_declared_scale_layout_is_found(scale):
    kernel = MadeKernel(128, 192, 512, scale_a=scale, scale_b=scale)
    found = tables(kernel)
    for name in ("ScaleA", "ScaleB"):
        assert np.array_equal(found[name].offsets, kernel.bytes[name])
        assert found[name].per_byte == 32
        assert scale in names(found[name])


@pytest.mark.parametrize("weight", WEIGHTS)
def test_every_declared_weight_layout_is_found_in_both_operands(weight):
    kernel = MadeKernel(64, 96, 512, a=weight, b=weight)
    found = tables(kernel)
    for name in ("A", "B"):
        assert np.array_equal(found[name].offsets, kernel.bytes[name])
        assert weight in names(found[name])


def test_a_layout_that_nobody_declared_is_measured_all_the_same():
    """Pieces of 16 bytes change places within a row by the row's number: no pattern of axes has that."""
    kernel = MadeKernel(48, 48, 512)
    rows, columns = np.arange(48)[:, None], np.arange(256)[None, :]
    kernel.b = nibbles_of(rows * 256 + (columns ^ rows % 8 * 16))
    found = tables(kernel)
    assert found["B"].offsets[1, :3].tolist() == [272, 273, 274]
    assert found["B"].offsets[9, 16:18].tolist() == [2304, 2305]
    assert names(found["B"]) == []
    assert names(found["A"]) == ["row_major"]


@pytest.mark.parametrize(("block", "count"), [(32, 8), (64, 4), (256, 1)])
def test_the_length_of_a_scale_block_is_measured(block, count):
    kernel = MadeKernel(32, 48, 256, block=block)
    found = tables(kernel)
    assert (found["ScaleA"].per_byte, found["ScaleA"].columns) == (block, count)


def test_scale_blocks_of_another_format_are_refused():
    """NVFP4 has 16 elements to a scale; there is no reference for it."""
    with pytest.raises(ProbeError, match="ScaleA: expected a scale for a multiple of 32 elements, found 16"):
        tables(MadeKernel(32, 48, 256, block=16))


def test_rows_of_a_that_share_a_byte_are_refused():
    """B is found all the same: each row of A is lit by a nibble of its own. The way back shows it."""
    kernel = MadeKernel(48, 48, 512)
    kernel.a = kernel.a.copy()
    kernel.a[0, 500] = kernel.a[1, 499]
    with pytest.raises(ProbeError, match="outputs are no single products"):
        tables(kernel)


def test_rows_beyond_the_operand_are_padding():
    kernel = MadeKernel(40, 48, 256, scale_a="scale_32x8")
    table = tables(kernel)["ScaleA"]
    (match,) = (match for match in identify(table).known if match.layout.name == "scale_32x8")
    assert (match.rows, match.columns, match.padding, match.outside) == (64, 8, 192, 0)


def test_bytes_behind_the_image_are_outside():
    kernel = MadeKernel(40, 48, 256, scale_a="scale_32x8")
    kernel.sizes["ScaleA"] += 100
    table = tables(kernel)["ScaleA"]
    assert [match.outside for match in identify(table).known if match.layout.name == "scale_32x8"] == [100]


def test_few_rows_take_more_launches():
    kernel = MadeKernel(64, 256, 512)
    places = measure(kernel.subject())
    assert places.launches == kernel.launches == 8 * 5 + 2 * 4


def test_an_order_of_k_that_all_operands_share_cannot_be_seen():
    """k is then numbered as row 0 of A lies in memory."""
    kernel = MadeKernel(48, 48, 512, scale_b="scale_32x8")
    order = np.random.default_rng(1).permutation(512)
    for name in ("a", "b", "scale_a", "scale_b"):
        setattr(kernel, name, getattr(kernel, name)[:, order])
    found = tables(kernel)
    assert names(found["A"]) == ["row_major"]
    assert np.array_equal(found["ScaleB"].offsets, kernel.bytes["ScaleB"])


def test_nibbles_exchanged_in_both_operands_cannot_be_seen():
    kernel = MadeKernel(48, 48, 512)
    kernel.a, kernel.b = kernel.a ^ 1, kernel.b ^ 1
    assert names(tables(kernel)["B"]) == ["row_major"]


def test_rows_in_another_order_are_found():
    kernel = MadeKernel(48, 48, 512)
    kernel.a = kernel.a[::-1]
    assert tables(kernel)["A"].offsets[0, :2].tolist() == [47 * 256, 47 * 256 + 1]


def test_nibbles_exchanged_in_one_operand_are_refused():
    kernel = MadeKernel(48, 48, 512)
    kernel.b = kernel.b ^ 1
    with pytest.raises(
        ProbeError, match=r"^B: row 0, elements 0 and 1 of K .*: expected the low and the high nibble"
    ):
        tables(kernel)


def test_bytes_that_pair_other_elements_are_refused():
    kernel = MadeKernel(48, 48, 512)
    kernel.b = kernel.b.reshape(48, -1, 2, 16).swapaxes(2, 3).reshape(48, 512)
    with pytest.raises(ProbeError, match="found the low nibble of byte 0 and the low nibble of byte 8"):
        tables(kernel)


def test_scale_blocks_of_unequal_length_are_refused():
    kernel = MadeKernel(48, 48, 512)
    kernel.scale_a = kernel.scale_a[:, np.r_[0:31, 32, 32:512]]
    with pytest.raises(ProbeError, match=r"^ScaleA: expected a scale for each of equal runs of K"):
        tables(kernel)


def test_scales_shared_between_rows_are_refused():
    kernel = MadeKernel(48, 48, 512)
    kernel.scale_b = kernel.scale_b[np.arange(48) // 2]
    with pytest.raises(ProbeError, match=r"^ScaleB: .* and 384 bytes used"):
        tables(kernel)


def test_a_byte_that_two_rows_read_is_refused():
    kernel = MadeKernel(48, 48, 512)
    kernel.b = kernel.b[np.arange(48) // 2]
    with pytest.raises(ProbeError, match="outputs are no single products"):
        tables(kernel)


def test_an_order_of_a_that_no_guess_isolates_is_refused():
    kernel = MadeKernel(48, 48, 512)
    kernel.a = np.random.default_rng(2).permutation(48 * 512).reshape(48, 512)
    with pytest.raises(
        ProbeError, match=r"^made, M=48 N=48 K=512: .*\(at first \d+ of 2304, \d+ of 48 rows lit\)"
    ):
        tables(kernel)


def test_a_term_that_single_products_do_not_show_fails_on_random_bytes():
    """Something is added only where neither operand is mostly zero."""

    class Leaky(MadeKernel):
        def product(self, contents):
            exact = super().product(contents)
            dense = (contents["A"] != 0).mean() > 0.5 and (contents["B"] != 0).mean() > 0.5
            return exact + 1000 * dense

    subject = Leaky(48, 48, 256).subject()
    found = tables_of(subject, measure(subject))
    verdict = confirm(subject, found)
    assert not verdict.passed
    assert "2304" in verdict.reason


def test_progress_counts_launches():
    seen = []
    kernel = MadeKernel(128, 256, 512)
    measure(kernel.subject(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 30) for i in range(1, 31)]


def test_byte_offsets_of_the_made_kernel_are_those_of_row_major():
    offsets, size = byte_offsets("row_major", 2, 3)
    assert (offsets.tolist(), size) == ([[0, 1, 2], [3, 4, 5]], 6)
