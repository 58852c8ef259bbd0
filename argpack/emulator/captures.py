"""Operands of matrix products as they were when the program reached them: each distinct value once.

Waves that share rows of A or of B (neighbours in a workgroup, workgroups in a row of the grid) hold the same packed
bytes. Whether they do is checked each time, never assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

# Some of the waves of a group.
Part = slice | NDArray[np.bool_]

# Any odd numbers do: equal marks are only a hint, equality is checked.
_WEIGHTS = np.random.default_rng(0).integers(0, 1 << 63, 136, dtype=np.uint64) << np.uint64(1) | np.uint64(1)
_FRAGMENT = np.dtype("V1024")  # packed bytes of a wave, moved as one item


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Which waves have the same value: the first wave of each value, (value,), and the value of each wave, (wave,)."""

    first: NDArray[np.intp]
    of_wave: NDArray[np.intp]

    @property
    def shared(self) -> bool:
        """Whether any value is that of more than one wave."""
        return len(self.first) < len(self.of_wave)

    def take(self, part: Part) -> tuple[Sharing, NDArray[np.intp]]:
        """That of some of the waves, and which of the values they have."""
        values, first, of_wave = np.unique(self.of_wave[part], return_index=True, return_inverse=True)
        return Sharing(first, of_wave), values


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """A fragment's value: `packed` uint32 (value, lane, 4), `scale` uint8 (value, lane)."""

    packed: NDArray[np.uint32]
    scale: NDArray[np.uint8]
    sharing: Sharing


def capture(packed: NDArray[np.uint32], scale: NDArray[np.uint8], guesses: tuple[Sharing, ...]) -> Capture:
    """Keep what `packed` (wave, lane, 4) and `scale` (wave, lane) hold now.

    `guesses` say who may share with whom: what held for the registers of an operand mostly holds for the next.
    """
    for guess in guesses:
        kept = _shared(packed, scale, guess)
        if kept is not None:
            return kept
    words = packed.reshape(len(packed), -1).view(np.uint64)
    marks = words @ _WEIGHTS[:128] + scale.view(np.uint64) @ _WEIGHTS[128:]
    _, first, of_wave = np.unique(marks, return_index=True, return_inverse=True)
    found = Sharing(first, of_wave)
    kept = _shared(packed, scale, found) if found.shared else None
    return kept or Capture(packed.copy(), scale.copy(), alone(len(packed)))


@cache
def alone(waves: int) -> Sharing:
    """Each wave has a value of its own."""
    return Sharing(np.arange(waves), np.arange(waves))


def together(captures: list[Capture]) -> Sharing:
    """Waves that have the same value in all captures."""
    sharings = list(dict.fromkeys(capture.sharing for capture in captures))
    if len(sharings) == 1:
        return sharings[0]
    values = np.stack([sharing.of_wave for sharing in sharings])
    _, first, of_wave = np.unique(values, axis=1, return_index=True, return_inverse=True)
    return Sharing(first, of_wave.reshape(-1))


def _shared(packed: NDArray[np.uint32], scale: NDArray[np.uint8], sharing: Sharing) -> Capture | None:
    """The capture where waves that should share a value do have the same, else None."""
    fragments = packed.reshape(len(packed), -1).view(_FRAGMENT)[:, 0]
    kept, kept_scale = fragments[sharing.first], scale[sharing.first]
    again = kept[sharing.of_wave].view(np.uint64)
    if not (again == fragments.view(np.uint64)).all() or not (kept_scale[sharing.of_wave] == scale).all():
        return None
    return Capture(kept.view(np.uint32).reshape(len(kept), -1, 4), kept_scale, sharing)
