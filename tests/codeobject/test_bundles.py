"""Offload bundles: compressed or not, several in one file; every target is listed, one is taken where it is clear."""

import ctypes
import hashlib
import json
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offload_bundles import bundle, zlib_compressed

from argpack.cli import main
from argpack.codeobject import compressed, parse, read
from argpack.codeobject.bundle import unbundle
from argpack.errors import InputError, UnavailableError
from argpack.kernels import OWN

RECORDED = Path(__file__).parent / "recorded"
SGEMM = (OWN / "sgemm.co").read_bytes()
HOST = "host-x86_64-unknown-linux-gnu-"
GFX950 = "hipv4-amdgcn-amd-amdhsa--gfx950"
XNACK = "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+"
PLAIN = bundle((HOST, b""), (GFX950, SGEMM))
PLAIN_SHA256 = "bea768ede32c8756430c31a0b50a3c12e4cf625d7bab8c028844895dd8710e0e"


@pytest.fixture(params=["zstd_v2", "zstd_v3"])
def recorded(request):
    return (RECORDED / f"{request.param}.hipfb").read_bytes()


def test_what_llvm_compressed_is_unpacked(recorded):
    found = unbundle(recorded)
    assert [(entry.number, entry.bundle, entry.target) for entry in found] == [
        (1, 1, None),
        (2, 1, "gfx942:xnack+"),
        (3, 1, "gfx950"),
    ]
    assert [len(entry.data) for entry in found] == [0, 2560, 2560]
    assert hashlib.sha256(found[2].data).hexdigest() == PLAIN_SHA256
    assert str(parse(found[1].data, source="x").target) == "gfx942:xnack+"


@pytest.mark.parametrize("version", [1, 2, 3])
def test_zlib_and_every_version_of_the_header(version):
    (host, code) = unbundle(zlib_compressed(PLAIN, version=version))
    assert (host.id, host.target, host.data) == (HOST, None, b"")
    assert (code.id, code.target, code.data, code.packed) == (GFX950, "gfx950", SGEMM, True)


def four_in_a_file(recorded):
    """Bundles on 4 KiB boundaries, as a linker places those of translation units."""
    parts = [recorded, PLAIN, zlib_compressed(PLAIN, version=1), zlib_compressed(PLAIN, version=3)]
    return b"".join(part.ljust(-(-len(part) // 4096) * 4096, b"\0") for part in parts)


def test_all_bundles_of_a_file_are_walked(recorded):
    found = unbundle(four_in_a_file(recorded))
    assert [entry.number for entry in found] == list(range(1, 10))
    assert [entry.bundle for entry in found] == [1, 1, 1, 2, 2, 3, 3, 4, 4]
    assert [entry.packed for entry in found] == [True] * 3 + [False] * 2 + [True] * 4
    assert [entry.target for entry in found if entry.target] == ["gfx942:xnack+", *["gfx950"] * 4]


def test_every_target_is_listed(recorded, tmp_path, capsys):
    path = tmp_path / "four.hipfb"
    path.write_bytes(four_in_a_file(recorded)[:-1000])  # what follows the last one's end is padding
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("bytes: 4 offload bundles, 5 code objects for AMD GPUs")
    assert [line.split()[0] for line in lines[2:12]] == ["entry", *(f"#{number}" for number in range(1, 10))]
    assert lines[4].split() == ["#2", "1,", "compressed", "gfx942:xnack+", "2560", "k"]
    assert lines[7].split() == ["#5", "2", "gfx950", str(len(SGEMM)), "argpack_sgemm"]
    assert main(["inspect", str(path), "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert [entry["kernels"] for entry in entries[:3]] == [[], ["k"], ["k"]]


def test_an_entry_that_cannot_be_read_is_told(tmp_path, capsys):
    path = tmp_path / "bad.hipfb"
    path.write_bytes(bundle((GFX950, SGEMM), (XNACK, b"BC\xc0\xde")))
    assert main(["inspect", str(path)]) == 2
    assert f"{path}#2: LLVM bitcode, not a code object" in capsys.readouterr().out


def test_a_bundle_of_one_code_object_is_read_as_that(tmp_path, capsys):
    path = tmp_path / "one.hipfb"
    path.write_bytes(zlib_compressed(PLAIN, version=2))
    assert read(path).data == SGEMM
    assert main(["inspect", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"file    {path}#2, {len(SGEMM)} bytes\n")
    assert main(["verify", str(path), "-m", "5", "-n", "4", "-k", "3", "--backend", "emulator"]) == 0


def test_an_entry_is_chosen_by_number_or_target(tmp_path, capsys):
    path = tmp_path / "two.hipfb"
    path.write_bytes(bundle((HOST, b""), (XNACK, b"\x7fELF"), (GFX950, SGEMM)))
    assert read(f"{path}#3").data == read(f"{path}#gfx950").data == SGEMM
    assert main(["verify", f"{path}#gfx950", "-m", "5", "-n", "4", "-k", "3", "--backend", "emulator"]) == 0
    with pytest.raises(InputError, match=r"two\.hipfb#2: truncated ELF file"):
        read(f"{path}#gfx942:xnack+")


@pytest.mark.parametrize(
    ("data", "chosen", "message"),
    [
        (
            bundle((HOST, b""), (XNACK, b"x"), (GFX950, SGEMM)),
            None,
            "x: an offload bundle with 2 code objects, name one: x#2 (gfx942:xnack+), x#3 (gfx950)",
        ),
        (
            bundle((GFX950, SGEMM), (GFX950, b"y")),
            "gfx950",
            "x: an offload bundle with 2 code objects, name one: x#1 (gfx950), x#2 (gfx950)",
        ),
        (
            bundle((HOST, b"object"), (GFX950, b"")),
            None,
            f"x: expected a code object in the offload bundle, found x#1 ({HOST}), x#2 (gfx950)",
        ),
        (
            bundle((GFX950, SGEMM)),
            "gfx942",
            "x: expected a code object gfx942 in the offload bundle, found x#1 (gfx950)",
        ),
        (bundle(), None, "x: expected a code object in the offload bundle, found no entry"),
        (SGEMM, "1", "x#1: expected an offload bundle, of which # names an entry"),
        (b"__CLANG_OFFLOAD_BUNDLE__", None, "x: offload bundle 1: cut off: expected 8 bytes at 0x18, found 0"),
        (
            bundle((GFX950, SGEMM))[:40],
            None,
            "x: offload bundle 1: cut off: expected 24 bytes at 0x20, found 8",
        ),
        (
            bundle(("\x1b[2J", b"")),
            None,
            "x: offload bundle 1 at 0x0: damaged: an entry's name is no text",
        ),
        (
            bundle((GFX950, SGEMM)) + b"rest",
            None,
            "x: behind offload bundle 1, at 0x2000: expected another one, found 72 65 73 74",
        ),
        (b"CCOB\3\0\1\0", None, "x: compressed offload bundle at 0x0: cut off in its header"),
        (b"CCOB" + bytes(60), None, "x: compressed offload bundle at 0x0: expected version 1, 2 or 3, found 0"),
        (
            b"CCOB" + struct.pack("<HHQQ", 3, 7, 40, 5) + bytes(16),
            None,
            "x: compressed offload bundle at 0x0: expected method 0 (zlib) or 1 (zstd), found 7",
        ),
        (
            b"CCOB" + struct.pack("<HHQQ", 3, 1, 40, 1 << 33) + bytes(16),
            None,
            "x: compressed offload bundle at 0x0: damaged: 8,589,934,592 bytes unpacked, argpack takes at most 4 GiB",
        ),
        (
            b"CCOB" + struct.pack("<HHQQ", 3, 1, 40, 5) + bytes(16),
            None,
            "x: compressed offload bundle at 0x0: damaged: no whole zstd frame",
        ),
        (
            b"CCOB" + struct.pack("<HHQQ", 3, 1, 4000, 5) + bytes(16),
            None,
            "x: compressed offload bundle at 0x0: cut off: expected 4,000 bytes, found 40",
        ),
        (
            zlib_compressed(b"no bundle", version=3),
            None,
            "x: offload bundle 1, unpacked, at 0x0: expected it to start with __CLANG_OFFLOAD_BUNDLE__",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_out_is_refused(data, chosen, message):
    with pytest.raises(InputError) as caught:
        parse(data, source="x", chosen=chosen)
    assert str(caught.value) == message


WHOLE = [(RECORDED / "zstd_v3.hipfb").read_bytes(), zlib_compressed(PLAIN, version=2), PLAIN]


def entries_or_message(data):
    try:
        return unbundle(data)
    except InputError as error:
        return str(error)


@given(
    st.sampled_from([b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB\3\0\0\0", b"CCOB\2\0\1\0"]), st.binary(max_size=200)
)
def test_any_bytes_behind_a_magic_are_answered(magic, data):
    answer = entries_or_message(magic + data)
    assert isinstance(answer, tuple) or answer.isprintable()


@given(st.sampled_from(WHOLE), st.data())
def test_a_cut_file_is_refused(whole, data):
    # What is left of a plain bundle may be whole up to the padding behind its last entry.
    length = data.draw(st.integers(1, 4096 + len(SGEMM) - 1 if whole is PLAIN else len(whole) - 1))
    assert "cut off" in (message := entries_or_message(whole[:length])) or "damaged" in message or length < 24


@given(st.sampled_from(WHOLE[:2]), st.data())
def test_a_changed_byte_of_a_compressed_bundle_is_noticed(whole, data):
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[at] ^= data.draw(st.integers(1, 255))
    found = entries_or_message(bytes(changed))
    # A few bits of a stream's own header mean nothing for what it unpacks to.
    assert isinstance(found, str) or found == unbundle(whole)


def test_bundles_of_a_host_program_are_found_by_what_the_message_says(llvm_tool, tmp_path, capsys):
    """A linker puts those of all translation units behind each other into one section."""
    (tmp_path / "gpu.bin").write_bytes(PLAIN + zlib_compressed(PLAIN, version=3))
    source = '__asm__(".section .hip_fatbin,\\"a\\"; .p2align 12; .incbin \\"gpu.bin\\"");'
    compile_it = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", "libhost.so"]
    subprocess.run(compile_it, input=source, text=True, check=True, cwd=tmp_path)
    assert main(["inspect", str(tmp_path / "libhost.so")]) == 2
    message = capsys.readouterr().err
    assert (
        "its GPU code is in the section .hip_fatbin: take it out with `llvm-objcopy --dump-section" in message
    )
    command = message[message.index("`") + 1 : message.rindex("`")].split()
    assert command[-1] == str(tmp_path / "libhost.so")
    subprocess.run([llvm_tool(command[0]), *command[1:]], check=True, cwd=tmp_path)
    assert main(["inspect", str(tmp_path / "gpu.hipfb")]) == 0
    assert ": 2 offload bundles, 2 code objects for AMD GPUs" in capsys.readouterr().out


def test_without_libzstd_the_message_says_how_to_unpack(monkeypatch):
    def missing(name):
        raise OSError(name)

    compressed._libzstd.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(UnavailableError) as caught:
        parse(WHOLE[0], source="x")
    assert str(caught.value) == (
        "x: a zstd-compressed offload bundle: unpacking it needs libzstd.so.1 "
        "(on Debian, apt-get install libzstd1), or clang-offload-bundler --unbundle"
    )
