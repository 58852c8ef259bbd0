"""What a problem asks of an argument buffer: values for `show`, a whole buffer for `diff --against`. No subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from argpack.errors import InputError
from argpack.families.family import Problem, Usage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from argpack.cli.decoding import Decoding
    from argpack.families.problems import Rule
    from argpack.hexdump import Dump
    from argpack.schema import KernargSchema

_SIZES = ("m", "n", "k")
_OPTIONS = (*_SIZES, "alpha", "beta", "log2_k_split")


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


def given(args: argparse.Namespace, schema: KernargSchema) -> dict[str, Any]:
    """The problem as far as the options state it, by name. Raises InputError for what the schema has no field for."""
    found = {name: value for name in _OPTIONS if (value := getattr(args, name)) is not None}
    fields = {field.name for field in schema.fields}
    for name in found:
        if name not in _SIZES and name not in fields:
            raise InputError(f"--{name.replace('_', '-')}: {schema.name} has no such argument")
    return found


def implied(dump: Dump, chosen: Decoding) -> Mapping[str, int | float]:
    """Values by field name that the sizes in the dump ask for; empty where the family or the dump does not tell."""
    from argpack.families.problems import rule_of

    rule = rule_of(chosen.family.name)
    problem = _problem_in(dump, chosen, rule) if rule else {}
    return rule.values(Problem(**problem), chosen.kernels) if rule and problem.keys() >= set(_SIZES) else {}


def expected(dump: Dump, chosen: Decoding, args: argparse.Namespace) -> Expected:
    """What the problem of the options, completed from the dump, asks for. Raises InputError where it is not known."""
    from argpack.families.problems import rule_of

    family = chosen.family.name
    rule = rule_of(family)
    if rule is None:
        raise InputError(f"--against: {family}: how a problem becomes arguments is not known for this family")
    stated = given(args, chosen.schema)
    found = _problem_in(dump, chosen, rule)
    missing = [f"-{name}" for name in _SIZES if name not in stated and name not in found]
    if missing:
        raise InputError(f"--against: {dump.source} does not say all sizes: expected {', '.join(missing)}")
    problem = Problem(**{**found, **stated})
    for name in _SIZES:
        if getattr(problem, name) < 1:
            raise InputError(f"--against: {name}: expected 1 or more, found {getattr(problem, name)}")
    notes = ["of the problem only what the kernel uses is compared; operands are dense, addresses are open"]
    if rule.whose:
        m, n = rule.sizes["m"], rule.sizes["n"]
        notes.append(f"M and N are {rule.whose}, the kernel's {m} and {n}")
    if taken := [name.upper() for name in _SIZES if name not in stated]:
        notes.append(f"{', '.join(taken)} taken from {dump.source}")
    values = rule.values(problem, chosen.kernels)
    return Expected(_packed(values, chosen, _text(problem, rule)), problem, tuple(notes))


def _packed(values: Mapping[str, int | float], chosen: Decoding, source: str) -> Dump:
    from argpack.hexdump import Dump

    data, known = bytearray(chosen.schema.size), bytearray(chosen.schema.size)
    for slot in chosen.schema.slots:
        is_open = slot.name not in values or chosen.usage.get(slot.name) is not Usage.LIVE
        if slot.field is None or slot.field.type == "ptr" or is_open:
            continue
        try:
            data[slot.offset : slot.end] = slot.field.scalar.encode(values[slot.name])
        except InputError as error:
            raise InputError(f"--against: {slot.name}: {error}") from None
        known[slot.offset : slot.end] = b"\1" * slot.size
    return Dump(bytes(data), bytes(known), source)


def _problem_in(dump: Dump, chosen: Decoding, rule: Rule) -> dict[str, Any]:
    """Options of a problem by name, as far as the dump has them."""
    from argpack.hexdump import readings

    values = {r.slot.name: r.value for r in readings(dump, chosen.schema) if r.value is not None}
    names = ((option, rule.sizes.get(option, option)) for option in _OPTIONS)
    return {option: values[name] for option, name in names if name in values}


def _text(problem: Problem, rule: Rule) -> str:
    whose = f"{rule.whose} " if rule.whose else ""
    return f"{whose}M={problem.m} N={problem.n} K={problem.k}"
