"""Run a launch that `argpack capture --buffers` recorded, here, and compare the memory after it byte for byte.

CAPTURE#n names the launch; --list shows them all. It runs on the emulator or on a GPU.
Exit codes: 0 as recorded, 1 different, 2 could not be run or compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    import argparse

    from argpack.capture import Capture, CapturedLaunch
    from argpack.capture.replay import Replay
    from argpack.launch import LaunchResult

_SHOWN = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack replay`."""
    parser.add_argument("capture", metavar="CAPTURE[#n]", help="a capture, and which of its launches")
    parser.add_argument("number", metavar="n", nargs="?", help="the launch, instead of #n")
    parser.add_argument("--list", action="store_true", help="list the launches, run none")
    parser.add_argument("--backend", choices=("auto", "emulator", "hip"), default="auto", help="where to run")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """0 as recorded, 1 different, or ArgpackError."""
    from argpack.capture import read
    from argpack.capture.naming import split

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
    from argpack.capture.replay import compare_with, launch_of
    from argpack.cli.progress import Progress
    from argpack.launch.select import select_backend

    try:
        replayed = launch_of(capture, launch)
        backend, choice = select_backend(args.backend, replayed.code_object)
        if not args.json:
            print(*_header(capture, launch, choice), sep="\n", flush=True)
        with Progress("workgroups") as progress:
            result = backend.run(replayed, progress=progress)
        replay = compare_with(capture, launch, replayed, result)
    except MemoryError as error:
        raise UnavailableError(
            f"{capture.source}#{launch.number}: not enough memory on this machine: {error}"
        ) from None
    if args.json:
        import json

        print(json.dumps(_as_json(capture, launch, replay, backend.name, result), indent=2))
    else:
        print(*_verdict(replay, result), sep="\n")
    return int(not replay.passed)


def _header(capture: Capture, launch: CapturedLaunch, choice: str) -> list[str]:
    times = "×".join
    return [
        f"launch   {capture.source}#{launch.number}, {launch.api} by process {launch.pid}",
        f"kernel   {launch.kernel} (code object {(launch.code or '')[:16]})",
        f"grid     {times(map(str, launch.grid))} workgroups of {times(map(str, launch.block))} work-items",
        f"memory   {len(launch.memory)} allocations, {sum(m.size for m in launch.memory):,} bytes",
        *(f"remark   {text}" for text in launch.remarks),
        f"backend  {choice}",
    ]


def _verdict(replay: Replay, result: LaunchResult) -> list[str]:
    changed = f"{replay.changed:,} of them changed by the recorded launch"
    lines = []
    if replay.passed:
        lines.append(f"PASS: {replay.compared:,} bytes are as recorded, {changed}")
    else:
        wrong = sum(difference.count for difference in replay.differences)
        lines.append(f"FAIL: {wrong:,} of {replay.compared:,} bytes differ, {changed}")
    lines += [f"      memory error: {text}" for text in replay.errors]
    for each in replay.differences[:_SHOWN]:
        lines.append(
            f"      {each.name}: {each.count:,} of {each.size:,} bytes, the first at {each.offset:#x}: "
            f"recorded {each.recorded:02x}, found {each.found:02x}"
        )
    if len(replay.differences) > _SHOWN:
        lines.append(f"      and {len(replay.differences) - _SHOWN} allocations more")
    lines += [f"      {name}: not recorded after the launch, not compared" for name in replay.left_out]
    lines += [f"      finding: {text}" for text in result.findings[:_SHOWN]]
    return lines


def _as_json(
    capture: Capture, launch: CapturedLaunch, replay: Replay, backend: str, result: LaunchResult
) -> dict[str, object]:
    return {
        "capture": capture.source,
        "launch": launch.number,
        "kernel": launch.kernel,
        "backend": backend,
        "verdict": "pass" if replay.passed else "fail",
        "compared_bytes": replay.compared,
        "changed_bytes": replay.changed,
        "differences": [
            {
                "buffer": each.name,
                "bytes": each.size,
                "different": each.count,
                "first_offset": each.offset,
                "recorded": each.recorded,
                "found": each.found,
            }
            for each in replay.differences
        ],
        "memory_errors": list(replay.errors),
        "left_out": list(replay.left_out),
        "findings": list(result.findings),
    }


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
