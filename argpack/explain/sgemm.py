"""What can go wrong in a launch of argpack's own sgemm: the right launch of a problem, and hypotheses about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from argpack.explain import fields, grids, numbers
from argpack.explain.hypothesis import Hypothesis
from argpack.explain.outputs import Form
from argpack.explain.scene import Placed, Scene
from argpack.explain.situation import Situation, with_images, with_targets
from argpack.families.own_sgemm.buffers import BLOCK, SENTINEL
from argpack.families.own_sgemm.operands import random_operands
from argpack.families.own_sgemm.schema import SCHEMA, usage
from argpack.families.own_sgemm.workload import field_values, refusals
from argpack.numerics import sgemm_reference
from scale_layout import layout_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.explain.hypothesis import Numbers
    from argpack.families import Family, Problem

FORM = Form(dtype="float32", sentinel=SENTINEL)
STRIDE_FIELD = "stride_D"
ITEM = np.dtype(np.float32)
_TILES = ((8, 8), (16, 16), (32, 32), (64, 64), (128, 128))


def random_logical(problem: Problem) -> dict[str, NDArray[np.generic]]:
    """The operands that `argpack verify` makes for this problem and seed."""
    made = random_operands(problem)
    found: dict[str, NDArray[np.generic]] = {"A": made.a, "B": made.b}
    return found if made.c is None else {**found, "C": made.c}


def shapes(problem: Problem) -> dict[str, tuple[int, int]]:
    """Rows and columns of each logical operand, float32."""
    found = {"A": (problem.m, problem.k), "B": (problem.k, problem.n)}
    return found if problem.beta == 0 else {**found, "C": (problem.m, problem.n)}


def sizes(name: str, shape: tuple[int, int]) -> dict[str, int]:
    """What a logical operand of `shape`, (rows, bytes), tells."""
    rows, columns = shape[0], shape[1] // ITEM.itemsize
    return {"A": {"m": rows, "k": columns}, "B": {"k": rows, "n": columns}}.get(
        name, {"m": rows, "n": columns}
    )


def image_size(kernel_name: str, problem: Problem, name: str) -> int:
    """Bytes that a buffer needs at least."""
    usage(kernel_name)
    return math.prod(shapes(problem)[name]) * ITEM.itemsize


def read_image(
    kernel_name: str, problem: Problem, name: str, image: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """The logical operand that the kernel reads out of an image."""
    size = image_size(kernel_name, problem, name)
    return image[:size].copy().view(np.float32).reshape(shapes(problem)[name])


def scene(
    code_object: CodeObject,
    kernel: Kernel,
    family: Family,
    problem: Problem,
    logical: Mapping[str, NDArray[np.generic]],
    memory: tuple[int, int] | None = None,
) -> Scene:
    """`logical` operands as `shapes` says. `memory` is (rows, row stride) of D in elements, else dense.

    Raises InputError where there is no such problem.
    """
    refusals(kernel.name, problem)
    operands = {name: np.ascontiguousarray(one, np.float32) for name, one in logical.items()}
    rows, stride = memory or (problem.m, problem.n)
    x, y = -(-problem.n // BLOCK[0]), -(-problem.m // BLOCK[1])
    right = Situation(
        images={name: _flat(one) for name, one in operands.items()},
        values={
            name: value
            for name, value in {**field_values(problem), "stride_D": stride}.items()
            if not name.startswith("ptr_")
        },
        targets={"ptr_D": "D", **{f"ptr_{name}": name for name in operands}},
        grid=(x, y, 1),
    )
    reference = sgemm_reference(
        operands["A"],
        np.ascontiguousarray(operands["B"].T),
        operands.get("C"),
        alpha=problem.alpha,
        beta=problem.beta,
    )
    plain = layout_named("row_major")
    return Scene(
        code_object=code_object,
        kernel=kernel,
        family=family,
        problem=problem,
        tile=(BLOCK[1], BLOCK[0]),
        block=BLOCK,
        form=FORM,
        rows=rows,
        stride=stride,
        writes_whole_tiles=False,
        pointers={f"ptr_{name}": name for name in ("D", "A", "B", "C")},
        stride_field=STRIDE_FIELD,
        placed={name: Placed(operand=one, layout=plain) for name, one in operands.items()},
        slices=1,
        right=right,
        reference=reference,
        hypotheses=tuple(_hypotheses(problem, right, operands)) + tuple(numbers.hypotheses(FORM, reference)),
    )


def _hypotheses(
    problem: Problem, right: Situation, operands: Mapping[str, NDArray[np.float32]]
) -> Iterator[Hypothesis | Numbers]:
    for name, size in (("A", f"{problem.m} x {problem.k}"), ("B", f"{problem.k} x {problem.n}")):
        yield Hypothesis(
            name=f"{name} transposed",
            what=f"{name} lies column by column, the kernel reads {size} row by row",
            fix=f"transpose {name}, or exchange the operands: Dᵀ = Bᵀ·Aᵀ",
            build=_placing(name, operands[name].T),
        )
    if operands["A"].size == operands["B"].size:
        yield Hypothesis(
            name="A and B exchanged",
            what="ptr_A points to B and ptr_B to A",
            fix="exchange the two pointers",
            build=lambda right: with_targets(right, ptr_A="B", ptr_B="A"),
        )
    yield fields.zero_stride("stride_D")
    yield from fields.hypotheses(SCHEMA, usage(SCHEMA.name), problem, stride_field=STRIDE_FIELD)
    yield from grids.hypotheses(problem, right.grid, BLOCK, (BLOCK[1], BLOCK[0]), _TILES, lambda tile: tile)


def _placing(name: str, operand: NDArray[np.float32]) -> Callable[[Situation], Situation]:
    return lambda right: with_images(right, **{name: _flat(operand)})


def _flat(operand: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(operand).reshape(-1).view(np.uint8)
