"""Finding a family by its name, by a kernel's name and by a buffer's size."""

import subprocess
import sys

import pytest

from argpack.errors import InputError
from argpack.families import FAMILIES, family_named, family_of, family_of_size

MANGLED = "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256E"


def test_every_family_is_found_by_its_own_name():
    assert [family_named(family.name) for family in FAMILIES] == list(FAMILIES)


def test_an_unknown_family_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="unknown family 'aiter_f4gem'; did you mean aiter_f4gemm"):
        family_named("aiter_f4gem")


def test_an_unknown_family_without_a_near_name_lists_those_known():
    with pytest.raises(InputError, match="unknown family 'x'; known: aiter_f4gemm"):
        family_named("x")


@pytest.mark.parametrize(
    "name",
    [MANGLED, f"{MANGLED}.kd", "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256", MANGLED.replace("42", "9")],
)
def test_f4gemm_kernels_are_known_by_name(name):
    family = family_of(name)
    assert family is not None
    assert family.name == "aiter_f4gemm"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "pa_kernel_func",
        "_ZN5aiter44bf16gemm_outf32_tn_96x64E",
        "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256_extra",
        "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256",
        "f4gemm_bf16_mxfp4_4x4",
    ],
)
def test_other_kernels_are_of_no_family(name):
    assert family_of(name) is None


def test_372_bytes_are_f4gemm_arguments():
    family = family_of_size(372)
    assert family is not None
    assert family.name == "aiter_f4gemm"
    assert family_of_size(371) is None


def test_families_are_known_without_numpy_or_a_backend():
    heavy = ["numpy", "construct", "tinygrad", "ml_dtypes", "hip", "elftools"]
    code = f"import sys, argpack.families; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
