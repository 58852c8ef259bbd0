"""Pack the argument buffer that a problem needs.

KERNEL is a file, a name or a unique part of one. Pointers are null unless set with --set ptr_A=0x...; pads
are zero. What the kernel is known to compute wrongly is packed all the same, with a warning. Exit codes: 0
packed, 2 not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.family import Usage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from argpack.families.family import Family
    from argpack.schema import KernargSchema

FORMATS = ("dump", "hex", "bin", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack pack`."""
    from argpack.cli import problem

    parser.add_argument("kernel", metavar="KERNEL", help="a .co file, a kernel's name or a unique part of it")
    problem.add_arguments(parser, required=True)
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument("--format", choices=FORMATS, default="dump", help="how to write (default: dump)")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")


def run(args: argparse.Namespace) -> int:
    """Pack and write; 0, or ArgpackError."""
    from argpack.cli.checking import kernel_of
    from argpack.cli.problem import overrides_of, problem_of
    from argpack.codeobject import read
    from argpack.families.loading import load_workloads
    from argpack.kernels import resolve

    code_object = read(resolve(args.kernel, root=args.kernels))
    kernel, family = kernel_of(code_object)
    family.cross_check(kernel)
    workloads = load_workloads(family)
    problem = problem_of(args, workloads.default_problem(kernel.name))
    warnings = workloads.refusals(kernel.name, problem)
    overrides = overrides_of(args.set, family.schema)
    packed = family.schema.pack({**workloads.field_values(problem), **overrides})
    _write(_encoded(packed, args.format, kernel.name, family.schema), args.output, force=args.force)
    for warning in warnings:
        print(f"argpack: warning: {warning}", file=sys.stderr)
    if null := _null_pointers(family, kernel.name, overrides):
        verb = "is" if len(null) == 1 else "are"
        hint = f"--set {null[0]}=0x... gives an address"
        print(f"argpack: note: {', '.join(null)} {verb} null; {hint}", file=sys.stderr)
    return 0


def _encoded(packed: bytes, form: str, kernel_name: str, schema: KernargSchema) -> bytes:
    if form == "bin":
        return packed
    if form == "hex":
        return packed.hex(" ").encode() + b"\n"
    if form == "json":
        import json

        fields = dict(schema.unpack(packed))
        record = {
            "kernel": kernel_name,
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
    try:
        with Path(output).open("wb" if force else "xb") as file:
            file.write(data)
    except FileExistsError:
        raise InputError(f"{output}: exists; --force overwrites it") from None
    except OSError as error:
        raise InputError(f"{output}: cannot be written: {error.strerror}") from None


def _null_pointers(family: Family, kernel_name: str, overrides: Mapping[str, object]) -> list[str]:
    """Pointers that the kernel uses and that were not set."""
    usage = family.usage(kernel_name)
    pointers = [field.name for field in family.schema.fields if field.type == "ptr"]
    return [name for name in pointers if usage[name] is Usage.LIVE and name not in overrides]
