"""f4gemm launches as they are prepared, and verdicts on outputs made without any kernel."""

import dataclasses

import numpy as np
import pytest

from argpack.codeobject import read
from argpack.errors import InputError, RefusedError
from argpack.families import Problem
from argpack.families.aiter_f4gemm import FAMILY
from argpack.families.aiter_f4gemm.buffers import Output
from argpack.families.aiter_f4gemm.judge import SENTINEL, Expectation, judge
from argpack.families.aiter_f4gemm.operands import RandomRows, random_operands
from argpack.families.aiter_f4gemm.placement import Placement
from argpack.families.aiter_f4gemm.workload import default_problem, prepare, refusals, tile
from argpack.families.loading import load_workloads
from argpack.launch import LaunchResult
from argpack.numerics import float64_to_bf16, mxfp4_gemm_reference
from argpack.values import changed
from scale_layout import invert, layout_named

FOLDER = "gfx950/f4gemm"
PROBLEM = Problem(m=40, n=64, k=320)
SPLIT = Problem(m=40, n=256, k=1024, log2_k_split=2)


@pytest.fixture(scope="module")
def small(kernels_dir):
    return read(kernels_dir / FOLDER / "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co")


@pytest.fixture(scope="module")
def splitting(kernels_dir):
    return read(kernels_dir / FOLDER / "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co")


@pytest.fixture(scope="module")
def plain(kernels_dir):
    return read(kernels_dir / FOLDER / "f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256.co")


def prepared(code_object, problem, **options):
    return prepare(code_object, code_object.kernels[0], problem, **options)


def buffers(workload):
    return {buffer.name: buffer for buffer in workload.launch.buffers}


def pointers(workload):
    offsets = {FAMILY.schema.offset(field.name): field.name for field in FAMILY.schema.fields}
    return {offsets[relocation.offset]: relocation.buffer for relocation in workload.launch.relocations}


def values(workload):
    return FAMILY.schema.unpack(workload.launch.arguments)


class TestLaunch:
    def test_pointers_name_their_buffers_and_c_is_null(self, small):
        workload = prepared(small, PROBLEM)
        assert pointers(workload) == {
            "ptr_D": "D",
            "ptr_A": "A",
            "ptr_B": "B",
            "ptr_ScaleA": "ScaleA",
            "ptr_ScaleB": "ScaleB",
        }
        assert values(workload)["ptr_C"] == 0

    def test_strides_count_what_the_kernel_counts(self, small):
        packed = values(prepared(small, PROBLEM))
        live = ("M", "N", "K", "stride_C0", "stride_A0", "stride_B0", "stride_ScaleA0", "stride_ScaleB0")
        assert [packed[name] for name in live] == [40, 64, 320, 64, 320, 320, 16, 16]
        assert packed["alpha"] == 1.0
        assert (
            sum(packed[f.name] for f in FAMILY.schema.fields if f.name.endswith("1") and f.name != "M") == 0
        )

    def test_grid_and_block(self, small, splitting):
        assert prepared(small, PROBLEM).launch.grid == (1, 2, 1)
        assert prepared(splitting, SPLIT).launch.grid == (1, 1, 4)
        assert prepared(small, PROBLEM).launch.block == (256, 1, 1)

    def test_sizes_of_buffers(self, small, plain):
        sizes = {name: buffer.data.size for name, buffer in buffers(prepared(small, PROBLEM)).items()}
        assert sizes == {"D": 64 * 64 * 2, "A": 40 * 160, "B": 64 * 160, "ScaleA": 64 * 16, "ScaleB": 64 * 16}
        problem = Problem(m=300, n=256, k=320)
        sizes = {name: buffer.data.size for name, buffer in buffers(prepared(plain, problem)).items()}
        assert sizes == {
            "D": 512 * 512,
            "A": 300 * 160,
            "B": 256 * 160,
            "ScaleA": 512 * 16,
            "ScaleB": 256 * 16,
        }

    def test_scales_lie_in_tiles_padded_with_zero(self, small):
        image = buffers(prepared(small, PROBLEM))["ScaleA"].data
        logical = invert(layout_named("scale_32x8"), image, rows=64, cols=16)
        np.testing.assert_array_equal(logical[:40, :10], RandomRows(PROBLEM).scale_rows("A", 0, 40))
        assert not logical[40:].any()
        assert not logical[:, 10:].any()

    def test_b_is_shuffled_for_the_kernels_that_want_it(self, small, plain):
        shuffled = buffers(prepared(small, PROBLEM))["B"].data
        logical = invert(layout_named("weight_16x16"), shuffled, rows=64, cols=160)
        np.testing.assert_array_equal(logical, RandomRows(PROBLEM).code_rows("B", 0, 64))
        wide = changed(PROBLEM, n=256)
        np.testing.assert_array_equal(
            buffers(prepared(plain, wide))["B"].data, RandomRows(wide).code_rows("B", 0, 256).ravel()
        )

    def test_what_nobody_wrote_is_a_nan_and_said_to_be_uninitialised(self, small):
        output = buffers(prepared(small, PROBLEM))["D"]
        assert not output.initialised
        assert set(output.data.view(np.uint16)) == {SENTINEL}

    def test_a_split_zeroes_the_rows_of_the_output_only(self, splitting):
        output = buffers(prepared(splitting, SPLIT))["D"]
        bits = output.data.view(np.uint16).reshape(64, 256)
        assert output.initialised
        assert not bits[:40].any()
        assert (bits[40:] == SENTINEL).all()

    def test_seed_chooses_the_operands(self):
        first, again, other = (
            RandomRows(changed(PROBLEM, seed=seed)).code_rows("A", 0, 40) for seed in (1, 1, 1 << 70)
        )
        np.testing.assert_array_equal(first, again)
        assert (first != other).mean() > 0.9

    @pytest.mark.parametrize("stream", ["A", "B"])
    def test_rows_made_alone_are_those_of_the_whole(self, stream):
        operands = RandomRows(
            changed(PROBLEM, k=96)
        )  # rows of 48 and 3 bytes: no whole blocks of the generator
        for make in (operands.code_rows, operands.scale_rows):
            whole = make(stream, 0, 40)
            for start, stop in ((0, 1), (7, 9), (39, 40), (13, 40)):
                np.testing.assert_array_equal(make(stream, start, stop), whole[start:stop])
        np.testing.assert_array_equal(operands.c_rows(3, 8), operands.c_rows(0, 40)[3:8])

    def test_operands_are_unrelated(self):
        operands = RandomRows(PROBLEM)
        a, b = (operands.code_rows(name, 0, 40) for name in "AB")
        assert (a == b).mean() < 0.01

    def test_scales_are_not_constant(self):
        assert set(np.unique(RandomRows(PROBLEM).scale_rows("A", 0, 40))) == set(range(120, 135))

    def test_fields_that_the_kernel_ignores_may_hold_anything(self, small):
        workload = prepared(
            small, PROBLEM, overrides={"stride_D0": 7, "beta": 3.5, "ptr_C": 0x1000, "alpha": 9.0}
        )
        packed = values(workload)
        assert [packed[name] for name in ("stride_D0", "beta", "ptr_C", "alpha")] == [7, 3.5, 0x1000, 9.0]
        assert workload.overridden == ()

    def test_notes_say_layouts_and_paddings(self, small, plain):
        notes = " / ".join(prepared(small, PROBLEM).notes)
        assert "scales of A: 40 x 10 e8m0, scale_32x8, padded to 64 x 16 with 0x00" in notes
        assert "B: 64 x 320 fp4, weight_16x16" in notes
        notes = " / ".join(prepared(plain, SPLIT_OFF).notes)
        assert "this kernel writes D to the end of its last 256 rows" in notes
        assert "was seen to read 159,104 bytes past the end of A, 368 bytes past the end of B" in notes
        assert "past the end" not in " ".join(prepared(small, PROBLEM).notes)

    def test_limits_of_another_code_object_of_the_same_name_are_said_to_be_of_another(self, small):
        other = dataclasses.replace(small, sha256="0" * 64)
        assert "another code object" not in " ".join(prepared(small, PROBLEM).notes)
        assert prepared(other, PROBLEM).notes[-1] == (
            "limits were measured on another code object of this name (sha256 c8eb89ab72a40ffb...): "
            "`argpack contract` measures this one"
        )

    @pytest.mark.parametrize(
        ("log2", "note"),
        [
            (2, "K is cut in 4 of 512, that is 1664 >> 2 rounded up to 256: the grid's z is 4"),
            (3, "K is cut in 7 of 256, that is 1664 >> 3 rounded up to 256: the grid's z is 7"),
        ],
    )
    def test_notes_say_how_k_is_cut_and_what_z_is(self, splitting, log2, note):
        workload = prepared(splitting, Problem(m=40, n=256, k=1664, log2_k_split=log2))
        assert note in workload.notes
        assert workload.launch.grid[2] == int(note[-1])

    def test_one_slice_of_a_split_has_its_output_zeroed_too(self, splitting):
        workload = prepared(splitting, Problem(m=40, n=256, k=256, log2_k_split=1))
        assert workload.launch.grid[2] == 1
        assert buffers(workload)["D"].initialised
        assert "zeroed, 1 slice of K adds to it in any order" in " ".join(workload.notes)


SPLIT_OFF = changed(SPLIT, log2_k_split=0)


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"overrides": {"stride_A0": 160}},
                "stride_A0 is set to 160, this problem needs 320 fp4 elements: the wrong unit?",
            ),
            (
                {"overrides": {"stride_C0": 128}},
                "stride_C0 is set to 128, this problem needs 64 bf16 elements: the wrong unit?",
            ),
            ({"overrides": {"K": 288}}, "K is set to 288, this problem needs 320 fp4 elements"),
            ({"overrides": {"ptr_B": 0}}, "ptr_B is set to 0x0, not to where its buffer is"),
            ({"placement": Placement(scale_a_layout="row_major")}, "scales of A are laid out as row_major"),
            ({"placement": Placement(scale_b_layout="row_major")}, "scales of B are laid out as row_major"),
            (
                {"placement": Placement(b_layout="row_major")},
                "B is laid out as row_major, the kernel reads weight_16x16",
            ),
            ({"placement": Placement(scale_pad=0x7F)}, "scale columns are padded with 0x7f"),
            ({"placement": Placement(exchange_scales=True)}, "the scales of A and B have changed places"),
        ],
    )
    def test_what_is_known_to_go_wrong(self, small, options, message):
        with pytest.raises(RefusedError, match=message):
            prepared(small, PROBLEM, **options)
        workload = prepared(small, PROBLEM, force=True, **options)
        assert len(workload.overridden) == 1
        assert message in workload.overridden[0]

    def test_several_reasons_are_all_named(self, small):
        problem = changed(PROBLEM, n=200, alpha=2.0, beta=1.0, log2_k_split=1)
        with pytest.raises(RefusedError) as caught:
            prepared(small, problem)
        for word in (
            "N must be a multiple of 32",
            "reads alpha and ignores it",
            "adds beta·C",
            "does not split K",
        ):
            assert word in str(caught.value)

    def test_an_output_that_is_not_zeroed_before_a_split(self, splitting):
        with pytest.raises(RefusedError, match="D is not zeroed, and 4 slices of K add to what is there"):
            prepared(splitting, SPLIT, zero_output=False)
        output = buffers(prepared(splitting, SPLIT, zero_output=False, force=True))["D"]
        assert set(output.data.view(np.uint16)) == {SENTINEL}

    def test_zeroing_is_no_matter_without_a_split(self, splitting):
        with pytest.raises(InputError, match="only a launch that splits K has its output zeroed"):
            prepared(splitting, SPLIT_OFF, zero_output=False)

    def test_a_pad_is_free_where_there_are_no_padding_columns(self, small):
        workload = prepared(small, changed(PROBLEM, k=512), placement=Placement(scale_pad=0xFF))
        assert workload.overridden == ()
        assert (buffers(workload)["ScaleA"].data == 0xFF).sum() == 24 * 16

    def test_an_alias_of_the_right_layout_is_right(self, small):
        name = "hipblaslt_blk32_ue8m0_32_8_ext"
        placement = Placement(scale_a_layout=name, scale_b_layout=name)
        assert prepared(small, PROBLEM, placement=placement).overridden == ()

    def test_exchanged_scales_exchange_the_pointers(self, small):
        workload = prepared(small, PROBLEM, placement=Placement(exchange_scales=True), force=True)
        assert pointers(workload)["ptr_ScaleA"] == "ScaleB"
        assert pointers(workload)["ptr_ScaleB"] == "ScaleA"

    def test_a_pointer_set_by_hand_keeps_its_value(self, small):
        workload = prepared(small, PROBLEM, overrides={"ptr_A": 0x1234}, force=True)
        assert "ptr_A" not in pointers(workload)
        assert values(workload)["ptr_A"] == 0x1234

    def test_a_beta_that_is_forced_brings_a_c(self, small):
        workload = prepared(small, changed(PROBLEM, beta=1.0), force=True)
        assert pointers(workload)["ptr_C"] == "C"
        assert buffers(workload)["C"].data.size == 40 * 64 * 2

    @pytest.mark.parametrize("pad", [-1, 256])
    def test_a_pad_is_a_byte(self, pad):
        with pytest.raises(InputError, match="scale_pad: expected a byte"):
            Placement(scale_pad=pad)

    def test_unknown_names_are_errors_even_when_forced(self, small):
        with pytest.raises(InputError, match="unknown layout 'scale_32x9'"):
            prepared(small, PROBLEM, placement=Placement(scale_a_layout="scale_32x9"), force=True)
        with pytest.raises(InputError, match="no field is named 'stride_E0'"):
            prepared(small, PROBLEM, overrides={"stride_E0": 1}, force=True)

    def test_impossible_sizes_are_errors_even_when_forced(self, small):
        with pytest.raises(InputError, match="K: expected a multiple of 32"):
            prepared(small, changed(PROBLEM, k=100), force=True)


class TestDefaults:
    @pytest.mark.parametrize(("name", "n"), [("BpreShuffle_32x128", 256), ("BpreShuffle_128x512", 512)])
    def test_the_default_problem_is_one_that_the_kernel_can_compute(self, name, n):
        kernel = f"f4gemm_bf16_per1x32Fp4_{name}"
        problem = default_problem(kernel)
        assert (problem.m, problem.n, problem.k) == (256, n, 1024)
        assert refusals(kernel, problem) == ()

    def test_the_family_loads_its_workloads(self):
        workloads = load_workloads(FAMILY)
        assert workloads.tile("f4gemm_bf16_per1x32Fp4_BpreShuffle_96x640") == (96, 640)
        assert tile("f4gemm_bf16_per1x32Fp4_BpreShuffle_96x640") == (96, 640)


def expectation(problem):
    output = Output(m=40, n=64, rows=64, row_stride=64, zeroed=False)
    return Expectation(problem, RandomRows(problem), output, ((0, 320),), padding_kept=True)


class TestJudge:
    @pytest.fixture
    def expected(self):
        return expectation(PROBLEM)

    @pytest.fixture
    def output(self, expected):
        """What a right kernel leaves in D."""
        operands = random_operands(PROBLEM)
        reference = mxfp4_gemm_reference(
            operands.a_codes, operands.a_scales, operands.b_codes, operands.b_scales
        )
        bits = np.full((64, 64), SENTINEL, np.uint16)
        bits[:40] = float64_to_bf16(reference.values)
        return bits

    def verdict(self, expected, bits, **more):
        return judge(expected, LaunchResult({"D": bits.view(np.uint8).reshape(-1)}, 0.1, b"", **more))

    def test_a_right_output_passes(self, expected, output):
        verdict = self.verdict(expected, output)
        assert verdict.passed
        assert (verdict.elements, verdict.bit_equal, verdict.reason) == (40 * 64, 40 * 64, "")

    def test_a_wrong_element_fails(self, expected, output):
        output[3, 5] ^= 0x40
        verdict = self.verdict(expected, output)
        assert not verdict.passed
        assert verdict.first_bad == (3, 5)

    def test_a_write_behind_the_last_row_fails(self, expected, output):
        output[40, 63] = 0
        verdict = self.verdict(expected, output)
        assert not verdict.passed
        assert verdict.wrong == 0
        assert verdict.reason == "1 elements of D outside M x N were written, first at row 40, column 63"

    def test_writes_to_the_padding_are_allowed_where_the_kernel_writes_whole_tiles(self, expected, output):
        output[40:] = 0
        assert self.verdict(changed(expected, padding_kept=False), output).passed

    def test_elements_never_written_are_counted(self, expected, output):
        output[10, :7] = SENTINEL
        verdict = self.verdict(expected, output)
        assert not verdict.passed
        assert "7 of 2560 outputs were never written" in verdict.reason

    def test_a_memory_error_fails_whatever_the_numbers_say(self, expected, output):
        verdict = self.verdict(expected, output, errors=("store outside every buffer", "another"))
        assert not verdict.passed
        assert verdict.reason == "store outside every buffer and 1 more"

    def test_a_finding_that_a_device_would_not_notice_does_not_fail(self, expected, output):
        assert self.verdict(expected, output, findings=("64 bytes read past the end of B",)).passed

    def test_an_output_of_nan_fails(self, expected, output):
        output[:40] = 0x7FC0
        verdict = self.verdict(expected, output)
        assert not verdict.passed
        assert verdict.non_finite == 2560

    def test_an_output_without_its_beta_fails(self, output):
        expected = expectation(changed(PROBLEM, beta=1.0))
        verdict = self.verdict(expected, output)
        assert not verdict.passed
        assert verdict.wrong > 2000
