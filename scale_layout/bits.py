"""The bit matrix between two orders of the same 2^n bytes, solved over GF(2) from the bytes alone.

Where the order is linear, offset = A · index over GF(2), the Walsh-Hadamard spectrum of any function of the bytes
obeys W_image(u) = W_logical(Aᵀ u). Random weights for the 256 byte values make the spectrum's numbers as good as
unique, so that each row of A is the one index whose number equals that of a unit vector. Nothing is searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_BITS = 22  # 4 MiB of bytes: the spectrum takes 32 MiB and half a second
_WEIGHT_BITS = 40  # sums of 2^22 weights stay below 2^63


def solve_bits(logical: NDArray[np.uint8], image: NDArray[np.uint8]) -> tuple[tuple[int, ...], ...]:
    """For each bit of the byte offset, lowest first, all masks of index bits whose exclusive or it can be.

    Both arrays flat, of 2^n bytes, n at most `MAX_BITS`. One mask for each bit: solved. Several: these bytes cannot
    tell. None: the order is not linear. A mask of one bit is a bit moved, of several a swizzle.
    """
    count = logical.size.bit_length() - 1
    weights = np.random.default_rng(0).integers(0, 1 << _WEIGHT_BITS, 256, dtype=np.int64)
    wanted = _unit_numbers(weights[image], count)
    spectrum = _spectrum(weights[logical])
    singles = spectrum[1 << np.arange(count)]
    solved: list[tuple[int, ...]] = []
    for number in wanted:
        alone = tuple(1 << int(bit) for bit in np.flatnonzero(singles == number))
        solved.append(alone or tuple(int(mask) for mask in np.flatnonzero(spectrum == number)))
    return _told_apart(solved, spectrum, weights[image])


def _unit_numbers(values: NDArray[np.int64], count: int) -> list[int]:
    """W(u) of the unit vectors: values where a bit is 0 minus those where it is 1."""
    numbers = []
    for bit in range(count):
        halves = values.reshape(-1, 2, 1 << bit)
        numbers.append(int(halves[:, 0].sum() - halves[:, 1].sum()))
    return numbers


def _spectrum(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Walsh-Hadamard transform of 2^n whole numbers."""
    work = values.copy()
    width = 1
    while width < work.size:
        halves = work.reshape(-1, 2, width)
        first, second = halves[:, 0].copy(), halves[:, 1]
        halves[:, 0] += second
        halves[:, 1] = first - second
        width *= 2
    return work


def _told_apart(
    solved: list[tuple[int, ...]], spectrum: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[tuple[int, ...], ...]:
    """Bits with several masks, told apart by pairs: W_image(u ^ w) = W_logical(Aᵀ u ^ Aᵀ w) for the w solved."""
    image: NDArray[np.int64] | None = None
    changed = True
    while changed:
        changed = False
        known = {bit: masks[0] for bit, masks in enumerate(solved) if len(masks) == 1}
        for bit, masks in enumerate(solved):
            left = tuple(mask for mask in masks if mask not in known.values()) if len(masks) > 1 else masks
            for other, known_mask in known.items():
                if len(left) < 2:
                    break
                if image is None:
                    image = _spectrum(values)
                number = image[(1 << bit) ^ (1 << other)]
                left = tuple(mask for mask in left if spectrum[mask ^ known_mask] == number)
            if left != masks:
                solved[bit] = left
                changed = True
    return tuple(solved)
