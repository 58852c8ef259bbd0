"""What D should be after an argpack_sgemm launch that somebody else built: operands taken out of its buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.families.family import ExpectedOutput
from argpack.families.own_sgemm.schema import SCHEMA
from argpack.numerics import sgemm_reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argpack.launch import Launch


def expected_output(launch: Launch) -> ExpectedOutput:
    """alpha·A·B + beta·C of the operands that the launch's buffers hold, with the verdict's tolerance.

    Raises InputError where an operand is not whole in its buffer, or the grid does not cover D.
    """
    values = SCHEMA.unpack(launch.arguments[: SCHEMA.size])
    m, n, k = (int(values[name]) for name in ("M", "N", "K"))
    if min(m, n, k) < 1 or launch.grid[0] * launch.block[0] < n or launch.grid[1] * launch.block[1] < m:
        raise InputError(f"M={m} N={n} K={k}: the launch does not cover it")

    def matrix(name: str, rows: int, columns: int) -> NDArray[np.float32]:
        stride = int(values[f"stride_{name}"])
        if stride < columns:
            raise InputError(f"stride_{name}: expected {columns} or more, found {stride}")
        size = 4 * ((rows - 1) * stride + columns)
        data, _ = launch.pointed_at(SCHEMA.offset(f"ptr_{name}"), size, f"ptr_{name}")
        rows_of = np.lib.stride_tricks.as_strided(data, (rows, 4 * columns), (4 * stride, 1), writeable=False)
        return rows_of.copy().view(np.float32)

    beta = float(values["beta"])
    matrix("D", m, n)
    reference = sgemm_reference(
        matrix("A", m, k),
        np.ascontiguousarray(matrix("B", k, n).T),
        matrix("C", m, n) if beta else None,
        alpha=float(values["alpha"]),
        beta=beta,
    )
    at = SCHEMA.offset("ptr_D")
    _, offset = launch.pointed_at(at, 0, "ptr_D")
    return ExpectedOutput(
        buffer=launch.buffer_at(at),
        offset=offset,
        row_bytes=4 * int(values["stride_D"]),
        dtype="float32",
        reference=reference,
    )
