"""The declared families: consistent with index and facts, held against all 2,501 code objects of the wheel."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from declared_disagreements import GOLDEN, collect, text_of

from argpack.errors import InputError
from argpack.families import Usage, family_named
from argpack.families.index import ENTRIES, load
from argpack.families.loading import load_workloads

ROOT = Path(__file__).parents[2]
FACTS = json.loads((ROOT / "tools" / "aiter_kernargs.json").read_text(encoding="utf-8"))["families"]


def test_the_declarations_are_what_the_generator_writes():
    tool = ROOT / "tools" / "declare_families"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_index_agrees_with_the_declaration(entry):
    family = load(entry)
    assert family.name == family.schema.name == entry.name
    assert family.schema.size == entry.size
    assert family.workload is None
    assert family.launch_rule
    assert family.segments
    assert all(name in family.usage(entry.name) for name in (f.name for f in family.schema.fields))
    if entry.launch_of:
        other = family_named(entry.launch_of)
        assert [(s.name, s.offset, s.size) for s in family.schema.slots] == [
            (s.name, s.offset, s.size) for s in other.schema.slots
        ]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["name"])
def test_offsets_are_those_a_compiler_gave(fact):
    """The facts have the size of the host's struct as g++ lays it out, and the padding behind each member."""
    schema = family_named(fact["name"]).schema
    offset = 0
    for name, kind, pad, *_ in fact["fields"]:
        assert schema.offset(name) == offset
        offset += (8 if kind == "ptr" else 4) + pad
    assert offset == schema.size == fact["size"]


def test_every_code_object_of_the_wheel_is_of_one_family_and_disagrees_only_as_known(kernels_dir):
    collected = collect(kernels_dir)
    assert text_of(collected) == GOLDEN.read_text(encoding="utf-8")
    assert sum(entry["files"] for entry in collected.values()) == 2501
    assert "none" not in collected
    assert all(one["reason"] for entry in collected.values() for one in entry["disagreements"])


def test_usage_of_a_family_is_the_strictest_of_its_kernels():
    usage = family_named("aiter_fmoe").usage("aiter_fmoe")
    assert usage["total_tgs"] is Usage.LIVE  # 761 of 1,689 kernels load it
    assert usage["eprt_cnt"] is Usage.LIVE  # one kernel of the later revision uses it
    mla = family_named("aiter_mla").usage("aiter_mla")
    assert mla["ptr_LTL"] is Usage.DEAD
    assert family_named("aiter_bf16gemm").usage("any")["stride_D0"] is Usage.UNREAD


def test_hipblaslt_exchanges_a_with_b_and_m_with_n():
    fields = {f.name: f for f in family_named("hipblaslt_f4gemm").schema.fields}
    assert fields["ptr_A"].doc.startswith("hipBLASLt's B")
    assert fields["M"].doc == "hipBLASLt's n."
    assert fields["stride_D0"].doc == "Always 0, never loaded."
    wave = family_named("hipblaslt_wave_mxfp4").schema
    assert [(s.offset, s.size) for s in wave.slots] == [(8 * i, 8) for i in range(13)]
    assert wave.size == 104


def test_a_declared_family_cannot_be_launched_and_says_so():
    with pytest.raises(InputError) as error:
        load_workloads(family_named("aiter_pa"))
    assert str(error.value) == "aiter_pa: argpack knows its arguments and cannot launch its kernels yet"


def test_no_module_declares_a_family_that_the_index_lacks():
    modules = {entry.module for entry in ENTRIES}
    declared = {family.name for module in modules for family in importlib.import_module(module).FAMILIES}
    assert declared == {entry.name for entry in ENTRIES}
