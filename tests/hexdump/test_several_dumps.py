"""Files with more than one dump, prose around dumps, and the choice by #n or name."""

import io

import pytest

from argpack.cli import main
from argpack.errors import InputError
from argpack.hexdump import Dump, parse, read, read_pair

TWO = (
    "launching _ZN5aiter8gemm_oneE\n"
    "00000000: 0001 0203 0405 0607  ........\n"
    "\n"
    "launching _ZN5aiter8gemm_twoE.kd grid (1,1,1)\n"
    "00000000: 1011 1213 1415 1617  ........\n"
    "done\n"
)
FIRST, SECOND = Dump.whole(bytes(range(8))), Dump.whole(bytes(range(16, 24)))


def test_several_dumps_are_refused_until_one_is_chosen():
    with pytest.raises(InputError) as error:
        parse(TWO, source="log.txt")
    assert str(error.value) == (
        "log.txt: 2 dumps, from lines 2 and 5: choose one with #1 to #2 after the name of the file, or # and the "
        "name of its kernel"
    )
    assert parse(TWO, choice="1") == FIRST
    assert parse(TWO, choice="2") == SECOND
    assert parse(TWO, choice="gemm_two") == SECOND
    assert parse(TWO, choice="2").kernel == "_ZN5aiter8gemm_twoE"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("0", "log.txt#0: expected a dump of 2, found #0"),
        ("3", "log.txt#3: expected a dump of 2, found #3"),
        ("gemm_three", "log.txt#gemm_three: expected one dump of 2 with that name above it, found none"),
        ("gemm", "log.txt#gemm: expected one dump of 2 with that name above it, found 2"),
        ("-1", "log.txt#-1: expected one dump of 2 with that name above it, found none"),
    ],
)
def test_a_choice_that_is_not_there_is_refused(choice, message):
    with pytest.raises(InputError) as error:
        parse(TWO, source="log.txt", choice=choice)
    assert str(error.value) == message


def test_a_path_chooses_and_is_named_in_errors(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(TWO)
    assert read(f"{path}#2") == SECOND
    assert read(f"{path}#2").source == f"{path}#2"
    assert read_pair(f"{path}#1", f"{path}#gemm_two") == (FIRST, SECOND)
    path.write_text(TWO.replace("1213", "12"))
    with pytest.raises(InputError, match=rf"^{path}#2:5: expected groups of 2 bytes, found '12'$"):
        read(f"{path}#2")
    with pytest.raises(InputError, match=rf"^{tmp_path}/none: No such file or directory$"):
        read(f"{tmp_path}/none#1")


def test_a_file_whose_name_has_the_mark_is_read_as_it_is(tmp_path):
    path = tmp_path / "dump#2"
    path.write_text("00 01")
    assert read(path) == Dump.whole(b"\0\1")


def test_two_dumps_of_one_piped_log_are_compared(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TWO.encode())))
    assert read_pair("-#1", "-#2") == (FIRST, SECOND)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TWO.encode())))
    assert main(["diff", "--", "-#1", "-#2"]) == 2
    assert "the kernels recorded, _ZN5aiter8gemm_oneE" in capsys.readouterr().err.replace(
        "kernel ", "kernels "
    )


@pytest.mark.parametrize(
    "text",
    [
        "$ xxd a.bin\n00000000: 0001 0203  ....\n$ xxd b.bin\n00000000: 0405 0607  ....\n$",
        "00000000: 0001 0203  ....\n00000004: 10  .\n00000000: 0405 0607  ....\n",
        "0000000 0100 0302\n0000004\n0000000 0504 0706\n0000004\n",
        "Offset | 00\n-----|---\n0000 | 00 01\nOffset | 00\n----|----\n0000 | 04 05 06 07\n",
        "args at call 1\n00 01 02\nargs at call 2\n04 05\n06 07\n",
        "0x7ffe10:\t0x00\t0x01\n(gdb) x/4xb p\n0x7fff10:\t0x04\t0x05\t0x06\t0x07\n",
        "[aiter kernarg 2B]\n00 01 [aiter grid (1,1,1) block (1,1,1)]\n[aiter kernarg 4B]\n04 05 06 07 [aiter grid\n",
        "[0..1] a: 00 01\nnext\n[0..3] a: 04 05 06 07\n",
        "uint8_t a[] = {1, 2, 3};\nuint8_t b[] = {4, 5, 6, 7};\n",
        "a = b'123'\nb = b'\\x04\\x05\\x06\\x07'\n",
        '{"kernarg_hex": "0001"}\n{"kernarg_hex": "04050607"}\n',
        '[{"kernarg_hex": "0001"}, {"kernarg_hex": "04050607"}]',
        "first\nAAECAwQFBgcICQoL\nsecond\nBAUGBwQFBgcEBQYH\n",
        "kernel a\n0x00 0x01\nkernel b\n0x04 0x05 0x06 0x07\n",
    ],
)
def test_dumps_of_every_format_are_told_apart(text):
    with pytest.raises(InputError, match=r"^dump: 2 dumps, from lines \d+ and \d+: choose one"):
        parse(text)
    assert parse(text, choice="2").data[:4] == b"\4\5\6\7"


def test_rows_of_an_npy_array_are_dumps():
    import numpy as np

    for array in (
        np.array([[1, 2], [3, 4]], np.uint32),
        np.array([(1, 2), (3, 4)], "<u4,<u8"),
        np.zeros((2, 372), "u1"),
    ):
        file = io.BytesIO()
        np.save(file, array)
        with pytest.raises(InputError, match="2 dumps"):
            parse(file.getvalue())
        assert parse(file.getvalue(), choice="2") == Dump.whole(array[1].tobytes())


def test_npy_files_of_numpy_are_read():
    import numpy as np

    data = bytes(range(48))
    arrays = [
        np.frombuffer(data, kind)
        for kind in ("u1", "<u4", "<f8", "i2", "V48", "S48", "<u4,<u4,<u8,<f4,(7,)<u4")
    ]
    for array in [*arrays, np.frombuffer(data, "u1").reshape(1, 48), np.frombuffer(data, "V48").reshape(())]:
        file = io.BytesIO()
        np.save(file, array)
        assert parse(file.getvalue()) == Dump.whole(data)
    for version in ((1, 0), (2, 0), (3, 0)):
        file = io.BytesIO()
        np.lib.format.write_array(file, arrays[0], version=version)
        assert parse(file.getvalue()) == Dump.whole(data)


def test_a_line_between_rows_that_go_on_is_refused_where_it_stands():
    text = "0000000 0100 0302 0504 0706\n%s\n0000008 0908\n0000010\n"
    with pytest.raises(InputError, match="d"):
        parse(text % "lost 3 lines", source="d")
    xxd = "00000000: 0001 0203  ....\nlost: 3 lines\n00000004: 0405  ..\n"
    with pytest.raises(InputError, match=r"^d:2: expected a row of xxd, found 'lost: 3 lines'$"):
        parse(xxd, source="d")


def test_small_arrays_in_a_log_are_prose_where_there_are_rows():
    text = "grid=[256, 1, 1] block=[64, 1, 1]\n00000000: 0001 0203 0405 0607  ........\n"
    assert parse(text) == FIRST


def test_words_of_prose_that_look_like_digits_are_no_rows():
    text = "a kernel\nadd two vectors\n3 dumps follow\nDead code removed\n00 01 02 03 04 05 06 07\n"
    assert parse(text) == FIRST


def test_a_kernel_is_named_by_the_prose_above():
    for heading, expected in [
        ("kernel: f4gemm_bf16 grid (1,1,1)", "f4gemm_bf16"),
        ("Kernel name = 'my_gemm.kd'", "my_gemm"),
        ("call _ZN5aiter3fooE(void*)", "_ZN5aiter3fooE(void*"),
        ("kernel: launched", ""),
    ]:
        assert parse(f"{heading}\n00 01").kernel == expected.partition("(")[0] or expected
