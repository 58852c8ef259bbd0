"""Finds by running a kernel which nibble and which scale byte feed which row and which product: outputs only.

One operand is zero but for one nibble a row, so every output is a single product; the other operand's bytes hold
their own addresses, a digit a launch. Then the two change places, with the nibbles just found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.probe.subject import SCALE_A, SCALE_B, A, B, ProbeError
from argpack.probe.symbols import SCALE_ONE, one_hot, plan
from scale_layout import LAYOUTS, Tensor, offset, padded_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from argpack.probe.subject import Subject

    Addresses = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where the operands lie. Nibble addresses `a`, int64 (m, k), and `b`, (n, k); scale offsets of the same shapes.

    Column i of all four is one term of the sums, in an order of no meaning: nibbles a[r, i] and b[s, i] are multiplied
    into D[r, s] under scales scale_a[r, i] and scale_b[s, i]. `launches` is how many it took.
    """

    a: Addresses
    b: Addresses
    scale_a: Addresses
    scale_b: Addresses
    launches: int


def measure(subject: Subject, *, progress: Callable[[int, int], None] | None = None) -> Places:
    """Measure all four operands. `progress(launches done, launches in all)`.

    Which nibbles of A to switch on together in the first launches is guessed: that of each row at a different term.
    A wrong guess gives outputs that are no single products, and the next is tried; nothing else depends on it.
    Raises ProbeError where no guess holds or a byte has no single place.
    """
    count = _Count(subject, progress)
    for guess in _guesses(subject):
        found = _one_direction(count, guess, hot=(A, SCALE_A), coded=(B, SCALE_B))
        if found is None:
            continue
        b, scale_b = found
        back = _one_direction(count, b, hot=(B, SCALE_B), coded=(A, SCALE_A))
        if back is None:
            continue
        a, scale_a = back
        return Places(a, b, scale_a, scale_b, count.done)
    raise ProbeError(
        f"{subject.name}, M={subject.m} N={subject.n} K={subject.k}: with one nibble a row switched on in A, in any "
        f"order tried, outputs are no single products ({count.trouble}); a K that ends inside a tile of the kernel "
        "mixes in what lies behind it"
    )


class _Count:
    """Runs launches, counts them, tells progress."""

    def __init__(self, subject: Subject, progress: Callable[[int, int], None] | None) -> None:
        self.subject = subject
        self.done = 0
        self.trouble = ""
        self._progress = progress
        m, n, k, sizes = subject.m, subject.n, subject.k, subject.sizes
        self._total = plan(2 * sizes[B], sizes[SCALE_B]).launches * -(-k // m) + plan(
            2 * sizes[A], sizes[SCALE_A]
        ).launches * -(-k // n)

    def output(self, **contents: NDArray[np.uint8]) -> NDArray[np.uint16]:
        bits = self.subject.output(**contents)
        self.done += 1
        if self._progress:
            self._progress(min(self.done, self._total), self._total)
        return bits


def _one_direction(
    count: _Count, hot_table: Addresses, *, hot: tuple[str, str], coded: tuple[str, str]
) -> tuple[Addresses, Addresses] | None:
    """Addresses of the `coded` operand's nibbles and scales, (its rows, k), by switching on `hot_table`'s nibbles,
    one a row of the hot operand; which row of D each lights is not assumed.

    None where some output is no single product or an address occurs twice.
    """
    subject = count.subject
    sizes, k = subject.sizes, subject.k
    digits = plan(2 * sizes[coded[0]], sizes[coded[1]])
    by_row = hot[0] == A
    rows = subject.n if by_row else subject.m
    nibbles = np.empty((rows, k), np.int64)
    scales = np.empty((rows, k), np.int64)
    for first in range(0, k, len(hot_table)):
        terms = np.arange(first, min(first + len(hot_table), k))
        fixed = {
            hot[0]: one_hot(2 * sizes[hot[0]], hot_table[np.arange(len(terms)), terms]),
            hot[1]: np.full(sizes[hot[1]], SCALE_ONE, np.uint8),
        }
        outputs = []
        for launch in range(digits.launches):
            contents = {coded[0]: digits.codes(launch), coded[1]: digits.scale_bytes(launch)}
            bits = count.output(**fixed, **contents)
            if by_row:
                bits = bits.T
            lit = (bits & 0x7FFF).any(axis=0)
            outputs.append(bits[:, lit])
            readable = digits.readable(outputs[-1])
            if np.count_nonzero(lit) != len(terms) or not readable.all():
                count.trouble = count.trouble or (
                    f"at first {np.count_nonzero(~readable)} of {bits.size}, {np.count_nonzero(lit)} of {len(terms)} "
                    f"{'rows' if by_row else 'columns'} lit"
                )
                return None
        nibbles[:, terms], scales[:, terms] = digits.addresses(outputs)
    if nibbles.min() < 0 or np.bincount(nibbles.reshape(-1)).max() > 1:
        return None
    return nibbles, scales


def _guesses(subject: Subject) -> Iterator[Addresses]:
    """Nibble addresses (m, k) that A might have: what is tried first is row by row."""
    rows = np.arange(subject.m)[:, None]
    terms = np.arange(subject.k)[None, :]
    for layout in LAYOUTS:
        if layout.tensor is Tensor.SCALES:
            continue
        try:
            padded = padded_shape(layout, subject.m, subject.k // 2)
            if padded[0] * padded[1] > subject.sizes[A]:
                continue
            byte = offset(layout, rows, terms // 2, cols_padded=padded[1], rows_padded=padded[0])
        except InputError:
            continue  # this layout has no image of such a size
        yield np.asarray(2 * byte + terms % 2)
