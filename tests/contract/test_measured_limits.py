"""Limits are found on models that have them, each by the launches that show it; what fits no contract is an error."""

import numpy as np
import pytest
from model_kernel import Model, up

from argpack.contract import output, padding, sizes
from argpack.contract.trials import Trial
from argpack.errors import InputError
from argpack.families import Problem


@pytest.mark.parametrize("step", [1, 2, 16, 96, 1024])
def test_n_multiple_is_the_step_that_stores_have(step):
    limit = sizes.n_multiple(Model(n_step=step))
    assert limit.value == step
    assert ("elements behind column" in limit.why) == (step > 1)
    assert len(limit.problems) >= 2


def test_a_step_between_powers_of_two_is_rounded_up_to_one_that_is_right():
    """Stores of 48 columns need a multiple of 48, and of those only the tile's 96 is tried."""
    assert sizes.n_multiple(Model(n_step=48)).value == 96


def test_a_kernel_that_computes_no_n_is_an_error():
    with pytest.raises(
        InputError, match=r"model: no size tried is computed right, M=33 N=1024 K=256: .* wrong"
    ):
        sizes.n_multiple(Model(k_step=512))


def test_m_multiple_is_1_whatever_rows_are_written_behind():
    assert sizes.m_multiple(Model(m_step=64), 32).value == 1


@pytest.mark.parametrize(("right", "padded"), [(32, 256), (64, 128), (256, 256)])
def test_k_multiples_depend_on_what_pads_the_scales(right, padded):
    limits = sizes.k_multiples(Model(k_step=right, padded_k_step=padded), 32)
    assert {name: limit.value for name, limit in limits.items()} == {
        "k_multiple": right,
        "k_multiple_pad_7f": padded,
        "k_multiple_pad_ff": padded,
    }


@pytest.mark.parametrize("alpha", [True, False])
@pytest.mark.parametrize("beta", [True, False])
def test_factors_are_applied_or_ignored(alpha, beta):
    limits = output.factors(Model(alpha=alpha, beta=beta), 32)
    assert (limits["applies_alpha"].value, limits["applies_beta"].value) == (alpha, beta)
    assert limits["applies_alpha"].why == ("" if alpha else "the bits are those of alpha 1")


@pytest.mark.parametrize("splits", [True, False])
def test_a_kernel_splits_k_where_one_workgroup_sums_one_slice(splits):
    limit = output.splits_k(Model(splits=splits, adds="when_split"), 32)
    assert limit.value is splits
    problems = ("M=33 N=32 K=512 log2_k_split=1, z=2", "M=33 N=32 K=1664 log2_k_split=3, z=7")
    assert limit.problems == (problems if splits else ("M=33 N=32 K=512 log2_k_split=1",))


def test_a_kernel_that_splits_and_does_not_add_is_an_error():
    with pytest.raises(InputError, match=r"model: M=33 N=32 K=512 log2_k_split=1 in 2 slices: .* wrong"):
        output.splits_k(Model(splits=True, adds="never"), 32)


@pytest.mark.parametrize(
    ("splits", "adds"), [(False, "never"), (False, "always"), (True, "when_split"), (True, "always")]
)
def test_when_the_result_is_added_to_the_output(splits, adds):
    limit = output.accumulates(Model(splits=splits, adds=adds), 32, splits=splits)
    assert limit.value == adds
    assert len(limit.problems) == (3 if splits else 1)
    assert limit.why == ("also where a single slice is left" if adds == "when_split" else "")


@pytest.mark.parametrize(("step", "multiple"), [(1, 1), (16, 16), (64, 64), (48, 64)])
def test_rows_of_the_output_are_counted_as_far_as_they_are_written(step, multiple):
    limit = output.d_row_multiple(Model(tile=(64, 96), m_step=step), 32)
    assert limit.value == multiple
    assert ("M=1: " in limit.why) == (step > 1)


def test_padding_rows_of_scales_matter_or_not():
    assert padding.scale_padding(Model(), 32)["scale_row_pad"].value == "anything"
    assert padding.scale_padding(Model(row_pad_matters=True), 32)["scale_row_pad"].value == "0x00"


def whole_tiles_of_scales(problem, rows_a, _rows_b):
    """Scales of A are read up to whole tiles of 64 rows, B 100 bytes past its end where K is 288 and N wide."""
    columns = up(problem.k // 32, 8)
    return {
        "ScaleA": (up(problem.m, 64) - up(problem.m, rows_a)) * columns,
        "B": 100 * (problem.k == 288) * (problem.n > 96),
    }


def test_scales_get_the_rows_that_are_read_and_what_is_left_is_an_over_read():
    limits = padding.reach(Model(past_end=whole_tiles_of_scales), 32, splits=False)
    assert {name: limit.value for name, limit in limits.items()} == {
        "scale_a_rows": 64,
        "scale_b_rows": 32,
        "over_read_a": 0,
        "over_read_b": 100,
        "over_read_scale_a": 0,
        "over_read_scale_b": 0,
    }
    assert limits["over_read_b"].why == "M=2 N=128 K=288; what lies there changes no output"


def test_an_over_read_that_gets_into_the_output_is_told_apart():
    model = Model(past_end=lambda p, a, b: {"A": 64}, uses_what_is_behind=True)
    limits = padding.reach(model, 32, splits=False)
    assert limits["over_read_a"].why == "M=1 N=32 K=32; what lies there is used"


def test_an_over_read_that_no_rows_of_a_tile_cover_is_left_as_one():
    limits = padding.reach(Model(past_end=lambda p, a, b: {"ScaleA": 5000 + p.k}), 32, splits=False)
    assert limits["scale_a_rows"].value == 32
    assert limits["over_read_scale_a"].value == 6664


def test_a_kernel_that_splits_is_run_split_too():
    model = Model(splits=True, adds="when_split")
    padding.reach(model, 32, splits=True)
    assert {problem.log2_k_split for problem in model.ran} == {0, 1, 3}


class TestTrial:
    """What a launch is blamed for."""

    @pytest.fixture
    def right(self):
        return Model().run(Problem(m=33, n=32, k=256))

    def test_a_right_launch(self, right):
        assert right.wrong() == ""
        assert right.rows_written == 33

    def test_a_wrong_element(self, right):
        right.bits[7, 5] ^= 0x40
        assert right.wrong() == "1 of 1056 outputs are wrong"

    def test_a_store_beside_the_columns(self, right):
        right.bits[32, 32] = 0
        assert right.wrong() == "1 elements behind column 32 were written"

    def test_a_store_behind_the_rows_is_no_fault_but_counted(self, right):
        right.bits[40, 0] = 0
        assert right.wrong() == ""
        assert right.rows_written == 41

    def test_a_memory_error_comes_first(self, right):
        faulty = Trial(
            problem=right.problem,
            slices=right.slices,
            operands=right.operands,
            before=right.before,
            bits=np.zeros_like(right.bits),
            errors=("memory access fault",),
        )
        assert faulty.wrong() == "memory access fault"
