"""`argpack verify --workgroups sample`: what it prints, its JSON, its exit codes."""

import json

import pytest

from argpack.cli import main

SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
SIZES = ["-m", "3001", "-n", "20992", "-k", "320"]


@pytest.fixture
def verify(kernels_dir, capsys):
    """Runs `argpack verify`; gives exit code, standard output and standard error."""

    def run(*arguments):
        code = main(["verify", *arguments, "--kernels", str(kernels_dir)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_person_sees_how_much_was_checked(verify):
    code, out, err = verify(SMALL, *SIZES, "--workgroups", "sample:3")
    assert (code, err) == (0, "")
    assert "launch    164 x 94 x 1 workgroups of 256 x 1 x 1 work-items; 9 of them run\n" in out
    assert "backend   emulator: it can run some workgroups of a grid\n" in out
    assert "\nPASS  9 of 15,416 workgroups, 0.054 % of D: 34176 outputs: " in out


def test_json_says_how_many_workgroups_ran(verify):
    code, out, _ = verify(SMALL, *SIZES, "--workgroups", "sample:3", "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["wrong"]) == (0, "pass", 0)
    assert [found[name] for name in ("workgroups_run", "workgroups_of_grid", "elements")] == [9, 15416, 34176]
    code, out, _ = verify("sgemm", "-m", "20", "-n", "20", "-k", "4", "--workgroups", "all", "--json")
    found = json.loads(out)
    assert (code, found["workgroups_run"], found["workgroups_of_grid"]) == (0, 4, 4)


def test_a_split_runs_all_slices_of_a_tile(verify):
    name = "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256"
    code, out, _ = verify(
        name, "-m", "1000", "-n", "2048", "-k", "512", "--log2-k-split", "1", "--workgroups", "sample:0"
    )
    assert code == 0
    assert "launch    8 x 4 x 2 workgroups of 256 x 1 x 1 work-items; 12 of them run" in out
    assert "PASS  12 of 64 workgroups, 18 % of D: " in out


def test_a_grid_that_is_sampled_whole_is_said_to_be(verify):
    code, out, _ = verify("sgemm", "-m", "16", "-n", "30", "-k", "4", "--workgroups", "sample")
    assert code == 0
    assert "PASS  2 of 2 workgroups, 100 % of D: 480 outputs: " in out


def test_a_mistake_is_exit_1(verify):
    code, out, _ = verify(SMALL, *SIZES, "--workgroups", "sample", "--scale-layout", "row_major", "--force")
    assert code == 1
    assert "FAIL  22 of 15,416 workgroups" in out
    assert "of 87424 outputs are beyond tolerance, first at row 0, column 0: " in out


def test_a_gpu_runs_whole_grids(verify):
    code, _, err = verify(SMALL, *SIZES, "--workgroups", "sample", "--backend", "hip")
    assert code == 2
    assert err == "argpack: error: --workgroups sample is for the emulator: a GPU runs whole grids\n"


@pytest.mark.parametrize("text", ["some", "sample:", "sample:-1", "sample:x", "sample:10000000", "all:3", ""])
def test_other_texts_are_refused(verify, text):
    code, _, err = verify(SMALL, "--workgroups", text)
    assert code == 2
    assert "expected all, sample or sample:N with N of 0 to 1000000" in err
