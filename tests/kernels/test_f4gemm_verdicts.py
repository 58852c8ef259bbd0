"""The 35 f4gemm kernels compute what they should on ragged shapes, and every known mistake is caught in the numbers.

`pytest --backend hip` runs the same launches on a GPU.
"""

import pytest

from argpack.codeobject import read
from argpack.families import Problem
from argpack.families.aiter_f4gemm.limits import n_multiple
from argpack.families.aiter_f4gemm.names import parse
from argpack.families.aiter_f4gemm.placement import Placement
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.launch.select import select_backend

PREFIX = "f4gemm_bf16_per1x32Fp4_"
TILES = [
    *("32x128", "32x256", "32x384", "32x512", "32x640", "32x768", "32x896", "32x1024"),
    *("64x128", "64x256", "64x384", "64x512", "64x640", "64x768", "64x896", "64x1024"),
    *("96x128", "96x256", "96x384", "96x512", "96x640"),
    *("128x128", "128x256", "128x384", "128x512", "160x128", "160x256", "160x384"),
    *("192x128", "192x256", "224x128", "224x256", "256x128", "256x256"),
]
KERNELS = [*(f"BpreShuffle_{tile}" for tile in TILES), "noBpreShuffle_256x256"]
SPLITTING = ["BpreShuffle_128x512", "BpreShuffle_256x256"]


@pytest.fixture
def launch(kernels_dir, backend_name):
    """Runs a problem on a kernel; returns the workload, the result and the verdict."""

    def run(name, problem, **options):
        code_object = read(kernels_dir / "gfx950" / "f4gemm" / f"{PREFIX}{name}.co")
        workload = prepare(code_object, code_object.kernels[0], problem, **options)
        backend, _ = select_backend(backend_name, code_object)
        result = backend.run(workload.launch)
        return workload, result, workload.judge(result)

    return run


def two_tiles(name, k, **more):
    """Two workgroups each way, five rows short of full tiles."""
    variant = parse(PREFIX + name)
    return Problem(m=2 * variant.tile_m - 5, n=2 * variant.tile_n, k=k, **more)


def check(verdict, *, bit_equal):
    assert verdict.passed, verdict.reason
    # Of a few thousand outputs some may lie where float32 sums round to the neighbour.
    assert verdict.elements - verdict.bit_equal <= 4 + (1 - bit_equal) * verdict.elements


def test_all_kernels_of_the_wheel_are_listed(kernels_dir):
    files = sorted(file.stem for file in (kernels_dir / "gfx950" / "f4gemm").glob("*.co"))
    assert files == sorted(PREFIX + name for name in KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_ragged_rows(launch, name):
    _, result, verdict = launch(name, two_tiles(name, 512))
    check(verdict, bit_equal=0.9998)
    assert result.errors == ()


@pytest.mark.parametrize("name", KERNELS)
def test_k_that_is_no_multiple_of_256(launch, name):
    variant = parse(PREFIX + name)
    _, result, verdict = launch(name, Problem(m=37, n=variant.tile_n, k=1664, seed=1))
    check(verdict, bit_equal=0.9998)
    assert result.errors == ()


@pytest.mark.parametrize("log2", [1, 2, 3])
@pytest.mark.parametrize("name", SPLITTING)
def test_split_k(launch, name, log2):
    workload, _, verdict = launch(name, two_tiles(name, 512, log2_k_split=log2))
    assert workload.launch.grid[2] == 2
    check(verdict, bit_equal=0.5)


@pytest.mark.parametrize("name", SPLITTING)
def test_split_k_in_seven_slices_the_last_one_short(launch, name):
    variant = parse(PREFIX + name)
    problem = Problem(m=100, n=variant.tile_n, k=1664, log2_k_split=3)
    workload, _, verdict = launch(name, problem)
    assert workload.launch.grid[2] == 7
    check(verdict, bit_equal=0.3)


@pytest.mark.parametrize("k", [32, 256])
@pytest.mark.parametrize("name", SPLITTING)
def test_a_split_that_leaves_one_slice_still_adds_to_the_output(launch, name, k):
    """The grid's z is 1, so a host that zeroes only where z is more than 1 gets what was in D added."""
    problem = Problem(m=64, n=512, k=k, log2_k_split=1)
    workload, _, verdict = launch(name, problem)
    assert workload.launch.grid[2] == 1
    check(verdict, bit_equal=0.999)
    _, _, verdict = launch(name, problem, force=True, zero_output=False)
    assert verdict.non_finite == 64 * 512


@pytest.mark.parametrize("name", [*SPLITTING, "noBpreShuffle_256x256"])
def test_alpha_where_it_is_applied(launch, name):
    variant = parse(PREFIX + name)
    _, _, verdict = launch(name, Problem(m=64, n=variant.tile_n, k=256, alpha=-0.3))
    check(verdict, bit_equal=0.999)


@pytest.mark.parametrize("k", [32, 96, 288])
@pytest.mark.parametrize("name", ["BpreShuffle_32x128", "BpreShuffle_128x512", "noBpreShuffle_256x256"])
def test_k_of_any_number_of_scale_blocks(launch, name, k):
    variant = parse(PREFIX + name)
    _, _, verdict = launch(name, Problem(m=33, n=variant.tile_n, k=k))
    check(verdict, bit_equal=0.999)


def test_only_the_kernel_with_row_major_b_reads_past_its_end(launch):
    problem = Problem(m=32, n=256, k=1664)
    assert launch("BpreShuffle_256x256", problem)[1].findings == ()
    findings = launch("noBpreShuffle_256x256", problem)[1].findings
    assert all("past the end of B" in text for text in findings)


def test_fields_called_unread_or_dead_change_nothing(launch):
    problem = Problem(m=64, n=256, k=256)
    garbage = dict.fromkeys(("stride_D0", "stride_D1", "stride_C1", "stride_A1", "stride_B1"), 0xDEADBEEF)
    garbage |= {
        "stride_ScaleA1": 1,
        "stride_ScaleB1": 2,
        "beta": 2.0,
        "alpha": 3.0,
        "ptr_C": 0x10,
        "log2_k_split": 5,
    }
    _, _, verdict = launch("BpreShuffle_64x256", problem, overrides=garbage)
    check(verdict, bit_equal=0.999)


ROW_MAJOR_SCALES = Placement(scale_a_layout="row_major", scale_b_layout="row_major")
MISTAKES = {
    "scales row by row": {"placement": ROW_MAJOR_SCALES},
    "only scales of A row by row": {"placement": Placement(scale_a_layout="row_major")},
    "only scales of B row by row": {"placement": Placement(scale_b_layout="row_major")},
    "scales padded with 1.0": {"placement": Placement(scale_pad=0x7F)},
    "scales padded with NaN": {"placement": Placement(scale_pad=0xFF)},
    "scales of A and B swapped": {"placement": Placement(exchange_scales=True)},
    "A's stride in bytes": {"overrides": {"stride_A0": 832}},
    "B's stride in bytes": {"overrides": {"stride_B0": 832}},
    "D's stride in bytes": {"overrides": {"stride_C0": 1024}},
    "scale stride unpadded": {"overrides": {"stride_ScaleA0": 52}},
    "K too short": {"overrides": {"K": 1408}},
}


@pytest.mark.parametrize("options", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_fails(launch, options):
    _, _, verdict = launch("BpreShuffle_32x256", Problem(m=64, n=512, k=1664), force=True, **options)
    assert not verdict.passed


def test_a_null_pointer_is_a_memory_fault(kernels_dir):
    """On a GPU it would end the process: only the emulator survives it."""
    code_object = read(kernels_dir / "gfx950" / "f4gemm" / f"{PREFIX}BpreShuffle_32x256.co")
    options = {"force": True, "overrides": {"ptr_A": 0}}
    workload = prepare(code_object, code_object.kernels[0], Problem(m=32, n=256, k=256), **options)
    backend, _ = select_backend("emulator", code_object)
    verdict = workload.judge(backend.run(workload.launch))
    assert not verdict.passed
    assert verdict.reason.startswith("memory access fault: 4-byte read from 0x0, below every buffer")


@pytest.mark.parametrize(
    ("name", "layout"), [("BpreShuffle_32x256", "row_major"), ("noBpreShuffle_256x256", "weight_16x16")]
)
def test_b_in_the_other_kernels_layout_fails(launch, name, layout):
    _, _, verdict = launch(
        name, Problem(m=64, n=256, k=512), force=True, placement=Placement(b_layout=layout)
    )
    assert not verdict.passed


@pytest.mark.parametrize("name", SPLITTING)
def test_an_output_not_zeroed_before_a_split_fails(launch, name):
    problem = Problem(m=64, n=512, k=512, log2_k_split=1)
    _, _, verdict = launch(name, problem, force=True, zero_output=False)
    assert not verdict.passed
    assert verdict.non_finite == 64 * 512


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("BpreShuffle_32x128", 144),
        ("BpreShuffle_64x1024", 1040),
        ("BpreShuffle_192x256", 288),
        ("BpreShuffle_224x256", 384),
        ("BpreShuffle_256x256", 384),
        ("noBpreShuffle_256x256", 384),
        ("BpreShuffle_128x512", 256),
        ("BpreShuffle_128x512", 768),
    ],
)
def test_stores_beyond_n_are_seen_where_the_limit_is_overridden(launch, name, n):
    _, _, verdict = launch(name, Problem(m=64, n=n, k=256), force=True)
    assert not verdict.passed
    assert f"elements of D outside M x N were written, first at row 0, column {n}" in verdict.reason


@pytest.mark.parametrize("name", [name for name in KERNELS if n_multiple(parse(PREFIX + name)) == 32])
def test_n_of_one_step_more_than_a_tile(launch, name):
    """The limit is no stricter than it must be."""
    _, _, verdict = launch(name, Problem(m=32, n=parse(PREFIX + name).tile_n + 32, k=256))
    check(verdict, bit_equal=0.999)


@pytest.mark.parametrize(("field", "value"), [("alpha", 2.0), ("beta", 1.0)])
def test_a_factor_that_is_ignored_shows_in_the_numbers(launch, field, value):
    _, _, verdict = launch("BpreShuffle_32x128", Problem(m=32, n=128, k=256, **{field: value}), force=True)
    assert not verdict.passed
