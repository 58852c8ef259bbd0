"""Names to files: whole names before parts, refusals that list what could have been meant."""

import pytest

from argpack import kernels
from argpack.errors import InputError, UnavailableError

FP4 = "f4gemm_bf16_per1x32Fp4_BpreShuffle"


@pytest.fixture(autouse=True)
def nothing_fetched(tmp_path, monkeypatch):
    """Neither a cache nor a folder named in the environment, until a test says so."""
    monkeypatch.setenv("ARGPACK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("AITER_ASM_DIR", raising=False)


@pytest.fixture
def root(tmp_path):
    """A small folder in the manner of AITER's; a file's string table is faked by the names of its descriptors."""
    folder = tmp_path / "hsa"
    for name, kernel in (
        ("gfx942/f4gemm/a_64x64.co", "a_64x64"),
        ("gfx950/f4gemm/a_64x64.co", "a_64x64"),
        ("gfx950/f4gemm/a_64x641.co", "_Z1aE"),
        ("gfx942/pa_b16.co", "pa_kernel_func"),
        ("gfx942/pa_f16.co", "pa_kernel_func"),
        ("gfx950/mla/twin.co", "other"),
        ("gfx950/mla/other_part.co", "twin"),
        ("gfx950/README.txt", "text"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"\x7fELF\0" + kernel.encode() + b"\0" + kernel.encode() + b".kd\0")
    return folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("gfx950/f4gemm/a_64x64.co", "gfx950/f4gemm/a_64x64.co", id="relative path"),
        pytest.param("gfx950/f4gemm/a_64x64", "gfx950/f4gemm/a_64x64.co", id="relative path without .co"),
        pytest.param("mla/twin.co", "gfx950/mla/twin.co", id="end of a path"),
        pytest.param("a_64x641.co", "gfx950/f4gemm/a_64x641.co", id="file name"),
        pytest.param("a_64x641", "gfx950/f4gemm/a_64x641.co", id="stem"),
        pytest.param("_Z1aE", "gfx950/f4gemm/a_64x641.co", id="kernel name"),
        pytest.param("_Z1aE.kd", "gfx950/f4gemm/a_64x641.co", id="descriptor's name"),
        pytest.param("twin", "gfx950/mla/twin.co", id="file name before a kernel of that name"),
        pytest.param("other", "gfx950/mla/twin.co", id="kernel name before a part of a file name"),
        pytest.param("part", "gfx950/mla/other_part.co", id="part that begins a word"),
        pytest.param("her_pa", "gfx950/mla/other_part.co", id="unique part"),
        pytest.param(
            "gfx950/f4gemm/a_64x641", "gfx950/f4gemm/a_64x641.co", id="path that another one starts"
        ),
        pytest.param("0/mla/ot", "gfx950/mla/other_part.co", id="part across folders"),
    ],
)
def test_names(text, expected, root):
    assert kernels.resolve(text, root=root) == root / expected


def test_existing_path_is_taken_as_it_is(tmp_path, root):
    file = tmp_path / "a_64x64.bin"
    file.write_bytes(b"")
    assert kernels.resolve(str(file), root=root) == file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a_64x64.co",
            "a_64x64.co is ambiguous: gfx942/f4gemm/a_64x64.co, gfx950/f4gemm/a_64x64.co",
        ),
        ("a_64x64", "a_64x64 is ambiguous: gfx942/f4gemm/a_64x64.co, gfx950/f4gemm/a_64x64.co"),
        ("pa_kernel_func", "pa_kernel_func is ambiguous: gfx942/pa_b16.co, gfx942/pa_f16.co"),
        ("mla/", "mla/ is ambiguous: gfx950/mla/other_part.co, gfx950/mla/twin.co"),
        ("a_64x46", "near: gfx950/f4gemm/a_64x64.co, gfx950/f4gemm/a_64x641.co"),
        ("_ZN5aiter7a_64x46E", "near: gfx950/f4gemm/a_64x64.co, gfx950/f4gemm/a_64x641.co"),
        ("README", "README: no such file, and no kernel in {root} has it in its name"),
        ("zzzz", "zzzz: no such file, and no kernel in {root} has it in its name"),
        ("kd", "kd: no such file, and no kernel in {root} has it in its name"),
        (".co", ".co: no such file, and no kernel in {root} has it in its name"),
        ("\udcff", "\udcff: no such file, and no kernel in {root} has it in its name"),
        ("\0", "\0: no such file, and no kernel in {root} has it in its name"),
    ],
)
def test_refusals(text, message, root):
    with pytest.raises(InputError) as error:
        kernels.resolve(text, root=root)
    assert str(error.value).endswith(message.format(root=root))


@pytest.mark.parametrize("text", ["", "hsa"])
def test_folder_is_no_code_object(text, root, monkeypatch):
    monkeypatch.chdir(root.parent)
    with pytest.raises(InputError, match="expected a code object, found a folder"):
        kernels.resolve(text, root=root)


def test_name_too_long_for_a_file_is_refused(root):
    with pytest.raises(InputError, match="cannot look for the file: File name too long"):
        kernels.resolve("x" * 5000, root=root)


def test_at_most_ten_candidates_are_listed(kernels_dir):
    with pytest.raises(InputError) as error:
        kernels.resolve(FP4, root=kernels_dir)
    text = str(error.value)
    assert text.startswith(f"{FP4} is ambiguous: gfx950/f4gemm/{FP4}_128x128.co, ")
    assert (text.count(".co"), text[-11:]) == (10, "and 24 more")


def test_nothing_fetched_says_how_to_fetch():
    with pytest.raises(UnavailableError) as error:
        kernels.resolve(FP4, root=None)
    assert str(error.value) == (
        f"{FP4}: no such file, and no kernels fetched: run `argpack kernels fetch`, or name a folder with --kernels "
        "or AITER_ASM_DIR"
    )


@pytest.mark.parametrize("text", ["sgemm", "sgemm.co", "own/sgemm.co", "argpack_sgemm", "argpack_sgemm.kd"])
def test_own_kernel_is_there_with_nothing_fetched(text):
    assert kernels.resolve(text, root=None) == kernels.OWN / "sgemm.co"


def test_own_kernel_does_not_hide_a_file_of_its_name(root):
    (root / "gfx950" / "sgemm.co").write_bytes(b"")
    assert kernels.resolve("gfx950/sgemm", root=root) == root / "gfx950" / "sgemm.co"
    assert kernels.resolve("own/sgemm", root=root) == kernels.OWN / "sgemm.co"
    with pytest.raises(InputError, match=r"sgemm is ambiguous: gfx950/sgemm\.co, own/sgemm\.co"):
        kernels.resolve("sgemm", root=root)


def test_file_that_cannot_be_read_holds_no_kernel(root):
    (root / "broken.co").symlink_to(root / "nowhere")
    assert kernels.resolve("_Z1aE", root=root).name == "a_64x641.co"


def test_real_kernel_names(kernels_dir):
    def found(text):
        return kernels.resolve(text, root=kernels_dir).relative_to(kernels_dir).as_posix()

    assert found(f"{FP4}_256x256") == f"gfx950/f4gemm/{FP4}_256x256.co"
    assert found(f"_ZN5aiter42{FP4}_256x256E") == f"gfx950/f4gemm/{FP4}_256x256.co"
    assert found("gfx942/fmoe_f16") == "gfx942/fmoe_f16.co"
    with pytest.raises(InputError) as error:
        found("pa_kernel_func")
    names = ["pa_a16w16_b16", "pa_a16w16_f16", "pa_a16w8_b16", "pa_a16w8_f16"]
    assert str(error.value) == "pa_kernel_func is ambiguous: " + ", ".join(f"gfx942/{n}.co" for n in names)


def test_part_that_begins_a_word_is_meant_before_one_inside_of_a_word(root, kernels_dir):
    (root / "gfx950/mla/nopart.co").write_bytes(b"")
    assert kernels.resolve("part", root=root) == root / "gfx950/mla/other_part.co"
    assert kernels.resolve("opart", root=root) == root / "gfx950/mla/nopart.co"
    assert kernels.resolve("BpreShuffle_256x256", root=kernels_dir).stem == f"{FP4}_256x256"
    with pytest.raises(InputError) as error:
        kernels.resolve("preShuffle_256x256", root=kernels_dir)
    both = ", ".join(f"gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_{n}BpreShuffle_256x256.co" for n in ("", "no"))
    assert str(error.value) == f"preShuffle_256x256 is ambiguous: {both}"


def test_order_of_folders(tmp_path, root, monkeypatch):
    assert kernels.kernel_root(None) is None
    kernels.fetched().mkdir(parents=True)
    assert kernels.kernel_root(None) == tmp_path / "cache" / "amd-aiter-0.1.7.post2.dev18" / "hsa"
    (tmp_path / "variable").mkdir()
    monkeypatch.setenv("AITER_ASM_DIR", str(tmp_path / "variable"))
    assert kernels.kernel_root(None) == tmp_path / "variable"
    assert kernels.kernel_root(root) == root


def test_named_folder_that_is_none_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError) as error:
        kernels.kernel_root(tmp_path / "x")
    assert (
        str(error.value)
        == f"--kernels: {tmp_path}/x: expected a folder of code objects, found no such folder"
    )
    monkeypatch.setenv("AITER_ASM_DIR", "/nowhere")
    with pytest.raises(InputError, match="AITER_ASM_DIR: /nowhere: expected a folder"):
        kernels.kernel_root(None)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a_*", ["gfx942/f4gemm/a_64x64.co", "gfx950/f4gemm/a_64x64.co", "gfx950/f4gemm/a_64x641.co"]),
        ("a_64x64", ["gfx942/f4gemm/a_64x64.co", "gfx950/f4gemm/a_64x64.co"]),
        ("a_64x64?.co", ["gfx950/f4gemm/a_64x641.co"]),
        ("gfx942/*", ["gfx942/f4gemm/a_64x64.co", "gfx942/pa_b16.co", "gfx942/pa_f16.co"]),
        ("gfx95?/mla/[st]*", ["gfx950/mla/twin.co"]),
        ("pa_b16.co", ["gfx942/pa_b16.co"]),
    ],
)
def test_patterns(pattern, expected, root):
    found = kernels.matching(pattern, root=root)
    assert [path.relative_to(root).as_posix() for path in found] == expected


def test_everything_includes_the_own_kernel(root):
    assert len(kernels.matching("*", root=root)) == 7 + 1
    assert kernels.matching("own/*", root=root) == (kernels.OWN / "sgemm.co",)
    assert kernels.matching("s*", root=None) == (kernels.OWN / "sgemm.co",)


def test_patterns_that_fit_nothing(root):
    with pytest.raises(InputError) as error:
        kernels.matching("A_*", root=root)
    assert str(error.value) == f"A_*: no code object in {root} fits this pattern"
    with pytest.raises(UnavailableError, match=r"a_.: no kernels fetched: run `argpack kernels fetch`"):
        kernels.matching("a_*", root=None)


def test_real_f4gemm_kernels(kernels_dir):
    assert len(kernels.matching("f4gemm*", root=kernels_dir)) == 35
    assert len(kernels.matching("gfx950/f4gemm/*", root=kernels_dir)) == 35
