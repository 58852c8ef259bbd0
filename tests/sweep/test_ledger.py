"""The ledger of a sweep: what it keeps through a crash, and which files it refuses."""

import json
import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.errors import InputError
from argpack.kernels import OWN
from argpack.sweep import Answer, Ledger, Result, Sampling, Shapes, load_kernels, make_plan

SHAPES = Shapes("here", ((16, 16, 4), (33, 17, 8), (5, 40, 12)), 3)
PLAN = make_plan(load_kernels([OWN / "sgemm.co"]), SHAPES, seed=0, sampling=Sampling("all", None, 0))
RESULTS = [
    Result("sgemm.co", 16, 16, 4, Answer.PASSED, "", 1, 1, 256, 256, 0, 0.0, 0, 0, 0, 0.25),
    Result("sgemm.co", 33, 17, 8, Answer.FAILED, "wrong\n†", 6, 6, 561, 2, 99, float("inf"), 1, 0, 0, 1.5),
    Result("sgemm.co", 5, 40, 12, Answer.REFUSED, "no"),
]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Path("l.jsonl")


def write(path, results=RESULTS, plan=PLAN):
    with Ledger(str(path), plan) as ledger:
        for result in results:
            ledger.append(result)


def found(path, plan=PLAN):
    with Ledger(str(path), plan) as ledger:
        return list(ledger.results.values()), ledger.dropped


def test_what_was_written_is_found_again(path):
    write(path, RESULTS[:2])
    assert found(path) == (RESULTS[:2], "")
    write(path, RESULTS[2:])
    assert found(path) == (RESULTS, "")
    assert [json.loads(line)["kernel"] for line in path.read_text().splitlines()[1:]] == ["sgemm.co"] * 3


def test_a_result_is_in_the_file_when_it_was_appended(path):
    with Ledger(str(path), PLAN) as ledger:
        for number, result in enumerate(RESULTS, 2):
            ledger.append(result)
            assert path.read_bytes().count(b"\n") == number


def test_what_could_not_be_checked_is_not_kept(path):
    write(path, [Result("sgemm.co", 16, 16, 4, Answer.NOT_CHECKED, "no memory")])
    assert found(path) == ([], "")


@given(st.data())
def test_a_ledger_cut_anywhere_keeps_every_whole_line_and_can_be_filled_again(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cut") / "l.jsonl"
    write(path)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    lines = whole[:cut].count(b"\n")
    results, dropped = found(path)
    assert results == RESULTS[: max(0, lines - 1)]
    assert bool(dropped) == (not whole[:cut].endswith(b"\n") and cut > 0)
    write(path, RESULTS[len(results) :])
    assert path.read_bytes() == whole


def test_a_line_cut_short_is_reported(path):
    write(path)
    with path.open("ab") as file:
        file.write(b'{"kernel": "sg')
    assert found(path)[1] == 'l.jsonl:5: cut short, 14 bytes dropped: \'{"kernel": "sg\''
    assert found(path) == (RESULTS, "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"my notes", "l.jsonl:1: expected the ledger of a sweep, found 'my notes'"),
        (b"my notes\n", "l.jsonl:1: expected the ledger of a sweep, found 'my notes'"),
        (b"\n", "l.jsonl:1: expected the ledger of a sweep, found ''"),
        (b"{}\n{", "l.jsonl:1: expected the ledger of a sweep, found '{}'"),
        (b"\xff\x00\n" + b"x" * 99, "l.jsonl:1: expected the ledger of a sweep, found '\\\\xff\\x00'"),
        (b"7\n", "l.jsonl:1: expected the ledger of a sweep, found '7'"),
    ],
)
def test_a_file_that_is_no_ledger_stays_as_it_is(path, content, message):
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Ledger(str(path), PLAN)
    assert str(caught.value) == message
    assert path.read_bytes() == content


def edited(line, **changes):
    return json.dumps({**json.loads(line), **changes})


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda line: line[:-5], "l.jsonl:3: expected an object of kernel, m, n, k, verdict, "),
        (lambda line: "", "l.jsonl:3: expected an object of kernel"),
        (lambda line: edited(line, more=1), "l.jsonl:3: expected an object of kernel"),
        (lambda line: edited(line, m="33"), "l.jsonl:3: m: no value of a result: '33', found"),
        (lambda line: edited(line, m=True), "l.jsonl:3: m: no value of a result: True, found"),
        (lambda line: edited(line, wrong=-1), "l.jsonl:3: wrong: no value of a result: -1, found"),
        (lambda line: edited(line, m=None), "l.jsonl:3: m: no value of a result: None, found"),
        (
            lambda line: edited(line, verdict="good"),
            "l.jsonl:3: verdict: no value of a result: 'good', found",
        ),
        (lambda line: edited(line, verdict=[]), "l.jsonl:3: verdict: no value of a result: [], found"),
        (
            lambda line: edited(line, norm_error="big"),
            "l.jsonl:3: norm_error: no value of a result: 'big', found",
        ),
        (lambda line: edited(line, m=34), "l.jsonl:3: sgemm.co M=34 N=17 K=8: no result of this sweep"),
        (lambda line: edited(line, kernel="x.co"), "l.jsonl:3: x.co M=33 N=17 K=8: no result of this sweep"),
        (
            lambda line: edited(line, verdict="not checked"),
            "l.jsonl:3: sgemm.co M=33 N=17 K=8: no result of this",
        ),
        (
            lambda line: f"{line}\n{line}",
            "l.jsonl:4: sgemm.co M=33 N=17 K=8: a second result of the same kernel",
        ),
    ],
)
def test_a_line_that_is_no_result_is_refused_with_its_place(path, edit, message):
    write(path)
    lines = path.read_text().splitlines()
    lines[2] = edit(lines[2])
    path.write_text("\n".join(lines) + "\n{torn")
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        Ledger(str(path), PLAN)
    assert str(caught.value).startswith(message)
    assert path.read_bytes() == before


def other(**changes):
    kernels = changes.pop("kernels", PLAN.kernels)
    shapes = Shapes("here", changes.pop("sizes", SHAPES.sizes), 3)
    return make_plan(kernels, shapes, **{"seed": 0, "sampling": Sampling("all", None, 0), **changes})


def test_another_sweep_does_not_go_on_with_a_ledger(path, wrong):
    write(path)
    before = path.read_bytes()
    renamed = wrong.rename(wrong.with_name("sgemm.co"))
    both = [*PLAN.kernels, *load_kernels([OWN / "sgemm.co", renamed])]
    cases = [
        (other(seed=1), "seed: expected 1, found 0"),
        (other(sampling=Sampling("sample", 0, 16)), "workgroups: expected 'sample', found 'all'"),
        (other(kernels=load_kernels([renamed])), "kernels: sgemm.co is another file now"),
        (other(kernels=both[1:]), f"kernels: {both[1].label} is only in this one"),
        (other(sizes=SHAPES.sizes[:2]), "shapes: [5, 40, 12] is only in the ledger"),
        (other(sizes=((1, 1, 1), *SHAPES.sizes)), "shapes: [1, 1, 1] is only in this one"),
        (other(sizes=SHAPES.sizes[::-1]), "shapes: in another order"),
    ]
    for plan, message in cases:
        with pytest.raises(InputError) as caught:
            Ledger(str(path), plan)
        assert (
            str(caught.value) == f"l.jsonl:1: this ledger is of another sweep, {message}; name another file"
        )
    assert path.read_bytes() == before


def test_a_ledger_of_another_version_is_of_another_sweep(path):
    write(path)
    path.write_text(path.read_text().replace('"argpack": "', '"argpack": "9.', 1))
    with pytest.raises(
        InputError, match=r"of another sweep, argpack: expected '[0-9.]+', found '9[0-9.]+'; name"
    ):
        Ledger(str(path), PLAN)


def _hold(path, ready, end):
    with Ledger(path, PLAN):
        ready.set()
        end.wait(60)


def test_a_second_process_cannot_use_a_ledger_until_the_first_ends(path):
    context = multiprocessing.get_context("spawn")
    ready, end = context.Event(), context.Event()
    first = context.Process(target=_hold, args=(str(path), ready, end))
    first.start()
    assert ready.wait(60)
    with pytest.raises(InputError, match=r"^l\.jsonl: another argpack sweep is writing this ledger$"):
        Ledger(str(path), PLAN)
    first.kill()
    first.join()
    write(path)
    assert found(path) == (RESULTS, "")


def test_a_file_that_cannot_be_opened_is_named(path):
    for name, why in (
        ("no/l.jsonl", "No such file or directory"),
        (".", "Is a directory"),
        ("", "No such file"),
    ):
        with pytest.raises(InputError) as caught:
            Ledger(name, PLAN)
        assert str(caught.value).startswith(f"{name}: cannot open the ledger: {why}")
