"""The samples of docs/dumps.md are read as the formats they are shown for, and its recipes for git work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from argpack.hexdump import Dump, parse, render_bytes
from argpack.hexdump.formats import FORMATS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/dumps.md").read_text()
SAMPLES = re.findall(r"\*\*`([\w-]+)`\*\*(?:[^\n]+\n)+\n```text\n(.*?)\n```", PAGE, re.DOTALL)
DATA = bytes.fromhex("0000206dab7f0000 00010000 00100000 0000803f 01000000")
CAPTURE = ROOT / "dumps/aiter_f4gemm_256x256x4096_nopreshuffle.txt"


@pytest.mark.parametrize(("name", "sample"), SAMPLES, ids=[name for name, _ in SAMPLES])
def test_a_sample_is_the_24_bytes_with_and_without_its_format_named(name, sample):
    order = "memory" if name == "word-groups" else None
    assert parse(sample, format_name=name, word_order=order) == Dump.whole(DATA)
    assert parse(sample, word_order=order) == Dump.whole(DATA)


def test_every_format_is_on_the_page():
    assert len(SAMPLES) > 15
    missing = [entry.name for entry in FORMATS if f"`{entry.name}`" not in PAGE and entry.name != "capture"]
    assert missing == []


def test_the_recipes_for_git_show_fields(tmp_path):
    recipes = re.findall(r"git config (diff\S+) ('[^']*'|true)", PAGE)
    assert [name for name, _ in recipes] == [
        "diff.argpack.textconv",
        "diff.argpack.binary",
        "difftool.argpack.cmd",
    ]

    def git(*command, check=True):
        names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        return subprocess.run(
            ["git", *names, *command], cwd=tmp_path, capture_output=True, text=True, check=check,
            env={"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        ).stdout  # fmt: skip

    python = f'"{sys.executable}" -m argpack'
    git("init", "-q")
    for name, value in recipes:
        git(
            "config",
            name,
            value.strip("'")
            .replace("argpack show", f"{python} show")
            .replace("argpack diff", f"{python} diff"),
        )
    (tmp_path / ".gitattributes").write_text("*.kernarg diff=argpack\n")
    dump = parse(CAPTURE.read_text())
    path = tmp_path / "args.kernarg"
    path.write_bytes(render_bytes(dump, format_name="raw"))
    git("add", ".")
    git("commit", "-qm", "one")
    changed = bytearray(dump.data)
    changed[0x150:0x154] = (64).to_bytes(4, "little")
    path.write_bytes(changed)
    shown = [line for line in git("diff").splitlines() if line[0] in "+-" and line[:3] not in {"+++", "---"}]
    fields = [line for line in shown if not line.startswith("+doubtful")]
    assert [line[0] for line in fields] == ["-", "+"]
    assert all(line.split()[5] == "stride_ScaleB0" for line in fields)
    compared = git("difftool", "--no-prompt", "--tool", "argpack", "HEAD", "--", "args.kernarg", check=False)
    assert "stride_ScaleB0" in compared
