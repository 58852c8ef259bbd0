"""The contract of a kernel: what it does with its arguments and the limits that no documentation states, measured.

It runs the kernel on the emulator and looks at outputs and accesses; what a family declares of limits it never asks.
"""

from argpack.contract.form import as_json, parse, to_toml
from argpack.contract.measure import measure
from argpack.contract.shipped import differences, shipped
from argpack.contract.values import LIMITS, Argument, Contract, Limit

__all__ = [
    "LIMITS",
    "Argument",
    "Contract",
    "Limit",
    "as_json",
    "differences",
    "measure",
    "parse",
    "shipped",
    "to_toml",
]
