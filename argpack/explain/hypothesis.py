"""What a hypothesis is: a name, how to build the wrong launch from the right one, and words for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from argpack.explain.situation import Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """One mistake that a host can make. `what` says it in a sentence, `fix` what to do instead.

    `build` makes the wrong launch from the right one; None where it cannot be made wrong in this way. `local` says
    that the launch writes each output tile by the workgroup that should: then one tile is enough to refute it.
    `screen` looks at the output found, bits (M, N), and says whether a launch is worth it. `evidence` adds a sentence
    about the wrong launch, how many scales land elsewhere say.
    """

    name: str
    what: str
    fix: str
    build: Callable[[Situation], Situation | None]
    local: bool = True
    screen: Callable[[NDArray[np.unsignedinteger]], bool] | None = None
    evidence: Callable[[Situation], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """A mistake that no launch makes: what it turns the right output into. Bits in, bits out, both (M, N).

    `share` of the outputs must be equal for it to count; the rest may be 1 ulp away, as sums have another order.
    """

    name: str
    what: str
    fix: str
    change: Callable[[NDArray[np.unsignedinteger]], NDArray[np.unsignedinteger]]
    share: float = 1.0
