"""The operands that `argpack explain` takes as files, and the names of their options. It has no subcommand."""

from __future__ import annotations

OPERANDS = {"A": "a", "B": "b", "C": "c", "ScaleA": "scale_a", "ScaleB": "scale_b"}
