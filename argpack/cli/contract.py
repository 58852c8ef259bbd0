"""Measure the limits of a kernel that no documentation states, and what it does with each of its arguments.

KERNEL is a file, a name or a unique part of one. It is run some hundred times on the emulator, which takes seconds:
which multiples M, N and K need, whether alpha and beta are applied, whether K can be split and D is added to, what must
stand in padding, what is read past the end of buffers, which arguments are live, dead or never read. -o writes all of
it as TOML. Where argpack has a contract of this code object, it is compared with it. Exit codes: 0 measured, 1 measured
and not what argpack's contract says, 2 could not be measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack contract`."""
    parser.add_argument("kernel", metavar="KERNEL", help="a .co file, a kernel's name or a unique part of it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-o", "--output", metavar="FILE", help="write TOML here")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")


def run(args: argparse.Namespace) -> int:
    """Measure, print and write; 0 or 1, or ArgpackError."""
    from argpack.cli import contract_report, output
    from argpack.cli.progress import Progress
    from argpack.codeobject import read
    from argpack.contract import as_json, differences, measure, shipped, to_toml
    from argpack.families.choice import kernel_of
    from argpack.kernels import resolve
    from argpack.output_files import check_new, write_file

    if args.output:
        check_new(args.output, force=args.force)
    code_object = read(resolve(args.kernel, root=args.kernels))
    kernel, _ = kernel_of(code_object)
    with Progress("steps") as progress:
        found = measure(code_object, kernel, progress=progress)
    known = shipped(kernel.name, code_object.sha256)
    unlike = differences(known, found) if known else ()
    if args.output:
        write_file(to_toml(found).encode(), args.output, force=args.force)
    if args.json:
        output.print_json(as_json(found))
    else:
        document = contract_report.document(found, known, unlike)
        output.print_document(document, f"argpack contract {kernel.name}", html=False)
    return int(bool(unlike))
