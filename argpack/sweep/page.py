"""The results of a sweep as one HTML page without scripts and other files: a map, and every result, by verdict."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from argpack.sweep.results import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from argpack.sweep.results import Result

_CLASSES = {
    Answer.FAILED: "fail",
    Answer.NOT_CHECKED: "unchecked",
    Answer.REFUSED: "refused",
    Answer.PASSED: "pass",
}
_STYLE = """\
:root { color-scheme: light dark }
body { font: 14px/1.5 ui-monospace, Menlo, Consolas, monospace; margin: 2em }
table { border-collapse: collapse; margin: 1em 0 }
th, td { text-align: left; vertical-align: top; padding: 2px 1em 2px 0; white-space: nowrap }
th { border-bottom: 1px solid }
td.number { text-align: right }
td.reason { white-space: normal }
td.reason:not(:empty) { min-width: 28em }
.map td { padding: 0; border: 1px solid Canvas; width: 1.2em; height: 1.2em }
.map th { border: 0; font-weight: normal; padding: 0 1em 0 0 }
.map th.shape { writing-mode: vertical-rl; transform: rotate(180deg); vertical-align: bottom }
.map th.shape { padding: 0.5em 0; font-size: 11px }
label { margin-right: 2em }
.fail { color: #c5221f; font-weight: bold } .map .fail { background: #c5221f }
.unchecked { color: #b06000; font-weight: bold } .map .unchecked { background: #e8a33d }
.refused { opacity: 0.6 } .map .refused { background: #9aa0a6 }
.pass { color: #188038 } .map .pass { background: #34a853 }
@media (prefers-color-scheme: dark) {
  .fail { color: #f28b82 } .unchecked { color: #fdd663 } .pass { color: #81c995 }
}
"""
_HEADINGS = (
    "kernel",
    "M",
    "N",
    "K",
    "verdict",
    "workgroups",
    "outputs",
    "bit-equal",
    "max ulp",
    "norm error",
    "seconds",
    "reason",
)


def to_page(results: Sequence[Result], title: str) -> str:
    """The page, UTF-8 when written. Boxes to tick show and hide verdicts; a cell of the map tells what it is."""
    counts = {verdict: sum(result.verdict is verdict for result in results) for verdict in _CLASSES}
    there = {verdict: name for verdict, name in _CLASSES.items() if counts[verdict]}
    hiding = "".join(
        f"body:has(#{name}:not(:checked)) .list .{name} {{ display: none }}\n" for name in there.values()
    )
    boxes = "".join(
        f'<label class="{name}"><input type="checkbox" id="{name}" checked> {counts[verdict]} {verdict}</label>\n'
        for verdict, name in there.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_STYLE}{hiding}</style>\n</head>\n<body>\n"
        f"<p>{html.escape(title)}</p>\n<p>{boxes}</p>\n{_map(results)}{_list(results)}</body>\n</html>\n"
    )


def _map(results: Sequence[Result]) -> str:
    """A row a kernel, a column a shape."""
    shapes = {(result.m, result.n, result.k): None for result in results}
    kernels: dict[str, dict[tuple[int, int, int], Result]] = {}
    for result in results:
        kernels.setdefault(result.kernel, {})[result.m, result.n, result.k] = result
    heads = "".join(f'<th class="shape">{m} x {n} x {k}</th>' for m, n, k in shapes)
    rows = [f"<tr><th>M x N x K</th>{heads}</tr>\n"]
    for kernel, found in kernels.items():
        cells = "".join(_cell(found.get(shape)) for shape in shapes)
        rows.append(f"<tr><th>{html.escape(kernel)}</th>{cells}</tr>\n")
    return f'<table class="map">\n{"".join(rows)}</table>\n'


def _cell(result: Result | None) -> str:
    if result is None:
        return "<td></td>"
    told = f"{result.kernel} M={result.m} N={result.n} K={result.k}: {result.verdict} {result.reason}".strip()
    return f'<td class="{_CLASSES[result.verdict]}" title="{html.escape(told)}"></td>'


def _list(results: Sequence[Result]) -> str:
    heading = "".join(f"<th>{name}</th>" for name in _HEADINGS)
    rows = "".join(
        f'<tr class="{_CLASSES[result.verdict]}">{"".join(_cells(result))}</tr>\n' for result in results
    )
    return f'<table class="list">\n<tr>{heading}</tr>\n{rows}</table>\n'


def _cells(result: Result) -> Iterator[str]:
    yield f"<td>{html.escape(result.kernel)}</td>"
    for size in (result.m, result.n, result.k):
        yield f'<td class="number">{size}</td>'
    yield f"<td>{result.verdict}</td>"
    if result.workgroups is None:  # nothing was run: the reason takes the place of the numbers
        yield f'<td class="reason" colspan="7">{html.escape(result.reason)}</td>'
        return
    some = result.workgroups != result.workgroups_of_grid
    numbers = (
        f"{result.workgroups} of {result.workgroups_of_grid}" if some else result.workgroups,
        result.outputs,
        result.bit_equal,
        result.max_ulp,
        None if result.norm_error is None else f"{result.norm_error:.2e}",
        f"{result.seconds:.2f}",
    )
    for number in numbers:
        yield f'<td class="number">{"" if number is None else number}</td>'
    yield f'<td class="reason">{html.escape(result.reason)}</td>'
