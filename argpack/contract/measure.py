"""Measures a contract: which launches in which order. What is found first decides the sizes of those that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack import __version__
from argpack.contract import output, padding, sizes
from argpack.contract.trials import Trials, problem_text
from argpack.contract.values import LIMITS, Argument, Contract, Limit
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.family import Problem
from argpack.trace import perturb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from argpack.codeobject import CodeObject, Kernel

_MEASURED_K = 512  # two steps: a loop that runs twice, and a split in two


def measure(
    code_object: CodeObject, kernel: Kernel, *, progress: Callable[[int, int], None] | None = None
) -> Contract:
    """Run `kernel` some hundred times on the emulator, a few seconds. `progress(done, total)` counts steps.

    Raises UnsupportedError for a kernel of another family than aiter_f4gemm, InputError where what it does fits no
    contract: neither right nor wrong in a way that is known.
    """
    trials = Trials(code_object, kernel)
    found: dict[str, Limit] = {}
    steps: tuple[Callable[[], dict[str, Limit]], ...] = (
        lambda: {"n_multiple": sizes.n_multiple(trials)},
        lambda: {"m_multiple": sizes.m_multiple(trials, _n(found))},
        lambda: sizes.k_multiples(trials, _n(found)),
        lambda: output.factors(trials, _n(found)),
        lambda: {"splits_k": output.splits_k(trials, _n(found))},
        lambda: {"accumulates": output.accumulates(trials, _n(found), splits=_splits(found))},
        lambda: {"d_row_multiple": output.d_row_multiple(trials, _n(found))},
        lambda: padding.scale_padding(trials, _n(found)),
        lambda: padding.reach(trials, _n(found), splits=_splits(found)),
    )
    for number, step in enumerate(steps):
        if progress:
            progress(number, len(steps) + 1)
        found |= step()
    if progress:
        progress(len(steps), len(steps) + 1)
    arguments, launches = _arguments(trials, _n(found))
    return Contract(
        kernel=kernel.name,
        code_object=code_object.sha256,
        argpack=__version__,
        backend=trials.backend,
        limits={name: found[name] for name in LIMITS},
        arguments=arguments,
        launches=launches,
    )


def _n(found: Mapping[str, Limit]) -> int:
    return int(found["n_multiple"].value)


def _splits(found: Mapping[str, Limit]) -> bool:
    return bool(found["splits_k"].value)


def _arguments(trials: Trials, n: int) -> tuple[tuple[Argument, ...], tuple[str, ...]]:
    """Two launches of several workgroups each way, one told to split, in which alpha, beta and C would show."""
    variant = trials.variant
    wide = -(-(variant.tile_n + 1) // n) * n
    cases = [
        Problem(m=variant.tile_m + 1, n=wide, k=_MEASURED_K, alpha=2.0, beta=1.0, log2_k_split=log2)
        for log2 in (0, 1)
    ]
    found = [perturb.perturb(trials.launch(case), SCHEMA) for case in cases]
    arguments = tuple(
        Argument(
            name=argument.name,
            offset=argument.offset,
            size=argument.size,
            use=str(argument.kind),
            loaded_by=tuple(
                f"{load.instruction.mnemonic} at {load.instruction.address:#x}" for load in argument.loads
            ),
            shown_by=f"{argument.change}: {argument.evidence}" if argument.change else "",
        )
        for argument in perturb.strictest(*found)
    )
    return arguments, tuple(problem_text(case) for case in cases)
