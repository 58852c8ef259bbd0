"""Records of one schema as a column for each field, pads left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.schema import KernargSchema

# Records copied at a time: few enough that a block stays in the cache while each of its fields is picked out.
_BLOCK = 2048


class Columns(NamedTuple):
    """`values` has an array of `rows` elements for each field, in the field's own type.

    `known` has an array of booleans for those fields only of which a value is unknown; such a value is 0.
    """

    rows: int
    values: Mapping[str, NDArray[Any]]
    known: Mapping[str, NDArray[np.bool_]]


def decode_columns(
    data: bytes | NDArray[np.uint8], schema: KernargSchema, *, known: bytes | NDArray[np.uint8] | None = None
) -> Columns:
    """Decode records of exactly `schema.size` bytes each, one after the other, into columns.

    `known` has one byte for each byte of `data`, 1 or 0; None where all are known. Raises InputError where the bytes
    are no whole number of records.
    """
    flat = _flat(data)
    if flat.size % schema.size:
        raise InputError(
            f"{schema.name}: expected records of {schema.size} bytes, found {flat.size} bytes, "
            f"{flat.size % schema.size} too many"
        )
    records = flat.view(schema.dtype)
    slots = [slot for slot in schema.slots if slot.field]
    values: dict[str, NDArray[Any]] = {
        slot.name: np.empty(records.size, schema.dtype[slot.name]) for slot in slots
    }
    for start in range(0, records.size, _BLOCK):
        block = records[start : start + _BLOCK]
        for name, column in values.items():
            column[start : start + _BLOCK] = block[name]
    masks: dict[str, NDArray[np.bool_]] = {}
    if known is not None:
        mask = _flat(known)
        if mask.size != flat.size:
            raise InputError(f"{schema.name}: expected a mask of {flat.size} bytes, found {mask.size}")
        table = mask.reshape(-1, schema.size)
        for slot in slots:
            whole = np.asarray(table[:, slot.offset : slot.end].all(axis=1))
            if not whole.all():
                masks[slot.name] = whole
                values[slot.name][~whole] = 0
    return Columns(records.size, values, masks)


def _flat(data: bytes | NDArray[np.uint8]) -> NDArray[np.uint8]:
    array = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
    return np.ascontiguousarray(array).reshape(-1)
