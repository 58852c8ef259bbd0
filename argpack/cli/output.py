"""How `show`, `diff` and `table` print: text for people, JSON, or one HTML file. It has no subcommand."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from argpack.hexdump.table import Document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that choose a form of output."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print JSON")
    forms.add_argument("--html", action="store_true", help="print a page of HTML that needs no other file")


def colour() -> bool:
    """Whether standard output is a terminal that shows colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def print_json(value: object) -> None:
    """Print a value as JSON."""
    import json

    print(json.dumps(value, indent=2))


def print_document(document: Document, title: str, *, html: bool) -> None:
    """Print a document as text, with colours on a terminal, or as a page."""
    if html:
        from argpack.hexdump.html_page import to_html

        print(to_html(document, title), end="")
        return
    from argpack.hexdump.table import to_text

    print(to_text(document, colour=colour()), end="")
