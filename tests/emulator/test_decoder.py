"""The decoder against LLVM's disassembler over the real kernels, and what it says of bytes that are no instruction."""

import re
import subprocess
import sys

import pytest
from emulator_harness import ENDPGM
from hypothesis import given, settings
from hypothesis import strategies as st

from argpack.codeobject import read
from argpack.emulator import decoder
from argpack.emulator.decoder import decode
from argpack.emulator.program import Program
from argpack.errors import UnavailableError, UnsupportedError

# Small and large, with and without preshuffled B, with split K, and the one that indexes registers.
SAMPLE = ["BpreShuffle_32x128", "BpreShuffle_96x640", "BpreShuffle_128x512", "noBpreShuffle_256x256"]
KERNELS = 35
INSTRUCTIONS = 67732
LINE = re.compile(r"^\t(\S+).*// ([0-9A-F]{12}): ((?:[0-9A-F]{8} ?)+)", re.MULTILINE)


def llvm_listing(llvm_tool, path):
    """Address, mnemonic and words of each instruction, as LLVM prints them."""
    command = [llvm_tool("llvm-objdump"), "-d", "--mcpu=gfx950", path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [(int(address, 16), name, words.split()) for name, address, words in LINE.findall(text)]


def compared(llvm_tool, path):
    """Decode a code object where LLVM found instructions; the number of them. Any difference fails."""
    code_object = read(path)
    entry = code_object.kernels[0].code_address
    segment = next(s for s in code_object.segments if s.address <= entry < s.address + len(s.data))
    listing = llvm_listing(llvm_tool, path)
    assert listing[0][0] == entry
    address = entry
    for expected_address, name, words in listing:
        at = address - segment.address
        found = decode(segment.data[at : at + 24], address)
        plain = re.sub(r"(?<=accvgpr_read|ccvgpr_write)_b32$", "", re.sub(r"_e(32|64)$", "", name))
        assert (found.address, found.mnemonic, found.size) == (expected_address, plain, 4 * len(words))
        assert found.raw == b"".join(int(word, 16).to_bytes(4, "little") for word in words)
        address += found.size
    return len(listing)


@pytest.mark.parametrize("name", SAMPLE)
def test_addresses_sizes_and_mnemonics_are_llvms(llvm_tool, kernels_dir, name):
    assert compared(llvm_tool, kernels_dir / f"gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_{name}.co") > 500


@pytest.mark.sweep
def test_addresses_sizes_and_mnemonics_are_llvms_in_all_kernels(llvm_tool, kernels_dir):
    files = sorted((kernels_dir / "gfx950/f4gemm").glob("*.co"))
    assert len(files) == KERNELS
    assert sum(compared(llvm_tool, file) for file in files) == INSTRUCTIONS


def test_an_instruction_prints_name_encoding_address_and_words():
    found = decode(bytes.fromhex("01ff0186ffff0000"), 0x2C00)
    assert str(found) == "s_and_b32 (SOP2_LIT) at 0x2c00: 8601ff01 0000ffff"
    assert found.literal == 0xFFFF
    assert "literal" not in found.fields
    assert decode(ENDPGM, 4).literal is None


@pytest.mark.parametrize("code", ["ffffffff00000000", "000000c800000000"])
def test_bytes_that_are_no_instruction(code):
    with pytest.raises(UnsupportedError, match=f"no gfx950 instruction at 0x40: bytes {code[:8]}"):
        decode(bytes.fromhex(code), 0x40)


def test_a_truncated_instruction():
    with pytest.raises(UnsupportedError, match="at 0x40: s_and_b32 has 8 bytes, the code ends after 4"):
        decode(bytes.fromhex("01ff0186"), 0x40)


def test_without_the_decoders_library_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tinygrad.renderer.amd", None)
    monkeypatch.setattr(decoder, "_FORMS", {})
    decoder._tables.cache_clear()
    try:
        with pytest.raises(UnavailableError, match=r"needs tinygrad .*: pip install 'argpack\[emulator\]'"):
            decode(ENDPGM, 0)
    finally:
        decoder._tables.cache_clear()


def test_a_form_met_before_decodes_as_when_first_met(kernels_dir, monkeypatch):
    """Decoding remembers forms by opcode: what was decoded before must not show in what is decoded next."""
    path = next((kernels_dir / "gfx950" / "fmoe").rglob("*.co"))
    code_object = read(path)
    code = code_object.code(code_object.kernels[0])
    at = 0
    while at < len(code) and (found := decode(code[at : at + 24], at)).mnemonic != "s_endpgm":
        with monkeypatch.context() as patch:
            patch.setattr(decoder, "_FORMS", {})
            assert decode(code[at : at + 24], at) == found
        at += found.size
    assert at


# First dwords of every encoding family, so that random bits reach all of them.
SCALAR = [0x80000000, 0xB0000000, 0xBE800000, 0xBF000000, 0xBF800000, 0xC0000000]
VECTOR = [0x00000000, 0x7E000000, 0x7C000000, 0xD0000000, 0xD3800000, 0xD3AC0000]
MEMORY = [0xD8000000, 0xDC000000, 0xE0000000]
HEADS = st.sampled_from(SCALAR + VECTOR + MEMORY)


@settings(max_examples=1500)
@given(head=HEADS, low=st.integers(0, 0x1FFFFFF), rest=st.binary(min_size=20, max_size=20))
def test_any_bytes_compile_or_are_refused(head, low, rest):
    code = (head | low).to_bytes(4, "little") + rest + 16 * ENDPGM
    program = Program(code, 0x1000, flush_f32=True, name="random")
    try:
        program.block(0x1000)
    except UnsupportedError as error:
        assert str(error).startswith("random: ")  # noqa: PT017  other exceptions must fail the test
