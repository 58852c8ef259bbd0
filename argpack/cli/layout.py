"""Tiled layouts of scales, weights and activations: list, show, apply, invert, convert, check, emit, infer.

A layout is a name, the name of who uses it, or a pattern such as `(mo m32) (ko k4) -> mo ko m32 k4`; `--layouts` adds
those of a TOML file. Columns are bytes of a row. Exit codes: 0 done, right or found; 1 wrong, or not one answer;
2 could not tell.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions of `argpack layout`."""
    from argpack.cli import layout_infer

    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    listing = _action(actions, "list", "the known layouts and who uses them")
    listing.add_argument(
        "--tensor", choices=("scales", "weights", "activations"), help="only those of this tensor"
    )
    listing.add_argument("--json", action="store_true", help="print JSON")

    showing = _action(actions, "show", "one layout: formula, words, paddings, picture")
    showing.add_argument("layout", metavar="LAYOUT", help="a name or a pattern")
    showing.add_argument("--svg", type=Path, metavar="FILE", help="draw a figure for a document")
    showing.add_argument("--png", type=Path, metavar="FILE", help="the same, as pixels (needs argpack[plot])")
    _force_option(showing)

    applying = _action(actions, "apply", "logical array to image")
    _layout_option(applying)
    _padding_options(applying)
    _files(applying, "the logical array: .npy, .bin with --shape, .safetensors[:NAME]")

    inverting = _action(actions, "invert", "image to logical array")
    _layout_option(inverting)
    _multiple_options(inverting)
    _files(inverting, "the image: .npy, .bin, .safetensors[:NAME]")

    converting = _action(actions, "convert", "image of one layout to that of another")
    converting.add_argument(
        "--from", dest="source", required=True, metavar="LAYOUT", help="the image's layout"
    )
    converting.add_argument("--to", dest="target", required=True, metavar="LAYOUT", help="the layout to have")
    _pad_option(converting)
    _files(converting, "the image: .npy, .bin, .safetensors[:NAME]")

    checking = _action(actions, "check", "is this the image of that array? if not, which mistake is it?")
    checking.add_argument("file", metavar="FILE", help="the image: .npy, .bin, .safetensors[:NAME]")
    checking.add_argument("--logical", required=True, metavar="FILE", help="the logical array")
    checking.add_argument("--other", metavar="FILE", help="the other operand's logical array (A's for B)")
    checking.add_argument("--shape", metavar="RxC", help="rows and columns of a logical .bin")
    _layout_option(checking)
    _padding_options(checking)
    checking.add_argument("--json", action="store_true", help="print JSON")

    emitting = _action(actions, "emit", "a layout as C for glue code")
    emitting.add_argument("layout", metavar="LAYOUT", help="a name or a pattern")
    emitting.add_argument("--expression", action="store_true", help="only the byte offset in r, c, R and C")

    inferring = _action(
        actions, "infer", "find the layout of a pair of files, of an image, or of a kernel's operands"
    )
    inferring.add_argument(
        "kernel",
        metavar="FILE",
        help="an image (.npy, .bin, .safetensors[:NAME]), or a kernel: a .co file or its name",
    )
    inferring.add_argument("--logical", metavar="FILE", help="the logical array that became the image")
    inferring.add_argument("--shape", metavar="RxC", help="rows and columns of the logical array")
    layout_infer.add_options(inferring)


def run(args: argparse.Namespace) -> int:
    """Run one action; see the module's exit codes. Raises ArgpackError."""
    if args.action in {"list", "show", "emit"}:
        from argpack.cli import layout_show

        return layout_show.run(args)
    if args.action == "infer":
        return _infer(args)
    from argpack.cli import layout_convert

    return layout_convert.run(args)


def _infer(args: argparse.Namespace) -> int:
    from argpack.cli import layout_infer, layout_solve
    from argpack.cli.layout_files import is_data
    from argpack.errors import InputError

    data = is_data(args.kernel)
    options = ("operand", "m", "n", "k", "kernels") if data else ("logical", "shape", "layouts")
    for option in options:
        if getattr(args, option) is not None:
            dashes = "-" if len(option) == 1 else "--"
            other = "a kernel" if data else "files of bytes"
            raise InputError(f"{args.kernel}: {dashes}{option} is for {other}")
    if data and args.backend != "auto":
        raise InputError(f"{args.kernel}: --backend is for a kernel")
    return layout_solve.run(args) if data else layout_infer.run(args)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.add_argument("--layouts", type=Path, metavar="FILE.toml", help="more layouts, declared in a file")
    return parser


def _layout_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--layout", required=True, metavar="LAYOUT", help="a name or a pattern")


def _padding_options(parser: argparse.ArgumentParser) -> None:
    _pad_option(parser)
    _multiple_options(parser)


def _pad_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pad-value", metavar="BYTE", help="what fills the padding, 0x7F say; there is no default"
    )


def _multiple_options(parser: argparse.ArgumentParser) -> None:
    for side in ("row", "col"):
        parser.add_argument(
            f"--{side}-multiple",
            type=int,
            metavar="N",
            help=f"pad the {side}s to a multiple of N, not to whole tiles",
        )


def _files(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("file", metavar="FILE", help=what)
    parser.add_argument("--shape", metavar="RxC", help="rows and columns of the logical array, 48x52 say")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help=".npy or .bin to write"
    )
    _force_option(parser)


def _force_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="overwrite files")
