"""`argpack trace`: what it finds in kernels that are right, and in launches and kernels that were made wrong."""

from __future__ import annotations

import json

import pytest

from argpack.cli import main

PREFIX = "f4gemm_bf16_per1x32Fp4_"
SMALL = f"{PREFIX}BpreShuffle_32x128"
SIZES = ["-m", "40", "-n", "160", "-k", "512"]

# What the kernel does with each argument, as others measured it.
LIVE = {
    *("ptr_D", "ptr_A", "ptr_B", "ptr_ScaleA", "ptr_ScaleB", "stride_C0", "stride_A0", "stride_B0"),
    *("M", "N", "K", "stride_ScaleA0", "stride_ScaleB0"),
}
DEAD = {"ptr_C", "beta", "alpha"}
UNREAD = {
    *("stride_D0", "stride_D1", "stride_C1", "stride_A1", "stride_B1", "stride_ScaleA1", "stride_ScaleB1"),
    "log2_k_split",
}


@pytest.fixture
def trace(kernels_dir, capsys):
    """Runs `argpack trace`; gives exit code, standard output and standard error."""

    def run(*arguments):
        code = main(["trace", *arguments, "--kernels", str(kernels_dir)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def found(trace):
    """Runs `argpack trace --json`; gives the exit code and the object."""

    def run(*arguments):
        code, out, err = trace(*arguments, "--json")
        assert err == ""
        return code, json.loads(out)

    return run


@pytest.fixture
def patched(kernels_dir, tmp_path):
    """The small kernel with bytes at an address replaced, as a file."""

    def write(before, after):
        data = (kernels_dir / f"gfx950/f4gemm/{SMALL}.co").read_bytes()
        old, new = bytes.fromhex(before), bytes.fromhex(after)
        assert (data.count(old), len(old)) == (1, len(new))
        path = tmp_path / "patched.co"
        path.write_bytes(data.replace(old, new))
        return str(path)

    return write


def wrong(result):
    return [finding["text"] for finding in result["findings"] if finding["severity"] == "wrong"]


def notes(result):
    return [finding["text"] for finding in result["findings"] if finding["severity"] == "note"]


def test_arguments_have_the_classes_that_were_measured(found):
    code, result = found(SMALL, *SIZES)
    assert (code, result["verdict"], wrong(result)) == (0, "clean", [])
    classes = {}
    for argument in result["arguments"]:
        classes.setdefault(argument["class"], set()).add(argument["name"])
    assert {name: classes[name] for name in ("live", "dead", "unread")} == {
        "live": LIVE,
        "dead": DEAD,
        "unread": UNREAD,
    }
    assert len(classes["pad"]) == 23
    by_name = {argument["name"]: argument for argument in result["arguments"]}
    assert (by_name["M"]["offset"], by_name["M"]["size"]) == (0xE0, 4)
    assert by_name["M"]["loads"] == [
        {"address": 0x2C58 - 8, "text": "s_load_dword s43, s[0:1], 0xe0", "first": 0xE0, "end": 0xE4}
    ]


def test_memory_is_counted_per_buffer(found):
    _, result = found(SMALL, *SIZES)
    buffers = {b["name"]: (b["size"], b["read"], b["written"], b["never"]) for b in result["buffers"]}
    # D is allocated for 64 rows, the 24 behind M are dropped by its resource.
    assert buffers["D"] == (64 * 320, 0, 40 * 320, 24 * 320)
    assert buffers["A"] == (40 * 256, 40 * 256, 0, 0)
    assert buffers["B"] == (160 * 256, 160 * 256, 0, 0)
    stores = [a for a in result["accesses"] if a["buffers"] == ["D"]]
    assert {a["text"].split()[0] for a in stores} == {"buffer_store_dwordx4"}
    assert sum(a["bytes"] for a in stores) == 40 * 320
    executed = {i["address"]: i["executed"] for i in result["instructions"]}
    # 4 waves in each of 2 x 2 workgroups.
    assert executed[0x2C00] == 16


def test_a_person_sees_arguments_memory_notes_and_the_verdict(trace):
    code, out, err = trace(SMALL, *SIZES)
    assert (code, err) == (0, "")
    for line in (
        "0x0e0   M               live    0x2c50     addresses: 40 -> 41\n",
        "0x060   stride_D0       unread  never      nothing (2 tried)\n",
        "23 pads, 252 bytes: never loaded\n",
        "A       10,240  10,240  0        0     0      0             0\n",
        "note   stores of 7,680 bytes are out of range of the buffer resource of D and are dropped\n",
    ):
        assert line in out
    assert out.splitlines()[-1].startswith("CLEAN  nothing wrong, ")


def test_a_large_problem_has_its_arguments_changed_in_a_small_one(trace):
    code, out, _ = trace(SMALL, "-m", "1024", "-n", "1024", "-k", "512")
    assert code == 0
    assert "changed in turn in a launch of M=256 N=256 K=1024\n" in out


def test_arguments_loaded_behind_what_the_host_passes(found, patched):
    # s_load_dword s40, s[0:1], 0x150 with the offset 0x174.
    path = patched("000a02c050010000", "000a02c074010000")
    code, result = found(path, *SIZES, "--force")
    assert code == 1
    assert (
        "the kernel loads arguments up to byte 0x178, the host passes 0x174 bytes: "
        "it takes whatever lies behind them" in wrong(result)
    )


def test_a_wait_taken_out_is_named_with_its_pair(found, patched):
    # s_waitcnt lgkmcnt(0) before s_add_u32 s51, s44, 0x7f.
    path = patched("7fc08cbf2cff33807f000000", "000080bf2cff33807f000000")
    code, result = found(path, *SIZES)
    hazards = [f for f in result["findings"] if f["topic"] == "synchronisation"]
    assert code == 1
    assert hazards[0]["text"].startswith(
        "s44 is read by s_add_u32 s51, s44, 0x7f at 0x2cc0 while s_load_dword s44, s[0:1], 0xf0 at 0x2c58 "
        "may still be filling it: no s_waitcnt between them covers it"
    )
    assert hazards[0]["places"][0] == [
        {"address": 0x2C58, "text": "s_load_dword s44, s[0:1], 0xf0"},
        {"address": 0x2CC0, "text": "s_add_u32 s51, s44, 0x7f"},
    ]


def test_a_barrier_taken_out_is_a_race(trace, patched):
    # s_waitcnt vmcnt(19), s_barrier: the first barrier.
    path = patched("734f8cbf00008abf", "734f8cbf000080bf")
    code, out, _ = trace(path, *SIZES)
    assert code == 1
    assert "are not in order: no barrier between two waves" in out
    assert out.splitlines()[-1].startswith("WRONG  ")


def test_stores_outside_m_x_n_are_found_with_their_instructions(found):
    code, result = found(f"{PREFIX}BpreShuffle_192x256", "-m", "40", "-n", "352", "-k", "256", "--force")
    stray = next(f for f in result["findings"] if "outside the M x N" in f["text"])
    assert code == 1
    assert stray["text"] == (
        "12,800 bytes of D outside the M x N elements of D are written, the first at offset 0x2c0"
    )
    assert all(place["text"].startswith("buffer_store_dwordx4") for (place,) in stray["places"])


def test_outputs_never_written_are_found(found):
    code, result = found(SMALL, *SIZES, "--set", "M=39", "--force")
    assert code == 1
    assert (
        wrong(result)[0]
        == "320 bytes of the M x N elements of D are never written, the first at offset 0x30c0"
    )


def test_what_nobody_had_written_is_found_and_tried(found):
    code, result = found(
        f"{PREFIX}BpreShuffle_256x256", *("-m", "16", "-n", "256", "-k", "512"),
        *("--log2-k-split", "1", "--no-zero", "--force"),
    )  # fmt: skip
    assert code == 1
    assert wrong(result)[0].startswith(
        "8,192 bytes of D are read before anything was written there; it matters: "
    )


def test_padding_that_matters_and_padding_that_does_not(found):
    code, result = found(SMALL, "-m", "40", "-n", "160", "-k", "320")
    assert code == 0
    texts = {text.partition(":")[0]: text for text in notes(result)}
    columns, rows = (texts[f"padding {what} of the scales of A"] for what in ("columns", "rows"))
    assert columns.startswith("padding columns of the scales of A: 240 bytes of 0x00, 240 read; it matters: ")
    assert rows.endswith("; without effect on the output (tried 0x7f 0xff)")
    together = next(e for e in result["experiments"] if e["name"] == "all paddings together")
    # A scale of 1 in the padding of both operands counts, in that of one it is multiplied by 2^-127; 0xff is NaN.
    assert together["outputs_changed"]["0x7f"] > 1000
    assert together["outputs_changed"]["0xff"] == 40 * 160
    one = next(e for e in result["experiments"] if e["name"] == "padding columns of the scales of A")
    assert one["outputs_changed"] == {"0x7f": 0, "0xff": 40 * 160}


def test_reads_behind_a_buffer_that_do_not_matter_are_a_note(found):
    code, result = found(f"{PREFIX}noBpreShuffle_256x256", "-m", "16", "-n", "256", "-k", "32")
    behind = next(text for text in notes(result) if "past the end of B" in text)
    assert code == 0
    assert behind.endswith(
        "(zero here, whatever lies there on a device); without effect on the output (tried 0x7f 0xff)"
    )
    assert any("rows behind row M of D are written, too" in text for text in notes(result))


def test_a_wild_pointer_ends_the_launch_and_arguments_are_still_told(found):
    code, result = found(SMALL, *SIZES, "--set", "ptr_D=null", "--force")
    assert code == 1
    assert wrong(result)[0].startswith("memory access fault: 4-byte write to 0x0, below every buffer, by ")
    assert {a["name"] for a in result["arguments"] if a["class"] == "live"} == LIVE


def test_wrong_numbers_fail_the_trace(found):
    code, result = found(SMALL, *SIZES, "--scale-layout", "row_major", "--force")
    assert code == 1
    assert wrong(result)[-1].startswith("the output is wrong: ")


@pytest.mark.sweep
def test_all_f4gemm_kernels_are_clean(found, kernels_dir):
    paths = sorted((kernels_dir / "gfx950/f4gemm").glob(f"{PREFIX}*.co"))
    assert len(paths) == 35
    for path in paths:
        rows, columns = map(int, path.stem.rpartition("_")[2].split("x"))
        code, result = found(str(path), "-m", str(rows + 3), "-n", str(columns), "-k", "320")
        assert (code, wrong(result)) == (0, []), path.name
        live = {a["name"] for a in result["arguments"] if a["class"] == "live"}
        assert live - {"alpha", "log2_k_split"} == LIVE, path.name


def test_own_sgemm_has_only_live_arguments(found):
    code, result = found("sgemm", "-m", "20", "-n", "18", "-k", "5", "--beta", "1")
    assert code == 0
    assert {argument["class"] for argument in result["arguments"]} == {"live"}
    assert [b["name"] for b in result["buffers"] if b["never"] == 0] == ["D", "A", "B", "C"]


def test_without_beta_sgemm_uses_nothing_of_c(found):
    _, result = found("sgemm", "-m", "20", "-n", "18", "-k", "5", "--beta", "0")
    classes = {argument["name"]: argument["class"] for argument in result["arguments"]}
    assert (classes["ptr_C"], classes["stride_C"]) == ("dead", "dead")


def test_a_kernel_that_hangs_is_stopped_soon(trace):
    # Without rows the loop that finds the workgroup's tile never ends.
    code, _, err = trace(SMALL, *SIZES, "--set", "M=0", "--force")
    assert code == 2
    assert "it seems to hang: 50,000 turns in the code around 0x2cec without an access to memory\n" in err


def test_what_cannot_be_traced_is_one_line(trace, tmp_path):
    (tmp_path / "no.co").write_bytes(b"no code object")
    code, out, err = trace(str(tmp_path / "no.co"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert trace("no_such_kernel")[0] == 2
    code, _, err = trace(SMALL, "-m", "40", "-n", "33", "-k", "512")
    assert (code, "N must be a multiple of 32" in err) == (2, True)
