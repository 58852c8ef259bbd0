"""`argpack layout infer` on files of bytes: from a pair, or from an image alone. It has no subcommand itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.cli.layout_files import parse_shape, read_image, read_logical
from argpack.errors import InputError
from scale_layout import LAYOUTS, formula_text, read_layouts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from scale_layout import Layout
    from scale_layout.evidence import Fit
    from scale_layout.infer import Inference
    from scale_layout.rank import Candidate, Ranking

_SHOWN = 8


def run(args: argparse.Namespace) -> int:
    """0 one layout found, 1 none or several; raises InputError where nothing can be told."""
    declared = read_layouts(args.layouts) if args.layouts else ()
    layouts = (*declared, *LAYOUTS)
    return _pair(args, layouts) if args.logical else _alone(args, layouts)


def _pair(args: argparse.Namespace, layouts: Sequence[Layout]) -> int:
    from scale_layout.infer import infer
    from scale_layout.mistakes import explanations_by

    image = read_image(args.kernel)
    logical = read_logical(args.logical, args.shape and parse_shape(args.shape))
    found = infer(logical, image, layouts)
    mistakes = [] if found.fits else list(explanations_by(layouts, image, logical))
    if args.json:
        from argpack.cli.output import print_json

        print_json({**_pair_values(found), "mistakes": mistakes})
    else:
        rows, cols = logical.shape
        print(f"{args.kernel}: {image.size} bytes, {args.logical}: {rows} x {cols}")
        print(*_pair_lines(found, mistakes), sep="\n")
    one = len(found.fits) == 1 or (not found.fits and found.solved is not None and not mistakes)
    return int(not one)


def _pair_lines(found: Inference, mistakes: Sequence[str]) -> Iterator[str]:
    if found.bits:
        yield f"  bits     {' '.join(found.bits)}"
        where = f"the first {found.block[0]} x {found.block[1]}"
        yield f"           of the offset in {where}, lowest first; r0 is the lowest bit of the row"
    if found.undecided:
        yield f"           {len(found.undecided)} of them cannot be told from these bytes"
    if found.solved is not None:
        yield f"  pattern  {found.solved.layout.pattern}"
        yield from _formula(found.solved)
    if len(found.fits) == 1:
        yield f"  layout   {found.fits[0].layout.name}{_aliases(found.fits[0].layout)}"
        if found.solved is None:
            yield f"  pattern  {found.fits[0].layout.pattern}"
            yield from _formula(found.fits[0])
    elif found.fits:
        names = ", ".join(fit.layout.name for fit in found.fits)
        yield f"  layout   ambiguous, one of {len(found.fits)}: {names}"
        same = (
            "all of them are the same bytes at this shape"
            if found.same_bytes
            else "the values repeat too much"
        )
        yield f"           {same}: a larger or more varied array tells them apart"
    elif mistakes:
        yield "  layout   none that is declared"
    elif found.solved is not None:
        yield "  layout   none that is declared: the pattern above is new"
    elif found.bits:
        yield "  layout   no pattern of this notation: bits are combined by exclusive or"
    else:
        yield "  layout   none: no declared layout gives this image, and its offsets are not linear in the index bits"
    for words in mistakes:
        yield f"  mistake  {words}"


def _formula(fit: Fit) -> Iterator[str]:
    yield f"  offset   {formula_text(fit.layout)}"
    yield f"  padded   R = {fit.rows}, C = {fit.cols}"


def _aliases(layout: Layout) -> str:
    return f", used by {', '.join(layout.aliases)}" if layout.aliases else ""


def _pair_values(found: Inference) -> dict[str, Any]:
    return {
        "bits": found.bits,
        "block": found.block,
        "undecided": found.undecided,
        "solved": _fit_values(found.solved) if found.solved else None,
        "layouts": [_fit_values(fit) for fit in found.fits],
        "same_bytes": found.same_bytes,
    }


def _fit_values(fit: Fit) -> dict[str, Any]:
    return {
        "name": fit.layout.name,
        "aliases": fit.layout.aliases,
        "pattern": fit.layout.pattern,
        "offset": formula_text(fit.layout),
        "rows_padded": fit.rows,
        "columns_padded": fit.cols,
    }


def _alone(args: argparse.Namespace, layouts: Sequence[Layout]) -> int:
    from scale_layout.rank import rank

    if args.shape is None:
        raise InputError(
            f"{args.kernel}: an image alone needs --shape ROWSxCOLUMNS of the logical array; --logical FILE says more"
        )
    image = read_image(args.kernel)
    found = rank(image, parse_shape(args.shape), layouts)
    if args.json:
        from argpack.cli.output import print_json

        print_json(_ranking_values(found))
    else:
        print(f"{args.kernel}: {image.size} bytes, no logical array to compare with")
        print(*_ranking_lines(found), sep="\n")
    return int(found.answer is None)


def _ranking_lines(found: Ranking) -> Iterator[str]:
    if found.answer is not None:
        yield f"  likely   {found.answer.layout.name}: {found.reason}"
        shown = found.candidates
    else:
        yield f"  ambiguous: {found.reason}"
        shown = found.equal
        yield f"  candidates, {len(shown)} of the size: {', '.join(one.layout.name for one in shown)}"
    yield f"  explained by row and column means ({100 * found.chance:.0f} % by chance):"
    width = max(len(one.layout.name) for one in shown[:_SHOWN])
    for one in shown[:_SHOWN]:
        yield f"    {one.layout.name:<{width}}  {100 * one.explained:5.1f} %{_pads(one)}"
    if len(shown) > _SHOWN:
        yield f"    and {len(shown) - _SHOWN} more"


def _pads(one: Candidate) -> str:
    if not one.pad_bytes:
        return ""
    what = "of several values" if one.pad_value is None else f"all {one.pad_value:#04x}"
    return f"  {one.pad_bytes} pad bytes, {what}"


def _ranking_values(found: Ranking) -> dict[str, Any]:
    return {
        "layout": found.answer.layout.name if found.answer else None,
        "reason": found.reason,
        "chance": found.chance,
        "equal": [one.layout.name for one in found.equal],
        "candidates": [
            {
                "name": one.layout.name,
                "rows_padded": one.rows,
                "columns_padded": one.cols,
                "explained": one.explained,
                "roughness": one.roughness,
                "pad_bytes": one.pad_bytes,
                "pad_value": one.pad_value,
            }
            for one in found.candidates
        ],
    }
