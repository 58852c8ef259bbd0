"""Decode a capture log of many argument buffers into columns: which fields ever differ, which sizes occur.

LOG is a file of raw records end to end, of one JSON object a line with kernarg_hex (and kernel, grid), or of
text with a dump after the other, or a file of `argpack capture`. All records are of one family; --kernel names
it where the log does not, and leaves out records of other kernels.
With -o the columns are written to a .csv, .parquet or .arrow file (the latter two need argpack[table]).
Exit codes: 0 decoded, 2 not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.cli import decoding, output
from argpack.errors import InputError
from argpack.schema import Role

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from argpack.cli.decoding import Decoding
    from argpack.hexdump import Dump
    from argpack.records import Log, Record
    from argpack.schema import KernargSchema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack table`."""
    parser.add_argument("log", metavar="LOG", help="the capture log")
    decoding.add_kernel_arguments(parser)
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
    from argpack.cli.table_report import Decoded, as_json, document
    from argpack.records import decode_columns, group_by, read_log, summarise, write_columns

    whole = read_log(args.log, format_name=args.format)
    log, chosen = _decoding(whole, args.kernel)
    if log.format_name == "raw":
        _check_whole(log, chosen.schema.size, chosen.schema.name)
        columns, extra = decode_columns(log.raw, chosen.schema), {}
    else:
        data, known = _joined(log.records, chosen.schema.size)
        columns = decode_columns(data, chosen.schema, known=known if 0 in known else None)
        extra = _extra(log.records)
    names = args.group_by.split(",") if args.group_by else _sizes(chosen.schema)
    groups = group_by(columns, names)
    if args.output:
        write_columns(columns, args.output, extra=extra, force=args.force)
    left_out = len(whole.records) - len(log.records)
    decoded = Decoded(log, chosen, columns.rows, left_out, summarise(columns), names, groups)
    if args.json:
        output.print_json(as_json(decoded))
    else:
        output.print_document(document(decoded), f"argpack table {args.log}", html=args.html)
    return 0


def _check_whole(log: Log, size: int, name: str) -> None:
    if len(log.raw) % size:
        raise InputError(
            f"{log.source}: expected records of {size} bytes ({name}), found {len(log.raw)} bytes, "
            f"{len(log.raw) % size} too many"
        )


def _decoding(log: Log, kernel: str | None) -> tuple[Log, Decoding]:
    """The decoding, and the log without the records of other kernels where `kernel` names one."""
    samples = _samples(log.records)
    chosen = decoding.decode(kernel, samples)
    if chosen is None:
        if log.format_name == "raw":
            raise InputError(
                f"{log.source}: raw records do not say whose arguments they are: name a kernel with --kernel, of "
                f"{decoding.families_known()}"
            )
        raise decoding.undecided(samples[0])
    if kernel is not None and log.records:
        kept = tuple(record for record in log.records if _is_of(record, chosen))
        if not kept:
            raise InputError(
                f"{log.source}: expected records of {chosen.reason}, found {len(log.records)} others"
            )
        log = log._replace(records=kept)
    for sample in _samples(log.records):
        decoding.notes(sample, chosen)
        decoding.check_not_shorter(sample, chosen)
    return log, chosen


def _samples(records: Sequence[Record]) -> list[Dump]:
    """One dump of each size and kernel; it stands for all records like it."""
    from argpack.hexdump import Dump

    samples: dict[tuple[int, str], Dump] = {}
    for record in records:
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


def _joined(records: Sequence[Record], size: int) -> tuple[bytes, bytes]:
    """Bytes and mask of all records, each of the schema's size: what one lacks at its end is unknown."""
    data = b"".join(record.data[:size].ljust(size, b"\0") for record in records)
    return data, b"".join(record.known[:size].ljust(size, b"\0") for record in records)


def _extra(records: Sequence[Record]) -> dict[str, NDArray[Any]]:
    """Columns beside the arguments: kernel and grid, where any record says them; a record that does not has 0."""
    import numpy as np

    columns: dict[str, NDArray[Any]] = {}
    if any(record.kernel for record in records):
        columns["kernel"] = np.array([record.kernel for record in records])
    if any(record.grid for record in records):
        for axis, name in enumerate(("grid_x", "grid_y", "grid_z")):
            columns[name] = np.array([_axis(record.grid, axis) for record in records], np.int64)
    return columns


def _axis(grid: tuple[int, ...], axis: int) -> int:
    return (*grid, 1, 1)[axis] if grid else 0


def _sizes(schema: KernargSchema) -> list[str]:
    return [field.name for field in schema.fields if field.role is Role.EXTENT]
