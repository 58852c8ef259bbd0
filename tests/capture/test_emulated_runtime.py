"""End to end: programs on the emulated HIP runtime are captured, their launches shown and run again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from argpack.capture import layout, read
from argpack.capture.replay import compare_with, launch_of
from argpack.cli import main
from argpack.codeobject import read as read_code
from argpack.families import Problem
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.hip_runtime.build import build
from argpack.kernels import OWN
from argpack.launch.emulator_backend import EmulatorBackend

F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"
SOURCE = Path(__file__).parents[1] / "hip_runtime" / "f4gemm_host.cpp"
ARGPACK = (sys.executable, "-m", "argpack")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def host(cache, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGPACK_CACHE", str(cache))
        library = build() / "lib"
    program = tmp_path_factory.mktemp("host") / "host"
    flags = ("-std=c++17", "-pthread", f"-L{library}", "-lamdhip64")
    subprocess.run(["g++", "-o", program, SOURCE, *flags], check=True)
    return program


def captured(path, cache, *command):
    """`argpack capture --buffers` around `argpack hip`."""
    whole = [
        *ARGPACK,
        "capture",
        "--buffers",
        "-o",
        str(path),
        "--",
        *ARGPACK,
        "hip",
        "--",
        *map(str, command),
    ]
    env = {**os.environ, "ARGPACK_CACHE": str(cache)}
    done = subprocess.run(whole, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return read(path)


@pytest.fixture(scope="module")
def real(host, cache, kernels_dir, tmp_path_factory):
    """A captured run of a real f4gemm kernel by a C++ program in the style of GEMM libraries, and its launch."""
    folder = tmp_path_factory.mktemp("real")
    code_object = read_code(kernels_dir / F4GEMM)
    launch = prepare(code_object, code_object.kernels[0], Problem(m=61, n=256, k=512)).launch
    (folder / "kernel.co").write_bytes(code_object.data)
    for buffer in launch.buffers:
        (folder / buffer.name).write_bytes(buffer.data.tobytes())
    program = (host, "threads", folder, launch.kernel.name, 61, 256, 512, 32, 128)
    return captured(folder / "run.capture", cache, *program), launch, folder


def test_a_cpp_program_is_captured_with_its_memory(real):
    capture, launch, folder = real
    (found,) = capture.launches
    assert (found.api, found.kernel) == ("hipExtModuleLaunchKernel", launch.kernel.name)
    assert (found.grid, found.block, found.partial) == (launch.grid, launch.block, False)
    assert found.code == launch.code_object.sha256
    assert len(found.arguments) == 372
    sizes = {buffer.name: buffer.data.size for buffer in launch.buffers}
    assert sorted(memory.size for memory in found.memory) == sorted(sizes.values())
    contents = [capture.contents(memory.after) for memory in found.memory]
    assert (folder / "D").read_bytes() in contents
    assert capture.problems == ()


def test_a_captured_real_launch_passes_and_a_changed_scale_fails(real, capsys):
    capture, _, _ = real
    assert main(["replay", capture.source, "--backend", "emulator"]) == 0
    assert "bytes are as recorded" in capsys.readouterr().out
    launch = capture.launch(1)
    replayed = launch_of(capture, launch)
    for name in ("ScaleA", "ScaleB"):
        scales = next(buffer.data for buffer in replayed.buffers if buffer.name == name)
        scales[0] += 1
        replay = compare_with(capture, launch, replayed, EmulatorBackend(processes=1).run(replayed))
        scales[0] -= 1
        assert not replay.passed
        assert {difference.name for difference in replay.differences} == {"D", name}


def test_a_captured_real_launch_is_shown(real, capsys):
    capture, launch, _ = real
    assert main(["show", capture.source]) == 0
    assert launch.kernel.name in capsys.readouterr().out.splitlines()[1]


def test_hip_python_is_captured(cache, tmp_path):
    verify = ("verify", OWN / "sgemm.co", "-m", "16", "-n", "16", "-k", "8", "--backend", "hip")
    capture = captured(tmp_path / "python.capture", cache, *ARGPACK, *verify)
    launches = [launch for launch in capture.launches if launch.kernel == "argpack_sgemm"]
    assert launches
    assert all(launch.finished and not launch.error for launch in launches)
    assert main(["replay", f"{capture.source}#{launches[0].number}", "--backend", "emulator"]) == 0


def test_the_numbers_of_the_calls_are_part_of_the_format():
    names = [name for name, _ in layout.APIS]
    source = (Path(layout.__file__).parent / "preload" / "hooks.c").read_text()
    listed = source.partition("#define FUNCTIONS(X)")[2]
    listed_names = re.findall(r"X\(int, (\w+),", listed)
    assert listed_names[: len(names)] == names
