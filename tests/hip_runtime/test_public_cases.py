"""Public mistakes with code objects (C) and with HIP from Python (F), and what a user reads at the command line.

Elsewhere: C1, C2 tests/codeobject/test_bundles.py; C4 test_refused_files.py, test_real_code_objects.py; C7
test_code_differences.py; F1 tests/capture/test_recording.py; F2, F5, F6 tests/launch/test_hip_backend.py; F3
test_wrong_uses.py; F4 tests/schema/test_scalar_types.py.
"""

import struct
import sys

import pytest

from argpack.cli import main
from argpack.kernels import OWN

FLAGS = 48  # of the ELF header
F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            0x74F,  # gfx950, xnack on, sramecc any
            "the code object (gfx950:xnack+) needs xnack+, the device is gfx950:sramecc+:xnack-",
        ),
        (
            0x94F,  # sramecc off, xnack any
            "the code object (gfx950:sramecc-) needs sramecc-, the device is gfx950:sramecc+:xnack-",
        ),
        (
            0x54C,
            "the code object is for gfx942, the device is gfx950:sramecc+:xnack-",
        ),
    ],
)  # fmt: skip
def test_c3_c5_both_targets_and_the_feature_that_differs_are_named(flags, message, on_emulator, tmp_path):
    data = bytearray((OWN / "sgemm.co").read_bytes())
    struct.pack_into("<I", data, FLAGS, flags)
    (tmp_path / "x.co").write_bytes(data)
    done = on_emulator(
        sys.executable, "-m", "argpack", "verify", tmp_path / "x.co", "--backend", "hip", "-m", "4"
    )
    assert (done.returncode, done.stderr) == (2, f"argpack: error: no HIP device fits: {message}\n")


def test_c4_a_newer_code_object_is_called_newer_and_not_invalid(tmp_path, capsys):
    data = bytearray((OWN / "sgemm.co").read_bytes())
    data[8] = 5  # EI_ABIVERSION
    path = tmp_path / "x.co"
    path.write_bytes(data)
    assert main(["inspect", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"argpack: error: {path}: code object V7 (EI_ABIVERSION 5): argpack reads V3 to V6\n"
    )


def test_c4_sizes_come_from_the_metadata_where_the_descriptor_has_none(kernels_dir, capsys):
    assert main(["inspect", str(kernels_dir / F4GEMM)]) == 0
    assert "kernarg segment        384           0  bytes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "aiter::f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128",
        "_ZN5aiter40f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E",
        "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.kd",
        "f4gemm_bf16_per1x32Fp4_BpreShufle_32x128",
    ],
)
def test_c6_a_name_that_is_nearly_right_gets_the_right_one(name, kernels_dir, capsys):
    assert main(["inspect", name, "--kernels", str(kernels_dir)]) == 2
    assert f"; near: {F4GEMM}" in capsys.readouterr().err


def test_c6_the_descriptors_name_is_the_kernels(kernels_dir, capsys):
    assert (
        main(
            [
                "inspect",
                "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E.kd",
                "--kernels",
                str(kernels_dir),
            ]
        )
        == 0
    )
    assert f"file    {kernels_dir / F4GEMM}, 14248 bytes" in capsys.readouterr().out


def test_c6_a_kernel_name_of_four_files_is_not_taken_for_one_of_them(kernels_dir, capsys):
    assert main(["inspect", "pa_kernel_func", "--kernels", str(kernels_dir)]) == 2
    assert capsys.readouterr().err.count("gfx942/pa_a16w") == 4


def test_f3_a_kernel_without_declared_arguments_takes_no_buffer(on_emulator, tmp_path):
    """Its metadata omits them: HIP refuses the buffer, and says nothing of why."""
    (tmp_path / "x.co").write_bytes((OWN / "sgemm.co").read_bytes().replace(b".args", b".xrgs"))
    script = """
import ctypes, sys
from pathlib import Path
from hip import hip
module = hip.hipModuleLoadData(Path(sys.argv[1]).read_bytes())[1]
function = hip.hipModuleGetFunction(module, b"argpack_sgemm")[1]
buffer, size = ctypes.create_string_buffer(68), ctypes.c_size_t(68)
extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
print(hip.hipModuleLaunchKernel(function, 1, 1, 1, 16, 16, 1, 0, None, None, ctypes.addressof(extra))[0].name)
"""
    done = on_emulator(sys.executable, "-c", script, tmp_path / "x.co")
    assert done.stdout == "hipErrorLaunchOutOfResources\n"
    assert "argpack_sgemm declares no arguments, 68 bytes are given" in done.stderr
