"""What each f4gemm kernel does with each argument, measured by tracing the 35 gfx950 code objects of AITER.

"Dead" arguments are loaded from the buffer without any effect on D; "unread" ones are never loaded.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.family import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"(?:_ZN5aiter\d+)?f4gemm_bf16_per1x32Fp4_((?:no)?BpreShuffle_\d+x\d+)E?(?:\.kd|\.co)?")

_DEAD = frozenset({"ptr_C", "beta"})
_UNREAD = frozenset(
    {"stride_D0", "stride_D1", "stride_C1", "stride_A1", "stride_B1", "stride_ScaleA1", "stride_ScaleB1"}
)
_ALPHA_APPLIED = frozenset({"BpreShuffle_256x256", "noBpreShuffle_256x256", "BpreShuffle_128x512"})
_SPLITS_K = frozenset({"BpreShuffle_256x256", "BpreShuffle_128x512"})


def usage(kernel_name: str) -> Mapping[str, Usage]:
    """Usage by field name for a kernel, mangled or not; InputError for the name of another kernel."""
    match = _NAME.fullmatch(kernel_name)
    if match is None:
        raise InputError(f"{kernel_name}: expected the name of an f4gemm_bf16_per1x32Fp4 kernel")
    variant = match[1]
    table = {field.name: Usage.LIVE for field in SCHEMA.fields}
    table.update(dict.fromkeys(_DEAD, Usage.DEAD))
    table.update(dict.fromkeys(_UNREAD, Usage.UNREAD))
    if variant not in _ALPHA_APPLIED:
        table["alpha"] = Usage.DEAD
    if variant not in _SPLITS_K:
        table["log2_k_split"] = Usage.UNREAD
    return MappingProxyType(table)
