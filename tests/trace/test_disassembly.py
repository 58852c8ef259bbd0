"""Instruction texts against LLVM's: over real kernels, and form by form through its assembler."""

from __future__ import annotations

import re
import subprocess

import pytest
from gfx950_code import Assembler

from argpack import kernels
from argpack.emulator.decoder import decode
from argpack.trace.disassembly import text_of

LINE = re.compile(r"\t(?P<text>.*?)\s*// (?P<address>[0-9A-F]{12}): (?P<words>[0-9A-F ]+)")

FORMS = [
    "s_add_u32 s1, vcc_lo, -16",
    "s_and_b64 exec, exec, vcc",
    "s_lshl_b64 s[4:5], s[6:7], s8",
    "s_cselect_b32 m0, exec_hi, 0.5",
    "s_cmp_eq_u64 s[2:3], 0",
    "s_movk_i32 s7, 0x8000",
    "s_load_dwordx4 s[4:7], s[2:3], s9",
    "s_load_dword vcc_lo, s[2:3], 0x44",
    "s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)",
    "s_waitcnt vmcnt(41) expcnt(3) lgkmcnt(2)",
    "s_endpgm",
    "s_nop 7",
    "v_add_co_u32 v1, vcc, s2, v3",
    "v_addc_co_u32 v1, vcc, v2, v3, vcc",
    "v_add_co_u32 v1, s[4:5], v2, v3",
    "v_cmp_lt_u64 s[4:5], v[2:3], v[6:7]",
    "v_cmp_gt_f32 vcc, 0x3e4ccccd, v1",
    "v_cndmask_b32 v1, v2, v3, s[6:7]",
    "v_fma_f32 v1, -v2, |v3|, -|s4|",
    "v_lshlrev_b64 v[2:3], v1, v[4:5]",
    "v_readlane_b32 s4, v2, 3",
    "v_readfirstlane_b32 s4, v2",
    "v_mov_b32 v1, -1",
    "v_cvt_pk_bf16_f32 v1, v2, v3",
    "v_mad_u64_u32 v[2:3], s[4:5], v6, v7, v[8:9]",
    "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9] op_sel:[1,0,0] op_sel_hi:[0,1,1]",
    "v_accvgpr_write_b32 a7, s2",
    "v_accvgpr_read_b32 v7, a255",
    (
        "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[8:11], v[16:19], a[0:3], v4, v5 op_sel:[1,0,0] "
        "op_sel_hi:[0,1,0] cbsz:4 blgp:4"
    ),
    "buffer_load_dwordx4 a[4:7], v1, s[4:7], s9 idxen offset:4095 sc0 nt sc1",
    "buffer_load_dword off, s[4:7], 0 offset:12 lds",
    "buffer_store_short v1, off, s[8:11], 0",
    "global_load_dwordx2 v[2:3], v[4:5], off offset:-16",
    "global_store_dwordx4 v1, v[4:7], s[2:3] sc1",
    "ds_read2_b64 v[4:7], v1 offset0:1 offset1:255",
    "ds_write2st64_b32 v1, v2, v3 offset1:4",
    "ds_write_b8 v1, v2 offset:65535",
    "ds_read_u16 v1, v2",
    "ds_bpermute_b32 v1, v2, v3",
]
DPP = "v_mov_b32 v1, v2 quad_perm:[1,0,3,2]"


@pytest.fixture(scope="module")
def codes(llvm_tool):
    """The machine code of every text, from one run of the assembler."""
    return Assembler(llvm_tool).snippets({text: text for text in [*FORMS, DPP]})


@pytest.mark.parametrize("text", FORMS)
def test_a_form_is_printed_as_it_was_written(codes, text):
    assert text_of(decode(codes[text].ljust(24, b"\0"), 0)) == text


def test_branches_name_the_address_they_go_to():
    assert text_of(decode(bytes.fromhex("fbff82bf").ljust(24, b"\0"), 0x2CF4)) == "s_branch 0x2ce4"
    assert text_of(decode(bytes.fromhex("030085bf").ljust(24, b"\0"), 0x2CE8)) == "s_cbranch_scc1 0x2cf8"


def test_forms_that_are_not_executed_are_printed_as_words(codes):
    assert text_of(decode(codes[DPP].ljust(24, b"\0"), 0)) == "v_mov_b32 (VOP1_DPP16) fa02027e 02b100ff"


def differences(path, llvm_tool):
    """Lines of LLVM's disassembly whose text is another here; labels and the suffixes e32 and e64 apart."""
    printed = subprocess.run(
        [llvm_tool("llvm-objdump"), "-d", path], capture_output=True, text=True, check=True
    )
    count, other = 0, []
    for line in printed.stdout.splitlines():
        if not (found := LINE.match(line)):
            continue
        raw = b"".join(int(word, 16).to_bytes(4, "little") for word in found["words"].split())
        theirs = re.sub(r"\s+", " ", re.sub(r"_e(32|64)\b", "", found["text"])).strip()
        ours = text_of(decode(raw.ljust(24, b"\0"), int(found["address"], 16)))
        if theirs.startswith(("s_branch", "s_cbranch")):
            theirs, ours = theirs.split()[0], ours.split()[0]
        count += 1
        if ours != theirs:
            other.append((theirs, ours))
    return count, other


@pytest.mark.parametrize(
    "name", ["f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co", "BpreShuffle_32x128.co", "sgemm"]
)
def test_a_kernel_is_printed_as_llvm_does(kernels_dir, llvm_tool, name):
    count, other = differences(kernels.resolve(name, root=kernels_dir), llvm_tool)
    assert (count > 40, other) == (True, [])


@pytest.mark.sweep
def test_all_f4gemm_kernels_are_printed_as_llvm_does(kernels_dir, llvm_tool):
    paths = kernels.matching("f4gemm_bf16_per1x32Fp4*", root=kernels_dir)
    found = {path.name: differences(path, llvm_tool) for path in paths}
    assert sum(count for count, _ in found.values()) > 67_000
    assert {name: other for name, (_, other) in found.items() if other} == {}
