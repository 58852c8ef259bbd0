"""Addresses survive as digits in fp4 codes and scale exponents, and nothing else is taken for one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.numerics import float32_to_bf16, unpack_fp4
from argpack.numerics.e8m0 import decode_e8m0
from argpack.numerics.fp4 import FP4_VALUES
from argpack.probe.symbols import one_hot, plan


def outputs(digits, nibble, scale):
    """What a kernel computes where nibble and scale byte of these addresses meet 1.0."""
    return [
        float32_to_bf16(
            FP4_VALUES[unpack_fp4(digits.codes(i))[nibble]] * decode_e8m0(digits.scale_bytes(i))[scale]
        )
        for i in range(digits.launches)
    ]


@given(st.integers(1, 1 << 16), st.integers(1, 1 << 16), st.integers(0, 1 << 30), st.integers(0, 1 << 30))
def test_every_address_is_read_back(bytes_, scales, nibble, scale):
    digits = plan(2 * bytes_, scales)
    where = np.array([[nibble % (2 * bytes_)]]), np.array([[scale % scales]])
    found = digits.addresses(outputs(digits, *where))
    assert [table.tolist() for table in found] == [table.tolist() for table in where]


@pytest.mark.parametrize(
    ("nibbles", "scales", "launches", "radix"),
    [(14, 32, 1, 32), (16, 2, 2, 2), (14, 33, 2, 6), (270336, 8704, 5, 7), (1 << 24, 1 << 16, 7, 5)],
)
def test_as_few_launches_as_the_digits_need(nibbles, scales, launches, radix):
    digits = plan(nibbles, scales)
    assert (digits.launches, digits.radix) == (launches, radix)


def test_no_code_is_zero_and_no_scale_leaves_the_middle_of_the_range():
    digits = plan(270336, 8704)
    for launch in range(digits.launches):
        assert not np.isin(unpack_fp4(digits.codes(launch)), (0, 8)).any()
        assert set(np.abs(digits.scale_bytes(launch).astype(int) - 127)) <= {0, 4, 8, 12}


@pytest.mark.parametrize("value", [0.0, -0.0, 0.75, 2.5, 5.0, 1.0078125, np.inf, np.nan, 2.0**-60, 2.0**60])
def test_an_output_that_is_no_product_of_digits_is_no_address(value):
    digits = plan(1000, 1000)
    bits = float32_to_bf16(np.array([[value, 1.0]], np.float32))
    assert digits.readable(bits).tolist() == [[False, True]]
    nibble, scale = digits.addresses([bits] * digits.launches)
    assert (nibble[0, 0], scale[0, 0]) == (-1, -1)


def test_digits_beyond_the_buffer_are_no_address():
    small, large = plan(20, 5), plan(196, 5)
    assert small.launches == large.launches == 2
    found = small.addresses(outputs(large, np.array([[19, 20]]), np.array([[4, 4]])))
    assert found[0].tolist() == [[19, -1]]
    assert found[1].tolist() == [[4, -1]]


def test_one_hot_is_one_at_its_addresses_low_nibble_first():
    assert one_hot(8, np.array([0, 3, 4])).tolist() == [0x02, 0x20, 0x02, 0x00]


@pytest.mark.parametrize(("nibbles", "scales"), [(0, 1), (3, 1), (2, 0)])
def test_buffers_without_contents_are_refused(nibbles, scales):
    with pytest.raises(InputError, match="expected whole bytes of fp4 and some scales"):
        plan(nibbles, scales)
