"""Kernels × shapes: what to check, on which processes or machines, and what was found, kept in a ledger.

One unit of work is one `argpack verify` on the emulator. It prints nothing; numpy is imported by the plan.
"""

from argpack.sweep.ledger import Ledger
from argpack.sweep.plan import Plan, Sampling, SweptKernel, Unit, load_kernels, make_plan
from argpack.sweep.results import Answer, Result
from argpack.sweep.shapes import AITER, Shapes, read_shapes

__all__ = [
    "AITER",
    "Answer",
    "Ledger",
    "Plan",
    "Result",
    "Sampling",
    "Shapes",
    "SweptKernel",
    "Unit",
    "load_kernels",
    "make_plan",
    "read_shapes",
]
