"""Finding a family by its name, by a kernel's name and by a buffer's size."""

import subprocess
import sys

import pytest

from argpack.errors import InputError
from argpack.families import (
    FAMILIES,
    families_of,
    families_of_size,
    family_named,
    family_names,
    family_of,
    family_of_size,
)

MANGLED = "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256E"


def test_every_family_is_found_by_its_own_name():
    assert [family_named(family.name) for family in FAMILIES] == list(FAMILIES)
    assert [family_named(name).name for name in family_names()] == list(family_names())
    assert len(set(family_names())) == len(family_names()) == 50


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
        "gemm",
        "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256_extra",
        "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256",
        "xfmoe_bf16",
    ],
)
def test_other_kernels_are_of_no_family(name):
    assert family_of(name) is None


def test_372_bytes_are_f4gemm_arguments():
    family = family_of_size(372)
    assert family is not None
    assert family.name == "aiter_f4gemm"
    assert family_of_size(371) is None


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        ("_ZN5aiter47fmoe_stage1_bf16_pertokenFp8_g1u1_32x64_4tg_pf2E", ["aiter_fmoe_2stages"]),
        ("_ZN5aiter43fmoe_bf16_pertokenInt8_g1u1_silu_1tg_32x256E.kd", ["aiter_fmoe"]),
        ("fmoe_kernel_func", ["aiter_fmoe"]),
        ("bf16gemm_outf32_tn_32x64_pf3.co", ["aiter_bf16gemm", "aiter_bf16gemm_2026"]),
        ("pa_kernel_func", ["aiter_pa", "aiter_pa_2026"]),
        ("_ZN5aiter45PA_A16W8_BLK1024_1TG_4W_16mx1_64nx4_MTP_PS_PBE", ["aiter_pa_ps"]),
        ("_ZN5aiter33fmha_bwd_hd128_bf16_a16_rtna_pddvE", ["aiter_fmha_v3_bwd_a16_pddv"]),
        (
            "_ZN5aiter10DecodeTopKL19topk_per_row_decodeILi1024ELb0ELi4EEEvPKfPKiPiiii",
            ["aiter_topk_per_row_decode"],
        ),
        ("f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128_ntA", ["hipblaslt_f4gemm"]),
        ("f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128", ["aiter_f4gemm"]),
        ("wave_mxfp4_dynamic_gemm_256x192x256", ["hipblaslt_wave_mxfp4"]),
        ("_ZN5aiter45f4gemm_bf16_mxfp4_ABpreShuffle_256x256_4x4_psE", ["aiter_f4gemm_gfx1250_mxfp4"]),
    ],
)
def test_declared_families_are_found_by_kernel_names(kernel, names):
    assert [family.name for family in families_of(kernel)] == names
    assert all(family.matches(kernel) for family in families_of(kernel))


def test_a_name_that_versions_share_is_not_guessed():
    with pytest.raises(InputError) as error:
        family_of("pa_kernel_func")
    versions = "aiter_pa (256 bytes), aiter_pa_2026 (272 bytes)"
    assert str(error.value) == (
        f"pa_kernel_func may be of {versions}: its code object tells which, a name alone does not"
    )


def test_families_of_one_size_are_all_found():
    assert [family.name for family in families_of_size(304)] == [
        "aiter_mla",
        "aiter_mla_prefill_ps",
        "aiter_allreduce_rmsnorm",
    ]
    assert family_of_size(304) is None
    assert family_of_size(104).name == "hipblaslt_wave_mxfp4"


def test_looking_a_family_up_imports_no_other_declaration():
    code = (
        "import sys, argpack.families as f; f.family_of('fmoe_kernel_func'); "
        "print(sorted(m for m in sys.modules if m.startswith('argpack.families.aiter.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['argpack.families.aiter.fmoe', 'argpack.families.aiter.index']"


def test_families_are_known_without_numpy_or_a_backend():
    heavy = ["numpy", "construct", "tinygrad", "ml_dtypes", "hip", "elftools"]
    code = f"import sys, argpack.families; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
