"""The family of argpack's own kernel: declaration against code object, launches, refusals."""

import pytest

from argpack.codeobject import read
from argpack.errors import InputError, RefusedError
from argpack.families import Problem, family_of
from argpack.families.loading import load_workloads
from argpack.families.own_sgemm import FAMILY
from argpack.families.own_sgemm.schema import usage
from argpack.families.own_sgemm.workload import prepare, refusals
from argpack.kernels import OWN
from argpack.values import changed

PROBLEM = Problem(m=33, n=17, k=8, alpha=0.5, beta=2.0)


@pytest.fixture(scope="module")
def code_object():
    return read(OWN / "sgemm.co")


@pytest.fixture
def kernel(code_object):
    return code_object.kernels[0]


def test_the_kernel_is_known_by_its_name(kernel):
    assert family_of(kernel.name) is FAMILY
    assert family_of("argpack_sgemm.kd") is FAMILY


def test_fields_lie_without_gaps():
    offsets = [FAMILY.schema.offset(field.name) for field in FAMILY.schema.fields]
    assert offsets == [0, 8, 16, 24, 32, 36, 40, 44, 48, 52, 56, 60, 64]
    assert FAMILY.schema.size == 68


def test_metadata_and_schema_agree(kernel):
    assert FAMILY.cross_check(kernel) == (
        "68 bytes are passed, 72 declared: the rest pads the segment to its alignment",
        "names, offsets and sizes in the metadata are the schema's",
    )


def test_metadata_that_differs_is_an_error(kernel):
    arguments = list(kernel.arguments)
    arguments[6] = changed(arguments[6], offset=44)
    with pytest.raises(InputError, match="expected M at 0x28, 4 bytes, found M at 0x2c, 4 bytes"):
        FAMILY.cross_check(changed(kernel, arguments=tuple(arguments)))
    with pytest.raises(InputError, match="expected 13 arguments in the metadata, found 12"):
        FAMILY.cross_check(changed(kernel, arguments=kernel.arguments[:-1]))
    with pytest.raises(InputError, match="expected a segment of 72 bytes, found 68"):
        FAMILY.cross_check(changed(kernel, kernarg_segment_size=68))


def test_a_launch_has_one_work_item_an_element(code_object, kernel):
    launch = prepare(code_object, kernel, PROBLEM).launch
    assert (launch.grid, launch.block) == ((2, 3, 1), (16, 16, 1))
    values = FAMILY.schema.unpack(launch.arguments)
    assert dict(values) == {
        "ptr_D": 0, "ptr_C": 0, "ptr_A": 0, "ptr_B": 0, "alpha": 0.5, "beta": 2.0,
        "M": 33, "N": 17, "K": 8, "stride_D": 17, "stride_C": 17, "stride_A": 8, "stride_B": 17,
    }  # fmt: skip
    assert {buffer.name: buffer.data.size for buffer in launch.buffers} == {
        "D": 33 * 17 * 4,
        "A": 33 * 8 * 4,
        "B": 8 * 17 * 4,
        "C": 33 * 17 * 4,
    }
    assert {(r.offset, r.buffer) for r in launch.relocations} == {(0, "D"), (8, "C"), (16, "A"), (24, "B")}


def test_without_beta_there_is_no_c(code_object, kernel):
    launch = prepare(code_object, kernel, changed(PROBLEM, beta=0.0)).launch
    assert [buffer.name for buffer in launch.buffers] == ["D", "A", "B"]


def test_a_wrong_stride_is_refused(code_object, kernel):
    overrides = {"stride_D": 34}
    with pytest.raises(
        RefusedError, match="stride_D is set to 34, this problem needs 17 f32 elements: the wrong unit"
    ):
        prepare(code_object, kernel, PROBLEM, overrides=overrides)
    assert prepare(code_object, kernel, PROBLEM, overrides=overrides, force=True).overridden


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"m": 0}, "M: expected 1 to 4294967295, found 0"),
        ({"k": -1}, "K: expected 1 to 4294967295, found -1"),
        ({"alpha": float("inf")}, "alpha: expected a finite number, found inf"),
        ({"seed": -1}, "seed: expected 0 or more, found -1"),
        ({"log2_k_split": 1}, "log2_k_split: own_sgemm has no such argument, found 1"),
    ],
)
def test_what_is_no_problem_at_all_is_an_error(change, message):
    with pytest.raises(InputError, match=message):
        refusals("argpack_sgemm", changed(PROBLEM, **change))


def test_every_field_is_live_and_other_kernels_are_none_of_its_business():
    assert set(usage("own_sgemm").values()) == {"live"}
    with pytest.raises(InputError, match="other: expected argpack_sgemm"):
        usage("other")


def test_the_default_problem_adds_c():
    workloads = load_workloads(FAMILY)
    assert workloads.default_problem("argpack_sgemm") == Problem(m=128, n=64, k=256, beta=1.0)
    assert workloads.tile("argpack_sgemm") == (16, 16)
