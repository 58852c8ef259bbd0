"""`argpack layout apply`, `invert`, `convert` and `check`: files in, files or sentences out. No subcommand itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.cli.layout_files import parse_shape, read_image, read_logical, write
from argpack.errors import InputError
from scale_layout import LAYOUTS, Tensor, apply, find_layout, invert, padded_shape, read_layouts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scale_layout import Convention, Layout


def run(args: argparse.Namespace) -> int:
    """0 done or right, 1 wrong; raises InputError where sizes or values do not fit."""
    actions = {"apply": _apply, "invert": _invert, "convert": _convert, "check": _check}
    return actions[args.action](args, read_layouts(args.layouts) if args.layouts else ())


def _apply(args: argparse.Namespace, declared: Sequence[Layout]) -> int:
    layout = find_layout(args.layout, declared)
    scales = layout.tensor is Tensor.SCALES
    logical = read_logical(args.file, args.shape and parse_shape(args.shape), scales=scales)
    rows, cols = logical.shape
    multiples = _multiples(args.layout, layout, (rows, cols), args.row_multiple, args.col_multiple)
    pad_value = _pad_value(args, args.layout, layout, (rows, cols), multiples)
    image = apply(layout, logical, pad_value=pad_value, row_multiple=multiples[0], col_multiple=multiples[1])
    write(args.output, image, force=args.force)
    print(f"{args.output}: {image.size} bytes, {_words(args.layout, layout, (rows, cols), multiples)}")
    return 0


def _invert(args: argparse.Namespace, declared: Sequence[Layout]) -> int:
    layout = find_layout(args.layout, declared)
    image, (rows, cols) = read_image(args.file), _logical_shape(args)
    multiples = _multiples(args.layout, layout, (rows, cols), args.row_multiple, args.col_multiple)
    logical = invert(
        layout, image, rows=rows, cols=cols, row_multiple=multiples[0], col_multiple=multiples[1]
    )
    write(args.output, logical, force=args.force)
    print(
        f"{args.output}: {rows} x {cols} bytes, out of {_words(args.layout, layout, (rows, cols), multiples)}"
    )
    return 0


def _convert(args: argparse.Namespace, declared: Sequence[Layout]) -> int:
    source, target = find_layout(args.source, declared), find_layout(args.target, declared)
    image, (rows, cols) = read_image(args.file), _logical_shape(args)
    before = _multiples(args.source, source, (rows, cols), None, None)
    logical = invert(source, image, rows=rows, cols=cols, row_multiple=before[0], col_multiple=before[1])
    after = _multiples(args.target, target, (rows, cols), None, None)
    pad_value = _pad_value(args, args.target, target, (rows, cols), after)
    converted = apply(target, logical, pad_value=pad_value, row_multiple=after[0], col_multiple=after[1])
    write(args.output, converted, force=args.force)
    print(f"{args.output}: {converted.size} bytes, {_words(args.target, target, (rows, cols), after)}")
    return 0


def _check(args: argparse.Namespace, declared: Sequence[Layout]) -> int:
    from scale_layout.diagnose import check_image

    layout = find_layout(args.layout, declared)
    shape = args.shape and parse_shape(args.shape)
    scales = layout.tensor is Tensor.SCALES
    logical = read_logical(args.logical, shape, scales=scales)
    rows, cols = logical.shape
    multiples = _multiples(args.layout, layout, (rows, cols), args.row_multiple, args.col_multiple)
    found = check_image(
        layout,
        read_image(args.file),
        logical,
        row_multiple=multiples[0],
        col_multiple=multiples[1],
        pad_value=None if args.pad_value is None else _byte(args.pad_value),
        other=read_logical(args.other, shape, scales=scales) if args.other else None,
        layouts=(*declared, *LAYOUTS),
    )
    if args.json:
        from argpack.cli.output import print_json

        print_json({"right": found.right, "sentences": found.sentences, "notes": found.notes})
    else:
        print(
            f"{'RIGHT' if found.right else 'WRONG'}  {args.file}",
            *(f"  {one}" for one in found.sentences),
            sep="\n",
        )
        for note in found.notes:
            print(f"  note: {note}")
    return int(not found.right)


def _logical_shape(args: argparse.Namespace) -> tuple[int, int]:
    if args.shape is None:
        raise InputError(
            f"{args.file}: --shape ROWSxCOLUMNS of the logical array is needed: an image has none"
        )
    return parse_shape(args.shape)


def _multiples(
    name: str, layout: Layout, shape: tuple[int, int], row_multiple: int | None, col_multiple: int | None
) -> tuple[int | None, int | None]:
    """What to pad to: the options, else those of the convention that `name` is, which may refuse to pad."""
    convention = _convention(name, layout)
    if convention is None:
        return row_multiple, col_multiple
    for noun, length, multiple, pads, given in (
        ("rows", shape[0], convention.row_multiple, convention.pads_rows, row_multiple),
        ("columns", shape[1], convention.col_multiple, convention.pads_cols, col_multiple),
    ):
        if given is None and not pads and length % multiple:
            raise InputError(
                f"{name} does not pad {noun}: they must be a multiple of {multiple}, found {length}; {layout.name} pads"
            )
    return row_multiple or convention.row_multiple, col_multiple or convention.col_multiple


def _convention(name: str, layout: Layout) -> Convention | None:
    """The convention that a layout was named by, None where it was named by its own name or a pattern."""
    for convention in layout.conventions:
        if convention.name == name:
            return convention
    return None


def _pad_value(
    args: argparse.Namespace,
    name: str,
    layout: Layout,
    shape: tuple[int, int],
    multiples: tuple[int | None, int | None],
) -> int | None:
    """The pad value given; InputError where one is needed and not given."""
    if args.pad_value is not None:
        return _byte(args.pad_value)
    if padded_shape(layout, *shape, row_multiple=multiples[0], col_multiple=multiples[1]) != shape:
        convention = _convention(name, layout)
        hint = ""
        if convention is not None:
            value = convention.pad_value
            hint = (
                f"; {name} leaves it uninitialised"
                if value is None
                else f"; {name} fills it with {value:#04x}"
            )
        raise InputError(
            f"{_words(name, layout, shape, multiples)}: say with --pad-value what fills the padding{hint}"
        )
    return None


def _byte(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value <= 255:
        raise InputError(f"--pad-value: expected a byte, 0..255 or 0x00..0xff, found {text!r}")
    return value


def _words(
    name: str, layout: Layout, shape: tuple[int, int], multiples: tuple[int | None, int | None]
) -> str:
    padded = padded_shape(layout, *shape, row_multiple=multiples[0], col_multiple=multiples[1])
    what = layout.name if layout.name == name or "->" in name else f"{layout.name} as {name} pads it"
    if "->" in name:
        what = layout.pattern
    size = f"{shape[0]} x {shape[1]}"
    return f"{what}: {size}" + (f" padded to {padded[0]} x {padded[1]}" if padded != shape else "")
