"""A launch taken apart into what a host decides: buffers, field values, pointers, grid. Hypotheses change one of them.

It knows no family and runs nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    Value = int | float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Situation:
    """Everything that a launch depends on, beside the kernel.

    `images` are the input buffers by name, flat uint8, as they lie in memory. `values` has every field that is no
    pointer; `targets` says which buffer a pointer field points to, fields left out are null. `grid` counts
    workgroups. `before` is what M x N outputs hold before the launch: bits, (M, N), or None where nobody knows.
    `launches` counts how often it runs on the same D.
    """

    images: Mapping[str, Image]
    values: Mapping[str, Value]
    targets: Mapping[str, str]
    grid: tuple[int, int, int]
    before: NDArray[np.unsignedinteger] | None = None
    launches: int = 1

    @property
    def digest(self) -> bytes:
        """Equal for equal launches."""
        found = hashlib.blake2b(digest_size=16)
        for name in sorted(self.images):
            image = self.images[name]
            found.update(f"{name}:{image.size}:".encode())
            found.update(image.tobytes())
        scalars = sorted(self.values.items()), sorted(self.targets.items()), self.grid, self.launches
        found.update(repr(scalars).encode())
        found.update(b"" if self.before is None else self.before.tobytes())
        return found.digest()


def with_images(situation: Situation, **images: Image) -> Situation:
    """The same launch on other contents of some buffers."""
    return dataclasses.replace(situation, images={**situation.images, **images})


def with_values(situation: Situation, **values: Value) -> Situation:
    """The same launch with other field values."""
    return dataclasses.replace(situation, values={**situation.values, **values})


def with_targets(situation: Situation, **targets: str) -> Situation:
    """The same launch with pointers to other buffers."""
    return dataclasses.replace(situation, targets={**situation.targets, **targets})


def with_grid(situation: Situation, grid: tuple[int, int, int]) -> Situation:
    """The same launch of other workgroups."""
    return dataclasses.replace(situation, grid=grid)


def parts_changed(right: Situation, other: Situation) -> frozenset[str]:
    """Names of what differs: buffers, fields (pointers, too), `grid`, `D` for what it held before."""
    names = {
        name
        for name in right.images.keys() | other.images.keys()
        if not _same(right.images.get(name), other.images.get(name))
    }
    names |= {
        name
        for name in right.values.keys() | other.values.keys()
        if right.values.get(name) != other.values.get(name)
    }
    names |= {
        name
        for name in right.targets.keys() | other.targets.keys()
        if right.targets.get(name) != other.targets.get(name)
    }
    if right.grid != other.grid:
        names.add("grid")
    if right.launches != other.launches or not _same(right.before, other.before):
        names.add("D")
    return frozenset(names)


def _same(one: NDArray[np.generic] | None, other: NDArray[np.generic] | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or (one.shape == other.shape and one.tobytes() == other.tobytes())
