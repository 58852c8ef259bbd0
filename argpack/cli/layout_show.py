"""`argpack layout list`, `show` and `emit`: layouts as text, pictures and C. It has no subcommand itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scale_layout import (
    LAYOUTS,
    NIBBLE_ORDERS,
    c_expression,
    c_functions,
    describe,
    find_layout,
    formula_text,
    inverse_text,
    read_layouts,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from scale_layout import Layout


def run(args: argparse.Namespace) -> int:
    """Always 0; raises InputError for unknown layouts and files that exist or cannot be written."""
    declared = read_layouts(args.layouts) if args.layouts else ()
    if args.action == "list":
        _list(args, (*declared, *LAYOUTS))
    elif args.action == "emit":
        layout = find_layout(args.layout, declared)
        print(
            c_expression(layout) if args.expression else c_functions(layout),
            end="\n" if args.expression else "",
        )
    else:
        _show(args, find_layout(args.layout, declared))
    return 0


def _list(args: argparse.Namespace, layouts: Sequence[Layout]) -> None:
    chosen = [layout for layout in layouts if args.tensor in {None, layout.tensor.value}]
    if args.json:
        from argpack.cli.output import print_json

        print_json(
            [
                {
                    "name": layout.name,
                    "tensor": layout.tensor,
                    "pattern": layout.pattern,
                    "tile": layout.tile,
                    "unit": layout.unit,
                    "wave": layout.wave,
                    "doc": layout.doc,
                    "offset": formula_text(layout),
                    "aliases": layout.aliases,
                }
                for layout in chosen
            ]
        )
        return
    width = max(len(layout.name) for layout in chosen)
    for layout in chosen:
        print(f"{layout.name:<{width}}  {layout.pattern}")
        if layout.aliases:
            print(*_wrapped(", ".join(layout.aliases), width + 2), sep="\n")
    count = sum(len(layout.aliases) for layout in chosen)
    print(f"{len(chosen)} layouts, used under {count} names")
    if args.tensor in {None, "weights"}:
        print("\nTwo 4-bit codes to a byte are in one of these orders, which check tells apart:")
        for order in NIBBLE_ORDERS:
            print(*_wrapped(f"{order.name:<12} {order.doc}", 2), sep="\n")


def _show(args: argparse.Namespace, layout: Layout) -> None:
    from argpack.cli.output import colour
    from scale_layout.terminal import draw

    print(*_facts(layout), sep="\n")
    print()
    print(draw(layout, colour=colour()), end="")
    if args.svg or args.png:
        from argpack.output_files import to_write
        from scale_layout.figure import figure

        drawn = figure(layout)
        if args.svg:
            from scale_layout.shapes import to_svg

            with to_write(args.svg, force=args.force) as file:
                file.write(to_svg(drawn).encode())
        if args.png:
            from scale_layout.png import to_png

            pixels = to_png(drawn)
            with to_write(args.png, force=args.force) as file:
                file.write(pixels)
        print()
        print(f"drawn: {', '.join(str(path) for path in (args.svg, args.png) if path)}")


def _facts(layout: Layout) -> Iterator[str]:
    row, column = inverse_text(layout)
    rows, cols = layout.tile
    yield f"{layout.name}: {layout.doc}"
    yield ""
    yield f"  pattern   {layout.pattern}"
    yield f"  offset    {formula_text(layout)}"
    yield f"  row       {row}"
    yield f"  column    {column}"
    yield f"  where     r, c: row and column; o: byte offset; R: rows padded to {rows}s, C: columns padded to {cols}s"
    yield f"  one c     {layout.unit}"
    if layout.wave:
        yield f"  wave      {layout.wave} lanes: the order is made for waves of that size"
    tile, *lines = describe(layout).splitlines()
    yield f"  words     {tile}"
    for line in lines:
        yield f"            {line}"
    for position, convention in enumerate(layout.conventions):
        yield f"  {'used by' if not position else '':<9} {convention.name}: {convention.padding or 'no padding'}"
        yield f"              {convention.doc}"


def _wrapped(text: str, indent: int) -> list[str]:
    import textwrap

    space = " " * indent
    return textwrap.wrap(text, 118, initial_indent=space, subsequent_indent=space, break_on_hyphens=False)
