"""Where the files given differ from what the problem needs, in words. Nothing is run here."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.explain.hypothesis import Hypothesis
from argpack.explain.situation import with_grid, with_images
from argpack.families.family import Usage
from argpack.hexdump import Dump, diff
from argpack.hexdump.hints import hint
from argpack.hexdump.mistakes import find_mistake
from scale_layout import LAYOUTS, Tensor, padded_shape
from scale_layout.diagnose import check_image
from scale_layout.rank import rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from argpack.explain.given import Given
    from argpack.explain.scene import Placed, Scene
    from argpack.explain.situation import Situation
    from argpack.hexdump.diff import Difference

_MORE_ROWS = 256
_FIX = "pack the buffer by the schema: `argpack pack`, or a struct from `argpack emit`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """One difference between a file and what the problem needs. `alone` is the right launch with nothing else wrong."""

    name: str
    what: str
    fix: str
    alone: Situation
    notes: tuple[str, ...] = ()


def clues(scene: Scene, given: Given, actual: Situation) -> tuple[Clue, ...]:
    """All of them, in the order of buffers, arguments, grid, D. `actual` is the launch as the files tell it."""
    return (
        *_images(scene, given),
        *(_arguments(scene, given.arguments, actual) if given.arguments else ()),
        *(_grid(scene, actual) if given.grid else ()),
        *(_before(scene, actual) if given.before is not None else ()),
    )


def _images(scene: Scene, given: Given) -> Iterator[Clue]:
    for name, image in given.images.items():
        if name not in given.logical:
            continue  # what is taken for the logical operand comes from this very image
        placed = scene.placed[name]
        yield from _image(scene, name, placed, image)


def looks(scene: Scene, given: Given) -> Iterator[str]:
    """Buffers of scales without their matrix that look as if they lay in another layout than the kernel reads."""
    for name, image in given.images.items():
        placed = scene.placed[name]
        if name in given.logical or placed.layout.tensor is not Tensor.SCALES:
            continue
        candidates = [one for one in LAYOUTS if one.tensor in {Tensor.SCALES, Tensor.ANY}]
        try:
            found = rank(image, placed.logical.shape, candidates)
        except InputError:
            continue  # all bytes are equal, or no layout has this size
        alike = [found.answer] if found.answer else found.equal
        if all(one.layout.pattern != placed.layout.pattern for one in alike):
            names = " or ".join(one.layout.name for one in alike)
            yield (
                f"{name}: by its bytes alone this looks like {names}, and not like {placed.layout.name}, which the "
                "kernel reads: its matrix would tell"
            )


def _image(scene: Scene, name: str, placed: Placed, image: NDArray[np.uint8]) -> Iterator[Clue]:
    right = scene.right.images[name]
    if image.size >= right.size and (image[: right.size] == right).all():
        return
    alone = with_images(scene.right, **{name: image})
    rows, columns = padded_shape(placed.layout, *placed.logical.shape, col_multiple=placed.columns)
    needed = rows * columns
    # AITER pads rows to 256, and more rows than are needed do no harm.
    larger = image.size == -(-rows // _MORE_ROWS) * _MORE_ROWS * columns > needed
    try:
        found = check_image(
            placed.layout,
            image[:needed] if larger else image,
            placed.logical,
            col_multiple=placed.columns,
            other=placed.other,
            layouts=LAYOUTS,
        )
    except InputError as error:
        yield Clue(
            name=f"{name} as given", what=f"{name}: {error}", fix="give operands that vary", alone=alone
        )
        return
    pad = (
        f", padded with {placed.pad:#04x}" if placed.pad is not None and needed != placed.logical.size else ""
    )
    yield Clue(
        name=f"padding of {name}" if found.right else f"{name} as given",
        what=f"{name}: {'; '.join(found.sentences)}",
        fix=f"place it as {placed.layout.name}, {needed} bytes{pad}",
        alone=alone,
        notes=found.notes,
    )


def _arguments(scene: Scene, dump: Dump, actual: Situation) -> Iterator[Clue]:
    schema, use = scene.family.schema, scene.family.usage(scene.kernel.name)
    found = diff(dump, _wanted(scene, use), schema, use)
    alone = dataclasses.replace(scene.right, values=actual.values, targets=actual.targets)
    nulls = [name for name in scene.right.targets if name not in actual.targets]
    if mistake := find_mistake(found):
        yield Clue(
            name=f"arguments: {mistake.kind}", what=f"{dump.source}: {mistake.text}", fix=_FIX, alone=alone
        )
        return
    for one in found.live:
        yield _field(scene, dump, one, hint(one, found), actual)
    for name in nulls:
        targets = {key: value for key, value in scene.right.targets.items() if key != name}
        yield Clue(
            name=f"{name} null",
            what=f"{dump.source}: {name} is null, the kernel reads or writes there",
            fix=f"pass the address of {scene.pointers[name]}",
            alone=dataclasses.replace(scene.right, targets=targets),
        )


def _field(scene: Scene, dump: Dump, one: Difference, suggestion: str, actual: Situation) -> Clue:
    name = one.first.slot.name
    field = one.first.slot.field
    unit = f" {field.unit}" if field is not None and field.unit else ""
    values = {**scene.right.values}
    if name in values:
        values[name] = actual.values[name]
    what = f"{dump.source}: {name} is {one.first.text}, this problem needs {one.second.text}{unit}"
    return Clue(
        name=name,
        what=what + (f": {suggestion.replace('the first has', 'the dump has')}" if suggestion else ""),
        fix=f"set {name} to {one.second.text}",
        alone=dataclasses.replace(scene.right, values=values),
    )


def _wanted(scene: Scene, use: Mapping[str, Usage]) -> Dump:
    """The buffer that the problem needs: what the kernel uses of it is known, addresses are not."""
    schema = scene.family.schema
    data, known = bytearray(schema.size), bytearray(schema.size)
    for slot in schema.slots:
        if slot.field is None or slot.name in scene.pointers or use[slot.name] is not Usage.LIVE:
            continue
        data[slot.offset : slot.end] = slot.field.scalar.encode(scene.right.values[slot.name])
        known[slot.offset : slot.end] = b"\x01" * slot.size
    problem = scene.problem
    return Dump(bytes(data), bytes(known), f"M={problem.m} N={problem.n} K={problem.k}")


def _grid(scene: Scene, actual: Situation) -> Iterator[Clue]:
    if actual.grid == scene.right.grid:
        return
    given, needed = (" x ".join(map(str, grid)) for grid in (actual.grid, scene.right.grid))
    alike = [
        one
        for one in scene.hypotheses
        if isinstance(one, Hypothesis)
        and (made := one.build(scene.right)) is not None
        and made.grid == actual.grid
    ]
    yield Clue(
        name=alike[0].name if alike else "grid",
        what=f"the grid is {given} workgroups, this problem needs {needed}"
        + (f": {alike[0].what}" if alike else ""),
        fix=alike[0].fix if alike else f"launch {needed} workgroups (HIP's blocks)",
        alone=with_grid(scene.right, actual.grid),
    )


def _before(scene: Scene, actual: Situation) -> Iterator[Clue]:
    if scene.right.before is None or actual.before is None or not actual.before.any():
        return
    count = int((actual.before != 0).sum())
    yield Clue(
        name="D not zeroed before split-K",
        what=f"D holds {count} values other than 0 before the launch, and {scene.slices} slices of K are added to it",
        fix="zero all M rows of D, stride included, before every launch that splits K",
        alone=dataclasses.replace(scene.right, before=actual.before),
    )
