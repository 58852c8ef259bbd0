"""Pack the argument buffer that a problem needs.

KERNEL is a file, a name or a unique part of one. With --schema instead, the arguments are those of any declared
family or of a TOML file of your own: sizes give what is known to follow from them, --set gives the rest.
Pointers are null unless set with --set ptr_A=0x...; pads are zero, and so is, with --schema, what no kernel reads.
What the kernel is known to compute wrongly is packed all the same, with a warning. Exit codes: 0 packed, 2 not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from argpack.errors import InputError
from argpack.families.family import Usage
from argpack.output_files import write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from argpack.families.family import Family
    from argpack.schema import KernargSchema

FORMATS = ("dump", "hex", "bin", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack pack`."""
    from argpack.cli import problem

    parser.add_argument(
        "kernel", metavar="KERNEL", nargs="?", help="a .co file, a kernel's name or a unique part of it"
    )
    parser.add_argument("--schema", metavar="SCHEMA", help="a declared family or a .toml file, not a KERNEL")
    problem.add_arguments(parser, required=False)
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument("--format", choices=FORMATS, default="dump", help="how to write (default: dump)")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")


def run(args: argparse.Namespace) -> int:
    """Pack and write; 0, or ArgpackError."""
    if (args.kernel is None) == (args.schema is None):
        raise InputError(
            "expected either a KERNEL or --schema, found " + ("both" if args.kernel else "neither")
        )
    packed = _by_schema(args) if args.schema is not None else _for_kernel(args)
    family, name = packed.family, packed.kernel
    _write(_encoded(packed.data, args.format, name, family.schema), args.output, force=args.force)
    for warning in packed.warnings:
        print(f"argpack: warning: {warning}", file=sys.stderr)
    for field, why in _unused(family, name or family.name, packed.overrides):
        print(f"argpack: note: what {field} is set to has no effect: {why}", file=sys.stderr)
    if null := _null_pointers(family, name or family.name, packed.overrides):
        verb = "is" if len(null) == 1 else "are"
        hint = f"--set {null[0]}=0x... gives an address"
        print(f"argpack: note: {', '.join(null)} {verb} null; {hint}", file=sys.stderr)
    return 0


class _Packed(NamedTuple):
    """A buffer; `kernel` is empty where only a schema was named."""

    data: bytes
    family: Family
    kernel: str
    overrides: Mapping[str, int | float]
    warnings: Sequence[str]


def _for_kernel(args: argparse.Namespace) -> _Packed:
    """Everything that the problem needs. Raises InputError for a size that is not stated."""
    from argpack.cli.problem import overrides_of, problem_of
    from argpack.codeobject import read
    from argpack.families.choice import kernel_of
    from argpack.families.extents import beyond
    from argpack.families.loading import load_workloads
    from argpack.kernels import resolve

    if missing := [f"-{name}" for name in ("m", "n", "k") if getattr(args, name) is None]:
        raise InputError(f"the following arguments are required: {', '.join(missing)}")
    code_object = read(resolve(args.kernel, root=args.kernels))
    kernel, family = kernel_of(code_object)
    family.cross_check(kernel)
    workloads = load_workloads(family)
    problem = problem_of(args, workloads.default_problem(kernel.name))
    warnings = (*workloads.refusals(kernel.name, problem), *beyond(workloads.extents(problem)))
    overrides = overrides_of(args.set, family.schema)
    data = family.schema.pack({**workloads.field_values(problem), **overrides})
    return _Packed(data, family, kernel.name, overrides, warnings)


def _by_schema(args: argparse.Namespace) -> _Packed:
    """What follows from the sizes and what is set. Raises InputError for a value that neither gives."""
    from argpack.cli.problem import overrides_of
    from argpack.families import family_named
    from argpack.families.user import family_from_file

    own = args.schema.endswith(".toml")
    family = family_from_file(args.schema) if own else family_named(args.schema)
    overrides = overrides_of(args.set, family.schema)
    usage = family.usage(family.name)
    null = {f.name: 0 for f in family.schema.fields if f.type == "ptr" or usage[f.name] is Usage.UNREAD}
    data = family.schema.pack({**null, **_implied(args, family), **overrides})
    return _Packed(data, family, "", overrides, ())


def _implied(args: argparse.Namespace, family: Family) -> Mapping[str, int | float]:
    """The values that a problem asks for, empty without one. Raises InputError where the family tells nothing."""
    from argpack.cli import expected
    from argpack.families.family import Problem
    from argpack.families.problems import rule_of

    if not expected.stated(args):
        return {}
    problem = expected.given(args, family.schema)
    rule = rule_of(family.name)
    if rule is None:
        raise InputError(
            f"{family.name}: how a problem becomes arguments is not known for this family: use --set"
        )
    if missing := [f"-{name}" for name in ("m", "n", "k") if name not in problem]:
        raise InputError(f"the following arguments are required: {', '.join(missing)}")
    return rule.values(Problem(**problem), ())


def _encoded(packed: bytes, form: str, kernel_name: str, schema: KernargSchema) -> bytes:
    if form == "bin":
        return packed
    if form == "hex":
        return packed.hex(" ").encode() + b"\n"
    if form == "json":
        import json

        fields = dict(schema.unpack(packed))
        record = {
            **({"kernel": kernel_name} if kernel_name else {}),
            "kernarg_size": len(packed),
            "kernarg_hex": packed.hex(),
            "fields": fields,
        }
        return json.dumps(record, indent=1).encode() + b"\n"
    from argpack.hexdump import Dump, render

    return render(Dump.whole(packed)).encode()


def _write(data: bytes, output: str | None, *, force: bool) -> None:
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    write_file(data, output, force=force)


def _null_pointers(family: Family, kernel_name: str, overrides: Mapping[str, object]) -> list[str]:
    """Pointers that the kernel uses and that were not set."""
    usage = family.usage(kernel_name)
    pointers = [field.name for field in family.schema.fields if field.type == "ptr"]
    return [name for name in pointers if usage[name] is Usage.LIVE and name not in overrides]


def _unused(
    family: Family, kernel_name: str, overrides: Mapping[str, int | float]
) -> Iterator[tuple[str, str]]:
    """Fields that are set by hand, not to zero, and do nothing; and why."""
    usage = family.usage(kernel_name)
    reasons = {Usage.DEAD: "it is loaded and ignored", Usage.UNREAD: "it is never loaded"}
    for name, value in overrides.items():
        if value and usage[name] in reasons:
            yield name, reasons[usage[name]]
