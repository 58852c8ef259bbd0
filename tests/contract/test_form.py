"""The file form of a contract: it comes back as it was, reads as TOML, and what is no contract is refused in words."""

import dataclasses
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.contract import LIMITS, Argument, Contract, Limit, as_json, differences, parse, to_toml
from argpack.errors import InputError

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
VALUES = st.one_of(st.integers(0, 1 << 40), st.booleans(), TEXTS)
ARGUMENTS = st.builds(
    Argument,
    name=TEXTS,
    offset=st.integers(0, 4096),
    size=st.integers(1, 16),
    use=st.sampled_from(["live", "dead", "unread", "pad"]),
    loaded_by=st.lists(TEXTS, max_size=2).map(tuple),
    shown_by=TEXTS,
)
SMALL = Contract(
    kernel="k",
    code_object="00ff",
    argpack="0.1.0",
    backend="emulator",
    limits={name: Limit(32, ("M=1 N=32 K=256",)) for name in LIMITS}
    | {"applies_alpha": Limit(False, ("M=2",), 'the "bits"')},
    arguments=(
        Argument("ptr_D", 0, 8, "live", ("s_load_dwordx2 at 0x2c08",), "addresses: moved"),
        Argument("pad_ptr_D", 8, 8, "pad"),
    ),
    launches=("M=1",),
)

ANY_LIMIT = st.builds(Limit, VALUES, st.lists(TEXTS, max_size=2).map(tuple), TEXTS)
CONTRACTS = st.builds(
    Contract,
    kernel=TEXTS,
    code_object=TEXTS,
    argpack=TEXTS,
    backend=TEXTS,
    limits=st.dictionaries(st.sampled_from(list(LIMITS)), ANY_LIMIT, max_size=3).map(
        lambda some: {**SMALL.limits, **some}
    ),
    arguments=st.lists(ARGUMENTS, max_size=3).map(tuple),
    launches=st.lists(TEXTS, max_size=2).map(tuple),
)


@given(CONTRACTS)
def test_a_contract_comes_back_from_its_text(contract):
    assert parse(to_toml(contract), source="x.toml") == contract


def test_the_text_is_toml_with_a_line_for_each_value_and_argument():
    text = to_toml(SMALL)
    lines = text.splitlines()
    assert "[limits.n_multiple]  # N must be a multiple of this" in lines
    assert 'why = "the \\"bits\\""' in lines
    assert (
        '  { name = "ptr_D", offset = 0x000, size = 8, class = "live", '
        'loaded_by = ["s_load_dwordx2 at 0x2c08"], shown_by = "addresses: moved" },'
    ) in lines
    assert '  { name = "pad_ptr_D", offset = 0x008, size = 8, class = "pad" },' in lines
    assert tomllib.loads(text)["limits"]["applies_alpha"]["value"] is False


def test_json_has_arguments_as_objects_with_name_offset_and_class():
    plain = as_json(SMALL)
    assert plain["arguments"][1] == {
        "name": "pad_ptr_D",
        "offset": 8,
        "size": 8,
        "class": "pad",
        "loaded_by": [],
        "shown_by": "",
    }
    assert plain["limits"]["n_multiple"] == {"value": 32, "why": "", "problems": ["M=1 N=32 K=256"]}
    assert list(plain["limits"]) == list(LIMITS)


def test_differences_are_of_values_and_uses():
    other = dataclasses.replace(
        SMALL,
        argpack="0.2.0",
        limits={**SMALL.limits, "n_multiple": Limit(64, ()), "applies_alpha": Limit(True, ())},
        arguments=(dataclasses.replace(SMALL.arguments[0], use="dead"),),
    )
    assert differences(SMALL, SMALL) == ()
    assert differences(SMALL, other) == (
        "n_multiple: 32, not 64",
        "applies_alpha: false, not true",
        "ptr_D: live, not dead",
        "pad_ptr_D: pad, not an argument",
    )


GOOD = to_toml(SMALL)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("kernel = ", "kernel ", "c.toml: expected TOML: "),
        ('kernel = "k"', "", "c.toml: kernel: expected a text, found nothing"),
        ('kernel = "k"', "kernel = 5", "c.toml: kernel: expected a text, found 5"),
        ("[limits.n_multiple]", "[limits.o_multiple]", "found n_multiple missing or unknown"),
        (
            "value = false",
            "value = 1.5",
            "limits.applies_alpha: value: expected a number, true, false or a word",
        ),
        ("value = false\n", "", "limits.applies_alpha: value: .* found None"),
        ('problems = ["M=2"]', "problems = 2", "problems: expected a list, found 2"),
        ('problems = ["M=2"]', "problems = [2]", r"problems: expected a list of texts, found \[2\]"),
        (
            'class = "pad"',
            'class = "padding"',
            "class: expected one of live, dead, unread, pad, found 'padding'",
        ),
        ("offset = 0x008", "offset = true", "offset: expected a number, found True"),
        ("slots = [", "slots = [ 7,", "arguments.slots: expected a table, found 7"),
        ("[arguments]", "[argument]", "arguments: expected a table, found nothing"),
    ],
)
def test_what_is_no_contract_is_refused(before, after, message):
    assert before in GOOD
    with pytest.raises(InputError, match=message):
        parse(GOOD.replace(before, after, 1), source="c.toml")


def test_a_limit_that_is_no_table_is_refused():
    text = "\n".join(line for line in GOOD.splitlines() if not line.startswith("[limits.m_multiple]"))
    with pytest.raises(InputError):
        parse(text, source="c.toml")
