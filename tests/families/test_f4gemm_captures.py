"""What AITER's own host code passed, packed again from the problem it was asked for."""

import json
from pathlib import Path

import pytest

from argpack.cli import main
from argpack.families import Problem
from argpack.families.aiter_f4gemm import FAMILY
from argpack.families.aiter_f4gemm.arguments import field_values
from argpack.families.aiter_f4gemm.geometry import BLOCK, grid
from argpack.families.aiter_f4gemm.names import parse
from argpack.hexdump import Dump, Kind, diff

DUMPS = Path(__file__).parents[2] / "dumps"
CAPTURES = sorted(DUMPS.glob("aiter_f4gemm_*.json"))
UNSET = {"stride_D0", "stride_D1", "stride_C1", "stride_A1", "stride_B1", "stride_ScaleA1", "stride_ScaleB1"}


@pytest.fixture(params=CAPTURES, ids=lambda path: path.stem)
def capture(request):
    return json.loads(request.param.read_text()) | {"path": request.param}


def problem_of(capture):
    """The split is the host's own choice where the caller left it open: it stands at 0x170, 4 bytes."""
    asked = capture["problem"]
    data = bytes.fromhex(capture["kernarg_hex"])
    return Problem(
        m=asked["M"],
        n=asked["N"],
        k=asked["K"],
        alpha=asked["alpha"],
        beta=asked["beta"],
        log2_k_split=int.from_bytes(data[0x170:0x174], "little"),
    )


def packed(capture):
    values = field_values(problem_of(capture))
    values["stride_C0"] = capture["problem"]["out_row_stride"]
    return FAMILY.schema.pack(values)


def test_there_are_12():
    assert len(CAPTURES) == 12


def test_grid_and_block_are_the_captured_ones(capture):
    assert list(grid(parse(capture["kernel"]), problem_of(capture))) == capture["grid"]
    assert list(BLOCK) == capture["block"]


def test_only_pads_unread_fields_and_addresses_differ(capture):
    captured = Dump.whole(bytes.fromhex(capture["kernarg_hex"]))
    found = diff(captured, Dump.whole(packed(capture)), FAMILY.schema, FAMILY.usage(capture["kernel"]))
    live = {difference.first.slot.name for difference in found.live}
    # Addresses are not packed, only their absence differs: null here, an address there.
    assert live <= {"ptr_D", "ptr_A", "ptr_B", "ptr_ScaleA", "ptr_ScaleB"}
    assert all(difference.note == "null in one" for difference in found.live)
    assert {difference.first.slot.name for difference in found.of_kind(Kind.UNREAD)} <= UNSET
    assert {difference.first.slot.name for difference in found.of_kind(Kind.DEAD)} <= {"ptr_C"}


def test_the_command_line_finds_no_difference_once_addresses_are_set(capture, tmp_path, capsys):
    data = bytes.fromhex(capture["kernarg_hex"])
    fresh = bytearray(packed(capture))
    for name in ("ptr_D", "ptr_A", "ptr_B", "ptr_ScaleA", "ptr_ScaleB"):
        offset = FAMILY.schema.offset(name)
        fresh[offset : offset + 8] = (int.from_bytes(data[offset : offset + 8], "little") + 0x1000).to_bytes(
            8, "little"
        )
    file = tmp_path / "fresh.bin"
    file.write_bytes(fresh)
    assert main(["diff", str(capture["path"]), str(file), "--kernel", capture["kernel"]]) == 0
    assert "no live difference" in capsys.readouterr().out
