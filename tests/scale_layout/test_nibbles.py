"""Nibble orders against recorded bytes, and what reading a byte in the wrong one gives."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.numerics import decode_fp4, pack_fp4
from scale_layout import NIBBLE_ORDERS, NibbleOrder, nibble_order_named, pack_nibbles, unpack_nibbles

RECORDED = json.loads((Path(__file__).parent / "vectors" / "nibbles.json").read_text())
CODES = np.array([RECORDED["codes_k_order"]], np.uint8)


def test_mx_order_equals_the_recorded_bytes() -> None:
    packed = pack_nibbles(nibble_order_named("mx"), CODES)
    assert packed.tolist() == [RECORDED["packed_low_nibble_first"]]
    assert pack_fp4(CODES).tolist() == packed.tolist()


def test_int4_blocks_of_8_equal_the_recorded_bytes() -> None:
    packed = pack_nibbles(nibble_order_named("int4_8block"), CODES)
    assert packed.tolist() == [RECORDED["int4_pack_8block"]]


def test_rearranged_dwords_equal_the_recorded_ones() -> None:
    dwords = np.array(RECORDED["int4_dword_in"], "<u4").view(np.uint8).reshape(1, -1)
    codes = unpack_nibbles(nibble_order_named("mx"), dwords)
    rearranged = pack_nibbles(nibble_order_named("int4_dword"), codes)
    assert rearranged.view("<u4").tolist() == [RECORDED["int4_dword_rearranged"]]


def test_one_byte_read_in_two_orders_swaps_the_signs() -> None:
    byte = np.array([[0x2A]], np.uint8)
    assert decode_fp4(unpack_nibbles(nibble_order_named("mx"), byte)).tolist() == [[-1.0, 1.0]]
    assert decode_fp4(unpack_nibbles(nibble_order_named("high_first"), byte)).tolist() == [[1.0, -1.0]]


def test_ggml_pairs_elements_16_apart() -> None:
    codes = (np.arange(32, dtype=np.uint8) % 16).reshape(1, 32)
    codes[0, 16:] = 9
    assert pack_nibbles(nibble_order_named("ggml_q4"), codes).tolist() == [[0x90 + j for j in range(16)]]


@pytest.mark.parametrize("order", NIBBLE_ORDERS, ids=lambda order: order.name)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32))
def test_unpacking_undoes_packing_in_every_order(
    order: NibbleOrder, rows: int, blocks: int, seed: int
) -> None:
    codes = np.random.default_rng(seed).integers(0, 16, (rows, 32 * blocks), dtype=np.uint8)
    packed = pack_nibbles(order, codes)
    assert packed.shape == (rows, 16 * blocks)
    assert np.array_equal(unpack_nibbles(order, packed), codes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nibble_order_named("low"), "unknown nibble order 'low'; known are mx, high_first, ggml_q4"),
        (
            lambda: pack_nibbles(NIBBLE_ORDERS[0], np.array([[16, 0]], np.uint8)),
            r"expected codes 0\.\.15, found 16",
        ),
        (
            lambda: pack_nibbles(NIBBLE_ORDERS[2], np.zeros((1, 34), np.uint8)),
            "34 columns pad to 64, and pad_value=None",
        ),
        (
            lambda: unpack_nibbles(NIBBLE_ORDERS[2], np.zeros((1, 17), np.uint8)),
            "expected a multiple of 32 codes, found 34",
        ),
        (
            lambda: unpack_nibbles(NIBBLE_ORDERS[0], np.zeros(4, np.uint8)),
            r"expected uint8 bytes \(rows, K/2\), found uint8 \(4,\)",
        ),
        (lambda: unpack_nibbles(NIBBLE_ORDERS[0], b"12"), "found bytes"),
    ],
)
def test_mistakes_are_refused(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
