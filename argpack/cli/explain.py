"""Say why the output of a kernel is wrong: mistakes in buffers, arguments and grid, each run on the emulator.

Give what you have, in any mix: operands as they are (--a, --b, --scale-a, --scale-b: rows one after the other, two
fp4 codes a byte), the same as you placed them in memory (--placed-...), the argument buffer in any dump format, the
grid, and the output. With an output, hypotheses that give exactly that output are named; without one, files are held
against what the problem needs, and the launch is run with them. Operands that are not given are those of `argpack
verify` for --seed. Files are .npy, .bin or .safetensors (FILE.safetensors:NAME). Exit codes: 0 nothing wrong found,
1 wrong, whether explained or not, 2 could not check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack explain`."""
    from argpack.cli import problem
    from argpack.cli.explain_operands import OPERANDS

    parser.add_argument("kernel", metavar="KERNEL", help="a .co file, a kernel's name or a unique part of it")
    problem.add_arguments(parser, required=False)
    parser.add_argument("--seed", type=int, help="operands not given are those of verify with this seed (0)")
    happened = parser.add_argument_group("what happened")
    happened.add_argument("--output", metavar="FILE", help="D as it came out: bf16 bits (uint16) or float32")
    happened.add_argument("--before", metavar="FILE", help="D as it was before the launch")
    happened.add_argument(
        "--arguments", metavar="DUMP", help="the argument buffer as passed, in any dump format"
    )
    happened.add_argument(
        "--grid", metavar="X,Y,Z", help="the grid that was launched, in workgroups (blocks)"
    )
    operands = parser.add_argument_group("operands, row by row, before any layout")
    placed = parser.add_argument_group("operands as they were placed in memory")
    for name, option in OPERANDS.items():
        flag = option.replace("_", "-")
        operands.add_argument(f"--{flag}", metavar="FILE", help=f"{name} as a matrix")
        placed.add_argument(f"--placed-{flag}", metavar="FILE", help=f"the buffer of {name}")
    parser.add_argument(
        "--save", metavar="DIR", help="write the launch as given: operands, buffers, arguments, D"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list what was excluded, and why")
    parser.add_argument(
        "--backend", choices=("auto", "emulator", "hip"), default="emulator", help="where to run"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")


def run(args: argparse.Namespace) -> int:
    """0 nothing wrong found, 1 wrong, or ArgpackError."""
    from argpack.cli import explain_report, output
    from argpack.cli.explain_files import evidence, stated_problem
    from argpack.cli.explain_save import save
    from argpack.cli.progress import Progress
    from argpack.codeobject import read
    from argpack.explain import Runner, explain, of_sizes
    from argpack.families.choice import kernel_of
    from argpack.families.loading import enough_memory, load_workloads
    from argpack.kernels import resolve
    from argpack.launch.select import select_backend

    code_object = read(resolve(args.kernel, root=args.kernels))
    kernel, family = kernel_of(code_object)
    family.cross_check(kernel)
    backend, choice = select_backend(args.backend, code_object)
    problem = stated_problem(args, kernel, family)
    workloads = load_workloads(family)
    assumed: tuple[str, ...] = ()
    with enough_memory(problem), Progress("hypotheses") as progress:
        found = of_sizes(problem, workloads.refusals(kernel.name, problem), workloads.extents(problem))
        if found is None:
            scene, given, assumed = evidence(args, code_object, kernel, family, problem)
            runner = Runner(scene, backend)
            if args.save is not None:
                save(args.save, runner, given)
            found = explain(runner, given, progress=progress)
    facts = explain_report.Facts(kernel.name, problem, choice, assumed, yours=args.output is not None)
    if args.json:
        output.print_json(explain_report.as_json(facts, found))
    else:
        lines = explain_report.lines(facts, found, verbose=args.verbose)
        print(explain_report.painted(lines, colour=output.colour()), end="")
    return int(not found.right)
