"""The emulator as a backend: what it refuses, what it reports, and equal results however the work is spread."""

import dataclasses

import numpy as np
import pytest
from gfx950_code import Assembler

from argpack.codeobject import parse, read
from argpack.emulator import memory as device_memory
from argpack.emulator import schedule
from argpack.errors import InputError, UnsupportedError
from argpack.families import Problem
from argpack.families.aiter_f4gemm.workload import prepare
from argpack.launch import Buffer, Launch, Relocation, emulator_backend
from argpack.launch.emulator_backend import EmulatorBackend

PREFIX = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_"
COPY = """
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    global_load_dword v2, v1, s[4:5]
    global_store_dword v1, v2, s[6:7]
"""


@pytest.fixture(scope="module")
def assembler(llvm_tool):
    return Assembler(llvm_tool)


@pytest.fixture(scope="module")
def copy(assembler):
    """A launch that copies 64 dwords from A to B; keyword arguments replace fields of the launch."""

    def make(text=COPY, *, directives="", lds=0, kernarg=16, a_size=256, **changes):
        code = assembler.code_object(text, directives=directives, lds=lds, kernarg=kernarg)
        code_object = parse(code, source="copy.co")
        launch = Launch(
            code_object=code_object,
            kernel=code_object.kernels[0],
            arguments=bytes(16),
            relocations=(Relocation(0, "A"), Relocation(8, "B")),
            buffers=(
                Buffer("A", np.arange(a_size, dtype=np.uint8)),
                Buffer("B", np.full(260, 0xEE, np.uint8), initialised=False),
            ),
            grid=(1, 1, 1),
            block=(64, 1, 1),
        )
        return dataclasses.replace(launch, **changes)

    return make


def test_a_launch_reads_and_writes_its_buffers_and_leaves_the_callers_alone(copy):
    launch = copy()
    result = EmulatorBackend(processes=1).run(launch)
    assert result.buffers["B"].tolist() == [*range(256), *[0xEE] * 4]
    assert result.buffers["A"].tolist() == list(range(256))
    assert set(launch.buffers[1].data.tolist()) == {0xEE}
    assert (result.findings, result.errors) == ((), ())
    assert result.kernel_seconds > 0
    assert list(result.buffers) == ["A", "B"]


def test_the_packed_arguments_hold_addresses_and_addends(copy):
    result = EmulatorBackend(processes=1).run(copy(relocations=(Relocation(0, "A", 4), Relocation(8, "B"))))
    a, b = np.frombuffer(result.arguments, np.uint64).tolist()
    assert len(result.arguments) == 16
    assert a % 4096 == 4
    assert b % 4096 == 0
    assert result.buffers["B"][:252].tolist() == list(range(4, 256))
    (finding,) = result.findings
    assert finding.startswith("4 bytes read past the end of A by global_load_dword (GLOBAL) at 0x")


def test_a_fault_ends_the_launch_with_what_was_done_before_it(copy):
    text = COPY + "s_mov_b64 s[6:7], 0\nglobal_store_dword v1, v2, s[6:7]"
    result = EmulatorBackend(processes=1).run(copy(text))
    (error,) = result.errors
    assert error.startswith(
        "memory access fault: 4-byte write to 0x0, below every buffer, by global_store_dword ("
    )
    assert result.buffers["B"][:256].tolist() == list(range(256))


def test_a_write_behind_the_buffer_is_an_error(copy):
    result = EmulatorBackend(processes=1).run(copy(relocations=(Relocation(0, "A"), Relocation(8, "B", 8))))
    (error,) = result.errors
    assert "4 bytes past the end of B" not in error
    assert "0 bytes past the end of B, by global_store_dword" in error
    assert set(result.buffers["B"].tolist()) == {0xEE}


def test_lds_is_what_the_kernel_declares_and_the_launch_adds(copy):
    text = COPY.replace("v0\n", "v0\n ds_read_b32 v3, v1\n", 1)
    assert EmulatorBackend(processes=1).run(copy(text, lds=256)).errors == ()
    assert EmulatorBackend(processes=1).run(copy(text, dynamic_lds=256)).errors == ()
    (error,) = EmulatorBackend(processes=1).run(copy(text, dynamic_lds=252)).errors
    assert error.startswith("LDS access out of range: byte 0xfc + 4 of 0xfc by ds_read_b32")


BAD = {
    "duplicate": (
        {"buffers": (Buffer("A", np.zeros(4, np.uint8)), Buffer("A", np.zeros(4, np.uint8)))},
        r"buffer names are not unique: \['A', 'A'\]",
    ),
    "reserved": (
        {"buffers": (Buffer("kernarg segment", np.zeros(4, np.uint8)),)},
        r"buffer names are not unique: \['kernarg segment'\]",
    ),
    "unknown": ({"relocations": (Relocation(8, "C"),)}, "argument at 0x8 points to C, which is no buffer"),
    "outside": (
        {"relocations": (Relocation(9, "A"),)},
        "argument at 0x9: expected 8 bytes inside the 16 bytes",
    ),
    "before": (
        {"relocations": (Relocation(-8, "A"),)},
        "argument at -0x8: expected 8 bytes inside the 16 bytes",
    ),
    "addend": (
        {"relocations": (Relocation(0, "A", -(1 << 50)),)},
        "argument at 0x0: A plus -1125899906842624 is no",
    ),
    "empty grid": (
        {"grid": (1, 0, 1)},
        r"copy.co: kernel 'snippet': grid \(1, 0, 1\), block .*: expected 1 or more",
    ),
    "empty block": ({"block": (0, 1, 1)}, "expected 1 or more of each, and at most 1024 work-items"),
    "large block": ({"block": (64, 4, 8)}, "expected 1 or more of each, and at most 1024 work-items"),
    "LDS": ({"dynamic_lds": 163841}, "copy.co: kernel 'snippet': 163841 bytes of LDS, gfx950 has 163840"),
    "negative LDS": ({"dynamic_lds": -1}, "-1 bytes of LDS"),
}


@pytest.mark.parametrize("case", BAD)
def test_launches_that_contradict_themselves(copy, case):
    changes, message = BAD[case]
    with pytest.raises(InputError, match=message):
        EmulatorBackend(processes=1).run(copy(**changes))


def test_an_entry_outside_every_segment(copy):
    launch = copy()
    kernel = dataclasses.replace(launch.kernel, code_address=0x123456)
    with pytest.raises(InputError, match=r"copy.co: no segment holds the entry 0x123456 of snippet"):
        EmulatorBackend().run(dataclasses.replace(launch, kernel=kernel))


def test_code_for_another_target_is_refused(kernels_dir, copy):
    path = next((kernels_dir / "gfx942").rglob("*.co"))
    code_object = read(path)
    launch = dataclasses.replace(copy(), code_object=code_object, kernel=code_object.kernels[0])
    message = rf"{path.name}: code object for gfx942.*, this emulator executes gfx950"
    with pytest.raises(UnsupportedError, match=message):
        EmulatorBackend().run(launch)


def test_what_the_descriptor_asks_for_is_named_with_file_and_kernel(copy):
    message = "copy.co: kernel 'snippet': the emulator does not have the user SGPRs of dispatch_ptr"
    with pytest.raises(UnsupportedError, match=message):
        EmulatorBackend().run(copy(directives=".amdhsa_user_sgpr_dispatch_ptr 1"))


def test_no_memory_for_the_buffers(copy, monkeypatch):
    def fail(*_):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(device_memory.mmap, "mmap", fail)
    with pytest.raises(
        InputError, match=r"buffers of \d+ bytes: no memory for them \(Cannot allocate memory\)"
    ):
        EmulatorBackend().run(copy())


def test_it_describes_itself():
    backend = EmulatorBackend()
    assert (backend.name, backend.description) == ("emulator", "built-in CPU emulator of gfx950")


def gemm(kernels_dir, name, problem):
    code_object = read(kernels_dir / f"{PREFIX}{name}.co")
    return prepare(code_object, code_object.kernels[0], problem)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("BpreShuffle_32x128", Problem(m=90, n=512, k=512)),
        ("BpreShuffle_256x256", Problem(m=256, n=512, k=1024, log2_k_split=1)),
    ],
)
def test_results_are_equal_to_the_bit_however_the_work_is_spread(kernels_dir, monkeypatch, name, problem):
    workload = gemm(kernels_dir, name, problem)
    outputs = {}
    for processes, waves in ((1, 32), (1, 4), (1, 8), (2, 8), (3, 4)):
        monkeypatch.setattr(schedule, "_WAVES", waves)
        seen = []
        backend = EmulatorBackend(processes=processes)
        result = backend.run(
            workload.launch, progress=lambda done, total, seen=seen: seen.append((done, total))
        )
        assert workload.judge(result).passed
        groups = int(np.prod(workload.launch.grid))
        assert seen[-1] == (groups, groups)
        outputs[processes, waves] = result.buffers["D"].tobytes()
    assert len(set(outputs.values())) == 1


def test_launches_of_one_kernel_after_another_see_nothing_of_those_before(copy):
    backend = EmulatorBackend(processes=1)
    first = copy()
    assert backend.run(first).buffers["B"].tolist() == [*range(256), *[0xEE] * 4]
    longer = np.full(1 << 21, 0x11, np.uint8)
    short = dataclasses.replace(
        first, buffers=(Buffer("long", longer), Buffer("A", np.full(8, 7, np.uint8)), first.buffers[1])
    )
    result = backend.run(short)
    assert result.buffers["B"].tolist() == [*[7] * 8, *[0] * 248, *[0xEE] * 4]
    assert result.findings[0].startswith("248 bytes read past the end of A")
    again = backend.run(first)
    assert (again.buffers["B"].tolist(), again.findings) == ([*range(256), *[0xEE] * 4], ())


def test_a_launch_that_needs_more_memory_than_the_first_gets_it(copy):
    backend = EmulatorBackend(processes=1)
    first = copy()
    backend.run(first)
    large = np.zeros(device_memory._SMALLEST, np.uint8)
    result = backend.run(dataclasses.replace(first, buffers=(Buffer("large", large), *first.buffers)))
    assert result.buffers["B"].tolist() == [*range(256), *[0xEE] * 4]


def test_the_next_launch_of_a_kernel_compiles_nothing(copy, monkeypatch):
    loaded = []
    load = emulator_backend.load
    monkeypatch.setattr(
        emulator_backend, "load", lambda *args, **options: loaded.append(args) or load(*args, **options)
    )
    backend = EmulatorBackend(processes=1)
    launch = copy()
    for _ in range(3):
        backend.run(launch)
    assert len(loaded) == 1
