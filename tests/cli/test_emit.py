"""argpack emit: every language, families, files and kernels, and what it says of a schema that nothing confirms."""

import tomllib

import pytest

from argpack.cli import main

MINE = """
name = "mine"
align = 8
[[field]]
name = "out"
type = "ptr"
[[field]]
name = "n"
type = "u32"
"""


@pytest.fixture
def emit(capsys, kernels_dir):
    def call(*arguments):
        code = main(["emit", *map(str, arguments), "--kernels", str(kernels_dir)])
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("--c", 'static_assert(offsetof(struct aiter_pa_kernargs, GQA) == 224, "GQA");'),
        ("--cpp", "static_assert(offsetof(aiter_pa_kernargs, GQA) == 224);"),
        ("--python-ctypes", '("GQA", 224),'),
        ("--rust", "assert!(core::mem::offset_of!(aiter_pa_kernargs, GQA) == 224);"),
        ("--toml", 'name = "GQA"\ntype = "u32"\noffset = 0xe0'),
    ],
)
def test_every_language_asserts_offsets(emit, language, text):
    code, out, err = emit("aiter_pa", language)
    assert (code, err) == (0, "")
    assert text in out


def test_a_users_file_is_emitted(emit, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    code, out, _ = emit(path, "--c")
    assert code == 0
    assert "struct __attribute__((packed)) mine_kernargs {\n  void *out;\n  uint32_t n;\n};" in out


def test_a_kernel_has_the_schema_of_its_family(emit):
    code, out, err = emit("gfx942/fmoe_b16.co", "--toml")
    assert (code, err) == (0, "")
    assert tomllib.loads(out)["name"] == "aiter_fmoe"


@pytest.mark.parametrize("arguments", [["aiter_pa"], ["aiter_pa", "--c", "--rust"]])
def test_exactly_one_language_is_asked_for(emit, arguments):
    code, out, err = emit(*arguments)
    assert (code, out) == (2, "")
    assert "--c" in err


def test_an_unknown_schema_is_one_line(emit):
    code, out, err = emit("no_such_family", "--c")
    assert (code, out) == (2, "")
    assert err.startswith("argpack: error: no_such_family")
    assert err.count("\n") == 1
