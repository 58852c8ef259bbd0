"""Decode capture logs of many argument buffers into columns: which fields ever differ, which sizes occur.

LOG is a file of raw records end to end, of one JSON object a line with kernarg_hex (and kernel, grid), or of
text with a dump after the other, a .npy file with a record a row, a file of `argpack capture`, or a folder of
such files; - is standard input. All records are of one family; --kernel names it where the logs do not, and
leaves out records of other kernels. With -o the columns are written to a .csv, .parquet or .arrow file (the
latter two need argpack[table]). Exit codes: 0 decoded, 2 not, or files of a folder could not be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli import decoding, output
from argpack.errors import InputError
from argpack.schema import Role

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump
    from argpack.records import Log, Record
    from argpack.schema import KernargSchema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack table`."""
    parser.add_argument("logs", metavar="LOG", nargs="+", help="a capture log, or a folder of them")
    decoding.add_kernel_arguments(parser)
    parser.add_argument(
        "--format", choices=("raw", "npy", "json", "dumps"), help="what the logs are (default: detected)"
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
    """Decode, write where asked, print what differs; 0, 2 where a folder has files that are no logs, ArgpackError."""
    from argpack.cli.table_report import Decoded, as_json, document
    from argpack.records import (
        beside,
        count,
        decode_columns,
        group_by,
        joined,
        read_logs,
        summarise,
        write_columns,
    )

    whole, unread = read_logs(args.logs, format_name=args.format)
    logs, chosen = _decoding(whole, args.kernel)
    size = chosen.schema.size
    data, known = joined(logs, size, chosen.schema.name)
    columns = decode_columns(data, chosen.schema, known=known)
    names = args.group_by.split(",") if args.group_by else _sizes(chosen.schema)
    groups = group_by(columns, names)
    if args.output:
        write_columns(columns, args.output, extra=beside(logs, size), force=args.force)
    decoded = Decoded(
        logs=[(log.source, log.format_name, count(log, size)) for log in logs],
        unread=unread,
        chosen=chosen,
        rows=columns.rows,
        left_out=sum(len(log.records) for log in whole) - sum(len(log.records) for log in logs),
        fields=summarise(columns),
        names=names,
        groups=groups,
    )
    if args.json:
        output.print_json(as_json(decoded))
    else:
        output.print_document(document(decoded), f"argpack table {' '.join(args.logs)}", html=args.html)
    return 2 if unread else 0


def _decoding(logs: Sequence[Log], kernel: str | None) -> tuple[Sequence[Log], Decoding]:
    """The decoding, and the logs without the records of other kernels where `kernel` names one."""
    from argpack.records import keep

    samples = _samples(logs)
    chosen = decoding.decode(kernel, samples)
    if chosen is None:
        raw = next((log for log in logs if log.format_name == "raw"), None)
        if raw is None:
            raise decoding.undecided(samples[0])
        raise InputError(
            f"{raw.source}: raw records do not say whose arguments they are: name a kernel with --kernel, of "
            f"{decoding.families_known()}"
        )
    if kernel is not None:
        kept = keep(logs, lambda record: _is_of(record, chosen))
        if not any(log.raw or log.records for log in kept):
            others = sum(len(log.records) for log in logs)
            where = logs[0].source if len(logs) == 1 else f"{len(logs)} logs"
            raise InputError(f"{where}: expected records of {chosen.reason}, found {others} others")
        logs = kept
    for sample in _samples(logs):
        decoding.notes(sample, chosen)
        decoding.check_not_shorter(sample, chosen)
    return logs, chosen


def _samples(logs: Sequence[Log]) -> list[Dump]:
    """One dump of each size and kernel; it stands for all records like it."""
    from argpack.hexdump import Dump

    samples: dict[tuple[int, str], Dump] = {}
    for record in (record for log in logs for record in log.records):
        key = len(record.data), record.kernel
        if key not in samples:
            samples[key] = Dump(record.data, record.known, record.place, record.kernel)
    return list(samples.values())


def _is_of(record: Record, chosen: Decoding) -> bool:
    """Whether a record may be of the kernel or the family; one that names no kernel may."""
    if not record.kernel:
        return True
    if chosen.kernels:
        return any(name in record.kernel for name in chosen.kernels)
    return chosen.family.matches(record.kernel)


def _sizes(schema: KernargSchema) -> list[str]:
    return [field.name for field in schema.fields if field.role is Role.EXTENT]
