"""What launching and decoding need of the measured contract of a kernel, without reading its file.

`argpack diff` imports it: no dataclasses, no numpy. docs/contracts.md says what each value means.
"""

from __future__ import annotations

from typing import NamedTuple


class Brief(NamedTuple):
    """A contract in brief. `code_object` are the first 16 hexadecimal digits of its SHA-256.

    `uses` has a letter for each field: l live, d dead, u unread. `over_reads` are bytes past the ends of A, B, ScaleA
    and ScaleB, the most that was seen.
    """

    code_object: str
    uses: str
    n_multiple: int
    scale_a_rows: int
    scale_b_rows: int
    d_row_multiple: int
    applies_alpha: bool
    splits_k: bool
    accumulates: str
    over_reads: tuple[int, int, int, int]

    def adds(self, log2_k_split: int) -> bool:
        """Whether a launch with this split adds its result to what D holds."""
        return self.accumulates == "always" or (self.accumulates == "when_split" and log2_k_split > 0)
