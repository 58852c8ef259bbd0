"""Holds a replay that is not byte for byte as recorded against a bound: GPUs add floats in another order.

The bound is the verdict's own where the kernel's family is known, else what the user states; it is never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from argpack.errors import InputError
from argpack.numerics import bf16_to_float32, compare
from argpack.numerics.compare import ordinal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.families.family import ExpectedOutput
    from argpack.launch import Launch
    from argpack.numerics import Verdict

    Contents = Mapping[str, NDArray[np.uint8]]

TYPES: dict[str, np.dtype[Any]] = {
    "bf16": np.dtype(np.uint16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
}


@dataclass(frozen=True, slots=True)
class Bound:
    """Elements of `type` (a key of TYPES) may be `ulp` numbers of their type apart, or `rtol` times the recorded one.

    One of the two is None.
    """

    type: str
    ulp: int | None = None
    rtol: float | None = None

    def __str__(self) -> str:
        """In words."""
        if self.rtol is not None:
            return f"{self.rtol:g} of the recorded value, {self.type}, as asked for"
        return f"{self.ulp} ulp of {self.type}, as asked for"


@dataclass(frozen=True, slots=True)
class ByReference:
    """Verdicts on the recorded and the replayed output, and how many bytes beside the output differ."""

    recorded: Verdict
    replayed: Verdict
    beside: int

    @property
    def passed(self) -> bool:
        """Whether both are right, and nothing else differs."""
        return self.recorded.passed and self.replayed.passed and not self.beside


@dataclass(frozen=True, slots=True)
class ByElements:
    """A buffer that differs: how many elements do, how many of them beyond the bound, the first of these.

    `largest` is the largest distance in ulp, or relative; None where one side is no number.
    """

    name: str
    elements: int
    different: int
    beyond: int
    first: int | None
    largest: float | None


def expected_output(launch: Launch) -> ExpectedOutput:
    """What the launch should write, from the operands in its buffers. Raises InputError where that is not known."""
    from argpack.families.choice import family_of_kernel
    from argpack.families.loading import load_workloads

    family = family_of_kernel(launch.kernel, launch.code_object)
    if family is None or family.workload is None:
        raise InputError(f"argpack does not know what {launch.kernel.name} computes")
    return load_workloads(family).expected_output(launch)


def by_reference(expected: ExpectedOutput, recorded: Contents, found: Contents) -> ByReference:
    """Judge both outputs. Each of `recorded` and `found` has every buffer by name, uint8."""
    outputs = [_matrix(expected, contents) for contents in (recorded, found)]
    merged = recorded[expected.buffer].copy()
    _rows(expected, merged)[:] = _rows(expected, found[expected.buffer])
    beside = sum(
        int(np.count_nonzero((merged if name == expected.buffer else data) != found[name]))
        for name, data in recorded.items()
    )
    verdicts = [compare(output, expected.reference, dtype=expected.dtype) for output in outputs]
    return ByReference(verdicts[0], verdicts[1], beside)


def by_elements(bound: Bound, recorded: Contents, found: Contents) -> tuple[ByElements, ...]:
    """Each buffer that differs, as elements from its start. Raises InputError for one of no whole number of them."""
    kind = TYPES[bound.type]
    results = []
    for name, data in recorded.items():
        if np.array_equal(data, found[name]):
            continue
        if data.size % kind.itemsize:
            raise InputError(f"{name}: {data.size:,} bytes are no whole number of {bound.type} elements")
        results.append(_elements(name, bound, data.view(kind), found[name].view(kind)))
    return tuple(results)


def _elements(name: str, bound: Bound, recorded: NDArray[Any], found: NDArray[Any]) -> ByElements:
    different = np.flatnonzero(_bits(recorded) != _bits(found))
    was, now = recorded[different], found[different]
    values = [_values(bound.type, side) for side in (was, now)]
    finite = np.isfinite(values[0]) & np.isfinite(values[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        if bound.rtol is None:
            distance = np.abs(ordinal(_bits(was)) - ordinal(_bits(now))).astype(np.float64)
            allowed = float(bound.ulp or 0)
        else:
            distance = np.abs(values[1] - values[0]) / np.abs(values[0])
            distance[values[0] == values[1]] = 0.0  # zeros of two signs
            allowed = bound.rtol
        # NaN of another payload is still NaN; otherwise what is no number stands for itself alone.
        right = (finite & (distance <= allowed)) | (np.isnan(values[0]) & np.isnan(values[1]))
    beyond = different[~right]
    return ByElements(
        name,
        recorded.size,
        different.size,
        beyond.size,
        int(beyond[0]) if beyond.size else None,
        float(distance[finite].max()) if finite.any() else None,
    )


def _bits(elements: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
    return elements.view(np.uint16 if elements.itemsize == 2 else np.uint32)


def _values(kind: str, elements: NDArray[Any]) -> NDArray[np.float64]:
    numbers = bf16_to_float32(elements) if kind == "bf16" else elements
    return numbers.astype(np.float64)


def _rows(expected: ExpectedOutput, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The output's bytes in its buffer, (rows, bytes of a row), as a view."""
    rows, columns = expected.reference.values.shape
    size = columns * (2 if expected.dtype == "bfloat16" else 4)
    return np.lib.stride_tricks.as_strided(
        data[expected.offset :], (rows, size), (expected.row_bytes, 1), writeable=data.flags.writeable
    )


def _matrix(expected: ExpectedOutput, contents: Contents) -> NDArray[Any]:
    kind = np.uint16 if expected.dtype == "bfloat16" else np.float32
    return np.ascontiguousarray(_rows(expected, contents[expected.buffer])).view(kind)
