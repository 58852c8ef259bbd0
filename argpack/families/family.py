"""What a kernel family declares, as values. Importing this costs no numpy: `argpack diff` must start instantly."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Literal, NamedTuple

from argpack.values import anew, value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from argpack.codeobject import Kernel
    from argpack.launch import Launch, LaunchResult
    from argpack.numerics import Reference, Verdict
    from argpack.schema import KernargSchema


class Usage(enum.StrEnum):
    """What a kernel does with an argument: `LIVE` the output depends on it, `DEAD` read without effect, `UNREAD`."""

    LIVE = "live"
    DEAD = "dead"
    UNREAD = "unread"


@value(kw_only=True)
class Problem:
    """A GEMM to compute, D = alpha·A·Bᵀ + beta·C for most families: `m`, `n`, `k` count elements.

    `log2_k_split` asks for 2^log2_k_split slices of K (the kernel rounds them); `seed` chooses the input data.
    """

    m: int
    n: int
    k: int
    alpha: float = 1.0
    beta: float = 0.0
    log2_k_split: int = 0
    seed: int = 0


class Extra(NamedTuple):
    """An argument that some code objects of a family declare at `offset`, beyond what the host passes or any reads.

    `metadata` is its name and type, `a2:ptr`; `-` stands for no name.
    """

    offset: int
    metadata: str


@value(kw_only=True)
class Family:
    """One family of kernels that share an argument schema.

    `matches(kernel_name)` says whether a kernel belongs here; `usage(kernel_name)` gives the `Usage` per field name
    (pads left out). `usage(family.name)` is the strictest use over all its kernels: live where any needs the field,
    dead where some load it without effect. `cross_check(kernel)` explains, a sentence each, where the code object's
    metadata and the schema differ without harm; it raises InputError where they contradict. `workload` is the module,
    imported only to launch, that has `prepare(code_object, kernel, problem, *, force) -> Workload`; None where
    argpack decodes the arguments and cannot launch the kernels yet.

    For people and for `argpack schema check`: `launch_rule` says grid and workgroup in words, `segments` are the
    kernarg segment sizes in bytes that code objects declare (the host passes `schema.size` bytes), `metadata_names`
    what the metadata calls each field (`name:type`), `extras` what it declares beyond them.
    """

    name: str
    title: str
    schema: KernargSchema
    matches: Callable[[str], bool]
    usage: Callable[[str], Mapping[str, Usage]]
    cross_check: Callable[[Kernel], tuple[str, ...]]
    workload: str | None = None
    launch_rule: str = ""
    segments: tuple[int, ...] = ()
    metadata_names: Mapping[str, tuple[str, ...]] = anew(dict)
    extras: tuple[Extra, ...] = ()
    notes: tuple[str, ...] = ()


@value(kw_only=True)
class ExpectedOutput:
    """What a launch should write: the matrix of `reference`, of `dtype`, whose rows are `row_bytes` apart in a buffer.

    `offset` is that of its first element in the buffer called `buffer`.
    """

    buffer: str
    offset: int
    row_bytes: int
    dtype: Literal["bfloat16", "float32"]
    reference: Reference


@value(kw_only=True)
class Region:
    """Some bytes of a buffer, and what people call them. `mask()` says which: bool, shape (bytes of the buffer,).

    `item` is how many bytes an element has.
    """

    buffer: str
    name: str
    mask: Callable[[], NDArray[np.bool_]]
    item: int = 1


@value(kw_only=True)
class Workload:
    """A launch with its inputs, and the judge of its result.

    `notes` are sentences about layouts and paddings to print; `overridden` the refusals that `--force` overrode.
    `judge(result)` compares the output with an independent reference. `output` is what the launch should write, each
    byte of it; `spill` what it may write beside that; `padding` what the host adds to inputs around their elements.
    """

    launch: Launch
    judge: Callable[[LaunchResult], Verdict]
    notes: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    output: Region | None = None
    spill: Region | None = None
    padding: tuple[Region, ...] = ()
