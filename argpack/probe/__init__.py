"""Finds the layout that each operand of a kernel must have by running the kernel, with no prior knowledge of it.

It knows launches, outputs and declared layouts to compare with; what a family says of its layouts it never asks.
"""

from argpack.probe.identify import Identity, Match
from argpack.probe.infer import DEFAULT_PROBLEM, Inference, infer_layouts
from argpack.probe.subject import ProbeError
from argpack.probe.tables import Table

__all__ = ["DEFAULT_PROBLEM", "Identity", "Inference", "Match", "ProbeError", "Table", "infer_layouts"]
