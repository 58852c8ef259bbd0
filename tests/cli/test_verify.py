"""`argpack verify`: what it prints, its JSON, its exit codes."""

import io
import json

import pytest

from argpack.cli import main
from argpack.cli.progress import Progress
from argpack.kernels import OWN

SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
SIZES = ["-m", "33", "-n", "64", "-k", "320"]


@pytest.fixture
def verify(kernels_dir, capsys):
    """Runs `argpack verify` on the emulator; gives exit code, standard output and standard error."""

    def run(*arguments):
        options = [] if "--backend" in arguments else ["--backend", "emulator"]
        code = main(["verify", *arguments, "--kernels", str(kernels_dir), *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_person_sees_facts_arguments_and_verdict(verify, kernels_dir):
    code, out, err = verify(SMALL, *SIZES, "--seed", "3")
    assert (code, err) == (0, "")
    for text in (
        "kernel    _ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E\n",
        f"file      {kernels_dir}/gfx950/f4gemm/{SMALL}.co (gfx950, code object V",
        "uses      tile 32x128, ",
        "metadata  372 bytes are passed, 384 declared",
        "problem   M=33 N=64 K=320, alpha 1, beta 0, seed 3\n",
        "launch    1 x 2 x 1 workgroups of 256 x 1 x 1 work-items\n",
        "scales of A: 33 x 10 e8m0, scale_32x8, padded to 64 x 16 with 0x00\n",
        "backend   emulator: asked for\n",
        "372 bytes of arguments, as passed:\n",
        "0x0a0   40 01 00 00",
        "23 pads, 252 bytes: 23 zero\n",
        "PASS  2112 outputs: ",
    ):
        assert text in out
    assert "FAIL" not in out


def test_a_path_is_a_kernel(verify, kernels_dir):
    code, out, _ = verify(str(OWN / "sgemm.co"), "-m", "16", "-n", "16", "-k", "4")
    assert code == 0
    assert "PASS  256 outputs" in out


def test_json_is_one_object_with_the_numbers(verify):
    code, out, err = verify(SMALL, *SIZES, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    expected = {
        "kernel": "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E",
        "backend": "emulator",
        "verdict": "pass",
        "target": "gfx950",
        "family": "aiter_f4gemm",
        "m": 33,
        "n": 64,
        "k": 320,
        "grid": [1, 2, 1],
        "elements": 2112,
        "first_bad": None,
        "wrong": 0,
        "memory_errors": [],
        "overridden": [],
    }
    assert {name: found[name] for name in expected} == expected
    assert found["kernel_seconds"] > 0
    assert found["bit_equal"] >= 2110
    assert found["max_ulp"] <= 1
    assert 0 < found["norm_error"] < 0.01
    assert len(bytes.fromhex(found["arguments"])) == 372


def test_a_failure_is_exit_1_with_its_reason(verify):
    mistake = (SMALL, *SIZES, "--scale-layout", "row_major", "--force")
    code, out, _ = verify(*mistake)
    assert code == 1
    assert "forced    scales of A are laid out as row_major, the kernel reads scale_32x8\n" in out
    assert "FAIL  2112 outputs" in out
    assert "outputs are beyond tolerance, first at row " in out
    code, out, _ = verify(*mistake, "--json")
    found = json.loads(out)
    assert (code, found["verdict"]) == (1, "fail")
    assert found["wrong"] > 1000
    assert isinstance(found["first_bad"], list)
    assert found["reason"]


def test_json_has_no_nan_of_its_own(verify):
    arguments = (SMALL, "-m", "32", "-n", "128", "-k", "256", "--set", "ptr_A=null", "--force", "--json")
    _, out, _ = verify(*arguments)
    found = json.loads(out, parse_constant=pytest.fail)
    assert found["found"] == "nan"
    assert found["memory_errors"][0].startswith("memory access fault")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scale-pad", "0x7f"], "scale columns are padded with 0x7f"),
        (["--scale-layout", "row_major"], "scales of A are laid out as row_major"),
        (["--b-layout", "row_major"], "B is laid out as row_major"),
        (["--exchange-scales"], "the scales of A and B have changed places"),
        (
            ["--set", "stride_A0=160"],
            "stride_A0 is set to 160, this problem needs 320 fp4 elements: the wrong unit?",
        ),
        (["--alpha", "2"], "this kernel reads alpha and ignores it, found 2"),
        (["--beta", "1"], "no f4gemm kernel adds beta·C, found beta 1"),
        (["--log2-k-split", "1"], "this kernel does not split K"),
        (["-n", "72"], "N must be a multiple of 32"),
        (["-k", "100"], "K: expected a multiple of 32"),
        (["-m", "0"], "M: expected 1 to 4294967295, found 0"),
        (["--no-zero"], "only a launch that splits K has its output zeroed"),
        (["--set", "stride_Q0=1"], "no field is named 'stride_Q0'"),
        (["--set", "pad_M=1"], "--set pad_M=1: pad_M is a pad, not a field"),
        (["--set", "M"], "--set M: expected FIELD=VALUE"),
        (["--set", "M=many"], "--set M=many: expected a value of type u32, found 'many'"),
        (["--set", "M=1.5"], "--set M=1.5: expected a value of type u32, found '1.5'"),
        (["--set", "M=null"], "--set M=null: expected a value of type u32"),
        (["--set", "M=4294967296"], "--set M=4294967296: expected 0 to 4294967295 (u32), found 4294967296"),
        (["--set", "beta=1", "--set", "beta=2"], "--set beta=2: beta is set twice"),
        (["--scale-pad", "256"], "scale_pad: expected a byte"),
        (["--scale-layout", "scale_32x9"], "unknown layout 'scale_32x9'"),
        (["--backend", "hip"], "no HIP"),
    ],
)
def test_what_could_not_be_checked_is_one_line_and_exit_2(verify, options, message):
    code, out, err = verify(SMALL, *SIZES, *options)
    assert (code, out) == (2, "")
    assert err.startswith("argpack: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_kernel_that_hangs_is_exit_2(verify):
    # Without rows the loop that finds the workgroup's tile never ends.
    code, out, err = verify(SMALL, *SIZES, "--set", "M=0", "--force")
    assert code == 2
    assert "PASS" not in out
    assert err.count("\n") == 1
    assert err.endswith(
        ": 500,000 turns in the code around 0x2cec without an access to memory: it seems to hang\n"
    )


def test_options_of_layouts_are_refused_where_there_are_none(verify):
    for options in (["--scale-pad", "0"], ["--b-layout", "row_major"], ["--exchange-scales"], ["--no-zero"]):
        code, _, err = verify("sgemm", *options)
        assert code == 2
        assert "own_sgemm: its operands have no scales, no layouts and no output to zero" in err


def test_a_kernel_of_no_family_is_named_with_its_target(verify):
    code, _, err = verify("gfx942/all_reduce.co")
    assert code == 2
    assert "for gfx942: of aiter_all_reduce, whose arguments argpack knows; it launches others" in err
    assert "(aiter_f4gemm, own_sgemm)" in err


def test_an_ambiguous_name_lists_the_candidates(verify):
    code, _, err = verify("preShuffle_256x256")
    assert code == 2
    assert "noBpreShuffle_256x256.co" in err


def test_default_sizes_fit_the_kernel(verify):
    code, out, _ = verify("f4gemm_bf16_per1x32Fp4_BpreShuffle_128x512", "-m", "32", "-k", "256", "--json")
    assert code == 0
    assert json.loads(out)["n"] == 512


def test_split_k_and_alpha_reach_the_kernel(verify):
    name = "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256"
    sizes = ["-m", "16", "-k", "512", "--alpha", "0.5", "--log2-k-split", "1"]
    code, out, _ = verify(name, *sizes)
    assert code == 0
    assert "alpha 0.5, beta 0, K in 2^1 slices, seed 0" in out
    assert "launch    1 x 1 x 2 workgroups" in out
    code, out, _ = verify(name, *sizes, "--no-zero", "--force")
    assert code == 1
    assert "D is not zeroed, and 2 slices of K add to what is there" in out
    assert "none finite, 4096 wrong" in out


def test_a_likely_cause_is_hinted_at(verify):
    _, out, _ = verify(SMALL, *SIZES, "--alpha", "0.5", "--force")
    assert "      hint: outputs are 2× the reference everywhere" in out


def test_reads_past_the_end_are_findings_of_which_the_first_are_shown(verify):
    code, out, _ = verify("f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256", "-m", "8", "-k", "32")
    assert code == 0
    assert out.count("      finding: ") == 3
    assert "bytes read past the end of B by buffer_load_dwordx4" in out
    assert " findings more\n" in out


def test_a_problem_that_no_memory_holds_is_exit_2(verify):
    code, _, err = verify(SMALL, "-m", "4000000000", "-n", "64", "-k", "1048576")
    assert code == 2
    assert "argpack: error: buffers of 2228736051118080 bytes do not fit the emulated address space" in err


class TestPattern:
    def test_many_kernels_share_one_table(self, verify):
        code, out, err = verify("f4gemm*_32x[12]*", "-m", "8", "-n", "128", "-k", "256")
        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert lines[0].split() == [
            "kernel",
            "verdict",
            "outputs",
            "bit-equal",
            "max",
            "ulp",
            "norm",
            "error",
            "seconds",
        ]
        assert [line.split()[:3] for line in lines[1:4]] == [
            [f"f4gemm_bf16_per1x32Fp4_BpreShuffle_{tile}.co", "pass", "1024"]
            for tile in ("32x1024", "32x128", "32x256")
        ]
        assert lines[4] == "3 kernels: 3 passed"

    def test_one_that_cannot_be_checked_makes_exit_2_and_the_others_are_checked(self, verify):
        code, out, _ = verify("f4gemm*_256x*", "-m", "8", "-n", "128", "-k", "256")
        assert code == 2
        assert "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co: not checked: " in out
        assert "3 kernels: 1 passed, 2 not checked" in out

    def test_one_failure_makes_exit_1(self, verify):
        code, out, _ = verify(
            "f4gemm*_[23]*x128", "-m", "8", "-n", "128", "-k", "64", "--scale-pad", "0xff", "--force"
        )
        assert code == 1
        assert "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co: FAIL: " in out
        assert "failed" in out.splitlines()[-1]

    def test_json_lists_the_results_in_one_object(self, verify):
        code, out, _ = verify("f4gemm*_256x*", "-m", "8", "-n", "128", "-k", "256", "--json")
        found = json.loads(out)
        assert code == 2
        assert [result["verdict"] for result in found["results"]] == ["pass", "not checked", "not checked"]
        assert found["pattern"] == "f4gemm*_256x*"
        assert found["results"][1]["reason"]

    def test_a_pattern_without_a_match_is_an_error(self, verify):
        code, _, err = verify("nothing*")
        assert code == 2
        assert "nothing*: no code object" in err


class TestProgress:
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    @pytest.fixture
    def clock(self, monkeypatch):
        times = [0.0]
        monkeypatch.setattr("argpack.cli.progress.time.monotonic", lambda: times[0])
        return times

    def test_nothing_is_drawn_for_what_is_quick(self, clock):
        stream = self.Terminal()
        with Progress("workgroups", stream) as progress:
            clock[0] = 0.9
            progress(1, 2)
        assert stream.getvalue() == ""

    def test_a_bar_is_drawn_and_wiped(self, clock):
        stream = self.Terminal()
        with Progress("workgroups", stream) as progress:
            clock[0] = 1.5
            progress(1, 2)
            clock[0] = 1.55
            progress(1, 2)
        text = "[" + "#" * 15 + "." * 15 + "] 1 of 2 workgroups, 2 s"
        assert stream.getvalue() == f"\r{text}\r{' ' * len(text)}\r"

    def test_nothing_is_drawn_into_a_file(self, clock):
        stream = io.StringIO()
        with Progress("workgroups", stream) as progress:
            clock[0] = 5.0
            progress(1, 2)
        assert stream.getvalue() == ""
