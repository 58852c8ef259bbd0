import shutil
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("options", "name"), [((), "emulator"), (("--backend", "hip"), "hip")])
def test_the_backend_of_a_test_run_is_an_option(pytester, options, name):
    shutil.copy(ROOT / "conftest.py", pytester.path)
    pytester.makepyfile(f"def test_it(backend_name): assert backend_name == {name!r}")
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=1)


def test_another_backend_is_refused(pytester):
    shutil.copy(ROOT / "conftest.py", pytester.path)
    result = pytester.runpytest_inprocess("--backend", "cuda")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("*invalid choice: 'cuda'*")
