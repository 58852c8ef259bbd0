"""Writes columns to a file that other tools read: CSV by Python alone, Parquet and Arrow by pyarrow."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argpack.errors import InputError, UnavailableError
from argpack.output_files import check_new

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from argpack.records.columns import Columns

FILE_TYPES = (".csv", ".parquet", ".arrow")
_BLOCK = 1 << 14  # rows turned into Python values at a time


def write_columns(
    columns: Columns, path: str, *, extra: Mapping[str, NDArray[Any]] | None = None, force: bool = False
) -> None:
    """Write all columns, those of `extra` first, in the format of the file's ending; unknown values are empty or null.

    Raises InputError for another ending, an existing file without `force` and one that cannot be written,
    UnavailableError where the format needs pyarrow and there is none.
    """
    check_columns_path(path, force=force)
    kind = Path(path).suffix
    try:
        if kind == ".csv":
            _write_csv(columns, path, dict(extra or {}))
        else:
            _write_arrow(columns, path, dict(extra or {}), form=kind)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def check_columns_path(path: str, *, force: bool, also: tuple[str, ...] = ()) -> None:
    """Raise what `write_columns` would raise for this path, before there is anything to write.

    `also` are endings that the caller writes itself, to be named in the message.
    """
    kind = Path(path).suffix
    if kind not in FILE_TYPES:
        raise InputError(f"{path}: expected a file name that ends in {', '.join((*FILE_TYPES, *also))}")
    check_new(path, force=force)
    if kind != ".csv" and importlib.util.find_spec("pyarrow") is None:
        raise UnavailableError(
            f"{path}: Parquet and Arrow files need pyarrow: pip install 'argpack[table]', or write .csv"
        )


def _write_csv(columns: Columns, path: str, extra: Mapping[str, NDArray[Any]]) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*extra, *columns.values])
        for start in range(0, columns.rows, _BLOCK):
            rows = slice(start, start + _BLOCK)
            writer.writerows(zip(*_csv_cells(columns, rows, extra), strict=True))


def _csv_cells(columns: Columns, rows: slice, extra: Mapping[str, NDArray[Any]]) -> Iterator[list[Any]]:
    for column in extra.values():
        yield column[rows].tolist()
    for name, column in columns.values.items():
        # The shortest text that gives the same bits back: numpy knows it for its own types.
        cells = column[rows].astype(str).tolist() if column.dtype.kind == "f" else column[rows].tolist()
        if name in columns.known:
            known = columns.known[name][rows]
            cells = [cell if k else "" for cell, k in zip(cells, known, strict=True)]
        yield cells


def _write_arrow(columns: Columns, path: str, extra: Mapping[str, NDArray[Any]], *, form: str) -> None:
    import pyarrow as pa
    from pyarrow import feather, parquet

    arrays = {name: pa.array(column) for name, column in extra.items()}
    for name, column in columns.values.items():
        known = columns.known.get(name)
        arrays[name] = pa.array(column, mask=None if known is None else np.logical_not(known))
    table = pa.table(arrays)
    if form == ".parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
