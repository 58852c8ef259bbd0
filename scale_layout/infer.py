"""Which layout turned a logical array into an image: solved as a bit permutation, and compared with known layouts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from scale_layout.bits import MAX_BITS, solve_bits
from scale_layout.evidence import Fit, fits, holds, padded_shapes, require_varied, rule_of
from scale_layout.formula import offset
from scale_layout.layout import Layout, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """What a pair of logical array and image says.

    `fits` are the known layouts that explain every byte; `bits` are the sources of the offset's bits within the
    block of `block` (rows, columns), lowest first, as `r4` or `r4^c2`, empty where they could not be solved, and
    `undecided` those that these bytes leave open. `solved` is the layout that the bits mean, found without looking at
    known ones, and explains every byte, too.
    """

    fits: tuple[Fit, ...]
    bits: tuple[str, ...] = ()
    block: tuple[int, int] = (0, 0)
    undecided: tuple[str, ...] = ()
    solved: Fit | None = None

    @property
    def same_bytes(self) -> bool:
        """Whether the known layouts that fit are the same offsets at this shape: no values could tell them apart."""
        shapes = {(fit.rows, fit.cols) for fit in self.fits}
        if len(shapes) != 1:
            return False
        rows, cols = shapes.pop()
        r, c = np.indices((min(rows, 1024), min(cols, 1024)))
        first, *others = (offset(fit.layout, r, c, rows_padded=rows, cols_padded=cols) for fit in self.fits)
        return all(np.array_equal(first, other) for other in others)


def infer(logical: NDArray[np.uint8], image: NDArray[np.uint8], layouts: Sequence[Layout]) -> Inference:
    """The order that takes `logical`, uint8 (rows, cols), to the flat uint8 `image`, which may be padded.

    Raises InputError where all logical bytes are equal or the image is smaller than the logical array.
    """
    require_varied(logical)
    if image.size < logical.size:
        raise InputError(f"expected an image of at least {logical.size} bytes, found {image.size}")
    known = tuple(fits(image, logical, layouts))
    for rows, cols in _blocks(logical, image):
        block = np.ascontiguousarray(logical[:rows, :cols]).reshape(-1)
        masks = solve_bits(block, image[: rows * cols])
        if not all(masks):
            continue
        names = _bit_names(rows, cols)
        texts = [" or ".join(_mask_text(mask, names) for mask in options) for options in masks]
        undecided = tuple(f"bit {bit}: {text}" for bit, text in enumerate(texts) if len(masks[bit]) > 1)
        if undecided:
            return Inference(fits=known, bits=tuple(texts), block=(rows, cols), undecided=undecided)
        single = [options[0] for options in masks]
        if len(set(single)) != len(single) or not _explains(single, block, image):
            continue
        solved = None
        if all(mask.bit_count() == 1 for mask in single):
            solved = _whole(single, (rows, cols), logical, image)
        if solved is not None or (rows, cols) == logical.shape:
            return Inference(fits=known, bits=tuple(texts), block=(rows, cols), solved=solved)
    return Inference(fits=known)


def _blocks(logical: NDArray[np.uint8], image: NDArray[np.uint8]) -> Iterator[tuple[int, int]]:
    """Shapes, powers of two, of the logical array's first rows and columns that are the image's first bytes.

    The largest first: the more bytes, the surer each bit.
    """
    rows, cols = logical.shape
    shapes = [
        (1 << i, 1 << j)
        for i in range(rows.bit_length())
        for j in range(cols.bit_length())
        if 1 <= i + j <= MAX_BITS
    ]
    weights = np.random.default_rng(1).integers(0, 1 << 40, 256, dtype=np.int64)
    sums = np.cumsum(weights[image[: 1 << MAX_BITS]])
    for shape in sorted(shapes, key=lambda shape: (-shape[0] * shape[1], -shape[0])):
        size = shape[0] * shape[1]
        if size <= image.size and int(weights[logical[: shape[0], : shape[1]]].sum()) == int(sums[size - 1]):
            yield shape


def _bit_names(rows: int, cols: int) -> list[str]:
    """Names of the bits of the index r * cols + c, lowest first."""
    return [f"c{i}" for i in range(cols.bit_length() - 1)] + [f"r{i}" for i in range(rows.bit_length() - 1)]


def _mask_text(mask: int, names: list[str]) -> str:
    return "^".join(name for bit, name in enumerate(names) if mask >> bit & 1)


def _explains(masks: list[int], block: NDArray[np.uint8], image: NDArray[np.uint8]) -> bool:
    index = np.arange(block.size)
    places = np.zeros_like(index)
    for bit, mask in enumerate(masks):
        places |= (np.bitwise_count(index & mask).astype(np.int64) & 1) << bit
    return bool((image[places] == block).all())


def _whole(
    masks: list[int], block: tuple[int, int], logical: NDArray[np.uint8], image: NDArray[np.uint8]
) -> Fit | None:
    """The layout that the bits of the first block mean, continued over the whole array, if it explains all of it."""
    for pattern in _patterns(masks, block, logical.shape):
        layout = Layout(
            name="solved",
            tensor=Tensor.ANY,
            pattern=pattern,
            unit="byte",
            doc="Solved from an array and its image.",
        )
        for rows, cols in padded_shapes(layout, logical.shape, image.size):
            if holds(image, logical, rule_of(layout, rows, cols)):
                return Fit(layout, rows, cols)
    return None


def _patterns(masks: list[int], block: tuple[int, int], shape: tuple[int, ...]) -> Iterator[str]:
    """Patterns that repeat the block along rows and columns, in either order."""
    col_bits = block[1].bit_length() - 1
    runs: list[
        tuple[str, int, int]
    ] = []  # side, lowest bit of its index, number of bits; fastest in memory first
    for mask in masks:
        bit = mask.bit_length() - 1
        side, low = ("k", bit) if bit < col_bits else ("m", bit - col_bits)
        if runs and runs[-1][0] == side and runs[-1][1] + runs[-1][2] == low:
            runs[-1] = (side, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((side, low, 1))
    repeats = [
        (side, bits)
        for side, bits, whole in (("m", block[0], shape[0]), ("k", block[1], shape[1]))
        if bits < whole
    ]
    outer = [side for side, _ in repeats]
    names = _axis_names(runs, repeated=outer)
    memory = [names[run] for run in reversed(runs)]
    groups = {
        side: " ".join(
            ([f"{side}o"] if side in outer else [])
            + [names[run] for run in sorted(runs, key=lambda r: -r[1]) if run[0] == side]
        )
        or side
        for side in "mk"
    }
    extra = [f"{side}o" for side in outer]
    memory += [side for side in "mk" if groups[side] == side and side not in memory]
    for order in {tuple(extra), tuple(reversed(extra))}:
        yield f"({groups['m']}) ({groups['k']}) -> {' '.join((*order, *memory))}"


def _axis_names(runs: list[tuple[str, int, int]], *, repeated: list[str]) -> dict[tuple[str, int, int], str]:
    """`m16`, or `ma2`, `mb2` where two have one extent; the slowest of a side that is not repeated is free."""
    names: dict[tuple[str, int, int], str] = {}
    for side in "mk":
        own = sorted((run for run in runs if run[0] == side), key=lambda run: -run[1])
        fixed = own if side in repeated else own[1:]
        if own and side not in repeated:
            names[own[0]] = f"{side}o"
        extents = [1 << bits for _, _, bits in fixed]
        for position, run in enumerate(fixed):
            letter = (
                "abcdefgh"[extents[:position].count(extents[position])]
                if extents.count(extents[position]) > 1
                else ""
            )
            names[run] = f"{side}{letter}{extents[position]}"
    return names
