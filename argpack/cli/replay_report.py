"""What `argpack replay` prints: the launch, the verdict on bytes, and the bound where bytes differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argpack.cli.report import numbers, plain, verdict_values
from argpack.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from argpack.capture import Capture, CapturedLaunch
    from argpack.capture.judge import Bound, ByElements, ByReference
    from argpack.capture.replay import Replay
    from argpack.launch import Launch, LaunchResult
    from argpack.numerics import Verdict

_SHOWN = 8


class Judgement(NamedTuple):
    """By a reference, or by a stated bound, or why there is neither."""

    reference: ByReference | None = None
    elements: tuple[ByElements, ...] = ()
    bound: Bound | None = None
    why_not: str = ""


def judged(
    capture: Capture, launch: CapturedLaunch, replayed: Launch, result: LaunchResult, bound: Bound | None
) -> Judgement:
    """What is known beside whether the bytes are the same."""
    from argpack.capture import judge
    from argpack.capture.replay import recorded_after

    recorded = recorded_after(capture, launch, replayed)
    found = {name: result.buffers[name] for name in recorded}
    if bound is not None:
        return Judgement(elements=judge.by_elements(bound, recorded, found), bound=bound)
    try:
        expected = judge.expected_output(replayed)
        if expected.buffer not in recorded:
            return Judgement(why_not="the output was not recorded")
        return Judgement(reference=judge.by_reference(expected, recorded, found))
    except InputError as error:
        return Judgement(why_not=str(error))


def passed(replay: Replay, judgement: Judgement) -> bool:
    """As recorded, or within the bound."""
    if replay.passed or replay.errors:
        return replay.passed
    if judgement.bound is not None:
        return not any(each.beyond for each in judgement.elements)
    return judgement.reference is not None and judgement.reference.passed


def header(capture: Capture, launch: CapturedLaunch, choice: str) -> list[str]:
    """The launch, a fact a line."""
    times = "×".join
    return [
        f"launch   {capture.source}#{launch.number}, {launch.api} by process {launch.pid}",
        f"kernel   {launch.kernel} (code object {(launch.code or '')[:16]})",
        f"grid     {times(map(str, launch.grid))} workgroups of {times(map(str, launch.block))} work-items",
        f"memory   {len(launch.memory)} allocations, {sum(m.size for m in launch.memory):,} bytes",
        *(f"remark   {text}" for text in launch.remarks),
        f"backend  {choice}",
    ]


def verdict(replay: Replay, judgement: Judgement, result: LaunchResult) -> Iterator[str]:
    """PASS or FAIL with the numbers behind it, a line each."""
    changed = f"{replay.changed:,} of them changed by the recorded launch"
    wrong = sum(difference.count for difference in replay.differences)
    if replay.passed:
        yield f"PASS: {replay.compared:,} bytes are as recorded, {changed}"
    elif passed(replay, judgement):
        yield f"PASS within a bound: {wrong:,} of {replay.compared:,} bytes differ, {changed}"
    else:
        yield f"FAIL: {wrong:,} of {replay.compared:,} bytes differ, {changed}"
    yield from (f"      memory error: {text}" for text in replay.errors)
    for each in replay.differences[:_SHOWN]:
        yield (
            f"      {each.name}: {each.count:,} of {each.size:,} bytes, the first at {each.offset:#x}: "
            f"recorded {each.recorded:02x}, found {each.found:02x}"
        )
    if len(replay.differences) > _SHOWN:
        yield f"      and {len(replay.differences) - _SHOWN} allocations more"
    yield from _bound_lines(replay, judgement)
    yield from (f"      {name}: not recorded after the launch, not compared" for name in replay.left_out)
    yield from (f"      finding: {text}" for text in result.findings[:_SHOWN])


def _bound_lines(replay: Replay, judgement: Judgement) -> Iterator[str]:
    if judgement.reference is not None and replay.passed:
        yield f"      the recorded output {_told(judgement.reference.recorded)}"
    elif judgement.reference is not None:
        yield "      bound: that of argpack verify, from a float64 reference of the recorded operands"
        yield f"      the recorded output {_told(judgement.reference.recorded)}"
        yield f"      the replayed output {_told(judgement.reference.replayed)}"
        if judgement.reference.beside:
            yield f"      beside the output {judgement.reference.beside:,} bytes differ, for which there is no bound"
    elif replay.passed:
        if judgement.why_not:
            yield f"      whether the recorded output is right is not known: {judgement.why_not}"
    elif judgement.bound is not None:
        yield f"      bound: {judgement.bound}"
        for each in judgement.elements:
            largest = "none finite" if each.largest is None else f"at most {each.largest:.4g} apart"
            where = "" if each.first is None else f", the first of these element {each.first:,}"
            yield (
                f"      {each.name}: {each.different:,} of {each.elements:,} elements differ, {largest}, "
                f"{each.beyond:,} beyond the bound{where}"
            )
    else:
        yield (
            f"      no bound: {judgement.why_not}; --ulp or --rtol, with --type, state one "
            "where floats may be added in another order"
        )


def _told(verdict: Verdict) -> str:
    # Only for these operands as the kernel reads them: scales in a wrong order are scales, too.
    return f"is {'right' if verdict.passed else 'wrong'} for these operands: {verdict.reason or numbers(verdict)}"


def as_json(
    capture: Capture,
    launch: CapturedLaunch,
    replay: Replay,
    judgement: Judgement,
    backend: str,
    result: LaunchResult,
) -> dict[str, object]:
    """The same as plain values."""
    reference = judgement.reference
    return {
        "capture": capture.source,
        "launch": launch.number,
        "kernel": launch.kernel,
        "backend": backend,
        "verdict": "pass" if passed(replay, judgement) else "fail",
        "bound": _rule(replay, judgement),
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
        "recorded_output": reference and _output_values(reference.recorded),
        "replayed_output": reference and _output_values(reference.replayed),
        "bytes_different_beside_the_output": reference and reference.beside,
        "elements": [_element_values(each) for each in judgement.elements],
        "not_judged": judgement.why_not,
        "memory_errors": list(replay.errors),
        "left_out": list(replay.left_out),
        "findings": list(result.findings),
    }


def _rule(replay: Replay, judgement: Judgement) -> str:
    """What the verdict is by: `bytes`, `reference`, or the bound in words."""
    if replay.passed or (judgement.reference is None and judgement.bound is None):
        return "bytes"
    return "reference" if judgement.bound is None else str(judgement.bound)


def _output_values(verdict: Verdict) -> dict[str, object]:
    return {"right": verdict.passed, **verdict_values(verdict)}


def _element_values(each: ByElements) -> dict[str, object]:
    return {
        "buffer": each.name,
        "elements": each.elements,
        "different": each.different,
        "beyond": each.beyond,
        "first_beyond": each.first,
        "largest": plain(each.largest),
    }
