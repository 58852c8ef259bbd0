"""`argpack verify --repeat` where there is no GPU: said, not measured. On a device: tests/hip_runtime."""

import pytest

from argpack.cli import main


def test_the_emulators_time_is_no_measurement(capsys):
    assert main(["verify", "sgemm", "--backend", "emulator", "--repeat", "3"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "argpack: error: --repeat measures the time of a GPU; this runs on the emulator: asked for\n"
    )


@pytest.mark.parametrize("count", ["0", "-1", "1000001", "x", ""])
def test_a_count_that_is_none_is_refused(count, capsys):
    assert main(["verify", "sgemm", "--repeat", count]) == 2
    assert f"argument --repeat: expected 1 to 1000000, found {count}\n" in capsys.readouterr().err
