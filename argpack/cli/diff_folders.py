"""Many comparisons at once: the files of two folders by name, which fields ever differ. It has no subcommand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from argpack.cli import decoding, output
from argpack.cli.comparing import compare
from argpack.errors import InputError
from argpack.hexdump import read_pair
from argpack.hexdump.report import summary
from argpack.hexdump.table import Line, Table, Tone, counted, text_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from argpack.hexdump.table import Document

SAME, DIFFERENT, MISSING, UNCOMPARED = "same", "different", "missing", "not compared"
_TONES = {DIFFERENT: Tone.ALARM, MISSING: Tone.ALARM, UNCOMPARED: Tone.ALARM}
_NOUNS = {SAME: "the same", DIFFERENT: "different", MISSING: "in one folder only", UNCOMPARED: "not compared"}


class Pair(NamedTuple):
    """A file name and what came of it; `fields` are the live fields that differ, `text` says it in one line."""

    name: str
    verdict: str
    text: str
    fields: tuple[str, ...] = ()
    mistake: str = ""


def diff_folders(args: argparse.Namespace) -> int:
    """Compare and print; 0 all the same, 1 some differ or are in one folder only, 2 some could not be compared."""
    first, second = _files(args.first), _files(args.second)
    names = sorted({*first, *second})
    if not names:
        raise InputError(f"{args.first} and {args.second}: expected dumps, found no file")
    pairs = [
        _pair(name, args) if name in first and name in second else _alone(name, args, in_first=name in first)
        for name in names
    ]
    verdicts = Counter(pair.verdict for pair in pairs)
    if args.json:
        output.print_json(_as_json(pairs, verdicts))
    else:
        title = f"argpack diff {args.first} {args.second}"
        output.print_document(_document(pairs, verdicts), title, html=args.html)
    if verdicts[UNCOMPARED]:
        return 2
    return int(verdicts[SAME] < len(pairs))


def _files(folder: str) -> set[str]:
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{folder}: expected a folder, like the other one, found a file or nothing")
    try:
        return {entry.name for entry in path.iterdir() if entry.is_file() and not entry.name.startswith(".")}
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None


def _alone(name: str, args: argparse.Namespace, *, in_first: bool) -> Pair:
    return Pair(name, MISSING, f"only in {args.first if in_first else args.second}")


def _pair(name: str, args: argparse.Namespace) -> Pair:
    try:
        paths = Path(args.first, name), Path(args.second, name)
        first, second = read_pair(*paths, format_name=args.format, word_order=args.word_order, base=args.base)
        chosen = decoding.decode(args.kernel, [first, second])
        if chosen is None:
            raise decoding.undecided(first)
        found, mistake, _ = compare(first, second, chosen)
    except InputError as error:
        return Pair(name, UNCOMPARED, str(error))
    fields = tuple(difference.first.slot.name for difference in found.live)
    verdict = SAME if found.same else DIFFERENT
    return Pair(name, verdict, summary(found, mistake), fields, mistake.text if mistake else "")


def _document(pairs: Sequence[Pair], verdicts: Counter[str]) -> Document:
    parts = [f"{verdicts[verdict]} {noun}" for verdict, noun in _NOUNS.items() if verdicts[verdict]]
    bad = verdicts[SAME] < len(pairs)
    head = f"{counted(len(pairs), 'file')}: {', '.join(parts)}"
    document: Document = [text_line(head, Tone.ALARM if bad else Tone.GOOD)]
    for what, counts in (("fields that differ", _fields(pairs)), ("mistakes", _mistakes(pairs))):
        if counts:
            listed = "; ".join(f"{name} in {counted(many, 'file')}" for name, many in counts.most_common())
            document.append(text_line(f"{what}: {listed}"))
    rows = [Line(("file", "verdict", "what"), Tone.STRONG)]
    rows += [Line((p.name, p.verdict, p.text), _TONES.get(p.verdict, Tone.PLAIN)) for p in pairs]
    return [*document, text_line(""), Table(rows)]


def _fields(pairs: Sequence[Pair]) -> Counter[str]:
    """Fields that differ by themselves; those that follow from a mistake in the whole buffer are left out."""
    return Counter(field for pair in pairs if not pair.mistake for field in pair.fields)


def _mistakes(pairs: Sequence[Pair]) -> Counter[str]:
    return Counter(pair.mistake for pair in pairs if pair.mistake)


def _as_json(pairs: Sequence[Pair], verdicts: Counter[str]) -> dict[str, object]:
    return {
        "counts": {verdict: verdicts[verdict] for verdict in _NOUNS},
        "fields": dict(_fields(pairs).most_common()),
        "mistakes": dict(_mistakes(pairs).most_common()),
        "files": [
            {
                "name": pair.name,
                "verdict": pair.verdict,
                "text": pair.text,
                "fields": list(pair.fields),
                "mistake": pair.mistake or None,
            }
            for pair in pairs
        ],
    }
