"""A document as one HTML page without scripts and without other files, in the colours of the reader's system."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from argpack.hexdump.table import Table, Tone

if TYPE_CHECKING:
    from argpack.hexdump.table import Document, Line

_STYLE = """\
:root { color-scheme: light dark }
body { font: 14px/1.5 ui-monospace, Menlo, Consolas, monospace; margin: 2em }
p { margin: 0; white-space: pre-wrap }
table { border-collapse: collapse; margin: 1em 0 }
th, td { text-align: left; vertical-align: top; padding: 2px 1em 2px 0; white-space: pre }
th { border-bottom: 1px solid }
td:last-child { white-space: normal }
.strong { font-weight: bold }
.faint { opacity: 0.55 }
.alarm { color: #c5221f; font-weight: bold }
.good { color: #188038 }
@media (prefers-color-scheme: dark) { .alarm { color: #f28b82 } .good { color: #81c995 } }
"""


def to_html(document: Document, title: str) -> str:
    """The page, UTF-8 when written; lines become paragraphs, empty ones are left out."""
    body = [_table(block) if isinstance(block, Table) else _line(block) for block in document]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        f"{''.join(body)}</body>\n</html>\n"
    )


def _line(line: Line) -> str:
    return f"<p{_class(line.tone)}>{html.escape(line.cells[0])}</p>\n" if line.cells[0] else ""


def _table(table: Table) -> str:
    rows = [_row(line, "td" if number else "th") for number, line in enumerate(table.lines)]
    return f"<table>\n{''.join(rows)}</table>\n"


def _row(line: Line, cell: str) -> str:
    tone = "" if cell == "th" else _class(line.tone)
    return f"<tr{tone}>{''.join(f'<{cell}>{html.escape(text)}</{cell}>' for text in line.cells)}</tr>\n"


def _class(tone: Tone) -> str:
    return "" if tone is Tone.PLAIN else f' class="{tone.name.lower()}"'
