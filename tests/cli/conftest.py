"""Fixtures of the command line's tests."""

from pathlib import Path

import numpy as np
import pytest
from layout_case import IMAGE, SCALES

from argpack.cli import main

TOML = '[scale_24x4]\npattern = "(mo m24) (ko k4) -> mo ko m24 k4"\ntensor = "scales"\n'


@pytest.fixture
def layout(tmp_path, monkeypatch, capsys):
    """Runs `argpack layout` in a folder of its own, which holds the scales and their image."""
    monkeypatch.chdir(tmp_path)
    np.save("s.npy", SCALES)
    IMAGE.tofile("s.bin")
    Path("mine.toml").write_text(TOML)

    def run(*arguments):
        code = main(["layout", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
