"""Mistakes in the argument buffer that any GEMM can have: strides in another unit, sizes exchanged, factors lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.explain.hypothesis import Hypothesis
from argpack.explain.situation import with_values
from argpack.families.family import Usage
from argpack.schema import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from argpack.explain.situation import Situation
    from argpack.families import Problem
    from argpack.schema import Field, KernargSchema

_PADDINGS = (64, 128, 256)  # elements
# How many bytes, or how much of one, an element of a unit has.
_BYTES = {"fp4 elements": 0.5, "bf16 elements": 2, "f32 elements": 4}


def hypotheses(
    schema: KernargSchema, usage: Mapping[str, Usage], problem: Problem, *, stride_field: str
) -> Iterator[Hypothesis]:
    """`stride_field` is the one that D's row stride is taken from, so that wrong values move outputs."""
    strides = [f for f in schema.fields if f.role is Role.STRIDE and usage[f.name] is Usage.LIVE]
    for field in strides:
        if field.unit in _BYTES:
            yield _in_bytes(field, moves=field.name == stride_field)
    for field in strides:
        for times, words in ((2, "twice what it should be"), (0.5, "half of what it should be")):
            if _BYTES.get(field.unit) != times:
                yield _scaled(field, times, words, moves=field.name == stride_field)
        if field.unit in _BYTES:
            yield from _padded(field, moves=field.name == stride_field)
    yield from _sizes_exchanged(stride_field, problem)
    yield from _factors(problem, usage)


def zero_stride(stride_field: str, unread: str = "") -> Hypothesis:
    """D's row stride is 0 where the kernel takes it from; `unread` is a field of that meaning that it never loads."""
    return Hypothesis(
        name=f"{stride_field} left zero",
        what=f"{stride_field} is 0, so that all rows of D are written over one another; the kernel takes D's row "
        f"stride from there{f' and never reads {unread}' if unread else ''}",
        fix=f"write D's row stride, in elements, into {stride_field}",
        build=_setting(stride_field, lambda _: 0),
        local=False,
        screen=lambda output: one_value(output[1:]),
    )


def unpadded_stride(field: str, columns: int, padded: int) -> Hypothesis:
    """A row stride of scales that leaves their padding columns out."""
    return Hypothesis(
        name=f"{field} unpadded",
        what=f"{field} is {columns}, the scale columns without their padding to {padded}",
        fix=f"set it to {padded}: K/32 rounded up",
        build=_setting(field, lambda _: columns),
    )


def _in_bytes(field: Field, *, moves: bool) -> Hypothesis:
    size = _BYTES[field.unit]
    return Hypothesis(
        name=f"{field.name} in bytes",
        what=f"{field.name} counts bytes, the kernel takes {field.unit}: it is {_factor(size)} what it should be",
        fix=f"pass {field.unit}, {_factor(1 / size)} the bytes of a row",
        build=_setting(field.name, lambda value: value * size),
        local=not moves,
    )


def _scaled(field: Field, times: float, words: str, *, moves: bool) -> Hypothesis:
    return Hypothesis(
        name=f"{field.name} {'doubled' if times == 2 else 'halved'}",
        what=f"{field.name} is {words}",
        fix=f"pass it in {field.unit}",
        build=_setting(field.name, lambda value: value * times),
        local=not moves,
    )


def _padded(field: Field, *, moves: bool) -> Iterator[Hypothesis]:
    """The stride of rows that are longer than they are: padded in one place and not in the other."""
    for multiple in _PADDINGS:
        yield Hypothesis(
            name=f"{field.name} of rows padded to {multiple}",
            what=f"{field.name} is rounded up to a multiple of {multiple}, the rows in memory are not padded",
            fix="take the stride of the memory that is passed, padded or not, in all places",
            build=_rounding_up(field.name, multiple),
            local=not moves,
        )


def _sizes_exchanged(stride_field: str, problem: Problem) -> Iterator[Hypothesis]:
    if problem.m == problem.n:
        return
    fix = "M is the rows of A and D, N the columns of D"

    def fields(right: Situation) -> Situation:
        return with_values(right, M=right.values["N"], N=right.values["M"])

    def with_stride(right: Situation) -> Situation:
        return with_values(fields(right), **{stride_field: right.values["M"]})

    what = f"the fields M and N are exchanged: {problem.n} and {problem.m}"
    yield Hypothesis(name="M and N exchanged", what=what, fix=fix, build=fields, local=False)
    yield Hypothesis(
        name="M and N exchanged, D's stride with them",
        what=f"{what}, and D's row stride is {problem.m}",
        fix=fix,
        build=with_stride,
        local=False,
    )


def _factors(problem: Problem, usage: Mapping[str, Usage]) -> Iterator[Hypothesis]:
    for name, wanted, ignored in (("alpha", problem.alpha, 1.0), ("beta", problem.beta, 0.0)):
        if wanted != ignored:
            yield Hypothesis(
                name=f"{name} ignored",
                what=f"{name} is not applied: {wanted:g} was meant, the output is that of {ignored:g}",
                fix=f"see whether this kernel applies {name}, and that its 4 bytes hold a float32",
                build=_setting_to(name, ignored),
            )
        if name == "alpha" and usage[name] is Usage.LIVE:
            yield Hypothesis(
                name="alpha zero",
                what=f"alpha arrives as 0: it was left zero, or is the integer {int(wanted)} where a float32 belongs",
                fix=f"pass alpha {wanted:g} as a float32, whatever type the metadata gives it",
                build=_setting(name, lambda _: 0.0),
            )


def one_value(outputs: NDArray[np.unsignedinteger]) -> bool:
    """Whether outputs that were not written can be these: all the same."""
    return outputs.size == 0 or bool((outputs == outputs.flat[0]).all())


def _setting(name: str, value: Callable[[float], float]) -> Callable[[Situation], Situation | None]:
    def build(right: Situation) -> Situation | None:
        old = right.values[name]
        new = value(old)
        if isinstance(old, int):
            if new != int(new) or not 0 <= new < 1 << 32:
                return None
            new = int(new)
        return with_values(right, **{name: new})

    return build


def _rounding_up(name: str, multiple: int) -> Callable[[Situation], Situation | None]:
    return _setting(name, lambda value: -(-value // multiple) * multiple)


def _setting_to(name: str, value: float) -> Callable[[Situation], Situation | None]:
    return lambda right: with_values(right, **{name: value})


def _factor(size: float) -> str:
    return f"{size:g} times" if size > 1 else "half of" if size == 0.5 else f"1/{1 / size:g} of"
