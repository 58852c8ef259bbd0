"""What a problem asks of an argument buffer: values for `show`, a whole buffer for `diff --against`. No subcommand."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from argpack.errors import InputError
from argpack.families.family import Problem, Usage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump

_OPTIONS = ("m", "n", "k", "alpha", "beta", "log2_k_split")
_FIELDS = {"m": "M", "n": "N", "k": "K"}


class Expected(NamedTuple):
    """The buffer that a problem asks for; what it leaves open (addresses, unused fields, pads) is unknown."""

    dump: Dump
    problem: Problem
    notes: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that state a problem; what is left out is taken from the dump."""
    group = parser.add_argument_group("problem, for --against; what is left out is as in the dump")
    sizes = (("m", "rows of A and D"), ("n", "columns of D, rows of B"), ("k", "length of the sums"))
    for name, meaning in sizes:
        group.add_argument(f"-{name}", type=int, metavar=name.upper(), help=meaning)
    group.add_argument("--alpha", type=float, help="factor of the product")
    group.add_argument("--beta", type=float, help="factor of C")
    group.add_argument("--log2-k-split", type=int, metavar="LOG2", help="cut K into 2^LOG2 slices")


def stated(args: argparse.Namespace) -> bool:
    """Whether any option of the problem is given."""
    return any(getattr(args, name) is not None for name in _OPTIONS)


def implied(dump: Dump, chosen: Decoding) -> Mapping[str, int | float]:
    """Values by field name that the sizes in the dump ask for; empty where the family or the dump does not tell."""
    values = _field_values(chosen, heavy=False)
    problem = _problem_in(dump, chosen)
    return values(Problem(**problem)) if values and {"m", "n", "k"} <= problem.keys() else {}


def expected(dump: Dump, chosen: Decoding, args: argparse.Namespace) -> Expected:
    """What the problem of the options, completed from the dump, asks for. Raises InputError where it is not known."""
    values = _field_values(chosen, heavy=True)
    if values is None:
        raise InputError(
            f"--against: {chosen.family.name}: how a problem becomes arguments is not known for this family"
        )
    given = {name: value for name in _OPTIONS if (value := getattr(args, name)) is not None}
    found = _problem_in(dump, chosen)
    missing = [f"-{name}" for name in _FIELDS if name not in given and name not in found]
    if missing:
        raise InputError(f"--against: {dump.source} does not say all sizes: expected {', '.join(missing)}")
    problem = Problem(**{**found, **given})
    for name in _FIELDS:
        if getattr(problem, name) < 1:
            raise InputError(f"--against: {name}: expected 1 or more, found {getattr(problem, name)}")
    taken = [name for name in _FIELDS if name not in given]
    notes = ["of the problem only what the kernel uses is compared; operands are dense, addresses are open"]
    if taken:
        notes.append(f"{', '.join(_FIELDS[name] for name in taken)} taken from {dump.source}")
    return Expected(_packed(values(problem), chosen, _text(problem)), problem, tuple(notes))


def _packed(values: Mapping[str, int | float], chosen: Decoding, source: str) -> Dump:
    from argpack.hexdump import Dump

    data, known = bytearray(chosen.schema.size), bytearray(chosen.schema.size)
    for slot in chosen.schema.slots:
        if slot.field is None or slot.field.type == "ptr" or chosen.usage[slot.name] is not Usage.LIVE:
            continue
        try:
            data[slot.offset : slot.end] = slot.field.scalar.encode(values[slot.name])
        except InputError as error:
            raise InputError(f"--against: {slot.name}: {error}") from None
        known[slot.offset : slot.end] = b"\1" * slot.size
    return Dump(bytes(data), bytes(known), source)


def _field_values(chosen: Decoding, *, heavy: bool) -> Callable[[Problem], Mapping[str, int | float]] | None:
    """The family's function from a problem to values. Its module `arguments` has it without numpy, if there is one."""
    workload = chosen.family.workload
    if not workload:
        return None
    from importlib.util import find_spec

    light = f"{workload.rpartition('.')[0]}.arguments"
    if find_spec(light):
        module = importlib.import_module(light)
        values: Callable[[Problem], Mapping[str, int | float]] = module.field_values
        return values
    if not heavy:
        return None
    from argpack.families.loading import load_workloads

    return load_workloads(chosen.family).field_values


def _problem_in(dump: Dump, chosen: Decoding) -> dict[str, Any]:
    """Options of a problem by name, as far as the dump has them."""
    from argpack.hexdump import readings

    values = {r.slot.name: r.value for r in readings(dump, chosen.schema) if r.value is not None}
    names = ((option, _FIELDS.get(option, option)) for option in _OPTIONS)
    return {option: values[name] for option, name in names if name in values}


def _text(problem: Problem) -> str:
    return f"M={problem.m} N={problem.n} K={problem.k}"
