"""Which module makes the scene of a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.explain.outputs import Form
    from argpack.explain.scene import Scene
    from argpack.families import Family, Problem
    from argpack.schema import KernargSchema


class Maker(Protocol):
    """What the module of a family offers. `ITEM` is the type of an element of all operands, `STRIDE_FIELD` the field
    that D's row stride is taken from.
    """

    FORM: Form
    SCHEMA: KernargSchema
    STRIDE_FIELD: str
    ITEM: np.dtype[np.generic]

    def random_logical(self, problem: Problem) -> dict[str, NDArray[np.generic]]:
        """The operands that `argpack verify` makes for this problem and seed."""

    def shapes(self, problem: Problem) -> dict[str, tuple[int, int]]:
        """Rows and columns of each logical operand, in elements of `ITEM`."""

    def sizes(self, name: str, shape: tuple[int, int]) -> dict[str, int]:
        """Which of m, n, k a logical operand of `shape`, (rows, bytes), tells."""

    def image_size(self, kernel_name: str, problem: Problem, name: str) -> int:
        """Bytes that a buffer needs at least."""

    def read_image(
        self, kernel_name: str, problem: Problem, name: str, image: NDArray[np.uint8]
    ) -> NDArray[np.generic]:
        """The logical operand that the kernel reads out of an image; what lies beyond its end is 0."""

    def scene(
        self,
        code_object: CodeObject,
        kernel: Kernel,
        family: Family,
        problem: Problem,
        logical: Mapping[str, NDArray[np.generic]],
        memory: tuple[int, int] | None = None,
    ) -> Scene:
        """The right launch of a problem and the hypotheses about it."""


def maker_of(family: Family) -> Maker:
    """The module that makes scenes of a family. Raises InputError where none does."""
    if family.name == "aiter_f4gemm":
        from argpack.explain import f4gemm

        return cast("Maker", f4gemm)
    if family.name == "own_sgemm":
        from argpack.explain import sgemm

        return cast("Maker", sgemm)
    raise InputError(f"{family.name}: no hypotheses are known for this family")
