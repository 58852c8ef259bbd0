"""The options that choose operands and build a wrong situation on purpose: what `verify` and `trace` share. It has no
subcommand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--seed`, `--force`, where kernels are, and what a mistake looks like."""
    parser.add_argument("--seed", type=int, help="chooses the operands (default 0)")
    parser.add_argument("--force", action="store_true", help="run what is known to go wrong")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")
    wrong = parser.add_argument_group("wrong situations", "what a mistake looks like; most need --force")
    wrong.add_argument("--scale-pad", type=_byte, metavar="BYTE", help="what pads the scales (f4gemm: 0x00)")
    wrong.add_argument("--scale-layout", metavar="NAME", help="how the scales lie (f4gemm: scale_32x8)")
    wrong.add_argument("--b-layout", metavar="NAME", help="how B lies (f4gemm: weight_16x16 or row_major)")
    wrong.add_argument("--exchange-scales", action="store_true", help="pass the scales of A as those of B")
    wrong.add_argument("--no-zero", action="store_true", help="do not zero the output before splitting K")


def _byte(text: str) -> int:
    return int(text, 0)
