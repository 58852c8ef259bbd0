"""Holds measured tables against a launch on random bytes: whatever single products did not show would show here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.numerics import compare, mxfp4_gemm_reference
from argpack.numerics.reference import SCALE_BLOCK
from argpack.probe.subject import SCALE_A, SCALE_B, A, B, ProbeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.numerics import Verdict
    from argpack.probe.subject import Subject
    from argpack.probe.tables import Table

_SCALES = (120, 135)  # 2^-7 to 2^7


def confirm(subject: Subject, tables: Mapping[str, Table], *, seed: int = 0) -> Verdict:
    """Fill all buffers with random bytes, those of no table too, launch, and compare with the product that the
    tables predict in float64. Raises ProbeError for scales of other blocks than MX has.
    """
    rng = np.random.default_rng(seed)
    contents = {name: rng.integers(0, 256, subject.sizes[name], np.uint8) for name in (A, B)}
    contents |= {name: rng.integers(*_SCALES, subject.sizes[name], np.uint8) for name in (SCALE_A, SCALE_B)}
    logical = {name: contents[name][tables[name].offsets] for name in contents}
    for name in (SCALE_A, SCALE_B):
        length = tables[name].per_byte
        if length % SCALE_BLOCK:
            raise ProbeError(
                f"{subject.name}: {name}: expected a scale for a multiple of {SCALE_BLOCK} elements, found {length}"
            )
        logical[name] = np.repeat(logical[name], length // SCALE_BLOCK, axis=1)
    reference = mxfp4_gemm_reference(logical[A], logical[SCALE_A], logical[B], logical[SCALE_B])
    return compare(subject.output(**contents), reference, dtype="bfloat16")
