"""Orders in which two 4-bit codes share a byte, declared: the same pattern notation, then one byte for each
pair.

MX formats use `mx`; read in another order a tensor looks plausible and is wrong. Codes are uint8 0..15,
(rows, K).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from scale_layout.image import apply, invert
from scale_layout.layout import Layout, Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class NibbleOrder:
    """`pattern` puts the codes of a row in the order of storage; of each pair the first goes low, or high."""

    name: str
    pattern: str
    high_first: bool = False
    doc: str


NIBBLE_ORDERS = (
    NibbleOrder(
        name="mx",
        pattern="m (ko k2) -> m ko k2",
        doc="byte i: code 2i low, 2i+1 high (OCP MX, AITER, torch float4_e2m1fn_x2, hipBLASLt, NVIDIA)",
    ),
    NibbleOrder(
        name="high_first",
        pattern="m (ko k2) -> m ko k2",
        high_first=True,
        doc="byte i: code 2i high, 2i+1 low",
    ),
    NibbleOrder(
        name="ggml_q4",
        pattern="m (ko k2 k16) -> m ko k16 k2",
        doc="blocks of 32: byte j holds code j low, j+16 high (GGML Q4_0, MXFP4)",
    ),
    NibbleOrder(
        name="int4_8block",
        pattern="m (ko k2 k4) -> m ko k4 k2",
        doc="blocks of 8: byte j holds value j low, j+4 high (AITER int4 W4A16 preshuffle)",
    ),
    NibbleOrder(
        name="int4_dword",
        pattern="m (ko k4 k2) -> m ko k2 k4",
        doc="dwords: even nibbles in the lower half, odd ones in the upper (AITER int4 x fp8 fmoe)",
    ),
)


def nibble_order_named(name: str) -> NibbleOrder:
    """The order of that name. Raises InputError for an unknown one."""
    for order in NIBBLE_ORDERS:
        if order.name == name:
            return order
    raise InputError(f"unknown nibble order {name!r}; known are {', '.join(o.name for o in NIBBLE_ORDERS)}")


def block_of(order: NibbleOrder) -> int:
    """Codes that an order packs together: K must be a multiple of it."""
    return _layout(order).tile[1]


def pack_nibbles(order: NibbleOrder, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bytes (rows, K/2) of uint8 `codes` (rows, K), K a multiple of the order's block. Raises InputError."""
    stored = apply(_layout(order), codes, pad_value=None)
    if stored.max() > 15:
        raise InputError(f"nibble order {order.name}: expected codes 0..15, found {stored.max()}")
    pairs = stored.reshape(len(codes), -1, 2)
    first, second = (pairs[..., 1], pairs[..., 0]) if order.high_first else (pairs[..., 0], pairs[..., 1])
    packed: NDArray[np.uint8] = second << np.uint8(4)
    packed |= first
    return packed


def unpack_nibbles(order: NibbleOrder, packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Codes (rows, K) of uint8 bytes (rows, K/2). Inverse of `pack_nibbles`. Raises InputError."""
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8 or packed.ndim != 2:
        found = f"{packed.dtype} {packed.shape}" if isinstance(packed, np.ndarray) else type(packed).__name__
        raise InputError(f"nibble order {order.name}: expected uint8 bytes (rows, K/2), found {found}")
    layout = _layout(order)
    rows, k = packed.shape[0], 2 * packed.shape[1]
    if k % layout.tile[1]:
        raise InputError(
            f"nibble order {order.name}: expected a multiple of {layout.tile[1]} codes, found {k}"
        )
    halves = [packed & np.uint8(15), packed >> np.uint8(4)]
    stored = np.stack(halves[::-1] if order.high_first else halves, axis=-1)
    return invert(layout, stored.reshape(-1), rows=rows, cols=k)


def _layout(order: NibbleOrder) -> Layout:
    return Layout(
        name=f"nibble order {order.name}",
        tensor=Tensor.ANY,
        pattern=order.pattern,
        unit="4-bit code",
        doc=order.doc,
    )
