"""Fetching: what pip brings is checked, unpacked as a whole or not at all, and not fetched twice."""

import hashlib
import os
import shutil
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from argpack import kernels
from argpack.errors import UnavailableError
from argpack.kernels import wheel as fetching

RELEASE = "0.1.7.post2.dev18"
WHEEL = f"amd_aiter-{RELEASE}-py3-none-any.whl"
# Stands in for pip: copies the wheel of the test to where it was asked to, and leaves a line in the log each time.
FAKE_PIP = """
import os, shutil, sys
with open(os.environ["PIP_LOG"], "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
shutil.copy(os.environ["PIP_WHEEL"], sys.argv[sys.argv.index("--dest") + 1])
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("ARGPACK_CACHE", str(folder))
    monkeypatch.delenv("AITER_ASM_DIR", raising=False)
    return folder


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """Replaces pip in child processes by the script it is given."""

    def use(script):
        package = tmp_path / "fake" / "pip"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text("")
        (package / "__main__.py").write_text(script)
        monkeypatch.setenv(
            "PYTHONPATH", os.pathsep.join([str(package.parent), str(Path(kernels.__file__).parents[2])])
        )

    return use


@pytest.fixture
def release(tmp_path, monkeypatch, pip):
    """A wheel with three code objects and other files; its digest and count are what `fetch` expects."""
    wheel = tmp_path / WHEEL
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("gfx950/f4gemm/a.co", "gfx950/f4gemm/f4gemm.csv", "gfx942/mla/a.co", "gfx942/b.co"):
            archive.writestr(f"aiter_meta/hsa/{name}", f"bytes of {name}")
        archive.writestr("aiter_meta/hsa/codegen.py", "raise SystemExit")
        archive.writestr("aiter_meta/other/c.co", "elsewhere")
    monkeypatch.setattr(fetching, "_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(fetching, "COUNT", 3)
    monkeypatch.setenv("PIP_WHEEL", str(wheel))
    monkeypatch.setenv("PIP_LOG", str(tmp_path / "log"))
    pip(FAKE_PIP)
    return wheel


def downloads(tmp_path):
    log = tmp_path / "log"
    return log.read_text().splitlines() if log.exists() else []


def below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_code_objects_and_tables_are_unpacked_and_nothing_else(cache, release):
    folder, downloaded = kernels.fetch()
    assert (folder, downloaded) == (cache / f"amd-aiter-{RELEASE}" / "hsa", True)
    assert below(cache / f"amd-aiter-{RELEASE}") == [
        "hsa/gfx942/b.co",
        "hsa/gfx942/mla/a.co",
        "hsa/gfx950/f4gemm/a.co",
        "hsa/gfx950/f4gemm/f4gemm.csv",
    ]
    assert (folder / "gfx942/b.co").read_text() == "bytes of gfx942/b.co"
    assert kernels.kernel_root(None) == folder


def test_pip_is_asked_for_this_release_without_its_dependencies(cache, release, tmp_path):
    kernels.fetch()
    (line,) = downloads(tmp_path)
    words = line.split()
    assert (words[0], words[-1]) == ("download", f"amd-aiter=={RELEASE}")
    assert {"--no-deps", "--pre", "--only-binary=:all:"} <= set(words)


def test_second_call_downloads_nothing(cache, release, tmp_path):
    kernels.fetch()
    assert kernels.fetch() == (cache / f"amd-aiter-{RELEASE}" / "hsa", False)
    assert len(downloads(tmp_path)) == 1


def test_lost_file_is_fetched_again(cache, release, tmp_path):
    folder, _ = kernels.fetch()
    (folder / "gfx942/b.co").unlink()
    assert kernels.fetch() == (folder, True)
    assert (folder / "gfx942/b.co").exists()
    assert below(cache)[0] == f"amd-aiter-{RELEASE}/hsa/gfx942/b.co"  # and no temporary folder is left


def test_force_downloads_again(cache, release, tmp_path):
    folder, _ = kernels.fetch()
    (folder / "gfx942/b.co").write_text("edited")
    assert kernels.fetch(force=True) == (folder, True)
    assert (folder / "gfx942/b.co").read_text() == "bytes of gfx942/b.co"
    assert len(downloads(tmp_path)) == 2


def test_corrupt_download_is_named_and_nothing_kept(cache, release):
    expected = hashlib.sha256(release.read_bytes()).hexdigest()
    release.write_bytes(release.read_bytes()[:-1])
    found = hashlib.sha256(release.read_bytes()).hexdigest()
    with pytest.raises(UnavailableError) as error:
        kernels.fetch()
    assert str(error.value) == f"{WHEEL}: expected sha256 {expected}, found {found}; nothing was kept"
    assert below(cache) == []


def test_corrupt_download_leaves_what_was_there(cache, release):
    folder, _ = kernels.fetch()
    release.write_bytes(b"a proxy's error page")
    with pytest.raises(UnavailableError, match="expected sha256"):
        kernels.fetch(force=True)
    assert (folder / "gfx942/b.co").read_text() == "bytes of gfx942/b.co"


def test_other_count_of_code_objects_is_refused(cache, release, monkeypatch):
    monkeypatch.setattr(fetching, "COUNT", 4)
    with pytest.raises(UnavailableError, match="expected 4 code objects, found 3; nothing was kept"):
        kernels.fetch()
    assert kernels.kernel_root(None) is None


def test_failure_of_pip_is_told_in_its_words(cache, pip):
    pip("import sys; sys.exit('WARNING: x\\nERROR: No matching distribution found for amd-aiter\\nnote: y')")
    with pytest.raises(UnavailableError) as error:
        kernels.fetch()
    assert str(error.value) == (
        f"cannot fetch amd-aiter {RELEASE} with pip: No matching distribution found for amd-aiter; is a package "
        "index reachable? Or point at kernels by hand with --kernels DIR or AITER_ASM_DIR (the folder that holds "
        "gfx950/…)"
    )
    assert below(cache) == []


def test_pip_that_fails_without_an_error_line_is_told_all_the_same(cache, pip):
    pip("import sys; sys.exit('Killed')")
    with pytest.raises(UnavailableError, match="with pip: Killed; is"):
        kernels.fetch()


def test_pip_that_brings_nothing_is_a_failure(cache, pip):
    pip("")
    with pytest.raises(UnavailableError, match="with pip: no message; is"):
        kernels.fetch()


def test_missing_pip_is_told(cache, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip is missing .*; install it, or point at kernels by hand"):
        kernels.fetch()


def test_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ARGPACK_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        UnavailableError, match=r"cannot keep kernels in .*; name another folder with ARGPACK_C"
    ):
        kernels.fetch()


@pytest.mark.parametrize("step", ["moving old files away", "moving new files into place"])
def test_rename_that_fails_is_told(step, cache, release, monkeypatch):
    rename = Path.rename

    def refuse(self, destination):
        if self.parent.name.startswith(".fetching-") == (step == "moving new files into place"):
            raise PermissionError(13, "Permission denied")
        return rename(self, destination)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UnavailableError, match=r"cannot keep kernels in .*: Permission denied"):
        kernels.fetch()
    assert below(cache) == []


def test_slower_of_two_fetches_keeps_the_files_of_the_faster(cache, release, monkeypatch):
    rename = Path.rename

    def late(self, destination):
        if self.name == "hsa":
            shutil.copytree(self, destination)
            (destination / "faster").touch()
        return rename(self, destination)

    monkeypatch.setattr(Path, "rename", late)
    folder, _ = kernels.fetch()
    assert below(folder) == [
        "faster",
        "gfx942/b.co",
        "gfx942/mla/a.co",
        "gfx950/f4gemm/a.co",
        "gfx950/f4gemm/f4gemm.csv",
    ]


def test_two_processes_at_once_both_succeed(cache, release):
    program = textwrap.dedent(f"""
        from argpack.kernels import wheel as fetching
        fetching._SHA256, fetching.COUNT = {fetching._SHA256!r}, 3
        for force in (False, True, True, True):
            fetching.fetch(force=force)
    """)
    running = [
        subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [(process.communicate()[1], process.returncode) for process in running] == [("", 0), ("", 0)]
    assert len(below(cache)) == 4


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"ARGPACK_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/argpack"),
        ({"ARGPACK_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/argpack"),
    ],
)
def test_place_of_the_cache(variables, expected, monkeypatch):
    for name in ("ARGPACK_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert kernels.cache_dir() == Path(expected)


def test_no_home_folder_is_told(monkeypatch):
    def fail():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ARGPACK_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", fail)
    with pytest.raises(UnavailableError, match=r"no home folder .*: name a folder with ARGPACK_CACHE"):
        kernels.cache_dir()


def test_the_real_release_is_in_the_cache(kernels_dir):
    assert sorted(path.name for path in kernels_dir.iterdir() if path.is_dir()) == ["gfx942", "gfx950"]
    assert len(list(kernels_dir.rglob("*.co"))) == 2501
