"""Pieces of the page of a trace: escaping, tables, links to instructions, and its style."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from argpack.trace.places import Place

STYLE = """\
:root { color-scheme: light }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1f2328; background: #fff }
body { margin: 2em auto; max-width: 80em; padding: 0 1.5em }
h1 { font-size: 1.5em; margin-bottom: 0 }
h2 { margin-top: 2em; border-bottom: 1px solid #d0d7de }
h3 { margin-bottom: .3em }
code, .mono, .grid td, table.code td { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
code, .mono, table.code td { font-size: 13px }
p { max-width: 60em }
a { color: #0550ae; text-decoration: none }
a:hover { text-decoration: underline }
a code, .use { white-space: nowrap }
table { border-collapse: collapse }
th { text-align: left; border-bottom: 1px solid #8c959f }
th, td { padding: 2px 12px 2px 0; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
.verdict { font-size: 1.15em; font-weight: 600; padding: .5em .8em; border-radius: 6px; display: inline-block }
.clean { background: #dafbe1; color: #116329 }
.wrong { background: #ffebe9; color: #a40e26 }
ul.findings { list-style: none; padding: 0 }
ul.findings li { margin: .5em 0; padding: .4em .8em; border-left: 5px solid #d0d7de }
ul.findings li.bad { border-color: #cf222e; background: #fff5f5 }
.tag { font-size: 12px; font-weight: 600; text-transform: uppercase; letter-spacing: .04em; margin-right: .6em }
.bad .tag { color: #a40e26 }
.faint { color: #656d76 }
.grid { border-collapse: separate; border-spacing: 2px; table-layout: fixed }
.grid td { padding: 1px 5px; border-radius: 3px; white-space: nowrap; font-size: 12px; overflow: hidden }
.grid th { border: 0; font-weight: normal; color: #656d76; font-size: 12px }
.live { background: #9be0a8 }
.dead { background: #f6d77a }
.unread { background: #d0d7de }
.pad { background: #f3f4f6; color: #8c959f }
.key { display: inline-block; width: 1em; height: 1em; border-radius: 3px; vertical-align: -2px }
.key { margin: 0 .35em 0 1.2em; border: 1px solid #8c959f55 }
.key:first-child { margin-left: 0 }
.buffers { display: grid; grid-template-columns: repeat(auto-fill, minmax(500px, 1fr)); gap: 0 2em }
img { image-rendering: pixelated; border: 1px solid #d0d7de; display: block; margin: .4em 0 }
table.code { border-collapse: separate; border-spacing: 0 }
table.code td { padding: 0 12px 0 0; white-space: pre; line-height: 1.35 }
table.code tr.never { color: #a0a7ae }
table.code tr.hit td { background: #fff1c2 }
table.code tr.bad td { background: #ffd7d5 }
table.code tr:target td { outline: 2px solid #0550ae }
.bar { display: inline-block; height: .7em; background: #4c78a8; margin-left: 6px }
details summary { cursor: pointer; color: #0550ae }
"""


def escaped(text: object) -> str:
    """Text as HTML."""
    return html.escape(str(text))


def link(place: Place) -> str:
    """An instruction, leading to its line in the code."""
    return f'<a href="#i{place.address:x}"><code>{escaped(place.text)}</code> at {place.address:#x}</a>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: frozenset[int] = frozenset()
) -> str:
    """A table of cells that are HTML already; columns in `numbers` are aligned to the right."""

    def line(cells: Sequence[str], kind: str) -> str:
        classes = [' class="n"' if number in numbers else "" for number in range(len(cells))]
        return "".join(f"<{kind}{c}>{cell}</{kind}>" for c, cell in zip(classes, cells, strict=True))

    body = "".join(f"<tr>{line(row, 'td')}</tr>\n" for row in rows)
    head = f"<tr>{line([escaped(text) for text in heads], 'th')}</tr>\n" if heads else ""
    return f"<table>\n{head}{body}</table>\n"


def key(colour: str, meaning: str) -> str:
    """An entry of a legend; `colour` is a class or a CSS colour."""
    style = f' style="background:{colour}"' if colour.startswith("#") else ""
    kind = "key" if style else f"key {colour}"
    return f'<span class="{kind}"{style}></span>{escaped(meaning)}'
