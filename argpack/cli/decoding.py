"""Which schema and which usage a dump is decoded with: what `show` and `diff` share. It has no subcommand."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.families.family import Usage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from argpack.families.family import Family
    from argpack.hexdump import Dump
    from argpack.schema import KernargSchema

# What a kernarg segment may have beyond the arguments: it is padded to its alignment.
_SEGMENT_ALIGNMENT = 16


class Decoding(NamedTuple):
    """The family whose schema decodes a dump, what its kernel does with each field; `reason` says why."""

    family: Family
    kernels: tuple[str, ...]
    usage: Mapping[str, Usage]
    reason: str

    @property
    def schema(self) -> KernargSchema:
        """The schema of the family."""
        return self.family.schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that choose a decoding."""
    from argpack.hexdump.formats import FORMATS

    parser.add_argument(
        "--kernel",
        metavar="NAME|FILE.co",
        help="whose arguments these are: a kernel, by name or file, or a family (default: what the dump "
        "records, else the only family of that size)",
    )
    parser.add_argument(
        "--format",
        choices=[f.name for f in FORMATS],
        help="how to read a dump that fits more than one (default: detected)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def colour() -> bool:
    """Whether standard output is a terminal that shows colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def decode(kernel: str | None, dumps: Sequence[Dump]) -> Decoding | None:
    """The decoding for dumps of one family; None where neither option, nor record, nor size tells it.

    Of several kernels each field counts by the strictest use. Raises InputError where a kernel is in no
    family or the records contradict each other.
    """
    if kernel is not None:
        return _named(kernel)
    recorded = sorted({dump.kernel for dump in dumps if dump.kernel})
    if recorded:
        return _recorded(recorded)
    from argpack.families import FAMILIES

    sizes = {dump.size for dump in dumps}
    fitting = [family for family in FAMILIES if family.schema.size in sizes]
    if len(fitting) != 1:
        return None
    family = fitting[0]
    reason = (
        f"{family.name}, the only family with {family.schema.size} bytes of arguments; --kernel narrows it"
    )
    return Decoding(family, (), family.usage(family.name), reason)


def sizes_known() -> str:
    """The families and their sizes, for messages."""
    from argpack.families import FAMILIES

    return ", ".join(f"{family.name} ({family.schema.size} bytes)" for family in FAMILIES)


def notes(dump: Dump, chosen: Decoding) -> list[str]:
    """What a person should know of a dump decoded like this, a line each.

    Raises InputError for more bytes than arguments and a segment's padding.
    """
    found = []
    size = chosen.schema.size
    if dump.size > -(-size // _SEGMENT_ALIGNMENT) * _SEGMENT_ALIGNMENT:
        raise InputError(f"{dump.source}: expected {size} bytes ({chosen.schema.name}), found {dump.size}")
    if dump.size > size:
        found.append(f"{dump.source}: {dump.size - size} bytes after the arguments, not decoded")
    if dump.kernel and chosen.kernels and not any(name in dump.kernel for name in chosen.kernels):
        found.append(f"{dump.source}: captured for another kernel, {dump.kernel}")
    return found


def _named(text: str) -> Decoding:
    """By family, by kernel name, by file name, and only then by opening the file."""
    from argpack.families import FAMILIES, family_of

    for family in FAMILIES:
        if text == family.name:
            return Decoding(family, (), family.usage(text), f"{text}, all its kernels")
    name = text.rpartition("/")[2].removesuffix(".co").removesuffix(".kd")
    known = family_of(name)
    if known is None and _is_file(text):
        name = _kernel_in(text)
        known = family_of(name)
    if known is None:
        raise InputError(
            f"--kernel {text}: expected a kernel of a known family, its file or a family, of {sizes_known()}"
        )
    return Decoding(known, (name,), known.usage(name), f"{known.name}, kernel {name}")


def _is_file(text: str) -> bool:
    from pathlib import Path

    return Path(text).is_file()


def _kernel_in(path: str) -> str:
    from argpack.codeobject import read

    names = [kernel.name for kernel in read(path).kernels]
    if len(names) != 1:
        raise InputError(
            f"--kernel {path}: expected a file of one kernel, found {len(names)}: name the kernel"
        )
    return names[0]


def _recorded(names: list[str]) -> Decoding:
    from argpack.families import family_of

    families = []
    for name in names:
        family = family_of(name)
        if family is None:
            raise InputError(f"the kernel recorded, {name}, is of no known family, of {sizes_known()}")
        families.append(family)
    if any(family is not families[0] for family in families):
        titles = " and ".join(family.name for family in families)
        raise InputError(f"the kernels recorded, {' and '.join(names)}, are of different families: {titles}")
    many = "; a field counts by its strictest use" if len(names) > 1 else ""
    reason = f"{families[0].name}, kernel {' and '.join(names)} as recorded{many}"
    return Decoding(families[0], tuple(names), _strictest([families[0].usage(n) for n in names]), reason)


def _strictest(tables: list[Mapping[str, Usage]]) -> Mapping[str, Usage]:
    order = (Usage.LIVE, Usage.DEAD, Usage.UNREAD)
    return {name: min((table[name] for table in tables), key=order.index) for name in tables[0]}
