"""Mistakes that show in the numbers alone: a uniform factor of two, another rounding to bf16."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.explain.hypothesis import Numbers
from argpack.numerics import Rounding, float64_to_bf16

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from argpack.explain.outputs import Bits, Form
    from argpack.numerics import Reference


def hypotheses(form: Form, reference: Reference) -> Iterator[Numbers]:
    """Factors of the right output; for bf16 the roundings of the `reference` that are not to nearest even."""
    for factor, cause in (
        (2.0, "float8 OCP taken for fnuz, or a scale read one step high"),
        (0.5, "float8 fnuz taken for OCP, or a scale read one step low"),
        (4.0, "both operands two times too large: fnuz/OCP on both sides?"),
        (0.25, "both operands half as large: fnuz/OCP on both sides?"),
        (-1.0, "a sign"),
    ):
        yield Numbers(
            name=f"uniform factor {factor:g}",
            what=f"every output is {factor:g} times the right one: {cause}",
            fix="convert the operands once, by the format they are in: fnuz has a bias one larger than OCP",
            change=_times(form, factor),
        )
    if form.dtype == "bfloat16":
        for rounding in (Rounding.TOWARD_ZERO, Rounding.AWAY):
            yield Numbers(
                name=f"rounded {rounding}",
                what=f"the outputs are rounded to bf16 {rounding}, the kernel rounds to nearest even",
                fix="convert float32 to bf16 to nearest even where the output is converted on the way",
                change=_rounded(reference, rounding),
                share=0.99,
            )


def _rounded(reference: Reference, rounding: Rounding) -> Callable[[Bits], Bits]:
    return lambda _: float64_to_bf16(reference.values, rounding=rounding)


def _times(form: Form, factor: float) -> Callable[[Bits], Bits]:
    def change(bits: Bits) -> Bits:
        with np.errstate(over="ignore", invalid="ignore"):
            values = form.values(bits).astype(np.float64) * factor
            if form.dtype == "bfloat16":
                return float64_to_bf16(values)
            return values.astype(np.float32).view(np.uint32)

    return change
