"""What `verify` prints: facts before a launch, the verdict after it, one table for many kernels, JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from argpack.cli.checking import Outcome, Unchecked
from argpack.families.extents import beyond
from argpack.families.loading import load_workloads
from argpack.hexdump.table import Line, Tone, align, paint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from argpack.cli.checking import Check
    from argpack.families import Problem
    from argpack.launch import Launch
    from argpack.numerics import Verdict

_SHOWN_FINDINGS = 3


def header(check: Check, *, colour: bool = False) -> str:
    """Kernel, cross-check, problem, launch, layouts, backend; a newline after each line."""
    kernel, code_object, launch = check.kernel, check.code_object, check.workload.launch
    rows = [
        ("kernel", kernel.name),
        ("file", f"{check.path} ({code_object.target}, code object V{code_object.code_object_version})"),
        ("uses", _resources(check)),
        ("family", check.family.title),
        *(("metadata" if i == 0 else "", text) for i, text in enumerate(check.metadata)),
        ("problem", problem_text(check.problem)),
        (
            "launch",
            f"{times(launch.grid)} workgroups of {times(launch.block)} work-items{_some(launch)}",
        ),
        *(("extent", text) for text in beyond(load_workloads(check.family).extents(check.problem))),
        *(("memory" if i == 0 else "", text) for i, text in enumerate(check.workload.notes)),
        *(("forced" if i == 0 else "", text) for i, text in enumerate(check.workload.overridden)),
        ("backend", check.choice),
    ]
    width = max(len(label) for label, _ in rows) + 2
    tones = {"kernel": Tone.STRONG, "forced": Tone.ALARM, "extent": Tone.ALARM}
    return "".join(
        paint(f"{label:<{width}}{text}", tones.get(label, Tone.PLAIN), colour=colour) + "\n"
        for label, text in rows
    )


def outcome(done: Outcome, *, colour: bool = False) -> str:
    """The argument buffer as it was passed, then the verdict with its numbers; a newline after each line."""
    from argpack.hexdump import Dump, annotate

    check, verdict = done.check, done.verdict
    passed = done.result.arguments[: check.family.schema.size]
    usage = check.family.usage(check.kernel.name)
    dump = annotate(Dump.whole(passed, "arguments"), check.family.schema, usage, colour=colour)
    lines = [f"\n{len(passed)} bytes of arguments, as passed:\n{dump}", *_verdict_lines(done, colour=colour)]
    if verdict.hint:
        lines.append(f"      hint: {verdict.hint}")
    # The verdict's reason has the first of the errors.
    findings = [f"memory error: {text}" for text in done.result.errors[1:]]
    findings += [f"finding: {text}" for text in done.result.findings]
    lines += [f"      {text}" for text in findings[:_SHOWN_FINDINGS]]
    if len(findings) > _SHOWN_FINDINGS:
        lines.append(f"      and {len(findings) - _SHOWN_FINDINGS} findings more")
    return "\n".join(lines) + "\n"


def table(results: Sequence[Outcome | Unchecked], *, colour: bool = False) -> str:
    """One line a kernel, those that could not be checked with the reason below; a newline after each line."""
    heading: tuple[str, ...] = (
        "kernel",
        "verdict",
        "outputs",
        "bit-equal",
        "max ulp",
        "norm error",
        "seconds",
    )
    if any(not isinstance(result, Unchecked) and result.timing for result in results):
        heading = (*heading, "a launch", "TFLOP/s")
    rows = [Line(heading, Tone.STRONG)]
    for result in results:
        if isinstance(result, Unchecked):
            cells = (result.path.name, "not checked", *[""] * (len(heading) - 2))
            rows.append(Line(cells, Tone.ALARM))
        else:
            rows.append(Line(_cells(result), Tone.PLAIN if result.verdict.passed else Tone.ALARM))
    lines = align(rows, colour=colour)
    for result in results:
        if isinstance(result, Unchecked):
            lines.append(f"{result.path.name}: not checked: {result.reason}")
        elif not result.verdict.passed:
            lines.append(f"{result.check.path.name}: FAIL: {result.verdict.reason}")
    lines.append(_counts(results))
    return "\n".join(lines) + "\n"


def json_text(value: dict[str, object]) -> str:
    """JSON, a newline at its end."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def as_json(done: Outcome | Unchecked) -> dict[str, object]:
    """The outcome as plain values; NaN and infinity, which JSON lacks, as text."""
    if isinstance(done, Unchecked):
        return {"file": str(done.path), "verdict": "not checked", "reason": done.reason}
    check, result, verdict = done.check, done.result, done.verdict
    problem, launch = check.problem, check.workload.launch
    return {
        "kernel": check.kernel.name,
        "file": str(check.path),
        "target": str(check.code_object.target),
        "family": check.family.name,
        "backend": check.backend.name,
        "backend_choice": check.choice,
        "verdict": "pass" if verdict.passed else "fail",
        "m": problem.m,
        "n": problem.n,
        "k": problem.k,
        "alpha": plain(problem.alpha),
        "beta": plain(problem.beta),
        "log2_k_split": problem.log2_k_split,
        "seed": problem.seed,
        "grid": list(launch.grid),
        "workgroups_run": math.prod(launch.grid) if launch.workgroups is None else len(launch.workgroups),
        "workgroups_of_grid": math.prod(launch.grid),
        "kernel_seconds": result.kernel_seconds,
        "repeat": done.timing
        and {
            "launches": done.timing.launches,
            "seconds_a_launch": done.timing.seconds,
            "tflops": done.tflops,
        },
        **verdict_values(verdict),
        "memory_errors": list(result.errors),
        "findings": list(result.findings),
        "overridden": list(check.workload.overridden),
        "arguments": result.arguments.hex(),
    }


def verdict_values(verdict: Verdict) -> dict[str, object]:
    """A verdict as JSON values, without whether it passed."""
    return {
        "elements": verdict.elements,
        "bit_equal": verdict.bit_equal,
        "max_ulp": verdict.max_ulp,
        "norm_error": plain(verdict.norm_error),
        "wrong": verdict.wrong,
        "non_finite": verdict.non_finite,
        "first_bad": None if verdict.first_bad is None else list(verdict.first_bad),
        "expected": plain(verdict.expected),
        "found": plain(verdict.found),
        "reason": verdict.reason,
        "hint": verdict.hint,
    }


def problem_text(problem: Problem) -> str:
    """`M=256 N=256 K=1024, alpha 1, beta 0, seed 0`, with the split where there is one."""
    split = f", K in 2^{problem.log2_k_split} slices" if problem.log2_k_split else ""
    return (
        f"M={problem.m} N={problem.n} K={problem.k}, alpha {problem.alpha:g}, beta {problem.beta:g}{split}, "
        f"seed {problem.seed}"
    )


def _resources(check: Check) -> str:
    kernel = check.kernel
    accumulators = f", {kernel.agpr_count} AGPRs" if kernel.agpr_count else ""
    rows, columns = check.tile
    return (
        f"tile {rows}x{columns}, {kernel.vgpr_count} VGPRs{accumulators}, {kernel.sgpr_count} SGPRs, "
        f"{kernel.group_segment_size} bytes of LDS"
    )


def _verdict_lines(done: Outcome, *, colour: bool) -> Iterator[str]:
    verdict = done.verdict
    word, tone = ("PASS", Tone.GOOD) if verdict.passed else ("FAIL", Tone.ALARM)
    yield paint(f"{word}  {_sampled(done)}{numbers(verdict)}", tone, colour=colour)
    if not verdict.passed:
        yield f"      {verdict.reason}"
    yield f"      kernel time {_time(done.result.kernel_seconds)} on {done.check.backend.description}"
    if done.timing:
        yield (
            f"      {_time(done.timing.seconds)} a launch, the mean of {done.timing.launches} in a row: "
            f"{_tflops(done)} TFLOP/s (2·M·N·K operations)"
        )


def _sampled(done: Outcome) -> str:
    """How much a launch of some workgroups has checked: `22 of 53,248 workgroups, 0.036 % of D: `; else nothing."""
    launch, problem = done.check.workload.launch, done.check.problem
    if launch.workgroups is None:
        return ""
    percent = 100 * done.verdict.elements / (problem.m * problem.n)
    share = f"{percent:.2g}" if percent < 10 else f"{math.floor(percent)}"
    return f"{len(launch.workgroups):,} of {math.prod(launch.grid):,} workgroups, {share} % of D: "


def numbers(verdict: Verdict) -> str:
    """`60416 outputs: 99.996 % bit-equal, at most 1 ulp apart, norm error 1.65e-03, 0 wrong`."""
    distances = f"at most {verdict.max_ulp} ulp apart, norm error {verdict.norm_error:.2e}"
    if verdict.non_finite == verdict.elements:
        distances = "none finite"
    return f"{verdict.elements} outputs: {_share(verdict)} bit-equal, {distances}, {verdict.wrong} wrong"


def _time(seconds: float) -> str:
    """A GPU needs microseconds for what the emulator needs seconds for."""
    return f"{seconds:.3f} s" if seconds >= 0.01 else f"{seconds * 1e6:,.1f} µs"


def _tflops(done: Outcome) -> str:
    return "no" if done.tflops is None else f"{done.tflops:,.3g}"


def _cells(done: Outcome) -> tuple[str, ...]:
    verdict = done.verdict
    timed = (_time(done.timing.seconds), _tflops(done)) if done.timing else ()
    return (
        done.check.path.name,
        "pass" if verdict.passed else "FAIL",
        str(verdict.elements),
        _share(verdict),
        str(verdict.max_ulp),
        f"{verdict.norm_error:.2e}",
        f"{done.result.kernel_seconds:.3f}",
        *timed,
    )


def _counts(results: Sequence[Outcome | Unchecked]) -> str:
    unchecked = sum(isinstance(result, Unchecked) for result in results)
    passed = sum(not isinstance(result, Unchecked) and result.verdict.passed for result in results)
    failed = len(results) - unchecked - passed
    parts = [f"{passed} passed"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{unchecked} not checked"] if unchecked else []
    return f"{len(results)} kernels: {', '.join(parts)}"


def _share(verdict: Verdict) -> str:
    """Rounded down: 100 % only where every output is equal."""
    return f"{math.floor(verdict.bit_equal / verdict.elements * 1e5) / 1e3:.3f} %"


def _some(launch: Launch) -> str:
    return "" if launch.workgroups is None else f"; {len(launch.workgroups):,} of them run"


def times(counts: tuple[int, ...]) -> str:
    """`2 x 1 x 1`."""
    return " x ".join(str(count) for count in counts)


def plain(value: float | None) -> float | str | None:
    """A number as JSON can hold it: NaN and infinity as text."""
    return value if value is None or math.isfinite(value) else str(value)
