"""What a user has at hand, overlaid on the right launch: the launch as it was made, as far as the files tell."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.hexdump import readings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.explain.outputs import Bits
    from argpack.explain.scene import Scene
    from argpack.explain.situation import Situation
    from argpack.hexdump import Dump


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """Files and options as they are. `logical` operands and `images` go by buffer name; images are flat uint8.

    `arguments` is a dump of the argument buffer, `grid` counts workgroups. `output` and `before` are bits of D,
    (rows, columns) of memory, after and before the launch; None where a thing was not given.
    """

    logical: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    arguments: Dump | None = None
    grid: tuple[int, int, int] | None = None
    output: Bits | None = None
    before: Bits | None = None


def situation_of(scene: Scene, given: Given) -> Situation:
    """The right launch with everything that was given in place of it. Raises InputError for an image without bytes."""
    situation = scene.right
    for name, image in given.images.items():
        if not image.size:
            raise InputError(f"{name}: expected an image, found no byte")
    images = {**situation.images, **given.images}
    values, targets = dict(situation.values), dict(situation.targets)
    if given.arguments is not None:
        values, targets = _from_dump(scene, given.arguments)
    return dataclasses.replace(
        situation,
        images=images,
        values=values,
        targets=targets,
        grid=given.grid or situation.grid,
        before=situation.before if given.before is None else inside(scene, given.before),
    )


def parts_given(scene: Scene, given: Given) -> frozenset[str]:
    """Names of the parts of a launch that are known: a hypothesis about them is a question already answered."""
    names = set(given.images)
    if given.grid is not None:
        names.add("grid")
    if given.before is not None:
        names.add("D")
    if given.arguments is not None:
        found = readings(given.arguments, scene.family.schema)
        names |= {
            one.slot.name for one in found if one.value is not None and one.slot.name not in scene.pointers
        }
    return frozenset(names)


def inside(scene: Scene, memory: Bits) -> Bits:
    """M x N of D's memory. Raises InputError where that is smaller."""
    m, n = scene.problem.m, scene.problem.n
    if memory.ndim != 2 or memory.shape[0] < m or memory.shape[1] < n:
        raise InputError(f"D: expected at least {m} x {n} elements, found shape {memory.shape}")
    return np.ascontiguousarray(memory[:m, :n])


def without_addresses(scene: Scene, dump: Dump) -> bool:
    """Whether all pointers that the kernel uses are null: `argpack pack` made the buffer, no host launches that."""
    found = {one.slot.name: one.value for one in readings(dump, scene.family.schema)}
    return all(found.get(name) == 0 for name in scene.right.targets)


def _from_dump(scene: Scene, dump: Dump) -> tuple[dict[str, int | float], dict[str, str]]:
    """Values of the fields that the dump knows; pointers that are null point nowhere, equal ones to one buffer."""
    values, targets = dict(scene.right.values), dict(scene.right.targets)
    addresses: dict[int, str] = {}
    packed = without_addresses(scene, dump)
    for one in readings(dump, scene.family.schema):
        name = one.slot.name
        if one.value is None:
            continue
        if name not in scene.pointers:
            values[name] = one.value
        elif one.value == 0 and not packed:
            targets.pop(name, None)
        elif name in targets and one.value:
            targets[name] = addresses.setdefault(int(one.value), targets[name])
    return values, targets
