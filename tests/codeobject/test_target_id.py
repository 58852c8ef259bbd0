"""Target ids: from ELF flags as LLVM's assembler writes them, from text, and whether code fits a device."""

import subprocess

import pytest
from made_objects import assembly, described, packed

from argpack.codeobject import TargetId, incompatibility, parse
from argpack.codeobject.target import PROCESSORS
from argpack.errors import InputError


def test_every_processor_number_is_the_assemblers(llvm_tool, tmp_path):
    assembler, object_file = llvm_tool("llvm-mc"), tmp_path / "a.o"
    help_text = subprocess.run(
        [assembler, "-triple=amdgcn-amd-amdhsa", "-mcpu=help"],
        input="",
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    known = {line.split()[0] for line in help_text.splitlines() if line.strip().startswith("gfx")}
    checked = {number: name for number, name in PROCESSORS.items() if name in known}
    assert len(checked) >= 50
    for number, name in checked.items():
        command = [
            assembler,
            "-triple=amdgcn-amd-amdhsa",
            f"-mcpu={name}",
            "-filetype=obj",
            "-o",
            object_file,
        ]
        subprocess.run(command, input="", text=True, check=True)
        assert object_file.read_bytes()[48] == number, name


@pytest.mark.parametrize(
    ("version", "features", "expected"),
    [
        (4, (), "gfx950"),
        (5, ("+sramecc", "-xnack"), "gfx950:sramecc+:xnack-"),
        (6, ("-sramecc", "+xnack"), "gfx950:sramecc-:xnack+"),
        (6, ("+xnack",), "gfx950:xnack+"),
    ],
)
def test_target_of_assembled_code(build, version, features, expected):
    target = f'.amdgcn_target "amdgcn-amd-amdhsa--{expected}"'
    directive = f".amdhsa_code_object_version {version}"
    options = [f"-mattr={feature}" for feature in features]
    data = build(target, directive, assembly(), note=packed(described()), options=options)
    code_object = parse(data, source="made")
    assert str(code_object.target) == expected
    assert code_object.code_object_version == version
    assert code_object.abi_version == version - 2


def test_code_object_v3_has_one_bit_a_feature():
    assert TargetId.from_flags(0x32F, 1) == TargetId("gfx906", "+", "+")
    assert TargetId.from_flags(0x02F, 1) == TargetId("gfx906", "-", "-")


def test_unknown_processor_number_is_refused():
    with pytest.raises(InputError, match=r"^ELF flags 0x5fe: unknown AMDGPU processor number 0xfe$"):
        TargetId.from_flags(0x5FE, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gfx950", TargetId("gfx950")),
        ("gfx950:sramecc+:xnack-", TargetId("gfx950", "+", "-")),
        ("gfx90a:xnack+", TargetId("gfx90a", None, "+")),
        ("amdgcn-amd-amdhsa--gfx942:sramecc-", TargetId("gfx942", "-")),
        ("gfx9-4-generic:xnack+", TargetId("gfx9-4-generic", None, "+")),
    ],
)
def test_target_id_from_text(text, expected):
    assert TargetId.from_text(text) == expected
    assert str(expected) == text.removeprefix("amdgcn-amd-amdhsa--")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gfx951", "target id 'gfx951': unknown AMDGPU processor 'gfx951'"),
        ("", "target id '': unknown AMDGPU processor ''"),
        ("gfx950:", "target id 'gfx950:': expected sramecc or xnack with + or -, found ''"),
        ("gfx950:xnack", "target id 'gfx950:xnack': expected sramecc or xnack with + or -, found 'xnack'"),
        (
            "gfx950:xnack+:xnack-",
            "target id 'gfx950:xnack+:xnack-': expected sramecc or xnack with + or -, found 'xnack-'",
        ),
    ],
)
def test_target_id_not_understood_is_refused(text, message):
    with pytest.raises(InputError) as caught:
        TargetId.from_text(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("code", "device", "expected"),
    [
        ("gfx950", "gfx950:sramecc+:xnack-", None),
        ("gfx950:sramecc+:xnack-", "gfx950:sramecc+:xnack-", None),
        ("gfx942", "gfx950", "the code object is for gfx942, the device is gfx950"),
        ("gfx1250", "gfx1250:xnack+", None),
        (
            "gfx1250:xnack+",
            "gfx1250",
            "the code object (gfx1250:xnack+) needs xnack+, the device is gfx1250",
        ),
        (
            "gfx950:xnack+",
            "gfx950:sramecc+:xnack-",
            "the code object (gfx950:xnack+) needs xnack+, the device is gfx950:sramecc+:xnack-",
        ),
    ],
)
def test_whether_code_fits_a_device(code, device, expected):
    assert incompatibility(TargetId.from_text(code), TargetId.from_text(device)) == expected
