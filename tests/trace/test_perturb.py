"""Live, dead, unread and pad are found by changing arguments: on kernels made for it, ours and AITER's."""

import numpy as np
import pytest
from gfx950_code import Assembler

from argpack.codeobject import parse, read
from argpack.errors import InputError
from argpack.families import Problem
from argpack.families.aiter_f4gemm import FAMILY as F4GEMM
from argpack.families.aiter_f4gemm.workload import prepare, tile
from argpack.families.own_sgemm import FAMILY as SGEMM
from argpack.families.own_sgemm.workload import prepare as prepare_sgemm
from argpack.kernels import OWN
from argpack.launch import Buffer, Launch, Relocation
from argpack.schema import Field, KernargSchema, Role
from argpack.trace import perturb as module
from argpack.trace.alternatives import alternatives, garbage, other_bytes
from argpack.trace.difference import Change
from argpack.trace.perturb import Kind, perturb, strictest

SCHEMA = KernargSchema(
    "made",
    (
        Field("ptr_out", "ptr", "", Role.POINTER),
        Field("flow", "u32", "", Role.SCALAR),
        Field("shift", "u32", "bytes", Role.SCALAR),
        Field("value", "f32", "", Role.SCALAR),
        Field("nothing", "u32", "", Role.SCALAR),
        Field("sometimes", "u32", "", Role.SCALAR, pad=4),
        Field("never", "u32", "", Role.SCALAR, pad=4),
        Field("ptr_unused", "ptr", "", Role.POINTER),
        Field("rounds", "i32", "", Role.SCALAR, pad=12),
    ),
)
# `shift` moves the stores, `value` is stored; `sometimes` is loaded where flow is 6, its pad always and for nothing.
TEXT = """
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_load_dwordx4 s[8:11], s[0:1], 0x8
    s_load_dword s14, s[0:1], 0x1c
    s_load_dwordx2 s[16:17], s[0:1], 0x28
    s_load_dword s18, s[0:1], 0x30
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s12, 0
    s_cmp_lg_u32 s8, 6
    s_cbranch_scc1 round
    s_load_dword s12, s[0:1], 0x18
round:
    s_sub_i32 s18, s18, 1
    s_cmp_gt_i32 s18, 0
    s_cbranch_scc1 round
    v_lshlrev_b32 v1, 2, v0
    v_add_u32 v1, s9, v1
    v_mov_b32 v2, s10
    v_add_u32 v2, s12, v2
    global_store_dword v1, v2, s[4:5]
"""
BOTH_TO_D = (Relocation(0, "D"), Relocation(40, "D"))


@pytest.fixture(scope="module")
def made(llvm_tool):
    """A launch of the made kernel; arguments by name."""
    code = Assembler(llvm_tool).code_object(TEXT, kernarg=64)
    code_object = parse(code, source="made.co")

    def launch(*, relocations=BOTH_TO_D, **values):
        standard = {field.name: 0 for field in SCHEMA.fields} | {"flow": 5, "value": 1.5, "rounds": 3}
        return Launch(
            code_object=code_object,
            kernel=code_object.kernels[0],
            arguments=SCHEMA.pack(standard | values),
            relocations=relocations,
            buffers=(Buffer("D", np.zeros(4096, np.uint8), initialised=False),),
            grid=(1, 1, 1),
            block=(64, 1, 1),
        )

    return launch


def kinds(found):
    return {argument.name: str(argument.kind) for argument in found}


def by_name(found):
    return {argument.name: argument for argument in found}


def test_each_slot_has_the_class_that_the_code_gives_it(made):
    assert kinds(perturb(made(), SCHEMA)) == {
        "ptr_out": "live",
        "flow": "live",
        "shift": "live",
        "value": "live",
        "nothing": "dead",
        "sometimes": "unread",
        "pad_sometimes": "pad",
        "never": "unread",
        "pad_never": "pad",
        "ptr_unused": "dead",
        "rounds": "live",
        "pad_rounds": "pad",
    }


def test_a_live_argument_says_what_changed_and_by_which_value(made):
    found = by_name(perturb(made(), SCHEMA))
    changes = {name: argument.change for name, argument in found.items() if argument.change}
    assert changes == {
        "ptr_out": Change.ADDRESSES,
        "flow": Change.CONTROL_FLOW,
        "shift": Change.ADDRESSES,
        "value": Change.OUTPUT,
        "rounds": Change.CONTROL_FLOW,
    }
    # 1.5 is 0x3fc00000 and 3 is 0x40400000: two bytes of each of the 64 dwords.
    assert found["value"].evidence == "1.5 -> 3: 128 of 4096 bytes of D differ"
    assert found["shift"].evidence.startswith("0 -> 1: global_store_dword at 0x")
    assert found["ptr_out"].evidence.startswith("D -> another buffer with other contents: global_store_dword")


def test_an_argument_without_effect_says_what_loads_it_and_how_often_it_was_changed(made):
    found = by_name(perturb(made(), SCHEMA))
    (load,) = found["nothing"].loads
    assert (load.instruction.mnemonic, load.first, load.end) == ("s_load_dwordx4", 8, 24)
    assert found["nothing"].tried >= 6
    assert found["ptr_unused"].tried == 2
    (load,) = found["pad_sometimes"].loads
    assert (load.first, load.end) == (28, 32)
    assert found["never"].loads == ()


def test_what_is_loaded_in_one_launch_only_counts_as_that_launch_uses_it(made):
    together = by_name(strictest(perturb(made(), SCHEMA), perturb(made(flow=6), SCHEMA)))
    assert together["sometimes"].kind is Kind.LIVE
    assert together["sometimes"].change is Change.OUTPUT
    assert [load.first for load in together["sometimes"].loads] == [24]
    assert together["never"].kind is Kind.UNREAD
    assert together["nothing"].tried > by_name(perturb(made(), SCHEMA))["nothing"].tried


def test_a_null_pointer_that_the_kernel_ignores_is_dead(made):
    found = by_name(perturb(made(relocations=(Relocation(0, "D"),)), SCHEMA))
    assert found["ptr_unused"].kind is Kind.DEAD


def test_a_load_that_was_not_seen_is_noticed_by_its_effect(made, monkeypatch):
    seen = module._Runs.loads_of
    monkeypatch.setattr(
        module._Runs, "loads_of", lambda s, slot: () if slot.name == "value" else seen(s, slot)
    )
    found = by_name(perturb(made(), SCHEMA))
    assert found["value"].kind is Kind.LIVE
    assert found["never"].kind is Kind.UNREAD


def test_a_launch_that_faults_by_itself_is_an_error(made):
    with pytest.raises(InputError, match=r"snippet: memory access fault: 4-byte write to 0x0"):
        perturb(made(relocations=()), SCHEMA)


def test_arguments_of_another_size_are_an_error(made):
    with pytest.raises(InputError, match="own_sgemm: expected 68 bytes, found 64"):
        perturb(made(), SGEMM.schema)


def test_progress_counts_the_slots(made):
    seen = []
    perturb(made(), SCHEMA, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(number, 12) for number in range(12)]


def sgemm(beta):
    code_object = read(OWN / "sgemm.co")
    problem = Problem(m=17, n=18, k=5, alpha=1.5, beta=beta)
    return perturb(prepare_sgemm(code_object, code_object.kernels[0], problem).launch, SGEMM.schema)


def test_our_own_kernel_uses_c_where_beta_is_not_zero():
    without, together = sgemm(0.0), strictest(sgemm(0.0), sgemm(0.5))
    dead = {name for name, kind in kinds(without).items() if kind == "dead"}
    assert dead == {"ptr_C", "stride_C"}
    assert set(kinds(together).values()) == {"live"}


# The table of what the kernels read, measured another way: by tracing loads and reading the code.
UNREAD = {"stride_D0", "stride_D1", "stride_C1", "stride_A1", "stride_B1", "stride_ScaleA1", "stride_ScaleB1"}
ALPHA = {"BpreShuffle_256x256", "noBpreShuffle_256x256", "BpreShuffle_128x512"}
SPLIT = {"BpreShuffle_256x256", "BpreShuffle_128x512"}
PREFIX = "f4gemm_bf16_per1x32Fp4_"


def check_table(path):
    code_object = read(path)
    kernel = code_object.kernels[0]
    rows, columns = tile(kernel.name)
    found = []
    for log2 in (0, 1):
        problem = Problem(m=rows + 5, n=2 * columns, k=512, alpha=2.0, beta=1.0, log2_k_split=log2)
        launch = prepare(code_object, kernel, problem, force=True).launch
        found.append(perturb(launch, F4GEMM.schema))
    name = path.stem.removeprefix(PREFIX)
    expected = {slot.name: "live" if slot.field else "pad" for slot in F4GEMM.schema.slots}
    expected |= dict.fromkeys(UNREAD, "unread") | {"ptr_C": "dead", "beta": "dead"}
    expected |= {"alpha": "live" if name in ALPHA else "dead"}
    expected |= {"log2_k_split": "live" if name in SPLIT else "unread"}
    assert kinds(strictest(*found)) == expected
    assert max(load.end for argument in found[0] for load in argument.loads) <= 372


@pytest.mark.parametrize("name", ["BpreShuffle_256x256", "noBpreShuffle_256x256", "BpreShuffle_32x128"])
def test_an_f4gemm_kernel_does_what_the_table_says(kernels_dir, name):
    check_table(kernels_dir / "gfx950" / "f4gemm" / f"{PREFIX}{name}.co")


@pytest.mark.sweep
def test_all_f4gemm_kernels_do_what_the_table_says(kernels_dir):
    files = sorted((kernels_dir / "gfx950" / "f4gemm").glob("*.co"))
    assert len(files) == 35
    for path in files:
        check_table(path)


def test_alternatives_are_other_values_that_the_type_holds():
    word = Field("x", "u32")
    tried = {int.from_bytes(data, "little") for data in alternatives(word, (5).to_bytes(4, "little"))}
    assert {0, 1, 2, 4, 6, 10, 37, 261, 0xFFFFFFFF} <= tried
    assert 5 not in tried
    one = np.float32(1).tobytes()
    numbers = {float(np.frombuffer(data, np.float32)[0]) for data in alternatives(Field("x", "f32"), one)}
    assert {2.0, -1.0, 0.0, np.inf} <= numbers
    assert 1.0 not in numbers


def test_garbage_differs_in_every_byte_and_has_no_zero():
    first, second = garbage(13)
    assert len(first) == len(second) == 13
    assert all(a != b and a and b for a, b in zip(first, second, strict=True))


def test_other_contents_differ_in_every_byte():
    data = np.arange(256, dtype=np.uint8)
    assert (other_bytes(data) != data).all()
    assert len(set((other_bytes(data) - data).tolist())) > 100


def test_a_kernel_patched_to_read_another_slot_is_told_by_its_effect(kernels_dir):
    """D's row stride comes from stride_C0; with the offset of that one load changed it comes from stride_D0."""
    path = kernels_dir / "gfx950" / "f4gemm" / f"{PREFIX}BpreShuffle_32x128.co"
    code_object = read(path)
    problem = Problem(m=33, n=256, k=256)
    options = {"overrides": {"stride_D0": 256}}
    before = by_name(
        perturb(prepare(code_object, code_object.kernels[0], problem, **options).launch, F4GEMM.schema)
    )
    (load,) = before["stride_C0"].loads
    raw = load.instruction.raw
    patched = raw[:4] + (0x60).to_bytes(4, "little")  # the offset is the low 21 bits of the second dword
    data = path.read_bytes()
    assert (data.count(raw), raw[4:]) == (1, (0x80).to_bytes(4, "little"))
    code_object = parse(data.replace(raw, patched), source="patched.co")
    after = by_name(
        perturb(prepare(code_object, code_object.kernels[0], problem, **options).launch, F4GEMM.schema)
    )
    assert [(name, str(after[name].kind)) for name in after if after[name].kind is not before[name].kind] == [
        ("stride_D0", "live"),
        ("stride_C0", "unread"),
    ]
