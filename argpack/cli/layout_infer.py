"""Find the layout that each operand of a kernel must have, by running the kernel on probing data.

Only outputs are looked at: it works on the emulator and on a GPU. KERNEL is a file, a name or a unique part of one.
Exit codes: 0 every operand asked for has one layout, 1 none or several, 2 could not be found out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

OPERANDS = {"a": "A", "b": "B", "scale-a": "ScaleA", "scale-b": "ScaleB"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack layout infer KERNEL`."""
    parser.add_argument("kernel", metavar="KERNEL", help="a .co file, a kernel's name or part of it")
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options without KERNEL, for a command that takes other files there as well; `run` needs `args.kernel`."""
    parser.add_argument(
        "--operand",
        action="append",
        choices=list(OPERANDS),
        help="print only this one (may be repeated; default: all)",
    )
    for name, meaning in (("m", "rows of A"), ("n", "rows of B"), ("k", "elements of a row")):
        parser.add_argument(
            f"-{name}", type=int, metavar=name.upper(), help=f"{meaning}, of the problem to run"
        )
    parser.add_argument("--backend", choices=("auto", "emulator", "hip"), default="auto", help="where to run")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Infer and print; 0 where one layout fits each operand asked for and random bytes confirm it."""
    from argpack.cli import layout_report
    from argpack.cli.output import print_json
    from argpack.cli.progress import Progress
    from argpack.codeobject import read
    from argpack.families.choice import kernel_of
    from argpack.kernels import resolve
    from argpack.launch.select import select_backend
    from argpack.probe import DEFAULT_PROBLEM, infer_layouts
    from argpack.values import changed

    code_object = read(resolve(args.kernel, root=args.kernels))
    kernel, _ = kernel_of(code_object)
    sizes = {name: size for name in ("m", "n", "k") if (size := getattr(args, name)) is not None}
    backend, choice = select_backend(args.backend, code_object)
    with Progress("launches") as progress:
        found = infer_layouts(
            code_object,
            kernel,
            backend,
            problem=changed(DEFAULT_PROBLEM, **sizes),
            progress=progress,
        )
    names = [OPERANDS[name] for name in OPERANDS if not args.operand or name in args.operand]
    if args.json:
        facts: dict[str, Any] = {"kernel": kernel.name, "backend": choice}
        print_json(facts | layout_report.as_json(found, names))
    else:
        print(layout_report.text(found, names, kernel.name, choice), end="")
    return int(not found.verdict.passed or any(len(found.identities[name].layouts) != 1 for name in names))
