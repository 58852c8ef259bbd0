"""Operands kept once for all waves that have the same: every wave finds its own value again, whatever was guessed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.emulator.captures import Sharing, alone, capture, together

WAVES = 12
labels = st.lists(st.integers(0, 4), min_size=WAVES, max_size=WAVES)


def values_of(label, *, only_scale=False):
    """Packed operands and scales of waves: equal where the labels are."""
    random = np.random.default_rng(1)
    packed = random.integers(0, 1 << 32, (5, 64, 4), dtype=np.uint32)
    scale = random.integers(0, 256, (5, 64), dtype=np.uint8)
    if only_scale:
        packed[:], scale[:, 1:] = packed[0], scale[0, 1:]
    return packed[label], scale[label]


def sharing_of(label):
    _, first, of_wave = np.unique(label, return_index=True, return_inverse=True)
    return Sharing(first, of_wave)


@given(label=labels, guesses=st.lists(labels, max_size=3), only_scale=st.booleans())
def test_each_wave_has_its_own_value_whatever_was_guessed(label, guesses, only_scale):
    packed, scale = values_of(label, only_scale=only_scale)
    kept = capture(packed, scale, tuple(map(sharing_of, guesses)))
    packed_before, scale_before = packed.copy(), scale.copy()
    packed[...] = 0
    scale[...] = 0
    assert np.array_equal(kept.packed[kept.sharing.of_wave], packed_before)
    assert np.array_equal(kept.scale[kept.sharing.of_wave], scale_before)
    assert len(kept.packed) == len(kept.scale) == len(kept.sharing.first)


@pytest.mark.parametrize("guesses", [(), (sharing_of([0] * WAVES),), (sharing_of([0, 1] * 6),)])
def test_waves_that_share_a_value_keep_it_once(guesses):
    kept = capture(*values_of([3, 1, 3, 3, 0, 1, 0, 3, 1, 0, 0, 3]), guesses)
    assert len(kept.packed) == 3
    assert kept.sharing.shared


def test_a_guess_that_tells_more_waves_apart_is_taken():
    guess = sharing_of([0, 1, 2, 3, 4, 4] * 2)
    assert capture(*values_of([2] * WAVES), (guess,)).sharing is guess


def test_waves_alone():
    kept = capture(*values_of([0, 1, 2]), ())
    assert kept.sharing is alone(3)
    assert not kept.sharing.shared


@given(first=labels, second=labels)
def test_together_tells_waves_apart_that_differ_in_any(first, second):
    one, other = (capture(*values_of(label), ()) for label in (first, second))
    both = together([one, other, one])
    pairs = list(zip(first, second, strict=True))
    for a in range(WAVES):
        for b in range(WAVES):
            assert (pairs[a] == pairs[b]) == (both.of_wave[a] == both.of_wave[b])
    assert np.array_equal(both.of_wave[both.first], np.arange(len(set(pairs))))
    assert together([one, one]) is one.sharing


@given(label=labels, chosen=st.lists(st.booleans(), min_size=WAVES, max_size=WAVES))
def test_some_of_the_waves(label, chosen):
    part = np.array(chosen, dtype=np.bool_)
    packed, scale = values_of(label)
    kept = capture(packed, scale, ())
    sharing, values = kept.sharing.take(part)
    assert np.array_equal(kept.packed[values][sharing.of_wave], packed[part])
    assert np.array_equal(packed[part][sharing.first], kept.packed[values])
