"""`argpack layout infer KERNEL`: what it prints, its JSON, its exit codes."""

import argparse
import json
import re

import numpy as np
import pytest
from made_kernel import MadeKernel

from argpack.cli import layout_infer, layout_report
from argpack.codeobject import read
from argpack.errors import ArgpackError, InputError, RefusedError, UnsupportedError
from argpack.families import Problem
from argpack.kernels import OWN
from argpack.launch import LaunchResult
from argpack.probe import ProbeError
from argpack.probe.infer import infer_from
from argpack.probe.subject import subject_of
from scale_layout import layout_of_pattern

SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
NAMES = ["A", "B", "ScaleA", "ScaleB"]


def found_in(*, m=528, n=512, k=512, kind=MadeKernel, **layouts):
    def subject_for(problem):
        return kind(problem.m, problem.n, problem.k, **layouts).subject()

    return infer_from(subject_for, Problem(m=m, n=n, k=k))


def report(found, names=NAMES):
    return re.sub(r"\d+\.\d s\b", "0.1 s", layout_report.text(found, names, "made", "numpy: asked for"))


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    layout_infer.add_arguments(parser)
    return parser.parse_args(arguments)


def test_a_person_reads_layout_formula_padding_and_what_cannot_be_known():
    # The made kernel computes no padding: its scales may be padded with anything where K ends inside a tile.
    assert (
        report(found_in(b="weight_16x16", scale_a="scale_32x8", scale_b="scale_32x8"))
        == """\
kernel   made
backend  numpy: asked for
probed   M=528 N=512 K=512: 14 launches, 0.1 s

A: 528 rows of 256 bytes, each 2 elements of K
  layout   row_major: m k -> m k
  offset   r*C + c, C = 256
  bits     c0 c1 c2 c3 c4 c5 c6 c7 r0 r1 r2 r3
           of the offset in the first 16 x 256, lowest first; r0 is the row's lowest
  memory   row 0 bytes 0 to 255, row 1 bytes 0 to 255, row 2 bytes 0 to 255, row 3 bytes 0 to 255, …
  proven   for all 135168 places, each a byte of its own

B: 512 rows of 256 bytes, each 2 elements of K
  layout   weight_16x16: (no n16) (ko k16) -> no ko n16 k16
  used by  aiter_weight_16x16_1byte, aiter_weight_16x16_bf16, aiter_weight_NK_16_64, aiter_weight_a16w4, \
gfx1250_weight_16x16_byte
  offset   (r//16)*16*C + (c//16)*256 + (r%16)*16 + c%16, C = 256
  bits     c0 c1 c2 c3 r0 r1 r2 r3 c4 c5 c6 c7 r4 r5 r6 r7 r8
           of the offset in the first 512 x 256, lowest first; r0 is the row's lowest
  memory   row 0 bytes 0 to 15, row 1 bytes 0 to 15, row 2 bytes 0 to 15, row 3 bytes 0 to 15, …
  proven   for all 131072 places, each a byte of its own

scales of A: 528 rows of 16 bytes, a scale for 32 elements of K
  layout   scale_32x8: (mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2
  used by  aiter_e8m0_shuffle_gfx950, aiter_e8m0_shuffle_2025_05, hipblaslt_blk32_ue8m0_32_8_ext, \
aiter_scale_a16w4, triton_cdna4_scale, ck_mx_gfx950
  offset   (r//32)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + (r%32)//16, C = 16
  padding  256 bytes between those of the operand: rows 528 to 543, up to tiles of 32 x 8
  bits     r4 c2 r0 r1 r2 r3 c0 c1 c3
           of the offset in the first 32 x 16, lowest first; r0 is the row's lowest
  memory   row 0 block 0, row 16 block 0, row 0 block 4, row 16 block 4, …
  proven   for all 8448 places, each a byte of its own; 256 other bytes of the buffer fed no output

scales of B: 512 rows of 16 bytes, a scale for 32 elements of K
  layout   scale_32x8: (mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2
  used by  aiter_e8m0_shuffle_gfx950, aiter_e8m0_shuffle_2025_05, hipblaslt_blk32_ue8m0_32_8_ext, \
aiter_scale_a16w4, triton_cdna4_scale, ck_mx_gfx950
  offset   (r//32)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + (r%32)//16, C = 16
  bits     r4 c2 r0 r1 r2 r3 c0 c1 c3 r5 r6 r7 r8
           of the offset in the first 512 x 16, lowest first; r0 is the row's lowest
  memory   row 0 block 0, row 16 block 0, row 0 block 4, row 16 block 4, …
  proven   for all 8192 places, each a byte of its own

confirmed on random bytes in all buffers: 270336 outputs are what these places predict, 270336 of them to the bit
where K ends inside a tile (K=544), of 0x00, 0x7f, 0xff in padding columns of the scales all gave right numbers

What no output can show:
  k is numbered as row 0 of A lies in memory: an order of K that A, B and their scales share changes no output
  the low nibble is taken as the even k: exchanging the nibbles of A and of B together changes no output
"""
    )


def test_a_new_layout_is_reported_as_solved():
    found = found_in(m=64, n=64, b=layout_of_pattern("(mo m8) (ko k16) -> mo ko m8 k16"))
    assert "  layout   none that argpack declares, solved below\n" in report(found, ["B"])
    assert "  layout   solved: (mo m8) (ko k16) -> mo ko m8 k16\n" in report(found, ["B"])
    values = layout_report.as_json(found, ["B"])["operands"]["B"]
    assert (values["layouts"], values["solved"]["name"]) == ([], "solved")


def test_one_tile_is_ambiguous_and_pads_are_not_looked_for():
    found = found_in(m=32, n=32, k=256, scale_a="scale_32x8")
    text = report(found, ["ScaleA"])
    assert "  layout   ambiguous, one of 2: a larger problem tells them apart\n" in text
    assert "padding columns" not in text
    assert layout_report.as_json(found, ["ScaleA"])["right_scale_pads"] is None


class Ragged(MadeKernel):
    """Wrong whenever K is no multiple of 256."""

    def product(self, contents):
        return super().product(contents) * (2 if self.k % 256 else 1)


def test_padding_that_nothing_makes_right_is_said():
    text = report(found_in(m=48, n=48, kind=Ragged), ["A"])
    assert "of 0x00, 0x7f, 0xff in padding columns of the scales none gave right numbers\n" in text


class Dense(MadeKernel):
    def product(self, contents):
        dense = (contents["A"] != 0).mean() > 0.5 and (contents["B"] != 0).mean() > 0.5
        return super().product(contents) + 1000 * dense


def test_what_random_bytes_refute_is_said():
    text = report(found_in(m=48, n=48, kind=Dense), ["A"])
    assert "\n  measured for all 12288 places, each a byte of its own\n" in text
    assert re.search(r"\nFAIL on random bytes: \d+ of 2304 outputs are beyond tolerance", text)


def test_json_has_the_facts_of_the_operands_asked_for(kernels_dir, capsys):
    args = parsed(SMALL, "--kernels", str(kernels_dir), "--backend", "emulator", "--json")
    args.operand = ["scale-a", "b"]
    assert layout_infer.run(args) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["kernel"] == "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E"
    assert values["problem"] == {"m": 528, "n": 512, "k": 512}
    assert list(values["operands"]) == ["B", "ScaleA"]
    assert [found["name"] for found in values["operands"]["B"]["layouts"]] == ["weight_16x16"]
    scales = values["operands"]["ScaleA"]
    assert scales["first_offsets"] == [
        0,
        64,
        128,
        192,
        2,
        66,
        130,
        194,
        256,
        320,
        384,
        448,
        258,
        322,
        386,
        450,
    ]
    assert (scales["elements_per_byte"], scales["buffer_bytes"], scales["used_bytes"]) == (32, 8704, 8448)
    assert scales["solved"]["pattern"] == "(mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2"
    assert values["right_scale_pads"] == [0]
    assert values["random_bytes"]["passed"]


def test_one_tile_of_a_real_kernel_is_no_answer(kernels_dir, capsys):
    sizes = ["-m", "32", "-n", "32", "-k", "256", "--operand", "scale-b"]
    assert (
        layout_infer.run(parsed(SMALL, "--kernels", str(kernels_dir), "--backend", "emulator", *sizes)) == 1
    )
    assert "probed   M=32 N=32 K=256: 65 launches" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        (["-n", "48"], RefusedError, "N must be a multiple of 32 for this kernel, found 48"),
        (["-k", "100"], InputError, "K: expected a multiple of 32"),
        (
            ["-k", "544"],
            ProbeError,
            "M=528 N=512 K=544: .* a K that ends inside a tile of the kernel mixes in",
        ),
    ],
)
def test_a_problem_that_cannot_be_probed_is_refused(kernels_dir, sizes, error, message):
    with pytest.raises(error, match=message):
        layout_infer.run(parsed(SMALL, "--kernels", str(kernels_dir), "--backend", "emulator", *sizes))


def test_a_kernel_of_another_family_is_refused():
    with pytest.raises(UnsupportedError, match=r"own_sgemm, whose operands are not MXFP4: its layouts"):
        layout_infer.run(parsed(str(OWN / "sgemm.co"), "--backend", "emulator"))


class Faulty:
    name = description = "faulty"

    def run(self, launch, *, progress=None):
        return LaunchResult({}, 0.0, b"", errors=("memory access fault: far away",))


def test_a_memory_fault_ends_probing(kernels_dir):
    code_object = read(kernels_dir / "gfx950" / "f4gemm" / f"{SMALL}.co")
    subject = subject_of(code_object, code_object.kernels[0], Problem(m=32, n=32, k=256), Faulty())
    contents = {name: np.zeros(size, np.uint8) for name, size in subject.sizes.items()}
    with pytest.raises(ProbeError, match="32x128E: memory access fault: far away"):
        subject.output(**contents)
    with pytest.raises(InputError, match=r"probe: A: expected 4096 bytes, found shape \(4095,\)"):
        subject.output(**contents | {"A": contents["A"][1:]})


def test_every_error_is_argpacks():
    assert issubclass(ProbeError, ArgpackError)
