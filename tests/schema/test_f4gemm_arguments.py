import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_checks import check_schema

from argpack.errors import InputError
from argpack.families.aiter_f4gemm.schema import SCHEMA
from argpack.families.aiter_f4gemm.usage import usage
from argpack.families.family import Usage
from argpack.schema import Role

DUMPS = Path(__file__).parents[2] / "dumps"
CAPTURES = sorted(DUMPS.glob("aiter_f4gemm_*.json"))
UNSET = ("stride_D0", "stride_D1", "stride_C1", "stride_A1", "stride_B1", "stride_ScaleA1", "stride_ScaleB1")


def test_layout_is_that_of_the_host_struct():
    offsets = {field.name: SCHEMA.offset(field.name) for field in SCHEMA.fields}
    assert offsets == {
        "ptr_D": 0x000, "ptr_C": 0x010, "ptr_A": 0x020, "ptr_B": 0x030, "alpha": 0x040, "beta": 0x050,
        "stride_D0": 0x060, "stride_D1": 0x070, "stride_C0": 0x080, "stride_C1": 0x090, "stride_A0": 0x0A0,
        "stride_A1": 0x0B0, "stride_B0": 0x0C0, "stride_B1": 0x0D0, "M": 0x0E0, "N": 0x0F0, "K": 0x100,
        "ptr_ScaleA": 0x110, "ptr_ScaleB": 0x120, "stride_ScaleA0": 0x130, "stride_ScaleA1": 0x140,
        "stride_ScaleB0": 0x150, "stride_ScaleB1": 0x160, "log2_k_split": 0x170,
    }  # fmt: skip
    assert SCHEMA.size == 372


def test_declaration_agrees_with_itself_in_every_form():
    values = {
        field.name: 0x7F0000001000 * (i + 1) if field.type == "ptr" else 0.5 if field.type == "f32" else i + 1
        for i, field in enumerate(SCHEMA.fields)
    }
    pieces = []
    for i, field in enumerate(SCHEMA.fields):
        if field.type == "ptr":
            pieces.append((0x7F0000001000 * (i + 1)).to_bytes(8, "little") + bytes(8))
        else:
            pieces.append((b"\0\0\0\x3f" if field.type == "f32" else bytes([i + 1, 0, 0, 0])) + bytes(12))
    check_schema(SCHEMA, values, b"".join(pieces)[:372])


def test_every_field_has_a_unit_where_it_counts_and_a_sentence():
    for field in SCHEMA.fields:
        assert field.doc.endswith(".")
        assert bool(field.unit) == (field.role in {Role.EXTENT, Role.STRIDE} or field.name == "log2_k_split")


def test_header_compiles_with_an_assert_for_every_offset(tmp_path):
    source = tmp_path / "f4gemm.c"
    source.write_text(SCHEMA.c_header())
    command = ["gcc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert source.read_text().count("static_assert") == 24 + 23 + 1


def test_all_captures_are_there():
    assert len(CAPTURES) == 12


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_capture_unpacks_to_the_problem_recorded_beside_it(path):
    capture = json.loads(path.read_text())
    data = bytes.fromhex(capture["kernarg_hex"])
    problem = capture["problem"]
    values = SCHEMA.unpack(data)
    scale_columns = -(-problem["K"] // 256) * 8
    expected = {
        "ptr_D": 0x7FAB6D200000, "M": problem["M"], "N": problem["N"], "K": problem["K"],
        "alpha": problem["alpha"], "beta": problem["beta"], "stride_C0": problem["out_row_stride"],
        "stride_A0": problem["K"], "stride_B0": problem["K"], "stride_ScaleA0": scale_columns,
        "stride_ScaleB0": scale_columns,
    }  # fmt: skip
    assert {name: values[name] for name in expected} == expected
    assert (values["ptr_C"] != 0) == problem["has_bias"]
    if problem["requested_log2_k_split"] >= 0:
        assert values["log2_k_split"] == problem["requested_log2_k_split"]
    assert len(data) == capture["kernarg_size"] == 372
    assert SCHEMA.pack(values) == data
    assert any(any(pad) for pad in values.pads.values())
    assert set(usage(capture["kernel"])) == {field.name for field in SCHEMA.fields}


@given(st.binary(min_size=372, max_size=372))
def test_any_buffer_survives_unpack_and_pack(data):
    assert SCHEMA.pack(SCHEMA.unpack(data)) == data


def in_full_range(field):
    if field.type == "f32":
        return st.floats(width=32, allow_nan=False)
    low, high = field.scalar.bounds
    return st.integers(low, high)


@given(
    st.fixed_dictionaries({field.name: in_full_range(field) for field in SCHEMA.fields}),
    st.fixed_dictionaries(
        {s.name: st.binary(min_size=s.size, max_size=s.size) for s in SCHEMA.slots if s.field is None}
    ),
)
def test_values_in_full_range_and_any_pads_survive_pack_and_unpack(values, pads):
    unpacked = SCHEMA.unpack(SCHEMA.pack(values, pads=pads))
    assert dict(unpacked) == values
    assert dict(unpacked.pads) == pads


MANGLED = {
    "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256E": ("live", "live"),
    "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_128x512E": ("live", "live"),
    "_ZN5aiter44f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256E": ("live", "unread"),
    "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E": ("dead", "unread"),
    "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_192x128E": ("dead", "unread"),
    "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256": ("live", "live"),
    "f4gemm_bf16_per1x32Fp4_BpreShuffle_96x512.co": ("dead", "unread"),
    "aiter_f4gemm": ("live", "live"),
}


@pytest.mark.parametrize("kernel", MANGLED)
def test_usage_of_a_kernel(kernel):
    table = usage(kernel)
    assert (table["alpha"], table["log2_k_split"]) == MANGLED[kernel]
    assert {name for name, use in table.items() if use is Usage.UNREAD} - {"log2_k_split"} == set(UNSET)
    assert {name for name, use in table.items() if use is Usage.DEAD} - {"alpha"} == {"ptr_C", "beta"}
    with pytest.raises(TypeError):
        table["alpha"] = Usage.LIVE


@pytest.mark.parametrize(
    "kernel",
    [
        "",
        "f4gemm",
        "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_512x512E",
        "x_f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128",
        "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x2567",
        "_ZN5aiterf4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E",
    ],
)
def test_kernel_that_was_not_measured_is_refused(kernel):
    with pytest.raises(
        InputError, match=r"expected one of the 35 kernels f4gemm_bf16_per1x32Fp4_\* that were measured"
    ):
        usage(kernel)


def test_every_real_kernel_is_known_and_counts_are_those_measured(kernels_dir):
    names = sorted(path.stem for path in (kernels_dir / "gfx950" / "f4gemm").glob("*.co"))
    tables = [usage(name) for name in names]
    assert len(names) == 35
    assert sum(table["alpha"] is Usage.LIVE for table in tables) == 3
    assert sum(table["log2_k_split"] is Usage.LIVE for table in tables) == 2
