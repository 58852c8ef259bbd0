"""What can go wrong in a launch of an AITER f4gemm kernel: the right launch of a problem, and hypotheses about it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from argpack.explain import fields, grids, numbers, scales, weights
from argpack.explain.outputs import Form
from argpack.explain.scene import Placed, Scene
from argpack.explain.situation import Situation
from argpack.families.aiter_f4gemm import limits
from argpack.families.aiter_f4gemm.arguments import POINTERS, field_values
from argpack.families.aiter_f4gemm.geometry import BLOCK, SCALE_BLOCK, SCALE_COLUMNS, grid, k_slices, round_up
from argpack.families.aiter_f4gemm.judge import SENTINEL
from argpack.families.aiter_f4gemm.names import parse
from argpack.families.aiter_f4gemm.operands import random_operands
from argpack.families.aiter_f4gemm.order import workgroup_of
from argpack.families.aiter_f4gemm.placement import SCALE_LAYOUT, SCALE_PAD, b_layout
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.aiter_f4gemm.usage import usage
from argpack.numerics import mxfp4_gemm_reference
from scale_layout import apply, invert, layout_named, padded_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.explain.hypothesis import Hypothesis
    from argpack.families import Family, Problem
    from argpack.families.aiter_f4gemm.names import Variant
    from scale_layout import Layout

FORM = Form(dtype="bfloat16", sentinel=SENTINEL)
STRIDE_FIELD = "stride_C0"
ITEM = np.dtype(np.uint8)
# The tiles that AITER has kernels of are among these: rows by columns.
_TILES = tuple((rows, columns) for rows in range(32, 257, 32) for columns in range(128, 1025, 128))

# What a refusal is about, by a word of it.
_LIMITS = (
    ("alpha", "alpha ignored"),
    ("beta", "beta ignored"),
    ("log2_k_split", "split-K not supported"),
    ("N must be", "N is not a multiple of what the kernel needs"),
    ("resource", "an extent of more than 32 bits"),
    ("grid", "grid too large"),
)


def random_logical(problem: Problem) -> dict[str, NDArray[np.generic]]:
    """The operands that `argpack verify` makes for this problem and seed."""
    made = random_operands(problem)
    return {"A": made.a_codes, "B": made.b_codes, "ScaleA": made.a_scales, "ScaleB": made.b_scales}


def shapes(problem: Problem) -> dict[str, tuple[int, int]]:
    """Rows and columns of each logical operand, uint8: packed fp4 codes and E8M0 scales."""
    packed, blocks = problem.k // 2, problem.k // SCALE_BLOCK
    return {
        "A": (problem.m, packed),
        "B": (problem.n, packed),
        "ScaleA": (problem.m, blocks),
        "ScaleB": (problem.n, blocks),
    }


def sizes(name: str, shape: tuple[int, int]) -> dict[str, int]:
    """m or n, and k, of a logical operand of `shape`, (rows, bytes)."""
    per_byte = 2 if name in {"A", "B"} else SCALE_BLOCK
    return {"m" if name in {"A", "ScaleA"} else "n": shape[0], "k": shape[1] * per_byte}


def image_size(kernel_name: str, problem: Problem, name: str) -> int:
    """Bytes that a buffer needs at least."""
    rows, columns, _, _ = _image(kernel_name, problem, name)
    return rows * columns


def read_image(kernel_name: str, problem: Problem, name: str, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The logical operand that the kernel reads out of an image."""
    rows, columns, layout, multiple = _image(kernel_name, problem, name)
    shape = shapes(problem)[name]
    return invert(layout, image[: rows * columns], rows=shape[0], cols=shape[1], col_multiple=multiple)


def _image(kernel_name: str, problem: Problem, name: str) -> tuple[int, int, Layout, int | None]:
    """Padded rows and columns of an image, its layout, what columns are padded to."""
    layout, multiple = layout_named("row_major"), None
    if name == "B":
        layout = layout_named(b_layout(parse(kernel_name)))
    elif name in scales.BOTH:
        layout, multiple = layout_named(SCALE_LAYOUT), SCALE_COLUMNS
    return *padded_shape(layout, *shapes(problem)[name], col_multiple=multiple), layout, multiple


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
    limits.check_problem(problem)
    variant = parse(kernel.name)
    a, b = (_bytes(logical[name]) for name in ("A", "B"))
    marks = _scales(variant, logical)
    layout = layout_named(b_layout(variant))
    slices = k_slices(variant, problem)
    count = grid(variant, problem)
    stride = memory[1] if memory else problem.n
    rows = memory[0] if memory else problem.m
    right = Situation(
        images={
            "A": a.reshape(-1),
            "B": apply(layout, b, pad_value=0),
            "ScaleA": marks.image("ScaleA"),
            "ScaleB": marks.image("ScaleB"),
        },
        values={
            name: value
            for name, value in {**field_values(problem), "stride_C0": stride}.items()
            if name not in POINTERS
        },
        targets={name: buffer for name, buffer in POINTERS.items() if buffer != "C"},
        grid=count,
        before=np.zeros((problem.m, problem.n), np.uint16) if _accumulates(variant, problem) else None,
    )
    reference = mxfp4_gemm_reference(
        a, marks.logical["ScaleA"], b, marks.logical["ScaleB"], alpha=problem.alpha, k_slices=slices
    )
    return Scene(
        code_object=code_object,
        kernel=kernel,
        family=family,
        problem=problem,
        tile=(variant.tile_m, variant.tile_n),
        block=BLOCK,
        form=FORM,
        rows=max(rows, round_up(problem.m, limits.output_rows(variant))),
        stride=stride,
        writes_whole_tiles=limits.writes_whole_tiles(variant),
        pointers=POINTERS,
        stride_field=STRIDE_FIELD,
        placed={
            "A": Placed(operand=a, layout=layout_named("row_major"), other=b),
            "B": Placed(operand=b, layout=layout, other=a),
            **{
                name: Placed(
                    operand=marks.logical[name],
                    layout=marks.layout,
                    columns=marks.columns,
                    pad=marks.pad,
                    other=marks.logical[other],
                )
                for name, other in (scales.BOTH, scales.BOTH[::-1])
            },
        },
        slices=len(slices),
        right=right,
        reference=reference,
        hypotheses=tuple(_hypotheses(variant, problem, right, (a, b), marks, len(slices)))
        + tuple(numbers.hypotheses(FORM, reference)),
        untestable=tuple(
            f"layouts of the scales of {scales.NAMES[name]}: all of them are equal, and equal values look the same in "
            "every order"
            for name in scales.BOTH
            if name not in marks.varied
        ),
        limits=tuple((_limit_name(reason), reason) for reason in limits.refusals(variant, problem)),
    )


def _hypotheses(
    variant: Variant,
    problem: Problem,
    right: Situation,
    operands: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    marks: scales.Scales,
    slices: int,
) -> Iterator[Hypothesis]:
    """What is frequent first; layouts and grids, which are many, last."""
    use = usage(variant.name)
    columns = problem.k // SCALE_BLOCK
    padded = round_up(columns, SCALE_COLUMNS)
    order = list(scales.hypotheses(marks))
    others = [one for one in order if one.name.startswith("scales tiled")]
    yield from (one for one in order if one not in others)
    yield from weights.hypotheses(*operands, layout_named(b_layout(variant)))
    yield fields.zero_stride("stride_C0", "stride_D0")
    if columns != padded:
        for name in ("stride_ScaleA0", "stride_ScaleB0"):
            yield fields.unpadded_stride(name, columns, padded)
    yield from fields.hypotheses(SCHEMA, use, problem, stride_field=STRIDE_FIELD)
    if _accumulates(variant, problem):
        yield grids.not_zeroed()
        yield from grids.split_hypotheses(problem.log2_k_split, right.grid, slices)
    yield from grids.hypotheses(
        problem,
        right.grid,
        BLOCK,
        (variant.tile_m, variant.tile_n),
        _TILES,
        functools.partial(workgroup_of, variant, problem),
    )
    yield from others


def _accumulates(variant: Variant, problem: Problem) -> bool:
    """Whether the launch adds to D: it does where it is told to split, even where a single slice is left."""
    return variant.splits_k and problem.log2_k_split > 0


def _limit_name(reason: str) -> str:
    return next((name for word, name in _LIMITS if word in reason), "known limit")


def _scales(variant: Variant, logical: Mapping[str, NDArray[np.generic]]) -> scales.Scales:
    return scales.Scales(
        logical={name: _bytes(logical[name]) for name in scales.BOTH},
        layout=layout_named(SCALE_LAYOUT),
        pad=SCALE_PAD,
        rows={
            "ScaleA": limits.scale_rows(variant)[0],
            "ScaleB": limits.scale_rows(variant)[1],
        },
        columns=SCALE_COLUMNS,
    )


def _bytes(operand: NDArray[np.generic]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(operand).view(np.uint8)
