"""Mistakes with packed fp4 operands: B not preshuffled, twice, in another tiling; nibbles in another order.

Logical operands are uint8 (rows, K/2), two codes a byte, low nibble first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.explain.hypothesis import Hypothesis
from argpack.explain.situation import with_images
from scale_layout import (
    LAYOUTS,
    NIBBLE_ORDERS,
    Tensor,
    apply,
    nibble_order_named,
    pack_nibbles,
    unpack_nibbles,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from argpack.explain.situation import Situation
    from scale_layout import Layout

    Bytes = NDArray[np.uint8]

_MX = nibble_order_named("mx")


def hypotheses(a: Bytes, b: Bytes, layout: Layout) -> Iterator[Hypothesis]:
    """`a` and `b` are logical; `layout` is what the kernel reads B in, row_major for one that wants it as it is."""
    yield from _preshuffle(a, b, layout)
    yield from _nibbles(a, b, layout)


def _preshuffle(a: Bytes, b: Bytes, layout: Layout) -> Iterator[Hypothesis]:
    if layout.tensor is Tensor.WEIGHTS:
        yield Hypothesis(
            name="B not preshuffled",
            what=f"B lies row by row, the kernel reads it preshuffled ({layout.name})",
            fix=f"preshuffle B: `argpack layout apply --layout {layout.name}` or AITER's shuffle_weight; or take a "
            "noBpreShuffle kernel",
            build=_placing("B", lambda: b.reshape(-1)),
        )
        yield Hypothesis(
            name="B preshuffled twice",
            what=f"B was preshuffled ({layout.name}) twice",
            fix="preshuffle B once: the shuffle does not undo itself, and a copy of the tensor forgets that it is done",
            build=_placing("B", lambda: _again(layout, apply(layout, b, pad_value=0), b.shape)),
        )
        yield Hypothesis(
            name="A preshuffled",
            what=f"A was preshuffled ({layout.name}), too; the kernel reads it row by row",
            fix="preshuffle B alone",
            build=_placing("A", lambda: apply(layout, a, pad_value=0)[: a.size]),
        )
    for other in LAYOUTS:
        if other.tensor is not Tensor.WEIGHTS or other.pattern == layout.pattern:
            continue
        what = "row by row" if layout.tensor is not Tensor.WEIGHTS else f"preshuffled as {layout.name}"
        plain = layout.tensor is not Tensor.WEIGHTS and other.name == "weight_16x16"
        fix = (
            "give B as it is"
            if layout.tensor is not Tensor.WEIGHTS
            else f"`argpack layout apply --layout {layout.name}`"
        )
        yield Hypothesis(
            name="B preshuffled" if plain else f"B preshuffled as {other.name}",
            what=f"B is preshuffled as {other.name}, the kernel reads it {what}",
            fix=fix,
            build=_placing("B", _as(other, b)),
        )


def _again(layout: Layout, image: Bytes, shape: tuple[int, ...]) -> Bytes | None:
    return apply(layout, image.reshape(shape), pad_value=0) if image.size == shape[0] * shape[1] else None


def _as(layout: Layout, b: Bytes) -> Callable[[], Bytes | None]:
    def image() -> Bytes | None:
        try:
            return apply(layout, b, pad_value=0)
        except InputError:
            return None  # no image of this shape

    return image


def _nibbles(a: Bytes, b: Bytes, layout: Layout) -> Iterator[Hypothesis]:
    for order in NIBBLE_ORDERS:
        if order is _MX:
            continue
        name = "nibbles swapped" if order.name == "high_first" else f"nibbles in order {order.name}"
        either = " on one side" if order.name == "high_first" else ""
        for operand, logical in (("A", a), ("B", b)):
            yield Hypothesis(
                name=f"{name}{either} ({operand})",
                what=f"the fp4 codes of {operand} alone are packed as {order.name} ({order.doc}), the kernel takes "
                "code 2i from the low nibble of byte i",
                fix=f"pack {operand} with the even code of each pair in the low nibble",
                build=_placing(operand, _packed(order.name, operand, logical, layout)),
            )
        yield Hypothesis(
            name=f"{name} (A and B)",
            what=f"the fp4 codes of A and B are packed as {order.name} ({order.doc}), other blocks of 32 share a scale",
            fix="pack both with the even code of each pair in the low nibble",
            build=_both(_packed(order.name, "A", a, layout), _packed(order.name, "B", b, layout)),
        )


def _packed(order: str, operand: str, logical: Bytes, layout: Layout) -> Callable[[], Bytes | None]:
    def image() -> Bytes | None:
        try:
            packed = pack_nibbles(nibble_order_named(order), unpack_nibbles(_MX, logical))
        except InputError:
            return None  # K is no multiple of the order's block
        return packed.reshape(-1) if operand == "A" else apply(layout, packed, pad_value=0)

    return image


def _placing(name: str, image: Callable[[], Bytes | None]) -> Callable[[Situation], Situation | None]:
    def build(right: Situation) -> Situation | None:
        made = image()
        return None if made is None else with_images(right, **{name: made})

    return build


def _both(
    a: Callable[[], Bytes | None], b: Callable[[], Bytes | None]
) -> Callable[[Situation], Situation | None]:
    def build(right: Situation) -> Situation | None:
        images = a(), b()
        return (
            None if images[0] is None or images[1] is None else with_images(right, A=images[0], B=images[1])
        )

    return build
