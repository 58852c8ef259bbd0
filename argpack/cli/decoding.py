"""Which schema and which usage a dump is decoded with: what `show`, `diff` and `table` share. It has no subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.families.family import Usage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from argpack.families.family import Family
    from argpack.hexdump import Dump
    from argpack.schema import KernargSchema

# What a kernarg segment may have beyond the arguments: it is padded to its alignment.
_SEGMENT_ALIGNMENT = 16
_SHARED_NAMES = 3
_NAMED_KERNELS = 2


class SchemaFile(str):
    """The path of a user's schema, where the name of a kernel may stand."""

    __slots__ = ()


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
    """The options that choose a decoding of dumps."""
    from argpack.hexdump.formats import FORMATS

    add_kernel_arguments(parser)
    parser.add_argument(
        "--format",
        choices=[f.name for f in FORMATS],
        metavar="FORMAT",
        help="how to read a dump that fits more than one (default: detected): "
        + ", ".join(f.name for f in FORMATS),
    )
    parser.add_argument(
        "--word-order",
        choices=("little", "memory"),
        help="how the digits of words of several bytes stand: little-endian, or in the order of memory "
        "(default: what the format says)",
    )
    parser.add_argument(
        "--base",
        type=_base,
        metavar="OFFSET",
        help="the offset in the dump at which the buffer begins, `first` for the first there is (default: 0, or "
        "the first where offsets are addresses)",
    )


def _base(text: str) -> int:
    """An offset in any base of Python, or `first`; argparse reports a ValueError."""
    from argpack.hexdump import FIRST

    number = FIRST if text == "first" else int(text, 0)
    if number < 0 and text != "first":
        raise ValueError(text)
    return number


def add_kernel_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say whose arguments a dump holds."""
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument(
        "--kernel",
        metavar="NAME|FILE.co",
        help="whose arguments these are: a kernel, by name or file, or a family (default: what the dump "
        "records, else the only family of that size)",
    )
    whose.add_argument(
        "--schema",
        dest="kernel",
        type=SchemaFile,
        metavar="FILE.toml",
        help="whose arguments these are: a schema of your own, see `argpack emit --toml`",
    )


def decode(kernel: str | None, dumps: Sequence[Dump]) -> Decoding | None:
    """The decoding for dumps of one family; None where neither option, nor record, nor size tells it.

    Of several kernels each field counts by the strictest use. Raises InputError where a kernel is in no
    family or the records contradict each other.
    """
    if isinstance(kernel, SchemaFile):
        return _declared(kernel)
    sizes = sorted({dump.size for dump in dumps})
    if kernel is not None:
        return _named(kernel, sizes)
    recorded = sorted({dump.kernel for dump in dumps if dump.kernel})
    if recorded:
        return _recorded(recorded, sizes)
    fitting = _fitting(sizes)
    if len(fitting) != 1:
        return None
    family = fitting[0]
    reason = (
        f"{family.name}, the only family with {family.schema.size} bytes of arguments; --kernel narrows it"
    )
    return Decoding(family, (), family.usage(family.name), reason)


def undecided(dump: Dump) -> InputError:
    """The error for a dump whose family is not known."""
    fitting = " or ".join(family.name for family in _fitting([dump.size]))
    several = f", they may be of {fitting}" if fitting else ""
    return InputError(
        f"{dump.source}: {dump.size} bytes are not the arguments of one known family{several}: name a kernel with "
        f"--kernel, of {families_known()}"
    )


def families_known() -> str:
    """The families, for messages."""
    from argpack.families import FAMILIES, family_names

    more = len(family_names()) - len(FAMILIES)
    return ", ".join(f"{family.name} ({family.schema.size} bytes)" for family in FAMILIES) + (
        f" and {more} more" if more else ""
    )


def notes(dump: Dump, chosen: Decoding) -> list[str]:
    """What a person should know of a dump decoded like this, a line each.

    Raises InputError for more bytes than arguments and a segment's padding.
    """
    found = [f"{dump.source}: read as {dump.form}"] if dump.form else []
    size = chosen.schema.size
    if dump.size > -(-size // _SEGMENT_ALIGNMENT) * _SEGMENT_ALIGNMENT:
        raise InputError(f"{dump.source}: expected {size} bytes ({chosen.schema.name}), found {dump.size}")
    if dump.size > size:
        found.append(f"{dump.source}: {dump.size - size} bytes after the arguments, not decoded")
    if dump.kernel and chosen.kernels and not any(name in dump.kernel for name in chosen.kernels):
        found.append(f"{dump.source}: captured for another kernel, {dump.kernel}")
    return found


def check_not_shorter(dump: Dump, chosen: Decoding) -> None:
    """Raise InputError where a dump ends before its last field, unless the kernel reads none of what is missing."""
    missing = chosen.schema.missing(dump.size)
    if any(chosen.usage[slot.name] is not Usage.UNREAD for slot in missing):
        try:
            chosen.schema.check_size(dump.size)
        except InputError as error:
            raise InputError(f"{dump.source}: {error}") from None


def versions(chosen: Decoding) -> Iterator[KernargSchema]:
    """Schemas of other versions of the family: declared beside it, with fields of the same names."""
    from argpack.families import FAMILIES

    if chosen.family in FAMILIES:
        return  # declared alone: the index need not be loaded
    from argpack.families.index import ENTRIES, load

    own = next((entry.module for entry in ENTRIES if entry.name == chosen.family.name), "")
    names = {field.name for field in chosen.schema.fields}
    for entry in ENTRIES:
        if entry.module == own and entry.name != chosen.family.name:
            schema = load(entry).schema
            if len(names & {field.name for field in schema.fields}) >= _SHARED_NAMES:
                yield schema


def _fitting(sizes: Sequence[int]) -> list[Family]:
    from argpack.families import families_of_size

    return [family for size in sizes for family in families_of_size(size)]


def _declared(path: str) -> Decoding:
    from argpack.families.user import family_from_file

    family = family_from_file(path)
    return Decoding(family, (), family.usage(family.name), f"{family.name}, declared in {path}")


def _named(text: str, sizes: Sequence[int]) -> Decoding:
    """By family, by kernel name, by file name, and only then by opening the file."""
    from argpack.families import families_of, family_named, family_names

    if text in family_names():
        family = family_named(text)
        return Decoding(family, (), family.usage(text), f"{text}, all its kernels")
    name = text.rpartition("/")[2].removesuffix(".co").removesuffix(".kd")
    known = families_of(name)
    if len(known) == 1:
        return Decoding(known[0], (name,), known[0].usage(name), f"{known[0].name}, kernel {name}")
    if _is_file(text):
        return _opened(text)
    if not known:
        raise InputError(
            f"--kernel {text}: expected a kernel of a known family, its file or a family, of {families_known()}"
        )
    family = _version(name, known, sizes)
    return Decoding(family, (name,), family.usage(name), f"{family.name}, kernel {name}")


def _version(name: str, known: Sequence[Family], sizes: Sequence[int]) -> Family:
    """The only version of a family that has the size of a dump. Raises InputError where size does not tell it."""
    fitting = [family for family in known if family.schema.size in sizes]
    if len(fitting) != 1:
        names = ", ".join(f"{family.name} ({family.schema.size} bytes)" for family in known)
        raise InputError(f"{name} may be of {names}: name one with --kernel, or the code object's file")
    return fitting[0]


def _is_file(text: str) -> bool:
    from pathlib import Path

    return Path(text).is_file()


def _opened(path: str) -> Decoding:
    from argpack.codeobject import read
    from argpack.families.choice import family_of_kernel

    code_object = read(path)
    if len(code_object.kernels) != 1:
        raise InputError(
            f"--kernel {path}: expected a file of one kernel, found {len(code_object.kernels)}: name the kernel"
        )
    kernel = code_object.kernels[0]
    family = family_of_kernel(kernel, code_object)
    if family is None:
        raise InputError(
            f"--kernel {path}: expected a kernel of a known family, found {kernel.name}; known: {families_known()}"
        )
    return Decoding(family, (kernel.name,), family.usage(kernel.name), f"{family.name}, kernel {kernel.name}")


def _recorded(names: list[str], sizes: Sequence[int]) -> Decoding:
    from argpack.families import families_of

    families = []
    for name in names:
        known = families_of(name)
        if not known:
            raise InputError(f"the kernel recorded, {name}, is of no known family, of {families_known()}")
        families.append(known[0] if len(known) == 1 else _version(name, known, sizes))
    if any(family is not families[0] for family in families):
        titles = " and ".join(family.name for family in families)
        raise InputError(f"the kernels recorded, {' and '.join(names)}, are of different families: {titles}")
    many = "; a field counts by its strictest use" if len(names) > 1 else ""
    listed = f"kernel {' and '.join(names)}" if len(names) <= _NAMED_KERNELS else f"{len(names)} kernels"
    reason = f"{families[0].name}, {listed} as recorded{many}"
    return Decoding(families[0], tuple(names), _strictest([families[0].usage(n) for n in names]), reason)


def _strictest(tables: list[Mapping[str, Usage]]) -> Mapping[str, Usage]:
    order = (Usage.LIVE, Usage.DEAD, Usage.UNREAD)
    return {name: min((table[name] for table in tables), key=order.index) for name in tables[0]}
