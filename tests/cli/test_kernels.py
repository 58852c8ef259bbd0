"""`argpack kernels`: what is printed, exit codes, and one line for what cannot be done."""

import json

import pytest

from argpack import kernels
from argpack.cli import main
from argpack.kernels import wheel

FP4 = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle"


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGPACK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("AITER_ASM_DIR", raising=False)
    return tmp_path / "cache" / "amd-aiter-0.1.7.post2.dev18" / "hsa"


@pytest.fixture
def bring(monkeypatch, empty_cache):
    """Makes pip and the unpacking bring one file."""

    def unpack(_, target):
        target.mkdir()
        (target / "a.co").write_text("a")

    monkeypatch.setattr(wheel, "COUNT", 1)
    monkeypatch.setattr(kernels, "COUNT", 1)
    monkeypatch.setattr(wheel, "_download", lambda folder: folder / "x.whl")
    monkeypatch.setattr(wheel, "_check", lambda _: None)
    monkeypatch.setattr(wheel, "_unpack", unpack)


def test_fetch_says_what_it_does_and_where(bring, empty_cache, capsys):
    assert main(["kernels", "fetch"]) == 0
    out, err = capsys.readouterr()
    assert out == f"amd-aiter 0.1.7.post2.dev18: 1 code objects fetched and checked: {empty_cache}\n"
    assert err == "downloading amd-aiter 0.1.7.post2.dev18 (40 MB) with pip\n"


def test_second_fetch_downloads_nothing_unless_forced(bring, empty_cache, capsys):
    assert main(["kernels", "fetch"]) == 0
    capsys.readouterr()
    assert main(["kernels", "fetch"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (
        f"amd-aiter 0.1.7.post2.dev18: 1 code objects already there: {empty_cache}\n",
        "",
    )
    assert main(["kernels", "fetch", "--force"]) == 0
    assert "fetched and checked" in capsys.readouterr().out


def test_fetch_that_fails_is_one_line_and_exit_2(empty_cache, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["kernels", "fetch"]) == 2
    _, last = capsys.readouterr().err.splitlines()
    assert last.startswith("argpack: error: cannot fetch amd-aiter 0.1.7.post2.dev18: pip is missing (")
    assert last.endswith("--kernels DIR or AITER_ASM_DIR (the folder that holds gfx950/…)")


def test_list_shows_path_target_and_size(kernels_dir, capsys):
    assert main(["kernels", "list", "*BpreShuffle_*x512*", "--kernels", str(kernels_dir)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{FP4}_128x512.co  gfx950     37,400 bytes",
        f"{FP4}_32x512.co   gfx950     20,152 bytes",
        f"{FP4}_64x512.co   gfx950     21,472 bytes",
        f"{FP4}_96x512.co   gfx950     26,536 bytes",
        f"4 code objects in {kernels_dir}",
    ]


def test_list_of_everything(kernels_dir, capsys):
    assert main(["kernels", "list", "--kernels", str(kernels_dir)]) == 0
    *rows, total = capsys.readouterr().out.splitlines()
    assert total == f"2,502 code objects in {kernels_dir}"
    assert sum(" gfx942 " in row for row in rows) == 1281
    assert sum(" gfx950 " in row for row in rows) == 1221


def test_list_as_json(kernels_dir, capsys):
    assert main(["kernels", "list", "sgemm", "--kernels", str(kernels_dir), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(kernels_dir),
        "kernels": [{"path": "own/sgemm.co", "target": "gfx950", "bytes": 3584}],
    }


def test_list_with_nothing_fetched_shows_the_own_kernel(empty_cache, capsys):
    assert main(["kernels", "list"]) == 0
    assert capsys.readouterr().out == (
        "own/sgemm.co  gfx950      3,584 bytes\n1 code object (none fetched: run `argpack kernels fetch`)\n"
    )
    assert main(["kernels", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["folder"] is None


def test_list_names_a_file_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "a.co").write_text("text")
    assert main(["kernels", "list", "--kernels", str(tmp_path)]) == 0
    assert capsys.readouterr().out == (
        "a.co          unreadable          4 bytes\n"
        "own/sgemm.co  gfx950          3,584 bytes\n"
        f"2 code objects in {tmp_path}\n"
    )


def test_list_of_a_lost_link_names_it(tmp_path, capsys):
    (tmp_path / "a.co").symlink_to(tmp_path / "nowhere")
    assert main(["kernels", "list", "a", "--kernels", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "a.co  unreadable          0 bytes"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "x*", "--kernels", "{tmp}"], "x*: no code object in {tmp} fits this pattern"),
        (
            ["list", "--kernels", "{tmp}/x"],
            "--kernels: {tmp}/x: expected a folder of code objects, found no such folder",
        ),
        (
            ["list", "x*"],
            "x*: no kernels fetched: run `argpack kernels fetch`, or name a folder with --kernels or AITER_ASM_DIR",
        ),
    ],
)
def test_what_cannot_be_listed_is_one_line_and_exit_2(arguments, message, tmp_path, empty_cache, capsys):
    assert main(["kernels", *(word.format(tmp=tmp_path) for word in arguments)]) == 2
    assert capsys.readouterr().err == f"argpack: error: {message.format(tmp=tmp_path)}\n"


@pytest.mark.parametrize("arguments", [[], ["bring"], ["list", "a", "b"], ["fetch", "a"]])
def test_wrong_usage_is_exit_2(arguments, capsys):
    assert main(["kernels", *arguments]) == 2
    assert "usage: argpack" in capsys.readouterr().err
