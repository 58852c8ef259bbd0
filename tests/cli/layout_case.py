"""The scales and their image that the tests of `argpack layout` start from."""

import numpy as np

from scale_layout import apply, layout_named

SCALES = np.random.default_rng(0).integers(100, 140, (48, 52), dtype=np.uint8)
IMAGE = apply(layout_named("scale_32x8"), SCALES, pad_value=0x7F)
