"""The contracts of the f4gemm kernels in brief: tools/measure_contracts writes it from contracts/*.toml.

A kernel's row: digest of its code object, uses of its arguments, then n_multiple, scale_a_rows, scale_b_rows,
d_row_multiple, applies_alpha, splits_k, accumulates, and the over-reads of A, B and the scales of each in bytes.
"""

from __future__ import annotations

from argpack.families.aiter_f4gemm.brief import Brief

_USES = (
    "ldlldduululululllllluluu",
    "ldlllduulululullllllulul",
    "ldlllduululululllllluluu",
)

MEASURED = {
    "BpreShuffle_128x128": Brief(
        "e643a602b2163559", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_128x256": Brief(
        "43b2138fa191f73b", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_128x384": Brief(
        "ea6087ea09888edb", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_128x512": Brief(
        "c32d5356e5d92b77", _USES[1], 512, 32, 32, 1, True, True, "when_split", (0, 0, 0, 0)
    ),
    "BpreShuffle_160x128": Brief(
        "408fde0500538b6f", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_160x256": Brief(
        "ebbc013887415538", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_160x384": Brief(
        "31cf8d0b71a4419f", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_192x128": Brief(
        "be67aa0049d75053", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_192x256": Brief(
        "01453b424c0b54ca", _USES[0], 256, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_224x128": Brief(
        "2f0603c28cd4d12f", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_224x256": Brief(
        "a008f2d5ee31b4b5", _USES[0], 256, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_256x128": Brief(
        "5ca8871eed85d086", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_256x256": Brief(
        "ff0d6bb10a211068", _USES[1], 256, 32, 32, 1, True, True, "when_split", (212480, 0, 13056, 0)
    ),
    "BpreShuffle_32x1024": Brief(
        "67917030535fca63", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_32x128": Brief(
        "c8eb89ab72a40ffb", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_32x256": Brief(
        "4f666444d736a0ea", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_32x384": Brief(
        "75fa1cf6397c83a4", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_32x512": Brief(
        "4118d0ccd52c06c9", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_32x640": Brief(
        "47d0653d835bc62a", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_32x768": Brief(
        "678aea456ee7b06d", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_32x896": Brief(
        "bcecfec6ae93a8e4", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x1024": Brief(
        "8987dd54ab7eb71d", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x128": Brief(
        "3bf26600cc3cf293", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x256": Brief(
        "a7d224a40aa7d840", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x384": Brief(
        "32ce5da488913382", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x512": Brief(
        "d9d3110ff10cd730", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x640": Brief(
        "cd0fd263591e2ec2", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x768": Brief(
        "16300cb8872b7059", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_64x896": Brief(
        "62f56a9bca9e7c03", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_96x128": Brief(
        "f0b37faf22603cb9", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_96x256": Brief(
        "50577a61a988fdba", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_96x384": Brief(
        "59ae5db7b03a69e8", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_96x512": Brief(
        "91b8ed4c131f55f4", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "BpreShuffle_96x640": Brief(
        "e285716e71c1f421", _USES[0], 32, 32, 32, 1, False, False, "never", (0, 0, 0, 0)
    ),
    "noBpreShuffle_256x256": Brief(
        "3c7b92dfac829922", _USES[2], 256, 256, 32, 256, True, False, "never", (159104, 368, 0, 0)
    ),
}
