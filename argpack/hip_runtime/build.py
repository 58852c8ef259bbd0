"""Builds libamdhip64.so from shim.c and the table of functions, with the C compiler, into the user's cache."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from argpack.errors import UnavailableError
from argpack.hip_runtime.functions import C_TYPES, Function, symbols, table
from argpack.kernels import cache_dir

LIBRARY = "libamdhip64.so"
# Programs built with ROCm 5, 6 and 7 ask for these names.
_MAJORS = (5, 6, 7)
_PACKAGES = Path(__file__).parents[2]


def build() -> Path:
    """The folder that has `lib/libamdhip64.so`, built if this argpack and this Python have not built it yet.

    Raises UnavailableError where there is no C compiler or it fails, or the cache cannot be written.
    """
    source, exports = c_source(), version_script()
    key = hashlib.sha256(f"{source}{exports}{sys.executable}{_PACKAGES}".encode()).hexdigest()[:16]
    target = cache_dir() / f"hip-{key}"
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            lib = Path(folder, "rocm", "lib")
            lib.mkdir(parents=True)
            _compile(source, exports, lib / LIBRARY)
            for major in _MAJORS:
                Path(lib, f"{LIBRARY}.{major}").symlink_to(LIBRARY)
            try:
                lib.parent.rename(target)
            except OSError:
                if not target.is_dir():  # else another process was faster
                    raise
    except OSError as error:
        raise UnavailableError(f"{target}: cannot build {LIBRARY}: {error}") from error
    return target


def _compile(source: str, exports: str, library: Path) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise UnavailableError(
            f"building {LIBRARY} needs a C compiler, and there is no cc: install gcc or clang"
        )
    folder = library.parent
    code, script = folder / "shim.c", folder / "exports.map"
    code.write_text(source)
    script.write_text(exports)
    options = ("-O2", "-shared", "-fPIC", "-pthread", f"-Wl,-soname,{LIBRARY}.{_MAJORS[-1]}")
    command = [compiler, *options, f"-Wl,--version-script={script}", "-o", str(library), str(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or "no message").splitlines()[0]
        raise UnavailableError(f"{compiler} cannot build {LIBRARY}: {reason}")
    code.unlink()
    script.unlink()


@functools.cache
def fingerprint() -> str:
    """Changes with every change of the protocol or the table: library and server must have the same."""
    code = Path(__file__).with_name("shim.c").read_bytes()
    return hashlib.sha256(
        code + "\n".join(map(_forwarder, range(len(table())), table())).encode()
    ).hexdigest()[:16]


def c_source() -> str:
    """shim.c with its constants before it and the forwarders of all functions behind it."""
    constants = {"PYTHON": sys.executable, "PACKAGES": str(_PACKAGES), "BUILD": fingerprint()}
    head = "".join(f"#define {name} {_c_string(value)}\n" for name, value in constants.items())
    functions = table()
    forwarders = "\n".join(map(_forwarder, range(len(functions)), functions))
    return head + Path(__file__).with_name("shim.c").read_text() + "\n" + forwarders + "\n"


def _forwarder(number: int, function: Function) -> str:
    kinds = function.parameters
    declared = ", ".join(f"{C_TYPES[kind]} a{at}" for at, kind in enumerate(kinds)) or "void"
    words = []
    for at, kind in enumerate(kinds):
        words += [f"a{at}.{axis}" for axis in "xyz"] if kind == "d" else [f"(word)a{at}"]
    array = f"(word[]){{{', '.join(words) or '0'}}}, {len(words)}"
    call = f"({number}, {array});"
    body = {
        "status": f"return status{call}",
        "word": f"return or_null{call}",
        "text": f"return or_unknown{call}",
        "void": f"forward{call}",
    }
    returned = {"status": "int", "word": "word", "text": "const char *", "void": "void"}[function.result]
    return f"{returned} {function.name}({declared}) {{ {body[function.result]} }}"


def version_script() -> str:
    """The linker's list of exported names under their symbol versions."""
    text, before = "", ""
    for version, names in symbols().items():
        node = f"hip_{version}"
        hidden = "" if before else "local: *; "
        text += f"{node} {{ global: {' '.join(f'{name};' for name in names)} {hidden}}}{before};\n"
        before = f" {node}"
    return text


def _c_string(text: str) -> str:
    """A C literal of the bytes of a file name."""
    return '"' + "".join(f"\\{byte:03o}" for byte in os.fsencode(text)) + '"'
