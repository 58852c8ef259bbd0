"""Run a launch that `argpack capture --buffers` recorded, here, and compare the memory after it byte for byte.

CAPTURE#n names the launch; --list shows them all. It runs on the emulator or on a GPU. GPUs add floats in another
order: where bytes differ and argpack knows what the kernel computes, the recorded and the replayed output are both
held against a float64 reference of the recorded operands, with the tolerance of `argpack verify`. For other kernels,
--ulp or --rtol state what may differ. Exit codes: 0 as recorded, or within the bound that is printed, 1 different,
2 could not be run or compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    import argparse

    from argpack.capture import Capture, CapturedLaunch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack replay`."""
    parser.add_argument("capture", metavar="CAPTURE[#n]", help="a capture, and which of its launches")
    parser.add_argument("number", metavar="n", nargs="?", help="the launch, instead of #n")
    parser.add_argument("--list", action="store_true", help="list the launches, run none")
    parser.add_argument("--backend", choices=("auto", "emulator", "hip"), default="auto", help="where to run")
    bound = parser.add_mutually_exclusive_group()
    bound.add_argument(
        "--ulp", type=_count, metavar="N", help="elements may be N numbers of their type apart"
    )
    bound.add_argument(
        "--rtol", type=_fraction, metavar="R", help="elements may be R times the recorded one apart"
    )
    parser.add_argument(
        "--type", choices=("bf16", "f16", "f32"), help="of the elements that --ulp and --rtol are about"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """0 as recorded, 1 different, or ArgpackError."""
    from argpack.capture import read
    from argpack.capture.naming import split

    bounded = args.ulp is not None or args.rtol is not None
    if bounded != (args.type is not None):
        raise InputError("--ulp and --rtol need the elements' type, --type, and that needs one of them")
    path, number = split(args.capture)
    if args.number is not None:
        digits = args.number.removeprefix("#")
        if number is not None or not digits.isdecimal():
            raise InputError(f"expected one number of a launch, found {args.capture} and {args.number}")
        number = int(digits)
    capture = read(path)
    if args.list:
        chosen = capture.launches if number is None else (capture.launch(number),)
        return _list(capture, chosen, as_json=args.json)
    return _replay(capture, capture.launch(number), args)


def _replay(capture: Capture, launch: CapturedLaunch, args: argparse.Namespace) -> int:
    from argpack.capture.judge import Bound
    from argpack.capture.replay import compare_with, launch_of
    from argpack.cli import replay_report
    from argpack.cli.progress import Progress
    from argpack.launch.select import select_backend

    bound = Bound(args.type, ulp=args.ulp, rtol=args.rtol) if args.type else None
    try:
        replayed = launch_of(capture, launch)
        backend, choice = select_backend(args.backend, replayed.code_object)
        if not args.json:
            print(*replay_report.header(capture, launch, choice), sep="\n", flush=True)
        with Progress("workgroups") as progress:
            result = backend.run(replayed, progress=progress)
        replay = compare_with(capture, launch, replayed, result)
        judgement = replay_report.judged(capture, launch, replayed, result, bound)
    except MemoryError as error:
        raise UnavailableError(
            f"{capture.source}#{launch.number}: not enough memory on this machine: {error}"
        ) from None
    if args.json:
        import json

        value = replay_report.as_json(capture, launch, replay, judgement, backend.name, result)
        print(json.dumps(value, indent=2, allow_nan=False))
    else:
        print(*replay_report.verdict(replay, judgement, result), sep="\n")
    return int(not replay_report.passed(replay, judgement))


def _list(capture: Capture, launches: tuple[CapturedLaunch, ...], *, as_json: bool) -> int:
    if as_json:
        import json

        rows = [_row(launch) for launch in launches]
        print(json.dumps({"launches": rows, "problems": capture.problems, "notes": capture.notes}, indent=2))
        return 0
    from argpack.hexdump.table import Line, align

    heading = ("launch", "pid", "kernel", "grid", "block", "arguments", "memory", "error")
    lines = [Line(heading)]
    for launch in launches:
        row = _row(launch)
        grid, block = ("×".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
        cells = (
            row["pid"],
            row["kernel"],
            grid,
            block,
            row["argument_bytes"],
            row["memory_bytes"],
            row["error"],
        )
        lines.append(Line((f"#{launch.number}", *map(str, cells))))
    print(*align(lines, colour=False), *capture.problems, *capture.notes, sep="\n")
    return 0


def _row(launch: CapturedLaunch) -> dict[str, object]:
    return {
        "launch": launch.number,
        "pid": launch.pid,
        "thread": launch.thread,
        "time_ns": launch.time_ns,
        "api": launch.api,
        "kernel": launch.kernel,
        "code_sha256": launch.code,
        "grid": launch.grid,
        "block": launch.block,
        "dynamic_lds": launch.dynamic_lds,
        "stream": launch.stream,
        "argument_bytes": len(launch.arguments),
        "memory_bytes": sum(memory.size for memory in launch.memory),
        "error": launch.error,
        "remarks": launch.remarks,
    }


def _count(text: str) -> int:
    import argparse

    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text}")
    return int(text)


def _fraction(text: str) -> float:
    import argparse
    import math

    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"expected 0 or more and less than 1, found {text}")
    return number
