"""The scaled FP4 matrix product against an element-by-element float64 model, with every kind of scale."""

import numpy as np
import pytest
from emulator_harness import execute, set_exec, start
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_model import FP4, NAME, Sum, accumulator_lanes, fragment

from argpack.emulator import products
from argpack.emulator.products import decode, decode_transposed
from argpack.errors import UnsupportedError

PLAIN = f"{NAME} a[0:3], v[0:3], v[4:7], a[0:3], v8, v9"
SUFFIX = " cbsz:4 blgp:4"


def loaded(seed=0, count=2, low=110, high=145):
    """Waves with random operands in v0 to v7, scales in v8 and v9, and an accumulator of small integers in a0 to a3."""
    random = np.random.default_rng(seed)
    waves = start(count)
    for register in range(8):
        waves.v[register][...] = random.integers(0, 1 << 32, (count, 64), dtype=np.uint32)
    for register in (8, 9):
        set_scales(waves, register, random.integers(low, high, (count, 64, 4)))
    for register in range(4):
        values = random.integers(-8, 9, (count, 64)).astype(np.float32)
        waves.v[256 + register][...] = values.view(np.uint32)
    return waves


def set_scales(waves, register, octets):
    waves.v[register][...] = np.ascontiguousarray(octets, dtype=np.uint8).view(np.uint32)[..., 0]


def scales(waves, register, wave, byte):
    return waves.v[register][wave] >> np.uint32(8 * byte) & np.uint32(255)


def accumulator(waves, wave, first=256):
    return np.stack([waves.v[first + r][wave] for r in range(4)]).view(np.float32)


def expected(waves, wave, byte_rows=0, byte_columns=0):
    """The accumulator's float64 value and its bound, both as lanes, after one product."""
    start_ = np.empty((16, 16))
    lanes = accumulator(waves, wave)
    for lane in range(64):
        for r in range(4):
            start_[4 * (lane // 16) + r, lane % 16] = lanes[r, lane]
    rows = fragment(np.stack([waves.v[r][wave] for r in range(4)]), scales(waves, 8, wave, byte_rows))
    columns = fragment(
        np.stack([waves.v[4 + r][wave] for r in range(4)]), scales(waves, 9, wave, byte_columns)
    )
    total = Sum(start_, np.abs(start_)).plus(rows, columns)
    return accumulator_lanes(total.value), accumulator_lanes(total.bound())


def check(waves, machine_code, **byte):
    results = [expected(waves, wave, **byte) for wave in range(waves.count)]
    execute(machine_code, waves)
    for wave, (value, bound) in enumerate(results):
        found = accumulator(waves, wave).astype(np.float64)
        assert np.array_equal(np.isnan(found), np.isnan(value))
        with np.errstate(invalid="ignore"):
            assert not (np.abs(found - value) > bound).any()


@pytest.fixture(scope="module")
def code(assembler):
    return assembler.code(PLAIN + SUFFIX)


@settings(max_examples=25)
@given(seed=st.integers(0, 1 << 32), low=st.sampled_from([0, 60, 100, 120]), width=st.integers(1, 60))
def test_product_with_any_operands_and_moderate_scales(code, seed, low, width):
    check(loaded(seed, count=1, low=low, high=low + width), code)


@pytest.mark.parametrize("byte_columns", range(4))
@pytest.mark.parametrize("byte_rows", range(4))
def test_the_scale_byte_is_chosen_per_operand(assembler, byte_rows, byte_columns):
    low = f"op_sel:[{byte_rows & 1},{byte_columns & 1},0]"
    high = f"op_sel_hi:[{byte_rows >> 1},{byte_columns >> 1},0]"
    machine_code = assembler.code(f"{PLAIN} {low} {high}{SUFFIX}")
    check(loaded(1), machine_code, byte_rows=byte_rows, byte_columns=byte_columns)


@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_every_fp4_value_and_both_nibbles(number):
    packed = np.arange(256, dtype=np.uint8).reshape(1, 1, 256)
    out = decode(packed, np.full((1, 1, 16), 128, np.uint8), number)
    assert out.dtype == number
    assert out[0, 0].tolist() == [2 * FP4[n] for byte in range(256) for n in (byte & 15, byte >> 4)]


@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_operands_decoded_row_by_row_and_along_k(number, monkeypatch):
    monkeypatch.setattr(products, "_ALONE_BYTES", 2 * 6 * 128 * 4)  # five values in parts of two or one
    random = np.random.default_rng(5)
    packed = random.integers(0, 256, (5, 6, 64), dtype=np.uint8)
    octets = random.integers(100, 150, (5, 6, 4), dtype=np.uint8)
    nibbles = np.stack([packed & 15, packed >> 4], axis=-1).reshape(5, 6, 128)
    value = FP4[nibbles] * np.repeat(2.0 ** (octets.astype(np.float64) - 127), 32, axis=2)
    by_row, along = decode(packed, octets, number), decode_transposed(packed, octets, number)
    assert (by_row.dtype, along.dtype, along.shape) == (number, number, (5, 128, 6))
    assert np.array_equal(by_row, value)
    assert np.array_equal(along, value.transpose(0, 2, 1))


@pytest.mark.parametrize("scale", [0, 1, 127, 252, 253, 254])
def test_scales_at_the_ends_of_the_range_are_exact(code, scale):
    # The partner brings the product back into the range of float32.
    waves = loaded(2)
    set_scales(waves, 8, np.full((2, 64, 4), scale))
    set_scales(waves, 9, np.full((2, 64, 4), min(254, max(0, 250 - scale))))
    check(waves, code)


def test_large_and_small_scales_in_one_product(code):
    waves = loaded(3)
    random = np.random.default_rng(3)
    set_scales(waves, 8, random.choice([0, 3, 254, 253], (2, 64, 4)))
    set_scales(waves, 9, random.choice([0, 1, 2], (2, 64, 4)))
    check(waves, code)


@pytest.mark.parametrize("register", [8, 9])
def test_a_nan_scale_spoils_its_row_or_column_alone(code, register):
    waves = loaded(4)
    octets = np.random.default_rng(4).integers(120, 135, (2, 64, 4))
    octets[:, 16 * 2 + 5] = 255  # row 5, third block of K
    set_scales(waves, register, octets)
    check(waves, code)
    nan = np.isnan(accumulator(waves, 0))
    lanes, registers = np.arange(64), np.arange(4)[:, None]
    spoilt = (
        4 * (lanes // 16) + registers == 5 if register == 8 else np.broadcast_to(lanes % 16 == 5, (4, 64))
    )
    assert np.array_equal(nan, spoilt)


def test_a_nan_scale_beside_a_large_one(code):
    waves = loaded(5)
    octets = np.random.default_rng(5).integers(1, 6, (2, 64, 4))
    octets[:, 20], octets[:, 33] = 255, 254
    set_scales(waves, 8, octets)
    set_scales(waves, 9, np.full((2, 64, 4), 20))
    check(waves, code)


def test_overflow_gives_infinity(code):
    waves = loaded(6)
    for register in range(8):
        waves.v[register][...] = 0x77777777  # all 6
    set_scales(waves, 8, np.full((2, 64, 4), 254))
    set_scales(waves, 9, np.full((2, 64, 4), 127))
    execute(code, waves)
    assert np.isposinf(accumulator(waves, 0)).all()


def test_disabled_lanes_take_part(code):
    waves = loaded(7)
    set_exec(waves, np.arange(64) < 9)
    check(waves, code)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN.replace("v[0:3]", "v[10:17]") + " blgp:4", "cbsz = 0, only 4"),
        (PLAIN.replace("v[4:7]", "v[10:17]") + " cbsz:4", "blgp = 0, only 4"),
        (
            PLAIN.replace(", a[0:3], v8", ", a[4:7], v8") + SUFFIX,
            "the accumulator is not four aligned AccVGPRs",
        ),
        (PLAIN.replace("a[0:3]", "a[2:5]") + SUFFIX, "the accumulator is not four aligned AccVGPRs"),
        (PLAIN.replace("a[0:3]", "v[20:23]") + SUFFIX, "the accumulator is not four aligned AccVGPRs"),
        (PLAIN.replace(", a[0:3], v8", ", 0, v8") + SUFFIX, "the accumulator is not four aligned AccVGPRs"),
        (PLAIN.replace("v[0:3]", "a[8:11]") + SUFFIX, "an operand in AccVGPRs"),
        (PLAIN.replace("v[4:7]", "a[8:11]") + SUFFIX, "an operand in AccVGPRs"),
    ],
)
def test_other_forms_are_refused(assembler, text, message):
    with pytest.raises(
        UnsupportedError, match=rf"does not execute {NAME} \(VOP3PX2\) at 0x1000: .*: {message}"
    ):
        execute(assembler.code(text), start())


def test_a_constant_scale_is_refused(code):
    constant = bytearray(code)
    constant[5] ^= (
        1  # the register flag of the first scale operand: now it is the inline constant that v8 shares
    )
    with pytest.raises(UnsupportedError, match="an operand or a scale that is not a VGPR"):
        execute(bytes(constant), start())


@pytest.mark.parametrize(
    "text",
    [
        "v_mfma_scale_f32_32x32x64_f8f6f4 a[0:15], v[0:3], v[4:7], a[0:15], v8, v9 cbsz:4 blgp:4",
        "v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:3], v[4:7], a[0:3] cbsz:4 blgp:4",
        "v_mfma_f32_16x16x32_bf16 a[0:3], v[0:3], v[4:7], a[0:3]",
    ],
)
def test_other_matrix_instructions_are_refused(assembler, text):
    with pytest.raises(UnsupportedError, match=f"does not execute {text.split()[0]} "):
        execute(assembler.code(text), start())
