"""Which of the integers of inferred buffers may be M, N and K: those that make strides out of the rest.

A stride of a GEMM is a size of the problem, times or by a small power of two; that of block scales K/32 rounded up.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from argpack.schema.infer import Sure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.schema.infer import Guess, Inference

_MOST = 24  # integers looked at; beyond, the triples are too many and too weak
_SHOWN = 3


class Sizes(NamedTuple):
    """Three integers, at these offsets, that may be M, N and K; `explained` are offsets of strides they account for."""

    m: int
    n: int
    k: int
    explained: tuple[int, ...]
    launches: int
    sure: Sure

    @property
    def offsets(self) -> tuple[int, int, int]:
        """Offsets of M, N and K."""
        return self.m, self.n, self.k


def candidates(found: Inference) -> tuple[Sizes, ...]:
    """The best candidates, best first, at most three; empty where nothing suggests any.

    Hosts declare M, N and K one after the other: only integers at equal distances are looked at. Those that differ
    between launches go before those that do not, then those that explain more strides.
    """
    integers = [guess for guess in found.guesses if guess.kind == "integer" and None not in guess.values][
        :_MOST
    ]
    at = {guess.offset: guess for guess in integers}
    ranked = []
    for m, n in itertools.combinations(integers, 2):
        k = at.get(2 * n.offset - m.offset)
        if k is None or n.offset - m.offset > max(found.slot, 8):
            continue
        if not all(all(guess.values) for guess in (m, n, k)):
            continue
        rest = [guess for guess in integers if guess not in (m, n, k)]
        explained = tuple(guess.offset for guess in rest if _explained(guess, (n, k)))
        if explained:
            differ = sum(len(set(guess.values)) > 1 for guess in (m, n, k))
            ranked.append((differ, _rated(m, n, k, explained)))
    ranked.sort(key=lambda one: (-one[0], -len(one[1].explained), one[1].offsets))
    return tuple(sizes for _, sizes in ranked[:_SHOWN])


def _rated(m: Guess, n: Guess, k: Guess, explained: tuple[int, ...]) -> Sizes:
    """Sure where launches of different N and K agree, and strides are explained."""
    launches = len(m.values)
    differ = min(len(set(guess.values)) for guess in (n, k))
    sure = Sure.LOW
    if len(explained) > 1:
        sure = Sure.HIGH if differ > 2 else Sure.MEDIUM if differ > 1 else Sure.LOW
    return Sizes(m.offset, n.offset, k.offset, explained, launches, sure)


def _explained(stride: Guess, extents: Sequence[Guess]) -> bool:
    """Whether one rule gives the stride from one extent in every launch. Values of 1 and 2 agree by chance."""
    if max(int(value or 0) for value in stride.values) < 4:
        return False
    return any(
        all(rule(int(e or 0), int(s or 0)) for e, s in zip(extent.values, stride.values, strict=True))
        for extent, rule in itertools.product(extents, _RULES)
    )


_RULES = (
    lambda extent, stride: stride == extent,
    lambda extent, stride: stride == 2 * extent,
    lambda extent, stride: stride == 4 * extent,
    lambda extent, stride: 2 * stride == extent,
    lambda extent, stride: stride == -(-extent // 32),
    lambda extent, stride: stride == -(-extent // 256) * 8,
)
