"""The quick way to pack a buffer: the whole table as one format of Python's struct module.

It packs only what needs no judgement; whatever is in doubt is left to the declared form, which has the errors.
"""

from __future__ import annotations

import operator
import struct
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argpack.schema.kernarg import KernargSchema


# struct takes True for 1.
_NO_NUMBER = frozenset({bool})


class Packer:
    """Packs the values of one schema, pads zero."""

    def __init__(self, schema: KernargSchema) -> None:
        fields = schema.fields
        names = [f.name for f in fields]
        self._pack = struct.Struct("<" + "".join(f"{f.scalar.code}{f.pad}x" for f in fields)).pack
        self._count = len(names)
        # Of a single name itemgetter gives the bare value: that name is asked for twice.
        self._get = operator.itemgetter(*names, *names[:1] * (self._count == 1))
        self._floats = tuple(index for index, f in enumerate(fields) if f.scalar.kind == "float")

    def pack(self, values: Mapping[str, object]) -> bytes | None:
        """The buffer, or None where a name, a type or a value needs to be looked at more closely.

        struct would round an integer to a float, take a boolean for a number and make a signalling NaN quiet.
        """
        if type(values) is not dict or len(values) != self._count:
            return None
        try:
            found = self._get(values)
            for index in self._floats:
                value = found[index]
                if type(value) is not float or isnan(value):
                    return None
            if not _NO_NUMBER.isdisjoint(map(type, found)):
                return None
            return self._pack(*(found if self._count > 1 else found[:1]))
        except (KeyError, struct.error, OverflowError):
            return None
