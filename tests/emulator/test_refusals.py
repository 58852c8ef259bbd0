"""What the emulator does not execute is refused with kernel, mnemonic, encoding, address and words, never guessed."""

import pytest
from emulator_harness import BASE, ENDPGM, execute, start

from argpack.emulator import program as program_module
from argpack.emulator.program import Program
from argpack.errors import UnsupportedError


def program(code, name="kernel_name"):
    return Program(code, BASE, flush_f32=True, name=name)


def test_an_unknown_instruction_is_named_with_everything_needed_to_report_it(assembler):
    code = assembler.code("s_nop 0\ns_getpc_b64 s[4:5]")
    with pytest.raises(UnsupportedError) as error:
        program(code).block(BASE)
    expected = "kernel_name: the emulator does not execute s_getpc_b64 (SOP1) at 0x1004: be841c00"
    assert str(error.value) == expected


def test_bytes_that_are_no_instruction_are_named_with_the_kernel():
    with pytest.raises(
        UnsupportedError, match=r"^kernel_name: no gfx950 instruction at 0x1000: bytes ffffffff"
    ):
        program(b"\xff" * 24).block(BASE)


@pytest.mark.parametrize(("pc", "code"), [(BASE + 4, ENDPGM), (BASE - 4, ENDPGM), (BASE, b"")])
def test_execution_that_leaves_the_code(pc, code):
    with pytest.raises(
        UnsupportedError, match=f"^kernel_name: execution left the code: program counter {pc:#x}$"
    ):
        program(code).block(pc)


def test_code_without_an_end(assembler):
    with pytest.raises(UnsupportedError, match="execution left the code: program counter 0x1004"):
        program(assembler.code("s_nop 0")).block(BASE)


def test_compiling_ahead_leaves_code_that_is_refused_for_when_it_is_reached(assembler, monkeypatch):
    text = "s_cbranch_scc1 refused\ns_barrier\ns_branch end\nrefused: s_getpc_b64 s[4:5]\nend: s_nop 0"
    made = program(assembler.code(text) + ENDPGM)
    made.compile(BASE)
    read = []
    monkeypatch.setattr(program_module, "decode", lambda *_: read.append(1))
    assert made.block(BASE).kind == "conditional"
    assert [made.block(BASE + at).kind for at in (4, 8, 16)] == ["barrier", "branch", "end"]
    assert not read
    monkeypatch.undo()
    with pytest.raises(UnsupportedError, match="does not execute s_getpc_b64"):
        made.block(BASE + 12)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("v_add_f32_e64 v0, v1, v2 clamp", "clmp = 1"),
        ("v_mul_f32_e64 v0, v1, v2 mul:2", "omod = 1"),
        ("v_add_u32_e64 v0, v1, v2 clamp", "clmp = 1"),
        ("v_add_co_u32_e64 v0, s[4:5], v1, v2 clamp", "clmp = 1"),
        ("v_mad_u64_u32 v[0:1], s[4:5], v2, v3, v[4:5] clamp", "clmp = 1"),
        ("v_cndmask_b32_e64 v0, -v1, v2, s[4:5]", "neg = 1"),
        ("v_cmp_lt_f32_e64 s[4:5], v1, v2 clamp", "clmp = 1"),
        ("v_cvt_u32_f32_e64 v0, |v1|", "abs = 1"),
        ("s_mov_b64 s[4:5], 1.0", "a floating-point constant as a 64-bit operand"),
        ("s_mov_b64 s[4:5], 0.15915494309189532", "a floating-point constant as a 64-bit operand"),
        ("s_mov_b64 s[4:5], 0x80000000", "a literal above 2^31 as a 64-bit operand"),
        ("s_mov_b32 s4, src_shared_base", "scalar operand code 235"),
        ("s_mov_b32 s4, src_vccz", "scalar operand code 251"),
        ("s_mov_b64 s[4:5], src_scc", "scalar operand code 253"),
        ("s_mov_b32 ttmp0, s4", "scalar operand code 108"),
    ],
)
def test_operand_forms_that_are_not_executed(assembler, text, reason):
    with pytest.raises(UnsupportedError) as error:
        execute(assembler.code(text), start())
    message = str(error.value)
    name = text.split()[0].removesuffix("_e64")
    assert message.startswith(f"snippet: the emulator does not execute {name} (")
    assert " at 0x1000: " in message
    assert reason in message


@pytest.mark.parametrize(
    "text",
    [
        "v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf",
        "v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD",
        "v_cmp_eq_u32_sdwa vcc, v1, v2 src0_sel:BYTE_0 src1_sel:DWORD",
        "v_cmp_class_f32 vcc, v1, v2",
        "v_cmp_eq_f16 vcc, v1, v2",
        "v_cmp_f_u32 vcc, v1, v2",
        "v_pk_add_f32 v[0:1], v[2:3], v[4:5]",
        "v_add_f64 v[0:1], v[2:3], v[4:5]",
        "s_setreg_b32 hwreg(HW_REG_MODE), s4",
        "s_call_b64 s[4:5], 4",
        "s_ff1_i32_b64 s4, s[6:7]",
        "s_absdiff_i32 s4, s5, s6",
        "s_bitcmp1_b64 s[4:5], s6",
        "s_trap 2",
        "ds_add_u32 v0, v1",
        "ds_read_u16_d16 v0, v1",
    ],
)
def test_other_instructions_are_refused(assembler, text):
    message = r"^snippet: the emulator does not execute \w+ \(\w+\) at 0x1000: [0-9a-f ]+$"
    with pytest.raises(UnsupportedError, match=message):
        execute(assembler.code(text), start())


@pytest.mark.parametrize(
    ("text", "byte", "value", "reason"),
    [
        ("v_add3_u32 v0, s0, v1, v2", 4, 0xFF, "a literal constant is missing"),
        ("v_permlane16_swap_b32 v0, v1", 1, 0xB2, "a swap with a constant or an SGPR"),
    ],
)
def test_operand_codes_that_no_assembler_writes(assembler, text, byte, value, reason):
    code = bytearray(assembler.code(text))
    code[byte] = value
    with pytest.raises(
        UnsupportedError, match=f"snippet: the emulator does not execute .* at 0x1000: .*{reason}"
    ):
        execute(bytes(code), start())
