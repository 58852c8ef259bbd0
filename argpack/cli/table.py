"""Decode a capture log of many argument buffers into columns: which fields ever differ, which sizes occur.

LOG is a file of raw records end to end, of one JSON object a line with kernarg_hex (and kernel, grid), or of
text with a dump after the other. All records are of one family; --kernel names it where the log does not.
With -o the columns are written to a .csv, .parquet or .arrow file (the latter two need argpack[table]).
Exit codes: 0 decoded, 2 not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.cli import decoding, output
from argpack.errors import InputError
from argpack.families.family import Usage
from argpack.schema import Role

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump
    from argpack.hexdump.table import Document
    from argpack.records import Columns, FieldSummary, Group, Log, Record
    from argpack.schema import KernargSchema

_LISTED_GROUPS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack table`."""
    parser.add_argument("log", metavar="LOG", help="the capture log")
    parser.add_argument(
        "--kernel",
        metavar="NAME|FILE.co",
        help="whose arguments these are: a kernel, by name or file, or a family",
    )
    parser.add_argument(
        "--format", choices=("raw", "json-lines", "dumps"), help="what LOG is (default: detected)"
    )
    parser.add_argument(
        "--group-by",
        metavar="FIELD,...",
        help="count the combinations of these fields (default: the sizes)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the columns here")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    output.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Decode, write where asked, print what differs; 0, or ArgpackError."""
    from argpack.records import decode_columns, group_by, read_log, summarise, write_columns

    log = read_log(args.log, format_name=args.format)
    chosen = _decoding(log, args.kernel)
    if log.format_name == "raw":
        if len(log.raw) % chosen.schema.size:
            raise InputError(
                f"{log.source}: expected records of {chosen.schema.size} bytes ({chosen.schema.name}), found "
                f"{len(log.raw)} bytes, {len(log.raw) % chosen.schema.size} too many"
            )
        columns, extra = decode_columns(log.raw, chosen.schema), {}
    else:
        data, known = _joined(log.records, chosen)
        columns = decode_columns(data, chosen.schema, known=known if 0 in known else None)
        extra = _extra(log.records)
    names = args.group_by.split(",") if args.group_by else _sizes(chosen.schema)
    groups = group_by(columns, names)
    if args.output:
        write_columns(columns, args.output, extra=extra, force=args.force)
    fields = summarise(columns)
    if args.json:
        output.print_json(_as_json(log, chosen, fields, names, groups, columns))
    else:
        document = _document(log, chosen, fields, names, groups, columns)
        output.print_document(document, f"argpack table {args.log}", html=args.html)
    return 0


def _decoding(log: Log, kernel: str | None) -> Decoding:
    from argpack.hexdump import Dump

    # One dump of each size and kernel stands for all records like it.
    samples: dict[tuple[int, str], Dump] = {}
    for record in log.records:
        key = len(record.data), record.kernel
        if key not in samples:
            samples[key] = Dump(record.data, record.known, record.place, record.kernel)
    chosen = decoding.decode(kernel, list(samples.values()))
    if chosen is None:
        if log.format_name == "raw":
            raise InputError(
                f"{log.source}: raw records do not say whose arguments they are: name a kernel with --kernel, of "
                f"{decoding.families_known()}"
            )
        raise decoding.undecided(next(iter(samples.values())))
    for sample in samples.values():
        decoding.notes(sample, chosen)
        _check_family(sample, chosen)
        decoding.check_not_shorter(sample, chosen)
    return chosen


def _check_family(sample: Dump, chosen: Decoding) -> None:
    if sample.kernel and not chosen.family.matches(sample.kernel):
        raise InputError(
            f"{sample.source}: expected a kernel of {chosen.family.name}, as --kernel says, found {sample.kernel}"
        )


def _joined(records: Sequence[Record], chosen: Decoding) -> tuple[bytes, bytes]:
    """Bytes and mask of all records, each of the schema's size: what one lacks at its end is unknown."""
    size = chosen.schema.size
    data = b"".join(record.data[:size].ljust(size, b"\0") for record in records)
    return data, b"".join(record.known[:size].ljust(size, b"\0") for record in records)


def _extra(records: Sequence[Record]) -> dict[str, NDArray[Any]]:
    """Columns that the log has beside the arguments: kernel and grid, where any record says them."""
    import numpy as np

    columns: dict[str, NDArray[Any]] = {}
    if any(record.kernel for record in records):
        columns["kernel"] = np.array([record.kernel for record in records])
    if any(record.grid for record in records):
        for axis, name in enumerate(("grid_x", "grid_y", "grid_z")):
            columns[name] = np.array([(*record.grid, 1, 1, 1)[axis] for record in records], np.int64)
    return columns


def _sizes(schema: KernargSchema) -> list[str]:
    return [field.name for field in schema.fields if field.role is Role.EXTENT]


def _document(
    log: Log,
    chosen: Decoding,
    fields: Sequence[FieldSummary],
    names: Sequence[str],
    groups: Sequence[Group],
    columns: Columns,
) -> Document:
    from argpack.hexdump.table import Line, Table, Tone, text_line

    document: Document = [
        text_line(
            f"{log.source}: {columns.rows} records of {chosen.schema.size} bytes, read as {log.format_name}"
        ),
        text_line(f"as {chosen.reason}"),
    ]
    rows = [Line(("offset", "field", "values", "lowest", "highest", "unit", "use"), Tone.STRONG)]
    rows += [_row(field, chosen) for field in fields if field.distinct > 1]
    same = [
        f"{field.name} {_text(field.lowest, field.name, chosen)}" for field in fields if field.distinct == 1
    ]
    unknown = [field.name for field in fields if not field.distinct]
    document += [text_line(""), text_line(f"{len(rows) - 1} of {len(fields)} fields differ between records")]
    document += [Table(rows)] if len(rows) > 1 else []
    document += [text_line(f"always the same: {', '.join(same)}", Tone.FAINT)] if same else []
    document += [text_line(f"never known: {', '.join(unknown)}", Tone.FAINT)] if unknown else []
    if groups:
        heading = f"{len(groups)} combinations of {', '.join(names)}"
        shown = [Line(("records", *names), Tone.STRONG)]
        shown += [
            Line(
                (str(group.records), *(_text(v, n, chosen) for v, n in zip(group.values, names, strict=True)))
            )
            for group in groups[:_LISTED_GROUPS]
        ]
        document += [text_line(""), text_line(heading), Table(shown)]
        if len(groups) > _LISTED_GROUPS:
            document.append(text_line(f"and {len(groups) - _LISTED_GROUPS} more"))
    return document


def _row(field: FieldSummary, chosen: Decoding) -> Any:
    from argpack.hexdump.table import Line, Tone

    slot = chosen.schema.slot(field.name)
    use = chosen.usage[field.name]
    lowest, highest = (_text(value, field.name, chosen) for value in (field.lowest, field.highest))
    unit = slot.field.unit if slot.field else ""
    cells = (f"0x{slot.offset:03x}", field.name, str(field.distinct), lowest, highest, unit, str(use))
    return Line(cells, Tone.PLAIN if use is Usage.LIVE else Tone.FAINT)


def _text(value: float | None, name: str, chosen: Decoding) -> str:
    from argpack.hexdump.reading import value_text

    field = chosen.schema.slot(name).field
    return "?" if value is None or field is None else value_text(field.scalar, value)


def _as_json(
    log: Log,
    chosen: Decoding,
    fields: Sequence[FieldSummary],
    names: Sequence[str],
    groups: Sequence[Group],
    columns: Columns,
) -> dict[str, Any]:
    from argpack.cli.decoding_json import plain

    return {
        "source": log.source,
        "format": log.format_name,
        "records": columns.rows,
        "schema": chosen.schema.name,
        "reason": chosen.reason,
        "fields": [
            {
                "name": field.name,
                "use": chosen.usage[field.name].value,
                "known": field.known,
                "distinct": field.distinct,
                "lowest": plain(field.lowest),
                "highest": plain(field.highest),
            }
            for field in fields
        ],
        "grouped_by": list(names),
        "groups": [
            {"values": [plain(value) for value in group.values], "records": group.records} for group in groups
        ],
    }
