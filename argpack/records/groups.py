"""What differs in many records: fields that ever change, and how often each combination of some of them occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from argpack.records.columns import Columns


class FieldSummary(NamedTuple):
    """One column: how many records have a known value, how many different ones, the least and the greatest.

    `lowest` and `highest` are None where no value is known.
    """

    name: str
    known: int
    distinct: int
    lowest: int | float | None
    highest: int | float | None


class Group(NamedTuple):
    """A combination of values and how many records have it."""

    values: tuple[int | float, ...]
    records: int


def summarise(columns: Columns) -> list[FieldSummary]:
    """Every field, in the order of the columns. NaN counts as one value, and as the greatest."""
    return [_summary(name, _known_values(columns, name)) for name in columns.values]


def group_by(columns: Columns, names: Sequence[str]) -> list[Group]:
    """The combinations of values of some fields, most frequent first, then by value.

    Records of which one of these values is unknown are left out. Raises InputError for a name without a column.
    """
    for name in names:
        if name not in columns.values:
            raise InputError(f"no column is named {name!r}; there are {', '.join(columns.values)}")
    if not names:
        return []
    whole = np.ones(columns.rows, np.bool_)
    for name in names:
        if name in columns.known:
            whole &= columns.known[name]
    distinct, codes = _coded([columns.values[name][whole] for name in names])
    # One number for each combination: counting numbers is far quicker than sorting rows.
    number = np.zeros(int(whole.sum()), np.int64)
    for values, code in zip(distinct, codes, strict=True):
        number, _ = _renumbered(number * len(values) + code)
    _, first, counts = np.unique(number, return_index=True, return_counts=True)
    groups = [
        Group(
            tuple(values[code[row]].item() for values, code in zip(distinct, codes, strict=True)), int(many)
        )
        for row, many in zip(first, counts, strict=True)
    ]
    return sorted(groups, key=lambda group: (-group.records, group.values))


def _coded(columns: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], list[NDArray[np.int64]]]:
    """Different values of each column, and for each row the index of its value."""
    pairs = [np.unique(column, return_inverse=True) for column in columns]
    return [values for values, _ in pairs], [np.asarray(code, np.int64).reshape(-1) for _, code in pairs]


def _renumbered(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The same groups numbered from 0 without gaps, so that products of many columns do not overflow."""
    values, code = np.unique(numbers, return_inverse=True)
    return np.asarray(code, np.int64).reshape(-1), len(values)


def _known_values(columns: Columns, name: str) -> NDArray[Any]:
    values = columns.values[name]
    return values[columns.known[name]] if name in columns.known else values


def _summary(name: str, values: NDArray[Any]) -> FieldSummary:
    if not values.size:
        return FieldSummary(name, 0, 0, None, None)
    if (values == values[0]).all():
        only = values[0].item()
        return FieldSummary(name, values.size, 1, only, only)
    distinct = np.unique(values)
    return FieldSummary(name, values.size, distinct.size, distinct[0].item(), distinct[-1].item())
