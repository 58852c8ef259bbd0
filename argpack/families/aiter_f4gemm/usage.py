"""What each f4gemm kernel does with each argument, measured by tracing the 35 gfx950 code objects of AITER.

"Dead" arguments are loaded from the buffer without any effect on D; "unread" ones are never loaded.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.family import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX = "f4gemm_bf16_per1x32Fp4_"

_DEAD = frozenset({"ptr_C", "beta"})
_UNREAD = frozenset(
    {"stride_D0", "stride_D1", "stride_C1", "stride_A1", "stride_B1", "stride_ScaleA1", "stride_ScaleB1"}
)
_ALPHA_APPLIED = frozenset({"BpreShuffle_256x256", "noBpreShuffle_256x256", "BpreShuffle_128x512"})
_SPLITS_K = frozenset({"BpreShuffle_256x256", "BpreShuffle_128x512"})

# Output tile of each kernel that was measured: columns by rows.
_COLUMNS = {
    32: (128, 256, 384, 512, 640, 768, 896, 1024),
    64: (128, 256, 384, 512, 640, 768, 896, 1024),
    96: (128, 256, 384, 512, 640),
    128: (128, 256, 384, 512),
    160: (128, 256, 384),
    192: (128, 256),
    224: (128, 256),
    256: (128, 256),
}
_MEASURED = frozenset(
    {f"BpreShuffle_{rows}x{columns}" for rows, tiles in _COLUMNS.items() for columns in tiles}
    | {"noBpreShuffle_256x256"}
)


def usage(kernel_name: str) -> Mapping[str, Usage]:
    """Usage by field name for a kernel, its name mangled or not.

    The schema's own name stands for all 35 kernels: an argument is then live when it is live in any of them.
    Raises InputError for a kernel that is not one of the 35 measured: what it reads is not known.
    """
    if kernel_name == SCHEMA.name:
        return _table(alpha=Usage.LIVE, log2_k_split=Usage.LIVE)
    variant = _variant(kernel_name)
    if variant not in _MEASURED:
        raise InputError(f"{kernel_name}: expected one of the 35 kernels {_PREFIX}* that were measured")
    return _table(
        alpha=Usage.LIVE if variant in _ALPHA_APPLIED else Usage.DEAD,
        log2_k_split=Usage.LIVE if variant in _SPLITS_K else Usage.UNREAD,
    )


def _variant(kernel_name: str) -> str:
    """What names the kernel in the family, `BpreShuffle_256x256`; empty for a kernel of another family."""
    name = kernel_name.removesuffix(".co").removesuffix(".kd")
    scope, prefix, variant = name.partition(_PREFIX)
    if not prefix:
        return ""
    if scope.startswith("_ZN5aiter") and scope.removeprefix("_ZN5aiter").isdigit():
        return variant.removesuffix("E")
    return variant if not scope else ""


def _table(*, alpha: Usage, log2_k_split: Usage) -> Mapping[str, Usage]:
    table = {field.name: Usage.LIVE for field in SCHEMA.fields}
    table.update(dict.fromkeys(_DEAD, Usage.DEAD))
    table.update(dict.fromkeys(_UNREAD, Usage.UNREAD))
    table.update(alpha=alpha, log2_k_split=log2_k_split)
    return MappingProxyType(table)
