"""C++ programs in the style of GEMM libraries run real kernels on the emulated runtime, and the numbers are right."""

import hashlib
import struct
import zlib

import numpy as np
import pytest

from argpack.codeobject import read
from argpack.families import Problem
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.kernels import OWN
from argpack.launch import LaunchResult

F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"


def bundle(*entries):
    """A clang offload bundle of (target, bytes), each entry on a 4 KiB boundary as clang puts them."""
    table, body = b"", b""
    start = 4096
    for name, data in entries:
        table += struct.pack("<QQQ", start + len(body), len(data), len(name)) + name.encode()
        body += data.ljust(-(-len(data) // 4096) * 4096, b"\0")
    return (b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)) + table).ljust(start, b"\0") + body


@pytest.fixture(scope="module")
def workload(kernels_dir):
    code_object = read(kernels_dir / F4GEMM)
    return prepare(code_object, code_object.kernels[0], Problem(m=61, n=256, k=512))


@pytest.mark.parametrize("how", ["module", "data", "threads", "symbol", "cluster"])
def test_f4gemm_launched_as_libraries_do(program, on_emulator, workload, tmp_path, how):
    launch = workload.launch
    image = launch.code_object.data
    if how == "cluster":
        image = bundle(("host-x86_64-unknown-linux-gnu-", b""), ("hipv4-amdgcn-amd-amdhsa--gfx950", image))
    (tmp_path / "kernel.co").write_bytes(image)
    buffers = {buffer.name: buffer.data for buffer in launch.buffers}
    for name in ("A", "B", "ScaleA", "ScaleB", "D"):
        (tmp_path / name).write_bytes(buffers[name].tobytes())
    done = on_emulator(program("f4gemm_host"), how, tmp_path, launch.kernel.name, 61, 256, 512, 32, 128)
    assert done.stderr == ""
    assert done.stdout == f"{launch.kernel.name} in some ms\n"
    output = np.frombuffer((tmp_path / "D").read_bytes(), np.uint8)
    verdict = workload.judge(LaunchResult({**buffers, "D": output}, 1.0, launch.arguments))
    assert verdict.passed, verdict.reason
    assert verdict.elements == 61 * 256


@pytest.mark.parametrize("form", ["code object", "bundle", "compressed bundle"])
def test_a_compiled_program_with_threads_pinned_memory_and_a_fork(program, on_emulator, tmp_path, form):
    data = (OWN / "sgemm.co").read_bytes()
    if form != "code object":
        data = bundle(
            ("host-x86_64-unknown-linux-gnu-", b""),
            ("hipv4-amdgcn-amd-amdhsa--gfx942", b"\x7fELF, but not for this device"),
            ("hipv4-amdgcn-amd-amdhsa--gfx950:xnack+", b"nor this"),
            ("hipv4-amdgcn-amd-amdhsa--gfx950:xnack-", data),
        )
    if form == "compressed bundle":
        packed = zlib.compress(data)
        digest = hashlib.md5(data, usedforsecurity=False).digest()[:8]
        data = struct.pack("<4sHHQQ8s", b"CCOB", 3, 0, 32 + len(packed), len(data), digest) + packed
    (tmp_path / "image").write_bytes(data)
    done = on_emulator(program("sgemm_host"), tmp_path / "image")
    a = np.add.outer(np.arange(5), np.arange(3))
    b = np.subtract.outer(np.arange(3), np.arange(7))
    total = (a @ b).sum()
    assert done.stdout.splitlines() == [
        f"sum {total:g}",
        f"threads 0 {total:g} {2 * total:g} {3 * total:g}",
        "last error here hipErrorInvalidValue, elsewhere hipSuccess",
        "pinned: type 1, same address 1",
        "copied 14",
        "callback 1",
        "child has used 100",
        "child ended with 0",
        f"sum {2 * total:g}",
    ]
    assert done.returncode == 0
