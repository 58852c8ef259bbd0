"""Dumps of argument buffers: read in any format, rendered, decoded field by field, compared.

It knows schemas, not kernels: what a kernel does with an argument it is told. No numpy, no construct.
"""

from argpack.hexdump.annotate import annotate
from argpack.hexdump.byte_diff import ByteDiff, diff_bytes
from argpack.hexdump.diff import Diff, Difference, Kind, diff
from argpack.hexdump.dump import Dump
from argpack.hexdump.formats.input import FIRST
from argpack.hexdump.read import parse, parse_all, read, read_pair
from argpack.hexdump.reading import Reading, readings
from argpack.hexdump.render import render, render_bytes

__all__ = [
    "FIRST",
    "ByteDiff",
    "Diff",
    "Difference",
    "Dump",
    "Kind",
    "Reading",
    "annotate",
    "diff",
    "diff_bytes",
    "parse",
    "parse_all",
    "read",
    "read_pair",
    "readings",
    "render",
    "render_bytes",
]
