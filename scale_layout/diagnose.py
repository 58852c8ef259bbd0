"""Whether an image holds a logical array in a layout, and if not, in words, which mistake it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scale_layout.evidence import agreement, elements, fits, holds, mistakes, require_varied, rule_of
from scale_layout.image import padded_shape, padding_words, size_words
from scale_layout.layout import Tensor
from scale_layout.mistakes import Case, explanations, unwritten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scale_layout.layout import Layout

_NEARLY = 0.9  # from this share of right bytes on, single bytes are wrong and not the order


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Whether the image is `right`; `sentences` say what was found, `notes` what to know all the same."""

    right: bool
    sentences: tuple[str, ...]
    notes: tuple[str, ...] = ()


def check_image(
    layout: Layout,
    image: NDArray[np.uint8],
    logical: NDArray[np.uint8],
    *,
    row_multiple: int | None = None,
    col_multiple: int | None = None,
    pad_value: int | None = None,
    other: NDArray[np.uint8] | None = None,
    layouts: Sequence[Layout] = (),
) -> Diagnosis:
    """Whether the flat uint8 `image` holds `logical`, uint8 (rows, cols), in `layout`, padded as `padded_shape` says.

    `pad_value` demands that byte in all the padding, None accepts any. `other` is a logical array that may have been
    taken for this one (B's for A's), `layouts` are those that may have been applied instead. Raises InputError where
    all logical bytes are equal, for then nothing can be told.
    """
    require_varied(logical)
    rows, cols = logical.shape
    shape = padded_shape(layout, rows, cols, row_multiple=row_multiple, col_multiple=col_multiple)
    size = shape[0] * shape[1]
    rule = rule_of(layout, *shape)
    wrong_size = (size_words(layout, rows, cols, shape, image.size),) if image.size != size else ()
    if image.size >= size and holds(image, logical, rule):
        if wrong_size:
            return Diagnosis(False, (*wrong_size, f"the first {size} bytes lie where they must"))
        return _in_place(layout, image, logical, shape, pad_value, layouts)
    case = Case(layout=layout, shape=shape, image=image, logical=logical, other=other, layouts=layouts)
    found = tuple(explanations(case))
    if len(found) > 1:
        found = tuple(f"{'either' if i == 0 else 'or'} {sentence}" for i, sentence in enumerate(found))
    return Diagnosis(False, (*wrong_size, *(found or (_unexplained(case),))))


def _in_place(
    layout: Layout,
    image: NDArray[np.uint8],
    logical: NDArray[np.uint8],
    shape: tuple[int, int],
    pad_value: int | None,
    layouts: Sequence[Layout],
) -> Diagnosis:
    """All logical bytes lie where they must; what of the padding?"""
    sentences, notes, right = [f"{layout.name}: all {logical.size} bytes lie where they must"], [], True
    same = [fit.layout.name for fit in fits(image, logical, layouts) if fit.layout.pattern != layout.pattern]
    if same:
        notes.append(
            f"{', '.join(same)} would be the same bytes: a larger or more varied array tells them apart"
        )
    if shape != logical.shape:
        rows, cols = logical.shape
        pads = _pad_bytes(layout, image, (rows, cols), shape)
        values = np.unique(pads)
        shown = ", ".join(f"{value:#04x}" for value in values[:4]) + (", …" if len(values) > 4 else "")
        text = f"{padding_words(rows, cols, shape)}: {pads.size} pad bytes"
        wrong = 0 if pad_value is None else int((pads != pad_value).sum())
        if wrong:
            right = False
            many = "all" if wrong == pads.size else f"{wrong} of them"
            text += f", {many} not {pad_value:#04x}: found {shown}"
        else:
            text += f", {'all ' if len(values) == 1 else ''}{shown}"
        sentences.append(text)
        if layout.tensor is Tensor.SCALES and 0xFF in values:
            notes.append("a pad byte 0xff is NaN as an E8M0 scale, and NaN times a padded 0 is NaN")
    return Diagnosis(right, tuple(sentences), tuple(notes))


def _pad_bytes(
    layout: Layout, image: NDArray[np.uint8], logical: tuple[int, int], shape: tuple[int, int]
) -> NDArray[np.uint8]:
    """The bytes of the image that are no element's."""
    free = np.ones(image.size, bool)
    rule = rule_of(layout, *shape)
    for r, c in elements(logical):
        free[rule(r, c)] = False
    return image[free]


def _unexplained(case: Case) -> str:
    rule = rule_of(case.layout, *case.shape)
    share = agreement(case.image, case.logical, rule)
    if (words := unwritten(case)) is not None:
        return words
    count, first = mistakes(case.image, case.logical, rule)
    total = case.logical.size
    if share < _NEARLY or first is None:
        return (
            f"{total - count} of {total} bytes lie where {case.layout.name} puts them, and no known mistake explains"
            " the others"
        )
    place = int(rule(np.array([first[0]]), np.array([first[1]]))[0])
    found = f"{case.image[place]:#04x}" if place < case.image.size else "the end"
    return (
        f"the order is right, but {count} of {total} bytes are not the logical array's; the first is row {first[0]},"
        f" column {first[1]}, at offset {place}: expected {case.logical[first]:#04x}, found {found}"
    )
