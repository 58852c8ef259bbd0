"""`argpack sweep`: what it prints and writes, its exit codes; a kill at any moment loses and doubles nothing."""

import csv
import html.parser
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from argpack.cli import main
from argpack.cli.sweep_progress import SweepProgress, duration
from argpack.kernels import OWN
from argpack.sweep import Answer, Result, Sampling, Shapes, load_kernels, make_plan

F4GEMM = "f4gemm_bf16_per1x32Fp4_BpreShuffle_"
FMA = bytes.fromhex("0300cbd1 0a170e04")  # v_fma_f32 v3, v10, v11, v3
SQUARES = bytes.fromhex("0300cbd1 0a150e04")  # v_fma_f32 v3, v10, v10, v3
UNKNOWN = bytes.fromhex("ffffffff ffffffff")


@pytest.fixture
def sweep(tmp_path, monkeypatch, capsys):
    """Runs `argpack sweep` on one process, in a folder with three kernels and some shapes."""
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("16 16 4\n33 17 8\n")
    data = (OWN / "sgemm.co").read_bytes()
    for name, code in (("good", FMA), ("wrong", SQUARES), ("unknown", UNKNOWN)):
        Path(f"{name}.co").write_bytes(data.replace(FMA, code))

    def run(kernels, *options):
        jobs = [] if "--scheduler" in options else ["-j", "1"]
        code = main(["sweep", "--kernels", kernels, "--shapes", "s.txt", *jobs, *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_person_sees_each_result_and_a_table(sweep):
    code, out, err = sweep("good.co")
    assert code == 0
    assert out.splitlines()[0].split() == [
        *(
            "kernel",
            "shapes",
            "pass",
            "fail",
            "refused",
            "not",
            "checked",
            "max",
            "ulp",
            "norm",
            "error",
            "seconds",
        )
    ]
    assert out.splitlines()[1].split()[:3] == ["good.co", "2", "2"]
    assert out.splitlines()[2:] == ["1 kernel, 2 shapes: 2 passed"]
    lines = err.splitlines()
    assert lines[0] == "1 kernel, 2 problems"
    assert lines[1].startswith("1 of 2: good.co M=16 N=16 K=4: pass, 0.")
    assert lines[2].startswith("2 of 2: good.co M=33 N=17 K=8: pass, 0.")
    assert len(lines) == 3


def test_a_failure_is_exit_1_and_told_in_full(sweep):
    code, out, _ = sweep("wrong.co")
    assert code == 1
    lines = out.splitlines()
    assert lines[2].startswith("wrong.co M=16 N=16 K=4: FAIL: ")
    assert "outputs are beyond tolerance, first at row 0, column 0: expected " in lines[2]
    assert lines[3].startswith("wrong.co M=33 N=17 K=8: FAIL: ")
    assert lines[4] == "1 kernel, 2 shapes: 2 failed"


def test_what_could_not_be_checked_is_exit_2_with_the_reason(sweep):
    code, out, _ = sweep("unknown.co")
    assert code == 2
    assert "unknown.co M=16 N=16 K=4: not checked: argpack_sgemm" in out
    assert out.splitlines()[-1] == "1 kernel, 2 shapes: 2 not checked"


def test_what_a_kernel_cannot_do_is_refused_and_no_failure(sweep, kernels_dir):
    Path("s.txt").write_text("8,128,256\n8,256,256\n8,128,250\n")
    code, out, err = sweep(f"{F4GEMM}256x*")
    assert code == 0
    assert err.splitlines()[0] == "2 kernels, 6 problems, 3 refused"
    assert f"{F4GEMM}256x128.co: refused M=8 N=128 K=250: K: expected a multiple of 32" in out
    assert f"{F4GEMM}256x256.co: refused 2 shapes, first M=8 N=128 K=256: N must be a multiple of 256" in out
    assert out.splitlines()[-1] == "2 kernels, 3 shapes: 3 passed, 3 refused"


def test_where_all_is_refused_nothing_was_checked(sweep, kernels_dir):
    Path("s.txt").write_text("8,128,250\n")
    code, out, _ = sweep(f"{F4GEMM}256x128")
    assert (code, out.splitlines()[-1]) == (2, "1 kernel, 1 shape: 1 refused")


def test_numbers_are_those_of_verify(sweep, kernels_dir, capsys):
    Path("s.txt").write_text("33,64,320\n")
    _, out, _ = sweep(f"{F4GEMM}32x128", "--seed", "3", "--json")
    (found,) = json.loads(out)["results"]
    sizes = ["-m", "33", "-n", "64", "-k", "320", "--seed", "3"]
    main(["verify", f"{F4GEMM}32x128", *sizes, "--backend", "emulator", "--json"])
    verified = json.loads(capsys.readouterr().out)
    names = {"elements": "outputs", "verdict": "verdict", "bit_equal": "bit_equal", "max_ulp": "max_ulp"}
    assert {name: verified[name] for name in names} == {name: found[ours] for name, ours in names.items()}
    assert found["norm_error"] == pytest.approx(verified["norm_error"], rel=1e-9)
    assert (found["workgroups"], found["workgroups_of_grid"]) == (2, 2)


class TestWorkgroups:
    def run(self, sweep, *options):
        Path("s.txt").write_text("160 160 4\n1200 1920 2048\n")  # 100 tiles, and 2^32 multiply-adds and more
        code, out, _ = sweep("good.co", "--json", *options)
        assert code == 0
        return [(r["workgroups"], r["workgroups_of_grid"], r["outputs"]) for r in json.loads(out)["results"]]

    def test_what_is_large_is_sampled_unless_told_otherwise(self, sweep):
        assert self.run(sweep) == [(100, 100, 160 * 160), (22, 9000, 22 * 256)]

    def test_a_sample_is_taken_of_everything_where_asked_for(self, sweep):
        assert self.run(sweep, "--workgroups", "sample:3") == [(9, 100, 9 * 256), (9, 9000, 9 * 256)]

    def test_the_table_says_how_many_were_sampled(self, sweep):
        Path("s.txt").write_text("160 160 4\n32 32 4\n")  # of four tiles all are corners
        _, out, _ = sweep("good.co", "--workgroups", "sample:0")
        assert out.splitlines()[-1] == "1 kernel, 2 shapes: 2 passed; 1 by a sample of their workgroups"

    @pytest.mark.parametrize("text", ["some", "sample:", "sample:-1", "sample:x", "all:3", ""])
    def test_another_word_is_refused(self, sweep, text):
        code, _, err = sweep("good.co", "--workgroups", text)
        assert code == 2
        assert "argument --workgroups: expected all, sample or sample:N" in err


def test_json_says_what_was_swept_and_every_result(sweep):
    code, out, _ = sweep("good.co", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["counts"] == {"pass": 2, "fail": 0, "refused": 0, "not checked": 0}
    assert found["shapes"] == [[16, 16, 4], [33, 17, 8]]
    assert list(found["kernels"]) == ["good.co"]
    assert [(result["m"], result["verdict"]) for result in found["results"]] == [(16, "pass"), (33, "pass")]


@pytest.mark.sweep
def test_the_shapes_of_aiter_are_computed_or_refused(kernels_dir, capsys):
    options = ["--workgroups", "sample:0", "-j", "2", "--json"]
    code = main(["sweep", "--kernels", "f4gemm*_256x256", "--shapes", "aiter", *options])
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["counts"] == {"pass": 133, "fail": 0, "refused": 1, "not checked": 0}
    (refused,) = (result for result in found["results"] if result["verdict"] == "refused")
    assert (refused["kernel"], refused["m"], refused["n"]) == (f"{F4GEMM}256x256.co", 32768, 106496)
    # D has 2 x 32768 x 106496 bytes, more than a buffer resource of 32 bits holds
    assert "6979321856 bytes" in refused["reason"]


class TestTables:
    def test_csv_has_a_row_a_result(self, sweep):
        assert sweep("wrong.co", "-o", "t.csv")[0] == 1
        with Path("t.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["kernel"], row["m"], row["verdict"]) for row in rows] == [
            ("wrong.co", "16", "fail"),
            ("wrong.co", "33", "fail"),
        ]
        assert rows[0]["reason"].startswith(f"{rows[0]['wrong']} of 256 outputs are beyond tolerance")

    def test_what_was_not_measured_is_empty_in_csv_and_null_in_parquet(self, sweep):
        from pyarrow import parquet

        sweep("unknown.co", "-o", "t.csv")
        sweep("unknown.co", "-o", "t.parquet")
        with Path("t.csv").open(newline="") as file:
            row = next(csv.DictReader(file))
        assert (row["outputs"], row["norm_error"], row["verdict"]) == ("", "", "not checked")
        first = parquet.read_table("t.parquet").to_pylist()[0]
        assert (first["outputs"], first["norm_error"], first["m"]) == (None, None, 16)
        assert first["reason"].startswith("argpack_sgemm")

    def test_the_page_shows_results_escaped_and_asks_for_nothing(self, sweep):
        Path("a<b>.co").write_bytes(Path("wrong.co").read_bytes())
        sweep("a<b>.co", "-o", "t.html")
        page = Path("t.html").read_text()
        texts, tags = read_page(page)
        assert texts.count("a<b>.co") == 3  # once in the map, twice in the list
        assert "2 fail" in texts
        assert not {"script", "link", "img", "b"} & tags
        assert "http" not in page

    def test_no_file_is_overwritten_and_nothing_runs_before_that_is_said(self, sweep):
        Path("t.csv").write_text("mine")
        code, out, err = sweep("good.co", "-o", "t.csv")
        assert (code, out, err) == (2, "", "argpack: error: t.csv: exists; --force overwrites it\n")
        assert Path("t.csv").read_text() == "mine"
        assert sweep("good.co", "-o", "t.csv", "--force")[0] == 0
        assert Path("t.csv").read_text().startswith("kernel,m,n,k,verdict,")

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("t.txt", "t.txt: expected a file name that ends in .csv, .parquet, .arrow, .html"),
            ("no/t.csv", "no/t.csv: cannot be written: its folder does not exist"),
            ("no/t.html", "no/t.html: cannot be written: its folder does not exist"),
        ],
    )
    def test_a_name_that_cannot_be_written_is_said_before_anything_runs(self, sweep, name, message):
        assert sweep("good.co", "-o", name) == (2, "", f"argpack: error: {message}\n")


class TestLedger:
    def test_a_second_run_does_only_what_is_left(self, sweep):
        first = sweep("good.co", "--ledger", "l.jsonl")
        Path("l.jsonl").write_text("".join(Path("l.jsonl").read_text().splitlines(keepends=True)[:2]))
        code, out, err = sweep("good.co", "--ledger", "l.jsonl")
        assert code == 0
        assert err.splitlines()[0] == "1 kernel, 2 problems, 1 of them in the ledger"
        assert len(err.splitlines()) == 2
        assert out.splitlines()[-1] == first[1].splitlines()[-1]
        code, out, err = sweep("good.co", "--ledger", "l.jsonl")
        assert (code, err) == (0, "1 kernel, 2 problems, 2 of them in the ledger\n")

    def test_a_failure_in_the_ledger_fails_again(self, sweep):
        sweep("wrong.co", "--ledger", "l.jsonl")
        code, out, err = sweep("wrong.co", "--ledger", "l.jsonl")
        assert code == 1
        assert out.count("FAIL: ") == 2
        assert len(err.splitlines()) == 1

    def test_what_could_not_be_checked_is_tried_again(self, sweep):
        sweep("unknown.co", "--ledger", "l.jsonl")
        code, _, err = sweep("unknown.co", "--ledger", "l.jsonl")
        assert code == 2
        assert len(err.splitlines()) == 3

    def test_another_seed_is_another_sweep(self, sweep):
        sweep("good.co", "--ledger", "l.jsonl")
        code, out, err = sweep("good.co", "--ledger", "l.jsonl", "--seed", "1")
        assert (code, out) == (2, "")
        assert err == (
            "argpack: error: l.jsonl:1: this ledger is of another sweep, seed: expected 1, found 0; "
            "name another file\n"
        )

    def test_a_line_cut_short_is_noted_and_its_problem_run_again(self, sweep):
        sweep("good.co", "--ledger", "l.jsonl")
        whole = Path("l.jsonl").read_text()
        Path("l.jsonl").write_text(whole[:-5])
        _, _, err = sweep("good.co", "--ledger", "l.jsonl")
        assert err.startswith("argpack: note: l.jsonl:3: cut short, ")
        assert len(err.splitlines()) == 3


def read_page(page):
    texts, tags = [], set()

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.add(tag)

        def handle_data(self, data):
            texts.append(data.strip())

    parser = Parser()
    parser.feed(page)
    return texts, tags


def descendants(pid):
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield child
        yield from descendants(child)


def leaves_sigint_alone(pid):
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return (int(status["SigBlk"], 16) | int(status["SigIgn"], 16)) >> (signal.SIGINT - 1) & 1


class TestKill:
    """A sweep in a process of its own that is ended midway."""

    COUNT = 12

    @pytest.fixture
    def started(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("s.txt").write_text("".join(f"128 64 {256 + number}\n" for number in range(self.COUNT)))

        def start(*options):
            command = [sys.executable, "-m", "argpack", "sweep", "--kernels", str(OWN / "sgemm.co")]
            command += ["--shapes", "s.txt", "--ledger", "l.jsonl", *options]
            return subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
            )

        return start

    @staticmethod
    def lines():
        return Path("l.jsonl").read_bytes().splitlines() if Path("l.jsonl").exists() else []

    def wait_for_results(self, sweep, count):
        while len(self.lines()) < 1 + count:
            assert sweep.poll() is None, sweep.communicate()
            time.sleep(0.005)

    def ends_whole(self, sweep):
        out, err = sweep.communicate(timeout=120)
        assert sweep.returncode == 0, err
        assert out.splitlines()[-1] == f"1 kernel, {self.COUNT} shapes: {self.COUNT} passed"
        found = [json.loads(line) for line in self.lines()[1:]]
        assert sorted(result["k"] for result in found) == list(range(256, 256 + self.COUNT))

    def test_after_sigkill_nothing_is_lost_or_doubled_and_no_process_stays(self, started):
        sweep = started("-j", "2")
        self.wait_for_results(sweep, 2)
        children = list(descendants(sweep.pid))
        sweep.kill()
        sweep.communicate()
        assert len(children) >= 4  # the server of processes, the tracker of resources, two that check
        while any(Path(f"/proc/{child}").exists() for child in children):
            time.sleep(0.01)
        kept = [line for line in self.lines()[1:] if line.endswith(b"}")]
        assert 2 <= len(kept) < self.COUNT
        self.ends_whole(started("-j", "2"))
        assert self.lines()[1 : 1 + len(kept)] == kept

    def test_ctrl_c_says_how_to_go_on(self, started):
        sweep = started("-j", "1")
        self.wait_for_results(sweep, 1)
        for child in descendants(sweep.pid):
            assert leaves_sigint_alone(child), Path(f"/proc/{child}/cmdline").read_text()
        os.killpg(sweep.pid, signal.SIGINT)  # as a terminal does: to every process of it
        out, err = sweep.communicate(timeout=60)
        assert (sweep.returncode, out) == (2, "")
        assert err.splitlines()[-1] == (
            "argpack: interrupted: results are in l.jsonl, the same command goes on"
        )
        assert "Traceback" not in err
        self.ends_whole(started("-j", "1"))


class TestProgress:
    @pytest.fixture
    def clock(self, monkeypatch):
        times = [0.0]
        monkeypatch.setattr("argpack.cli.sweep_progress.time.monotonic", lambda: times[0])
        return times

    def test_a_terminal_sees_a_bar_by_work_and_failures_above_it(self, clock):
        import io

        class Terminal(io.StringIO):
            def isatty(self):
                return True

        shapes = Shapes("here", ((8, 16, 1 << 20), (16, 16, 1 << 20), (16, 32, 1 << 20)), 3)
        plan = make_plan(load_kernels([OWN / "sgemm.co"]), shapes, seed=0, sampling=Sampling("all", None, 0))
        stream = Terminal()
        with SweepProgress(plan, plan.units[1:], stream) as progress:
            clock[0] = 30.0
            wrong = Result("sgemm.co", 16, 16, 1 << 20, Answer.FAILED, "wrong")
            progress(plan.units[1], wrong)
        text = stream.getvalue()
        assert text.startswith("1 kernel, 3 problems, 1 of them in the ledger\n")
        # of 256 + 64 and 512 + 64 Mi multiply-adds the first are done: 9/14 of the time is left
        assert "sgemm.co M=16 N=16 K=1048576: FAIL: wrong\n" in text
        assert "[##########....................] 2 of 3, 1 failed, 30 s, about 54 s left" in text
        assert text.endswith("\r" + " " * 72 + "\r")

    @pytest.mark.parametrize(
        ("seconds", "text"),
        [(0, "0 s"), (99.4, "99 s"), (100, "2 min"), (5940, "99 min"), (12000, "3 h 20 min")],
    )
    def test_durations(self, seconds, text):
        assert duration(seconds) == text
