"""What the name of an f4gemm kernel says: its tile, the layout of B, and by that what it can do.

It is not a list of kernels: which ones were measured, and what they do with each argument, is in `usage`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.usage import usage
from argpack.families.family import Usage

_PLAIN = re.compile(r"(f4gemm_bf16_per1x32Fp4_(no)?BpreShuffle_(\d+)x(\d+))(?:\.co)?")
_MANGLED = re.compile(r"_ZN5aiter(\d+)(f4gemm_bf16_per1x32Fp4_(no)?BpreShuffle_(\d+)x(\d+))E(?:\.kd)?")


@dataclass(frozen=True, slots=True)
class Variant:
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
    return bool(_MANGLED.fullmatch(kernel_name) or _PLAIN.fullmatch(kernel_name))


def parse(kernel_name: str) -> Variant:
    """The variant behind a kernel's name, mangled or not.

    Raises InputError for a name of another form, a mangled length that is wrong, and a tile that is not
    among the 35 kernels measured: what such a kernel reads and where it stops is not known.
    """
    if mangled := _MANGLED.fullmatch(kernel_name):
        length, name, plain_b, tile_m, tile_n = mangled.groups()
        if int(length) != len(name):
            raise InputError(f"kernel {kernel_name}: expected {len(name)} before {name}, found {length}")
    elif plain := _PLAIN.fullmatch(kernel_name):
        name, plain_b, tile_m, tile_n = plain.groups()
    else:
        raise InputError(
            f"kernel {kernel_name}: expected f4gemm_bf16_per1x32Fp4_[no]BpreShuffle_<rows>x<columns>"
        )
    use = usage(name)
    return Variant(
        name=name,
        tile_m=int(tile_m),
        tile_n=int(tile_n),
        preshuffled=plain_b is None,
        splits_k=use["log2_k_split"] is Usage.LIVE,
        applies_alpha=use["alpha"] is Usage.LIVE,
    )
