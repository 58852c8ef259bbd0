"""What buffers show without a schema: right where it says so, and not sure where nothing shows it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.families import family_named
from argpack.schema.infer import Sure, infer
from argpack.schema.infer_sizes import candidates
from argpack.schema.inferred import schema_of

DUMPS = Path(__file__).parents[2] / "dumps"


def known(data):
    return data, b"\x01" * len(data)


@pytest.fixture(scope="module")
def captures():
    files = sorted(DUMPS.glob("aiter_f4gemm_*.json"))
    return [known(bytes.fromhex(json.loads(path.read_text())["kernarg_hex"])) for path in files]


def test_twelve_launches_show_slots_pointers_and_the_problem_in_spite_of_stack_garbage(captures):
    found = infer(captures)
    assert (found.slot, found.slot_sure) == (16, Sure.HIGH)
    pointers = [guess.offset for guess in found.guesses if guess.kind == "pointer"]
    assert pointers == [0x0, 0x10, 0x20, 0x30, 0x110, 0x120]
    kinds = {guess.offset: guess for guess in found.guesses}
    assert (kinds[0x40].kind, kinds[0x40].values[0]) == ("float", 1.0)
    assert kinds[0x70].constant  # stride_D1: never set, the same garbage each time
    assert not kinds[0xE0].constant
    best = candidates(found)[0]
    assert best.offsets == (0xE0, 0xF0, 0x100)
    assert best.sure is Sure.HIGH
    assert set(best.explained) == {0xA0, 0xC0, 0x130, 0x150}


def test_one_launch_is_never_sure_of_the_problem(captures):
    assert {one.sure for capture in captures for one in candidates(infer([capture]))} == {Sure.LOW}


def test_eight_byte_slots_are_told_from_sixteen():
    schema = family_named("hipblaslt_wave_mxfp4").schema
    buffers = []
    for m, n, k in ((512, 1024, 2048), (256, 4096, 1024), (768, 512, 7168)):
        values = {f.name: 0x7F3A_6120_0000 + 0x1000_0000 * i for i, f in enumerate(schema.fields[:5])}
        values |= {
            "m": m,
            "n": n,
            "k": k,
            "stride_c_dim0": n,
            "stride_a_dim0": k // 2,
            "stride_b_dim0": k // 2,
        }
        values |= {"stride_a_scale_dim0": k // 32, "stride_b_scale_dim0": k // 32}
        buffers.append(known(schema.pack(values)))
    found = infer(buffers)
    assert (found.slot, found.slot_sure) == (8, Sure.MEDIUM)
    assert candidates(found)[0].offsets == (schema.offset("m"), schema.offset("n"), schema.offset("k"))
    assert candidates(found)[0].sure is Sure.HIGH


def test_packed_structs_have_no_slots():
    schema = family_named("aiter_mla_v4_gfx1250").schema
    values = {
        f.name: 0x7F3A_6120_0000 + 0x100_0000 * i if f.type == "ptr" else 0.125 if f.type == "f32" else 3
        for i, f in enumerate(schema.fields)
    }
    found = infer([known(schema.pack(values))])
    assert (found.slot, found.slot_sure) == (0, Sure.HIGH)
    assert found.slot_why == "pointers start at multiples of 4: the fields are packed"
    assert {g.offset for g in found.guesses if g.kind == "pointer"} == {
        s.offset for s in schema.slots if s.field and s.field.type == "ptr"
    }


def test_unknown_bytes_are_no_zeros():
    data = bytes(16)
    found = infer([(data, b"\x01" * 8 + b"\x00" * 8)])
    assert [guess.kind for guess in found.guesses] == ["zero", "zero", "unclear", "unclear"]
    assert found.guesses[2].values == (None,)
    assert not found.guesses[2].constant


@pytest.mark.parametrize(
    ("buffers", "message"),
    [
        ([], "expected buffers of one size, found none"),
        ([known(bytes(8)), known(bytes(16))], "expected buffers of one size, found 8 bytes and 16 bytes"),
        ([known(bytes(4))], "expected at least 8 bytes, found 4"),
    ],
)
def test_what_cannot_be_inferred_is_refused(buffers, message):
    with pytest.raises(InputError) as error:
        infer(buffers)
    assert str(error.value) == message


@given(st.lists(st.binary(min_size=24, max_size=24), min_size=1, max_size=3))
def test_any_bytes_give_guesses_that_do_not_overlap_and_a_schema_of_their_size(contents):
    found = infer([known(data) for data in contents])
    ends = [0]
    for guess in found.guesses:
        assert guess.offset >= ends[-1]
        ends.append(guess.offset + guess.size)
    assert schema_of(found, candidates(found)).size == 24


def test_the_schema_to_start_from_names_what_is_sure(captures):
    schema = schema_of(infer(captures), candidates(infer(captures)))
    assert schema.size == 372
    assert [schema.offset(name) for name in "MNK"] == [0xE0, 0xF0, 0x100]
    assert schema.slot("ptr_0x0").field.type == "ptr"
    one = schema_of(infer(captures[:1]), candidates(infer(captures[:1])))
    assert "M" not in [field.name for field in one.fields]
