"""Which families are declared, as plain data, and how to load one: `argpack diff` must not import all of them."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

from argpack.families import patterns
from argpack.families.aiter.index import ENTRIES as AITER
from argpack.families.entry import Entry

if TYPE_CHECKING:
    from argpack.families.family import Family

_HIPBLASLT = "argpack.families.hipblaslt"
ENTRIES: tuple[Entry, ...] = (
    Entry(
        "hipblaslt_f4gemm",
        _HIPBLASLT,
        372,
        ("f4gemm_bf16_per1x32Fp4_*_ntA", "f4gemm_bf16_per1x32Fp4_*_ntB"),
        ("gfx950",),
        launch_of="aiter_f4gemm",
    ),
    Entry("hipblaslt_wave_mxfp4", _HIPBLASLT, 104, ("wave_mxfp4_*",), ("gfx950",)),
    *AITER,
)


@functools.cache
def load(entry: Entry) -> Family:
    """The family of an entry; its module is imported now."""
    families: tuple[Family, ...] = importlib.import_module(entry.module).FAMILIES
    return next(family for family in families if family.name == entry.name)


def proposed(kernel_name: str, *, processor: str = "", source: str = "") -> tuple[tuple[int, Entry], ...]:
    """Entries that a kernel may belong to, with how much of its name their narrowest pattern spells out.

    A name that fits no pattern is looked up by the file's folder, with weight 0. `processor` (gfx950) and `source`,
    the file's path, narrow the choice where they are given.
    """
    name = patterns.plain(kernel_name)
    made = [entry for entry in ENTRIES if not processor or processor in entry.targets]
    weights = ((patterns.weight(name, entry.names), entry) for entry in made)
    by_name = [(weight, entry) for weight, entry in weights if weight]
    here = [entry for entry in made if any(_lies_in(source, folder) for folder in entry.folders)]
    both = [(weight, entry) for weight, entry in by_name if entry in here]
    return tuple(both or by_name or ((0, entry) for entry in here))


def _lies_in(source: str, folder: str) -> bool:
    """Whether a path ends like `gfx950/f4gemm/*.co`; `*` is one part of the path, `**` any number of them."""
    parts = source.split("/")
    wanted = folder.split("/")
    return any(_parts_fit(parts[start:], wanted) for start in range(len(parts)))


def _parts_fit(parts: list[str], wanted: list[str]) -> bool:
    if not wanted or not parts:
        return not wanted and not parts
    if wanted[0].startswith("**"):
        return parts[-1].endswith(wanted[0].removeprefix("**"))
    return patterns.weight(parts[0], (wanted[0],)) > 0 and _parts_fit(parts[1:], wanted[1:])
