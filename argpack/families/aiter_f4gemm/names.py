"""What the name of an f4gemm kernel says: its tile, the layout of B, and by that what it can do.

It is not a list of kernels: which ones were measured, and what they do with each argument, is in `usage`.
"""

from __future__ import annotations

from typing import NamedTuple

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.usage import brief_of

_PREFIX = "f4gemm_bf16_per1x32Fp4_"


class Variant(NamedTuple):
    """One f4gemm kernel. A workgroup computes `tile_m` rows by `tile_n` columns of D.

    `preshuffled` kernels want B in 16x16 blocks, the other one row by row. `splits_k` kernels read
    log2_k_split, `applies_alpha` ones multiply by alpha; the rest ignore these arguments.
    """

    name: str
    tile_m: int
    tile_n: int
    preshuffled: bool
    splits_k: bool
    applies_alpha: bool


def matches(kernel_name: str) -> bool:
    """Whether a kernel, mangled or not, is named like the f4gemm kernels for gfx950."""
    return _split(kernel_name) is not None


def parse(kernel_name: str) -> Variant:
    """The variant behind a kernel's name, mangled or not.

    Raises InputError for a name of another form, a mangled length that is wrong, and a tile that is not
    among the 35 kernels measured: what such a kernel reads and where it stops is not known.
    """
    variant = unmeasured(kernel_name)
    brief = brief_of(variant.name)
    return variant._replace(splits_k=brief.splits_k, applies_alpha=brief.applies_alpha)


def unmeasured(kernel_name: str) -> Variant:
    """The variant that a kernel's name alone tells: abilities are left out, the kernel need not be known.

    Raises InputError for a name of another form and for a mangled length that is wrong.
    """
    split = _split(kernel_name)
    if split is None:
        raise InputError(f"kernel {kernel_name}: expected {_PREFIX}[no]BpreShuffle_<rows>x<columns>")
    length, name, tile_m, tile_n = split
    if length is not None and length != len(name):
        raise InputError(f"kernel {kernel_name}: expected {len(name)} before {name}, found {length}")
    return Variant(
        name=name,
        tile_m=tile_m,
        tile_n=tile_n,
        preshuffled=not name.startswith("no", len(_PREFIX)),
        splits_k=False,
        applies_alpha=False,
    )


def _split(kernel_name: str) -> tuple[int | None, str, int, int] | None:
    """The length in a mangled name (None where it is plain), the plain name, rows and columns of the tile.

    By hand: compiling a regular expression takes longer than all that `argpack diff` does.
    """
    length, name = None, kernel_name.removesuffix(".co")
    if kernel_name.startswith("_ZN5aiter"):
        digits, prefix, rest = kernel_name.removeprefix("_ZN5aiter").partition(_PREFIX)
        rest = rest.removesuffix(".kd")
        if not _is_decimal(digits) or not rest.endswith("E"):
            return None
        length, name = int(digits), prefix + rest.removesuffix("E")
    scope, prefix, variant = name.partition(_PREFIX)
    shuffle, _, tile = variant.partition("_")
    rows, _, columns = tile.partition("x")
    if scope or not prefix or shuffle not in {"BpreShuffle", "noBpreShuffle"}:
        return None
    return (length, name, int(rows), int(columns)) if _is_decimal(rows) and _is_decimal(columns) else None


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.isdigit()
