"""Dumps of argument buffers: read in any format, rendered, decoded field by field, compared.

It knows schemas, not kernels: what a kernel does with an argument it is told. No numpy, no construct.
"""

from argpack.hexdump.dump import Dump
from argpack.hexdump.read import parse, read
from argpack.hexdump.render import render

__all__ = ["Dump", "parse", "read", "render"]
