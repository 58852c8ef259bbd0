"""Names, launch geometry and limits of the f4gemm kernels, without any kernel at hand."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.families import Problem
from argpack.families.aiter_f4gemm import limits
from argpack.families.aiter_f4gemm.geometry import grid, k_slices, slice_length
from argpack.families.aiter_f4gemm.names import parse

SPLITTING = "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256"
PLAIN_B = "f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256"
SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_64x128"


def test_a_mangled_name_says_tile_layout_and_abilities():
    variant = parse("_ZN5aiter44f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256E")
    assert (variant.name, variant.tile_m, variant.tile_n) == (PLAIN_B, 256, 256)
    assert (variant.preshuffled, variant.splits_k, variant.applies_alpha) == (False, False, True)


@pytest.mark.parametrize(
    ("tile", "splits_k", "applies_alpha"),
    [
        ((256, 256), True, True),
        ((128, 512), True, True),
        ((32, 1024), False, False),
        ((192, 256), False, False),
    ],
)
def test_only_two_preshuffled_kernels_split_k_and_apply_alpha(tile, splits_k, applies_alpha):
    variant = parse(f"f4gemm_bf16_per1x32Fp4_BpreShuffle_{tile[0]}x{tile[1]}")
    assert (variant.tile_m, variant.tile_n, variant.preshuffled) == (*tile, True)
    assert (variant.splits_k, variant.applies_alpha) == (splits_k, applies_alpha)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256E",
            "expected 42 before f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256, found 41",
        ),
        ("f4gemm_bf16_per1x32Fp4_BpreShuffle_48x128", "BpreShuffle_48x128: expected one of the 35 kernels"),
        ("flatmm", r"expected f4gemm_bf16_per1x32Fp4_\[no\]BpreShuffle_<rows>x<columns>"),
    ],
)
def test_names_that_tell_nothing_certain_are_refused(name, message):
    with pytest.raises(InputError, match=message):
        parse(name)


# From the host code's rule, worked out by hand.
@pytest.mark.parametrize(
    ("name", "sizes", "log2", "expected"),
    [
        (SMALL, (64, 128, 256), 0, (1, 1, 1)),
        (SMALL, (65, 129, 256), 0, (2, 2, 1)),
        (SMALL, (1, 1280, 8192), 3, (10, 1, 1)),
        (SPLITTING, (256, 512, 1664), 0, (2, 1, 1)),
        (SPLITTING, (256, 512, 1664), 2, (2, 1, 4)),
        (SPLITTING, (256, 512, 1664), 3, (2, 1, 7)),
        (SPLITTING, (300, 256, 512), 3, (1, 2, 2)),
        (PLAIN_B, (257, 256, 512), 1, (1, 2, 1)),
    ],
)
def test_grid_counts_workgroups_of_columns_rows_and_slices(name, sizes, log2, expected):
    m, n, k = sizes
    assert grid(parse(name), Problem(m=m, n=n, k=k, log2_k_split=log2)) == expected


@pytest.mark.parametrize(
    ("k", "log2", "length"), [(1664, 2, 512), (1664, 3, 256), (512, 3, 256), (8192, 1, 4096)]
)
def test_slices_are_rounded_up_to_256(k, log2, length):
    assert slice_length(k, log2) == length


@given(k=st.integers(1, 3000).map(lambda blocks: blocks * 32), log2=st.integers(0, 5))
def test_slices_cover_k_once_in_whole_steps(k, log2):
    slices = k_slices(parse(SPLITTING), Problem(m=1, n=256, k=k, log2_k_split=log2))
    assert slices[0][0] == 0
    assert slices[-1][1] == k
    assert all(a[1] == b[0] and a[1] % 256 == 0 for a, b in itertools.pairwise(slices))
    assert len(slices) <= 2**log2


def refused(name, **sizes):
    problem = Problem(**{"m": 256, "n": 512, "k": 1024, **sizes})
    return "; ".join(limits.refusals(parse(name), problem))


@pytest.mark.parametrize("tile", ["64x128", "32x1024", "160x384", "96x640", "256x128"])
def test_most_kernels_take_n_in_multiples_of_32(tile):
    name = f"f4gemm_bf16_per1x32Fp4_BpreShuffle_{tile}"
    assert refused(name, n=32 * 7) == ""
    assert "N must be a multiple of 32 for this kernel, found 200" in refused(name, n=200)


@pytest.mark.parametrize(
    "name", [SPLITTING, PLAIN_B, SMALL.replace("64x128", "192x256"), SMALL.replace("64x128", "224x256")]
)
def test_wide_tiles_take_n_in_multiples_of_256(name):
    assert refused(name, n=512) == ""
    assert "multiple of 256 for this kernel, found 288" in refused(name, n=288)


def test_128x512_takes_n_in_multiples_of_512():
    name = SMALL.replace("64x128", "128x512")
    assert refused(name, n=1024) == ""
    assert "multiple of 512 for this kernel, found 256" in refused(name, n=256)


def test_alpha_that_a_kernel_ignores_is_refused():
    assert refused(SMALL, alpha=2.0) == "this kernel reads alpha and ignores it, found 2"
    assert refused(SPLITTING, alpha=2.0) == ""
    assert refused(PLAIN_B, alpha=2.0) == ""


def test_beta_is_refused_by_all():
    assert refused(SPLITTING, beta=0.5) == "no f4gemm kernel adds beta·C, found beta 0.5"


def test_a_split_by_a_kernel_that_does_not_split_is_refused():
    assert refused(SMALL, log2_k_split=1) == "this kernel does not split K, found log2_k_split 1"
    assert refused(PLAIN_B, log2_k_split=1) == "this kernel does not split K, found log2_k_split 1"
    assert refused(SPLITTING, log2_k_split=1) == ""


def test_a_matrix_of_4_gib_is_refused_where_one_resource_spans_it():
    exactly = {"m": 1 << 20, "n": 256, "k": 8192}
    assert "A needs a buffer resource of 4294967296 bytes" in refused(SPLITTING, **exactly)
    assert refused(SPLITTING, **{**exactly, "m": (1 << 20) - 1}) == ""
    assert "A needs a buffer resource" in refused(PLAIN_B, **exactly)


def test_a_matrix_of_4_gib_is_fine_where_a_resource_spans_a_tile():
    assert refused(SMALL, m=1 << 20, n=256, k=8192) == ""
    assert "B needs a buffer resource of 4294967296 bytes" in refused(SMALL, m=1, n=128, k=1 << 26)


def test_each_operand_is_held_against_32_bits():
    assert "B needs" in refused(SPLITTING, m=1, n=1 << 20, k=8192)
    assert "D needs" in refused(SPLITTING, m=1 << 16, n=1 << 15, k=256)
    assert "D needs" not in refused(PLAIN_B, m=1 << 16, n=1 << 15, k=256)


def test_a_grid_of_2_to_the_32_work_items_is_refused():
    assert "the grid has 16777216 blocks of 256 work-items along x, 4294967296 in all" in refused(
        SMALL, n=1 << 31, k=32
    )
    assert "the grid has" not in refused(SMALL, n=(1 << 31) - 128, k=32)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"m": 0}, "M: expected 1 to 4294967295, found 0"),
        ({"n": -32}, "N: expected 1 to 4294967295, found -32"),
        ({"k": (1 << 32) + 32}, "K: expected 1 to 4294967295, found 4294967328"),
        ({"k": 136}, "K: expected a multiple of 32, the elements that share a scale, found 136"),
        ({"log2_k_split": -1}, "log2_k_split: expected 0 to 31, found -1"),
        ({"log2_k_split": 32}, "log2_k_split: expected 0 to 31, found 32"),
        ({"log2_k_split": 11}, "log2_k_split: 11 leaves slices of no element, K is 1024"),
        ({"alpha": float("nan")}, "alpha: expected a finite number, found nan"),
        ({"beta": float("inf")}, "beta: expected a finite number, found inf"),
        ({"seed": -1}, "seed: expected 0 or more, found -1"),
    ],
)
def test_what_is_no_problem_at_all_is_an_error(sizes, message):
    with pytest.raises(InputError, match=message):
        limits.check_problem(Problem(**{"m": 256, "n": 256, "k": 1024, **sizes}))


def test_the_largest_split_leaves_one_element():
    limits.check_problem(Problem(m=1, n=32, k=1024, log2_k_split=10))
