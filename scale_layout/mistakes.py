"""Known mistakes with layouts, each as the rule by which it places the logical bytes, and the words for it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from scale_layout.evidence import agreement, elements, fits, holds, padded_shapes, rule_of
from scale_layout.image import padded_shape
from scale_layout.inverse import element
from scale_layout.layout import Tensor
from scale_layout.nibbles import NIBBLE_ORDERS, block_of, pack_nibbles, unpack_nibbles
from scale_layout.strides import steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from scale_layout.evidence import Places, Rule
    from scale_layout.layout import Layout

_ALL = 0.9  # a stale byte is the right one now and then
_LEAST = 0.4  # of a sample, where half of all must be right
ROW_MAJOR_PATTERN = "m k -> m k"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One image to explain: `layout` and padded `shape` that were meant, and the other operand's logical array."""

    layout: Layout
    shape: tuple[int, int]
    image: NDArray[np.uint8]
    logical: NDArray[np.uint8]
    other: NDArray[np.uint8] | None = None
    layouts: Sequence[Layout] = ()


def explanations(case: Case) -> Iterator[str]:
    """The words for every known mistake that explains all bytes of the image."""
    found = False
    for sentence in _not_applied(case):
        found = True
        yield sentence
    if not found:
        yield from _applied_otherwise(case)
    yield from _cut_off(case)
    yield from _wrong_count(case)
    yield from _other_values(case)


def explanations_by(
    layouts: Sequence[Layout], image: NDArray[np.uint8], logical: NDArray[np.uint8]
) -> Iterator[str]:
    """The words for each known mistake with one of `layouts` that explains all bytes of an image that is in none."""
    for layout in layouts:
        shapes = list(padded_shapes(layout, logical.shape, image.size))[:1]
        with contextlib.suppress(InputError):  # this layout does not pad such arrays
            shapes.append(padded_shape(layout, *logical.shape))
        for shape in dict.fromkeys(shapes):
            case = Case(layout=layout, shape=shape, image=image, logical=logical)
            for part in (_applied_otherwise, _cut_off, _wrong_count, _other_values):
                for sentence in part(case):
                    yield sentence if sentence.startswith(layout.name) else f"{layout.name}: {sentence}"
            if words := unwritten(case):
                yield f"{layout.name}: {words}"


def unwritten(case: Case) -> str | None:
    """The words where all that is wrong is the end of every row, or the last rows, half of them at most."""
    rule = rule_of(case.layout, *case.shape)
    if agreement(case.image, case.logical, rule) < _LEAST:
        return None
    wrong = np.zeros(case.logical.shape, bool)
    for r, c in elements(case.logical.shape):
        places = rule(r, c)
        inside = places < case.image.size
        wrong[r, c] = True
        wrong[r[inside], c[inside]] = case.image[places[inside]] != case.logical[r[inside], c[inside]]
    for axis, noun in ((0, "column"), (1, "row")):
        some = wrong.any(axis=axis)
        first, length = int(some.argmax()), some.size
        share = wrong[:, first:].mean() if noun == "column" else wrong[first:].mean()
        if 2 * first >= length and share >= _ALL:
            which = (
                f"{noun} {first}, the last,"
                if first == length - 1
                else f"{noun}s {first} to {length - 1}, the last,"
            )
            verb = "was" if first == length - 1 else "were"
            return f"{which} {verb} not written: all before lies where it must"
    return None


def _not_applied(case: Case) -> Iterator[str]:
    if case.layout.pattern == ROW_MAJOR_PATTERN:
        return
    cols, width = case.logical.shape[1], case.shape[1]
    if holds(case.image, case.logical, lambda r, c: r * cols + c):
        yield f"{case.layout.name} was not applied: these are the rows one after the other"
    elif holds(case.image, case.logical, lambda r, c: r * width + c):
        yield f"{case.layout.name} was not applied: these are the rows one after the other, padded to {width} bytes"


def _applied_otherwise(case: Case) -> Iterator[str]:
    layout, (rows, width) = case.layout, case.shape
    once = rule_of(layout, rows, width)

    def twice(r: Places, c: Places) -> Places:
        return once(*np.divmod(once(r, c), width))

    def undone(r: Places, c: Places) -> Places:
        row, column = element(layout, r * width + c, rows_padded=rows, cols_padded=width)
        return row * width + column

    if holds(case.image, case.logical, twice):
        yield f"{layout.name} was applied twice"
    if holds(case.image, case.logical, undone):
        yield f"{layout.name} was undone where it should have been applied (invert in place of apply)"
    wrong = [one for one in case.layouts if one.pattern not in {layout.pattern, ROW_MAJOR_PATTERN}]
    for fit in fits(case.image, case.logical, wrong):
        yield f"{fit.layout.name} was applied instead of {layout.name}{_waves(fit.layout, layout)}"


def _waves(applied: Layout, meant: Layout) -> str:
    if not applied.wave or not meant.wave or applied.wave == meant.wave:
        return ""
    return f": it is for waves of {applied.wave} lanes, {meant.name} for waves of {meant.wave}"


def _cut_off(case: Case) -> Iterator[str]:
    """An image that is too small and right as far as it goes."""
    size = case.image.size
    if size >= case.shape[0] * case.shape[1]:
        return
    rule = rule_of(case.layout, *case.shape)
    beyond, first = 0, None
    for r, c in elements(case.logical.shape):
        places = rule(r, c)
        inside = places < size
        if (case.image[places[inside]] != case.logical[r[inside], c[inside]]).any():
            return
        outside = np.flatnonzero(~inside)
        if outside.size and first is None:
            first = int(r[outside[0]])
        beyond += outside.size
    if beyond == case.logical.size:
        return
    lengths = zip(("rows", "columns"), case.logical.shape, case.shape, strict=True)
    what = " and ".join(noun for noun, length, padded in lengths if length != padded) or "the bytes"
    if not beyond:
        yield f"{what} were not padded: all bytes lie where they must, but padding that is read lies beyond the end"
    else:
        yield (
            f"{what} were not padded: what fits lies where it must, but {beyond} of {case.logical.size} bytes, from"
            f" row {first} on, belong beyond the end"
        )


def _wrong_count(case: Case) -> Iterator[str]:
    """The layout's own formula, with a number of columns or rows that is not the padded one."""
    rows, cols = case.logical.shape
    strides = [step.stride for step in steps(case.layout)]
    small = case.image.size < case.shape[0] * case.shape[1]
    for noun, length, right, used in (
        ("column", cols, case.shape[1], any(stride.cols for stride in strides)),
        ("row", rows, case.shape[0], any(stride.rows for stride in strides)),
    ):
        if not used:
            continue
        candidates = {-(-length // multiple) * multiple for multiple in (1, 2, 4, 8, 16, 32, 64, 128, 256)}
        for count in sorted(candidates - {right}):
            if small and count > right:
                break  # the image would be larger, not smaller
            shape = (case.shape[0], count) if noun == "column" else (count, case.shape[1])
            rule = _rule_with(case.layout, shape)
            if rule is None or agreement(case.image, case.logical, rule) < 0.5:
                continue
            if _written(case.image, case.logical, rule, cut=small):
                yield f"written with {noun} count {count} where {right} is needed"
                break


def _rule_with(layout: Layout, shape: tuple[int, int]) -> Rule | None:
    """The formula of a layout with lengths that are no whole tiles; None where its strides are no whole numbers."""
    groups = {"row": layout.axes.rows, "column": layout.axes.cols}
    parts: list[tuple[str, int, int | None, int]] = []
    for step in steps(layout):
        apart, stride = step.apart.value(*shape), step.stride.value(*shape)
        slowest = groups[step.side].axes[0].name == step.axis
        count = None if slowest else step.count.value(*shape)
        if not apart or not stride or (count is None and not slowest):
            return None
        parts.append((step.side, apart, count, stride))

    def rule(r: Places, c: Places) -> Places:
        total = np.zeros_like(r)
        for side, apart, count, stride in parts:
            index = (r if side == "row" else c) // apart
            total += (index if count is None else index % count) * stride
        return total

    return rule


def _written(image: NDArray[np.uint8], logical: NDArray[np.uint8], rule: Rule, *, cut: bool) -> bool:
    """Whether each place holds one of the bytes that `rule` writes to it: places may be written more than once.

    Places beyond the end count as right only where the image is `cut`.
    """
    written = np.zeros(image.size, bool)
    right = np.zeros(image.size, bool)
    for r, c in elements(logical.shape):
        places = rule(r, c)
        inside = places < image.size
        if not cut and not inside.all():
            return False
        places, values = places[inside], logical[r[inside], c[inside]]
        written[places] = True
        right[places[image[places] == values]] = True
    return bool(written.any() and (right | ~written).all())


def _other_values(case: Case) -> Iterator[str]:
    """The right order of other values: the other operand's, the transpose's, nibbles exchanged."""
    layout = [case.layout]
    if case.other is not None and fits(case.image, case.other, layout):
        yield "this is the image of the other operand: A and B were exchanged"
    rows, cols = case.logical.shape
    if rows > 1 and cols > 1 and fits(case.image, np.ascontiguousarray(case.logical.T), layout):
        yield "this is the image of the transpose: rows and columns were exchanged"
    if case.layout.tensor is not Tensor.SCALES:
        yield from _nibbles(case)


def _nibbles(case: Case) -> Iterator[str]:
    """The logical array's codes, which are in the order of MX formats, packed in another order."""
    mx, *others = NIBBLE_ORDERS
    for order in others:
        if 2 * case.logical.shape[1] % block_of(order):
            continue
        packed = pack_nibbles(order, unpack_nibbles(mx, case.logical))
        if (packed != case.logical).any() and fits(case.image, packed, [case.layout]):
            exchanged = "the two nibbles of each byte were exchanged: " if order.high_first else ""
            yield f"{exchanged}nibbles are in the order {order.name} where {mx.name} is meant: {order.doc}"
