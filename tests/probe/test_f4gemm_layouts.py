"""Probing the real f4gemm kernels finds their layouts from outputs alone; `pytest --backend hip` probes on a GPU."""

import numpy as np
import pytest

from argpack.codeobject import read
from argpack.launch.select import select_backend
from argpack.probe import infer_layouts

PREFIX = "f4gemm_bf16_per1x32Fp4_"
# Sixteen tile shapes: every number of rows and of columns that occurs among the 35.
SUITE = [
    *("32x128", "64x256", "96x384", "128x512", "32x640", "64x768", "32x896", "64x1024"),
    *("96x640", "160x128", "192x256", "224x128", "256x256", "64x128", "160x384", "96x128"),
]
REST = [
    *("32x256", "32x384", "32x512", "32x768", "32x1024", "64x384", "64x512", "64x640", "64x896"),
    *("96x256", "96x512", "128x128", "128x256", "128x384", "160x256", "192x128", "224x256", "256x128"),
]
PLAIN = "noBpreShuffle_256x256"
CASES = [
    *(pytest.param(f"BpreShuffle_{tile}") for tile in SUITE),
    pytest.param(PLAIN),
    *(pytest.param(f"BpreShuffle_{tile}", marks=pytest.mark.sweep) for tile in REST),
]


@pytest.fixture
def infer(kernels_dir, backend_name):
    """Probes a kernel by the end of its name."""

    def run(name, **options):
        code_object = read(kernels_dir / "gfx950" / "f4gemm" / f"{PREFIX}{name}.co")
        backend, _ = select_backend(backend_name, code_object)
        return infer_layouts(code_object, code_object.kernels[0], backend, **options)

    return run


def test_all_kernels_of_the_wheel_are_listed(kernels_dir):
    files = sorted(file.stem for file in (kernels_dir / "gfx950" / "f4gemm").glob("*.co"))
    assert files == sorted([f"{PREFIX}BpreShuffle_{tile}" for tile in SUITE + REST] + [PREFIX + PLAIN])


@pytest.mark.parametrize("name", CASES)
def test_layouts_are_found_from_outputs(infer, name):
    found = infer(name)
    rows, columns = np.arange(528)[:, None], np.arange(256)[None, :]
    blocks = columns[:, :16]
    # Written out by hand, not taken from the declared layouts.
    tiled = rows // 32 * 512 + blocks // 8 * 256 + blocks % 4 * 64 + rows % 16 * 4
    tiled += blocks % 8 // 4 * 2 + rows % 32 // 16
    shuffled = rows // 16 * 4096 + columns // 16 * 256 + rows % 16 * 16 + columns % 16
    plain = rows * 256 + columns
    expected = {
        "A": ("row_major", plain),
        "B": ("row_major", plain[:512]) if name == PLAIN else ("weight_16x16", shuffled[:512]),
        "ScaleA": ("scale_32x8", tiled),
        "ScaleB": ("scale_32x8", tiled[:512]),
    }
    for operand, (layout, offsets) in expected.items():
        assert np.array_equal(found.tables[operand].offsets, offsets), operand
        assert [match.layout.name for match in found.identities[operand].known] == [layout]
    assert [found.tables[operand].per_byte for operand in expected] == [2, 2, 32, 32]
    assert found.identities["ScaleA"].known[0].rows == 544
    assert found.verdict.passed
    assert found.verdict.elements == 528 * 512
    assert found.right_pads == (0x00,)
    assert found.launches == 14
