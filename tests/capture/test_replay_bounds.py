"""Replays that are not byte for byte as recorded: within the verdict's own tolerance, within a stated one, or wrong."""

import dataclasses
import json

import numpy as np
import pytest
from recorded import record

from argpack.capture.judge import Bound, by_elements
from argpack.cli import main
from argpack.codeobject import read as read_code
from argpack.errors import InputError
from argpack.families import Problem, choice
from argpack.families.aiter_f4gemm import workload as f4gemm_workload
from argpack.families.aiter_f4gemm.operands import random_operands
from argpack.families.own_sgemm import workload as sgemm_workload
from argpack.kernels import OWN
from argpack.launch import Buffer, Relocation
from argpack.launch.emulator_backend import EmulatorBackend
from argpack.numerics import decode_e8m0, decode_fp4, float32_to_bf16, unpack_fp4

F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_{}.co"
PROBLEM = Problem(m=33, n=160, k=1312)
NO_BOUND = (
    "no bound: argpack does not know what argpack_sgemm computes; --ulp or --rtol, with --type, state one "
    "where floats may be added in another order"
)
BOUND = "      bound: that of argpack verify, from a float64 reference of the recorded operands"


def ran(launch):
    return launch, EmulatorBackend(processes=1).run(launch)


@pytest.fixture(scope="module")
def build(kernels_dir):
    """A launch of an f4gemm kernel that is run."""

    def run(name, problem, **options):
        code_object = read_code(kernels_dir / F4GEMM.format(name))
        return ran(f4gemm_workload.prepare(code_object, code_object.kernels[0], problem, **options).launch)

    return run


@pytest.fixture(scope="module")
def f4gemm(build):
    return build("BpreShuffle_32x128", PROBLEM)


@pytest.fixture(scope="module")
def sgemm():
    code_object = read_code(OWN / "sgemm.co")
    return ran(
        sgemm_workload.prepare(code_object, code_object.kernels[0], Problem(m=5, n=3, k=4, beta=1.0)).launch
    )


@pytest.fixture
def replay(tmp_path, capsys):
    """Records a launch with other contents after it; exit code and lines of its replay."""

    def run(launch, result, *options, **changed):
        path = tmp_path / "x.capture"
        path.unlink(missing_ok=True)
        record(path, launch, dataclasses.replace(result, buffers={**result.buffers, **changed}))
        code = main(["replay", str(path), "--backend", "emulator", *options])
        out, err = capsys.readouterr()
        lines = (out or err).splitlines()
        return code, lines[next((i for i, x in enumerate(lines) if x.startswith(("PASS", "FAIL"))), 0) :]

    return run


def in_another_order(problem):
    """D summed in float32 from the least product to the greatest, bf16 bits: large partial sums."""
    operands = random_operands(problem)
    a, b = (
        decode_fp4(unpack_fp4(codes)) * np.repeat(decode_e8m0(scales), 32, axis=1)
        for codes, scales in ((operands.a_codes, operands.a_scales), (operands.b_codes, operands.b_scales))
    )
    products = np.sort((a[:, None, :] * b[None, :, :]).astype(np.float32), axis=-1)
    total = np.cumsum(products, axis=-1, dtype=np.float32)[..., -1]
    return float32_to_bf16(total).reshape(-1)


def bf16(data):
    """A copy of a buffer and its elements."""
    copy = data.copy()
    return copy, copy.view(np.uint16)


def test_the_other_order_of_a_gpus_sums_passes_and_the_bound_is_named(f4gemm, replay):
    launch, result = f4gemm
    data, elements = bf16(result.buffers["D"])
    other = in_another_order(PROBLEM)
    changed = int(np.count_nonzero(elements[: other.size] != other))
    elements[: other.size] = other
    code, lines = replay(launch, result, D=data)
    assert code == 0
    assert changed > 0
    assert lines[0].startswith(f"PASS within a bound: {changed} of ")
    assert BOUND in lines
    assert any(
        line.startswith("      the recorded output is right for these operands: 5280 outputs: ")
        for line in lines
    )
    assert any(
        line.startswith("      the replayed output is right for these operands: 5280 outputs: ")
        for line in lines
    )


def test_an_output_beyond_the_bound_fails_and_says_which_side_is_wrong(f4gemm, replay):
    launch, result = f4gemm
    data, elements = bf16(result.buffers["D"])
    elements[2 * 160 + 5] ^= 0x40
    code, lines = replay(launch, result, D=data)
    assert code == 1
    assert lines[0].startswith("FAIL: 1 of ")
    assert BOUND in lines
    assert any(
        "the recorded output is wrong for these operands: 1 of 5280 outputs are beyond tolerance, first at row 2"
        in x
        for x in lines
    )
    assert any("the replayed output is right for" in line for line in lines)


@pytest.mark.parametrize(("buffer", "at"), [("A", 0), ("ScaleB", -1), ("D", -1)])
def test_what_differs_beside_the_output_has_no_bound(buffer, at, f4gemm, replay):
    launch, result = f4gemm
    data = result.buffers[buffer].copy()
    data[at] ^= 1
    code, lines = replay(launch, result, **{buffer: data})
    assert code == 1
    assert "      beside the output 1 bytes differ, for which there is no bound" in lines


def test_a_row_that_was_not_written_at_the_customers_is_called_wrong(f4gemm, replay):
    launch, result = f4gemm
    data, elements = bf16(result.buffers["D"])
    elements[:160] = 0
    code, lines = replay(launch, result, D=data)
    assert code == 1
    assert any(
        line.startswith("      the recorded output is wrong for these operands: 160 of 5280")
        for line in lines
    )


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("noBpreShuffle_256x256", Problem(m=3, n=256, k=96)),
        ("BpreShuffle_256x256", Problem(m=5, n=256, k=1024, log2_k_split=2)),
        ("BpreShuffle_256x256", Problem(m=5, n=256, k=256, log2_k_split=1)),
        ("BpreShuffle_128x512", Problem(m=130, n=512, k=288, alpha=0.25)),
    ],
)
def test_every_form_of_the_kernel_is_judged(name, problem, build, replay):
    launch, result = build(name, problem)
    assert any(" is right for these operands: " in line for line in replay(launch, result)[1][:2])


@pytest.mark.parametrize("k", [256, 1024])
def test_a_split_that_adds_to_old_contents_is_not_judged(k, build, replay):
    problem = Problem(m=5, n=256, k=k, log2_k_split=1)
    launch, result = build("BpreShuffle_256x256", problem, zero_output=False, force=True)
    assert replay(launch, result)[1][1] == (
        "      whether the recorded output is right is not known: D is not zero before a launch that adds to it"
    )


def test_arguments_as_short_as_the_metadata_says_are_enough(build, replay):
    """Packed from kernelParams they end with the last argument, 4 bytes before the host's struct."""
    launch, result = build("noBpreShuffle_256x256", Problem(m=3, n=256, k=96))
    launch = dataclasses.replace(launch, arguments=launch.arguments[:368])
    assert " is right for these operands: " in replay(launch, result)[1][1]


def in_one_allocation(launch, result):
    """The same launch as a caching allocator would have placed it."""
    place, data = {}, b""
    for buffer in launch.buffers:
        data = data.ljust(-(-len(data) // 512) * 512, b"\xee")
        place[buffer.name] = len(data)
        data += buffer.data.tobytes()
    pool = np.frombuffer(data, np.uint8).copy()
    relocations = tuple(
        Relocation(each.offset, "pool", place[each.buffer] + each.addend) for each in launch.relocations
    )
    moved = dataclasses.replace(launch, relocations=relocations, buffers=(Buffer("pool", pool),))
    after = pool.copy()
    for name, at in place.items():
        after[at : at + result.buffers[name].size] = result.buffers[name]
    return moved, dataclasses.replace(result, buffers={"pool": after}), place


def test_operands_inside_of_one_large_allocation_are_found(f4gemm, replay):
    launch, result, place = in_one_allocation(*f4gemm)
    code, lines = replay(launch, result)
    assert (code, lines[0].partition(":")[0]) == (0, "PASS")
    assert lines[1].startswith("      the recorded output is right for these operands: 5280 outputs")
    data = result.buffers["pool"].copy()
    other = in_another_order(PROBLEM)
    data[place["D"] :][: 2 * other.size] = other.view(np.uint8)
    code, lines = replay(launch, result, pool=data)
    assert (code, lines[0].partition(":")[0]) == (0, "PASS within a bound")


def test_scales_that_are_not_padded_are_told(f4gemm, replay):
    launch, result = f4gemm
    cut = result.buffers["ScaleA"][:-16].copy()
    buffers = tuple(Buffer("ScaleA", cut) if each.name == "ScaleA" else each for each in launch.buffers)
    changed = dataclasses.replace(launch, buffers=buffers)
    code, lines = replay(changed, dataclasses.replace(result, buffers={**result.buffers, "ScaleA": cut}))
    assert code == 0
    assert lines[1] == (
        "      whether the recorded output is right is not known: ptr_ScaleA: expected 3,072 bytes in its buffer, "
        "found 3,056"
    )


def test_sgemm_is_judged_in_float32(sgemm, replay):
    launch, result = sgemm
    data = result.buffers["D"].copy()
    data.view(np.uint32)[4] += 1
    code, lines = replay(launch, result, D=data)
    assert code == 0
    assert lines[0].startswith("PASS within a bound: 1 of ")


def test_json_says_which_bound_was_used(sgemm, tmp_path, capsys):
    launch, result = sgemm
    data = result.buffers["D"].copy()
    data.view(np.uint32)[4] += 1
    record(tmp_path / "x.capture", launch, dataclasses.replace(result, buffers={**result.buffers, "D": data}))
    for options, bound in (
        ([], "reference"),
        (["--ulp", "1", "--type", "f32"], "1 ulp of f32, as asked for"),
    ):
        assert main(["replay", str(tmp_path / "x.capture"), "--backend", "emulator", "--json", *options]) == 0
        value = json.loads(capsys.readouterr().out)
        assert (value["verdict"], value["bound"]) == ("pass", bound)
    assert [(each["buffer"], each["different"], each["largest"]) for each in value["elements"]] == [
        ("ptr_D", 1, 1.0)
    ]


@pytest.fixture
def unknown(monkeypatch):
    """No kernel is of a family that argpack knows."""
    monkeypatch.setattr(choice, "family_of_kernel", lambda *_: None)


@pytest.mark.parametrize(
    ("options", "code", "line"),
    [
        (
            [],
            1,
            NO_BOUND,
        ),
        (
            ["--ulp", "3", "--type", "f32"],
            0,
            "ptr_D: 1 of 15 elements differ, at most 3 apart, 0 beyond the bound",
        ),
        (
            ["--ulp", "2", "--type", "f32"],
            1,
            "ptr_D: 1 of 15 elements differ, at most 3 apart, 1 beyond the bound, the first of these element 4",
        ),
        (["--rtol", "1e-6", "--type", "f32"], 0, "bound: 1e-06 of the recorded value, f32, as asked for"),
        (["--rtol", "1e-9", "--type", "f32"], 1, "bound: 1e-09 of the recorded value, f32, as asked for"),
    ],
)
def test_a_kernel_that_nobody_knows_needs_a_stated_bound(options, code, line, unknown, sgemm, replay):
    launch, result = sgemm
    data = result.buffers["D"].copy()
    data.view(np.uint32)[4] += 3
    found, lines = replay(launch, result, *options, D=data)
    assert found == code
    assert f"      {line}" in lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ulp", "1"], "--ulp and --rtol need the elements' type, --type, and that needs one of them"),
        (["--type", "f32"], "--ulp and --rtol need the elements' type, --type, and that needs one of them"),
        (["--ulp", "-1", "--type", "f32"], "argument --ulp: expected a whole number, found -1"),
        (
            ["--rtol", "nan", "--type", "f32"],
            "argument --rtol: expected 0 or more and less than 1, found nan",
        ),
        (["--rtol", "1", "--type", "f32"], "argument --rtol: expected 0 or more and less than 1, found 1"),
        (["--ulp", "1", "--rtol", "0", "--type", "f32"], "not allowed with argument --ulp"),
    ],
)
def test_a_bound_that_is_none_is_refused(options, message, tmp_path, capsys):
    assert main(["replay", str(tmp_path / "x.capture"), *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("recorded", "found", "beyond"),
    [
        ([0x3F80, 0x0000], [0x3F81, 0x8000], 0),  # 1 ulp, and zeros of two signs are one number
        ([0x7FC0, 0x3F80], [0xFFC1, 0x3F80], 0),  # NaN stays NaN
        ([0x7F80, 0x3F80], [0x7F7F, 0x3F80], 1),  # infinity is not the largest number
        ([0x3F80, 0x3F80], [0x7FC0, 0x3F80], 1),  # NaN for a number
        ([0x0001, 0x3F80], [0x8001, 0x3F82], 2),  # 2 ulp across zero
    ],
)
def test_numbers_that_are_none_stand_for_themselves(recorded, found, beyond):
    sides = [{"D": np.array(bits, np.uint16).view(np.uint8)} for bits in (recorded, found)]
    (each,) = by_elements(Bound("bf16", ulp=1), *sides)
    assert each.beyond == beyond


def test_a_buffer_of_half_an_element_is_refused():
    sides = [{"D": np.array(data, np.uint8)} for data in ([1, 2, 3], [1, 2, 4])]
    with pytest.raises(InputError, match="D: 3 bytes are no whole number of f32 elements"):
        by_elements(Bound("f32", ulp=1), *sides)
