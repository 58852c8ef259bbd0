"""The results of a sweep as columns, and in a file of them: CSV, Parquet, Arrow, or a page of HTML."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argpack.output_files import check_new, write_file
from argpack.records import Columns, check_columns_path, write_columns
from argpack.sweep.page import to_page
from argpack.sweep.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PAGE = ".html"
_KINDS = {"str": np.str_, "Answer": np.str_, "int": np.int64, "float": np.float64}


def check_path(path: str, *, force: bool) -> None:
    """Raise, before any work is done, what `write_table` would raise: InputError or UnavailableError."""
    if Path(path).suffix != PAGE:
        check_columns_path(path, force=force, also=(PAGE,))
        return
    check_new(path, force=force)


def write_table(results: Sequence[Result], path: str, *, title: str, force: bool) -> None:
    """Write one row a result in the format of the file's ending; what was not measured is empty or null.

    Raises InputError where the file exists without `force`, or cannot be written.
    """
    if Path(path).suffix != PAGE:
        write_columns(columns_of(results), path, force=force)
        return
    write_file(to_page(results, title).encode(), path, force=force)


def columns_of(results: Sequence[Result]) -> Columns:
    """A column for each field of a result; None is unknown."""
    values: dict[str, NDArray[Any]] = {}
    known: dict[str, NDArray[np.bool_]] = {}
    for field in fields(Result):
        kind = _KINDS[str(field.type).partition(" ")[0]]
        found = [getattr(result, field.name) for result in results]
        values[field.name] = np.array([kind() if item is None else item for item in found], kind)
        mask = np.array([item is not None for item in found], np.bool_)
        if not mask.all():
            known[field.name] = mask
    return Columns(len(results), values, known)
