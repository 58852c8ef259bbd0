"""Metadata of the real f4gemm code objects against the schema, and metadata that lies."""

import dataclasses

import pytest

from argpack.codeobject import read
from argpack.errors import InputError
from argpack.families.aiter_f4gemm.cross_check import METADATA_NAMES, cross_check
from argpack.families.aiter_f4gemm.schema import SCHEMA

FOLDER = "gfx950/f4gemm"


@pytest.fixture(scope="module")
def kernel(kernels_dir):
    return read(kernels_dir / FOLDER / "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co").kernels[0]


@pytest.fixture(scope="module")
def plain_kernel(kernels_dir):
    return read(kernels_dir / FOLDER / "f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256.co").kernels[0]


def changed(kernel, which, /, **changes):
    """The kernel with the first argument of that name changed."""
    index = next(i for i, argument in enumerate(kernel.arguments) if argument.name == which)
    arguments = list(kernel.arguments)
    arguments[index] = dataclasses.replace(arguments[index], **changes)
    return dataclasses.replace(kernel, arguments=tuple(arguments))


def test_every_field_has_one_name_in_the_metadata():
    assert sorted(METADATA_NAMES.values()) == sorted(field.name for field in SCHEMA.fields)


def test_all_35_kernels_are_explained(kernels_dir):
    files = sorted((kernels_dir / FOLDER).glob("*.co"))
    sizes = {}
    for file in files:
        sentences = cross_check(read(file).kernels[0])
        assert len(sentences) == 4
        sizes.setdefault(sentences[0].partition(":")[0], []).append(file.stem)
    assert len(files) == 35
    assert {text: len(stems) for text, stems in sizes.items()} == {
        "372 bytes are passed, 384 declared": 34,
        "372 bytes are passed, 368 declared": 1,
    }
    assert sizes["372 bytes are passed, 368 declared"] == ["f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256"]


def test_what_differs_without_harm_is_said(kernel):
    assert cross_check(kernel) == (
        (
            "372 bytes are passed, 384 declared: the last 12 are a pad that no kernel reads; HIP copies them from "
            "behind the buffer, the emulator leaves them zero"
        ),
        "the metadata's offsets and sizes agree with the schema; its names differ (D for ptr_D, Mdim for M)",
        "the metadata types alpha and beta i32: the kernel reads f32",
        "the kernel descriptor declares 0 bytes of arguments: only the metadata has the size",
    )


def test_the_kernel_without_log2_k_split_says_so(plain_kernel):
    assert cross_check(plain_kernel)[0] == (
        "372 bytes are passed, 368 declared: this kernel has no log2_k_split, the last 4 bytes do not reach it"
    )


def test_a_descriptor_that_knows_its_size_is_not_remarked_upon(kernel):
    descriptor = dataclasses.replace(kernel.descriptor, kernarg_size=384)
    assert not any(
        "descriptor" in text for text in cross_check(dataclasses.replace(kernel, descriptor=descriptor))
    )


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("Mdim", {"offset": 0xE4}, "'Mdim' at 0xe4: expected M at 0xe0"),
        ("Mdim", {"size": 8}, "'Mdim' at 0xe0: expected 4 bytes, found 8"),
        ("alpha", {"size": 2}, "'alpha' at 0x40: expected 4 bytes, found 2"),
        ("A", {"kind": "by_value"}, "'A' at 0x20: expected kind global_buffer, found by_value"),
        ("Kdim", {"kind": "global_buffer"}, "'Kdim' at 0x100: expected kind by_value, found global_buffer"),
        ("B", {"name": "bias"}, "'bias' at 0x30: no such argument in aiter_f4gemm"),
        ("B", {"name": None}, "None at 0x30: no such argument in aiter_f4gemm"),
        ("strideC0", {"name": "pad"}, "metadata at 0x80: expected stride_C0, found a pad"),
        ("pad", {"size": 12}, "metadata at 0x8: expected ptr_C, found a pad"),
    ],
)
def test_metadata_that_contradicts_the_schema_is_an_error(kernel, name, changes, message):
    with pytest.raises(InputError, match=message):
        cross_check(changed(kernel, name, **changes))


def test_swapped_pointers_are_an_error(kernel):
    swapped = changed(changed(kernel, "A", offset=0x30), "B", offset=0x20)
    with pytest.raises(InputError, match="'A' at 0x30: expected ptr_A at 0x20"):
        cross_check(swapped)


def test_metadata_without_a_field_names_it(kernel):
    fewer = tuple(argument for argument in kernel.arguments if argument.name not in {"Mdim", "ScaleB"})
    with pytest.raises(InputError, match="the metadata lacks M, ptr_ScaleB"):
        cross_check(dataclasses.replace(kernel, arguments=fewer))
    with pytest.raises(InputError, match="the metadata lacks ptr_D, ptr_C"):
        cross_check(dataclasses.replace(kernel, arguments=()))


@pytest.mark.parametrize("size", [0, 368, 372, 400])
def test_a_segment_of_another_size_is_an_error(kernel, size):
    with pytest.raises(InputError, match=f"expected a segment of 384 bytes, found {size}"):
        cross_check(dataclasses.replace(kernel, kernarg_segment_size=size))


def test_a_short_kernel_with_a_long_segment_is_an_error(plain_kernel):
    with pytest.raises(InputError, match="expected a segment of 368 bytes, found 384"):
        cross_check(dataclasses.replace(plain_kernel, kernarg_segment_size=384))
