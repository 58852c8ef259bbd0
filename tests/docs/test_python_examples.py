"""Every python block in README.md and docs/ runs, and prints what its trailing comments say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PRINTED = re.compile(r"^print\(.*\)  # ([\d ]+)$", re.MULTILINE)

EXAMPLES = [
    pytest.param(match[1], id=f"{path.name}:{path.read_text()[: match.start()].count(chr(10)) + 1}")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for match in _FENCE.finditer(path.read_text())
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_a_python_block_runs_and_prints_what_it_says(code, tmp_path):
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    for expected in _PRINTED.findall(code):
        assert expected in printed


def test_the_readme_has_a_python_block():
    assert any("README" in str(example.id) for example in EXAMPLES)
