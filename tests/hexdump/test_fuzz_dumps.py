"""A small run of tools/fuzz_dumps: nothing but ArgpackError leaves the reader. The tool judges times, no test does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_random_and_mutated_inputs_are_read_or_refused():
    command = [sys.executable, ROOT / "tools/fuzz_dumps", "--count", "4000", "--seed", "7", "--any-time"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("4000 inputs: ")
    read, refused = (int(part.split()[0]) for part in found.stdout[13:].partition(";")[0].split(", "))
    # A corpus that is never read, or never broken, would test nothing.
    assert read > 400
    assert refused > 400
