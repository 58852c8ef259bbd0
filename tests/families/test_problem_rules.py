"""What M, N and K ask of each GEMM family's arguments, with values worked out by hand."""

import subprocess
import sys

import pytest

from argpack.families import Problem, family_named, family_names
from argpack.families.problems import rule_of
from argpack.schema import Role

PROBLEM = Problem(m=48, n=512, k=1664)

# K = 1664: 52 blocks of 32, 104 of 16, 13 of 128. N = 512: 4 blocks of 128.
EXPECTED = {
    ("aiter_f4gemm", ""): {
        "stride_C0": 512, "stride_A0": 1664, "stride_B0": 1664, "stride_ScaleA0": 56, "stride_ScaleB0": 56, "M": 48,
        "N": 512,
    },
    ("own_sgemm", ""): {"stride_D": 512, "stride_C": 512, "stride_A": 1664, "stride_B": 512, "M": 48, "N": 512},
    ("hipblaslt_f4gemm", ""): {
        "stride_C0": 48, "stride_A0": 1664, "stride_B0": 1664, "stride_ScaleA0": 52, "stride_ScaleB0": 52, "M": 512,
        "N": 48, "K": 1664,
    },
    ("hipblaslt_wave_mxfp4", ""): {
        "m": 512, "n": 48, "k": 1664, "stride_a_dim0": 832, "stride_a_scale_dim0": 52, "stride_b_dim0": 832,
        "stride_b_scale_dim0": 52, "stride_c_dim0": 48,
    },
    ("aiter_bf16gemm", ""): {"stride_C0": 2048, "stride_A0": 3328, "stride_B0": 3328, "M": 48, "N": 512, "K": 1664},
    ("aiter_bf16gemm_2026", ""): {"stride_A0": 3328, "stride_B0": 3328, "M": 48, "N": 512, "K": 1664},
    ("aiter_i8gemm", ""): {"lda": 1664, "ldb": 1664, "ldc": 1024, "m": 48, "n": 512, "k": 1664},
    ("aiter_fp8gemm_blockscale", ""): {
        "lda": 1664, "ldb": 1664, "ldc": 1024, "scale_m": 48, "scale_n": 4, "scale_k": 13,
    },
    ("aiter_f4gemm_gfx1250_mxfp4", "f4gemm_bf16_mxfp4_256x256"): {
        "strideD0": 1024, "strideA0": 832, "strideB0": 832, "ScaleA_stride0": 52, "ScaleB_stride0": 52,
    },
    ("aiter_f4gemm_gfx1250_mxfp4", "f4gemm_fp4_mxfp4_256x256"): {"strideD0": 256, "strideA0": 832},
    ("aiter_f4gemm_gfx1250_mxfp4_fp8", "f4gemm_fp8_mxfp4_256x256"): {"strideD0": 512, "ScaleA_stride0": 52},
    ("aiter_f4gemm_gfx1250_nvfp4", "f4gemm_bf16_nvfp4_256x256"): {"strideD0": 1024, "ScaleB_stride0": 104},
    ("aiter_f4gemm_gfx1250_nvfp4_fp8", "f4gemm_fp8_nvfp4_256x256"): {"strideD0": 512, "ScaleA_stride0": 104},
    ("aiter_mxfp8fp4gemm_gfx1250", "f8gemm_bf16_mxfp8fp4_256x256"): {
        "stride_C": 1024, "stride_A": 1664, "stride_B": 832, "ScaleA_K": 52, "ScaleB_K": 52, "batch_size": 1,
    },
    ("aiter_mxfp8fp4gemm_gfx1250", "f8gemm_bf16_mxfp8fp8_64x512"): {"stride_A": 1664, "stride_B": 1664},
}  # fmt: skip


@pytest.mark.parametrize(("family", "kernel"), EXPECTED, ids=lambda part: part or "any")
def test_sizes_ask_for_these_values(family, kernel):
    rule = rule_of(family)
    values = rule.values(PROBLEM, (kernel,) if kernel else ())
    expected = EXPECTED[family, kernel]
    assert {name: values[name] for name in expected} == expected


@pytest.mark.parametrize("family", sorted({family for family, _ in EXPECTED}))
def test_a_rule_has_sizes_where_it_says_and_names_only_fields(family):
    rule, schema = rule_of(family), family_named(family).schema
    values = rule.values(PROBLEM, ())
    roles = {field.name: field.role for field in schema.fields}
    assert set(values) <= set(roles)
    assert {option: values[field] for option, field in rule.sizes.items()} == {"m": 48, "n": 512, "k": 1664}
    assert all(roles[field] is Role.EXTENT for field in rule.sizes.values())


def test_the_output_type_that_no_kernel_tells_leaves_its_stride_open():
    rule = rule_of("aiter_f4gemm_gfx1250_mxfp4")
    assert "strideD0" not in rule.values(PROBLEM, ())
    two = ("f4gemm_bf16_mxfp4_256x256", "f4gemm_fp4_mxfp4_256x256")
    assert "strideD0" not in rule.values(PROBLEM, two)
    assert "stride_B" not in rule_of("aiter_mxfp8fp4gemm_gfx1250").values(PROBLEM, ())


def test_every_family_is_a_gemm_with_a_rule_or_has_none():
    ruled = {name for name in family_names() if rule_of(name)}
    assert ruled == {family for family, _ in EXPECTED}
    left = {name for name in family_names() if "gemm" in name} - ruled
    assert left == set()


def test_rules_load_no_numpy():
    code = (
        "import sys\nfrom argpack.families import Problem\nfrom argpack.families.problems import rule_of\n"
        "for name in ('own_sgemm', 'aiter_f4gemm', 'hipblaslt_f4gemm'):\n"
        "    rule_of(name).values(Problem(m=1, n=32, k=256), ())\n"
        "print([m for m in ('numpy', 'construct') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
