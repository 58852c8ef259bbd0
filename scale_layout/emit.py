"""A layout as C for glue code: the offset as an expression, or a header of small functions. Text only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from scale_layout.formula import formula_text
from scale_layout.inverse import inverse_text

if TYPE_CHECKING:
    from scale_layout.layout import Layout


def c_expression(layout: Layout) -> str:
    """The byte offset of element (r, c) in an image of R x C padded rows and columns.

    All four must be unsigned and as wide as the image needs: 32 bits overflow beyond 4 GiB.
    """
    return formula_text(layout).replace("//", "/")


def c_functions(layout: Layout) -> str:
    """A C99 header: `NAME_offset`, `NAME_row`, `NAME_column` and the padded lengths, all uint64_t and inline.

    Raises InputError where the layout's name is no C identifier.
    """
    name = layout.name
    if not (name.isidentifier() and name.isascii()):
        raise InputError(f"layout {name!r}: expected a C identifier as its name, to name the functions")
    rows, cols = layout.tile
    row, column = (text.replace("//", "/") for text in inverse_text(layout))
    comment = (
        f"/* {name}: {layout.pattern}\n"
        f"   {layout.doc.replace('*/', '* /')}\n"
        f"   r, c: row and column ({layout.unit}); o: byte offset in the image;\n"
        f"   R, C: rows and columns padded to multiples of {rows} and {cols}. */\n"
    )
    parts = [
        comment + "#include <stdint.h>\n",
        _function(f"{name}_offset", ("r", "c", "R", "C"), c_expression(layout)),
        _function(f"{name}_row", ("o", "R", "C"), row),
        _function(f"{name}_column", ("o", "R", "C"), column),
    ]
    for noun, tile, group in (("rows", rows, layout.axes.rows), ("columns", cols, layout.axes.cols)):
        if group.extendable:  # where it is not, padding at the end would move elements
            parts.append(
                _function(f"{name}_padded_{noun}", (noun,), f"({noun} + {tile - 1}) / {tile} * {tile}")
            )
    return "\n".join(parts)


def _function(name: str, parameters: tuple[str, ...], expression: str) -> str:
    unused = [p for p in parameters if p not in _names(expression)]
    lines = [
        f"static inline uint64_t {name}({', '.join(f'uint64_t {parameter}' for parameter in parameters)})",
        "{",
        *(f"    (void){parameter};" for parameter in unused),
        f"    return {expression};",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _names(expression: str) -> set[str]:
    return set("".join(ch if ch.isalpha() else " " for ch in expression).split())
