"""A schema to start from, made of what was inferred: names are kinds and offsets, to be replaced by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.schema.field import Field, Role
from argpack.schema.kernarg import KernargSchema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.schema.infer import Inference
    from argpack.schema.infer_sizes import Sizes

_SHORT = {"pointer": "ptr", "float": "f32", "integer": "u32", "zero": "zero", "unclear": "unclear"}


def schema_of(found: Inference, sizes: Sequence[Sizes]) -> KernargSchema:
    """The guesses as fields, all bytes covered. The best candidates for M, N and K have these names, if surely so."""
    names: dict[int, str] = {}
    if sizes and sizes[0].sure == "high":
        names = dict(zip(sizes[0].offsets, ("M", "N", "K"), strict=True))
    ends = [guess.offset for guess in found.guesses[1:]] + [found.size]
    fields = []
    for guess, end in zip(found.guesses, ends, strict=True):
        name = names.get(guess.offset, f"{_SHORT[guess.kind]}_0x{guess.offset:x}")
        role = (
            Role.POINTER if guess.kind == "pointer" else Role.EXTENT if guess.offset in names else Role.SCALAR
        )
        doc = f"{guess.sure.value.capitalize()} confidence: {guess.why}."
        fields.append(Field(name, guess.type, role=role, doc=doc, pad=end - guess.offset - guess.size))
    return KernargSchema("inferred", tuple(fields), "Inferred from argument buffers.")
