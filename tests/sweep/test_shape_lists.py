"""Lists of shapes: what is read, what is refused with file and line, and AITER's own list."""

import pytest

from argpack.errors import InputError
from argpack.sweep import read_shapes


@pytest.fixture
def shapes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(text):
        (tmp_path / "s.txt").write_bytes(text.encode() if isinstance(text, str) else text)
        return read_shapes("s.txt")

    return read


@pytest.mark.parametrize(
    "text",
    [
        "1 2 32\n3 4 64\n",
        "1,2,32\n3,4,64",
        " 1 , 2 ,\t32 \r\n\r\n3\t4\t64\r\n",
        "# ours\n1 2 32 # decode\n\n3 4 64\n",
        "M N K\n1 2 32\n3 4 64\n",
        "m,n,k\n1,2,32\n3,4,64\n",
        "k,us,n,m\n32,0.5,2,1\n64,,4,3\n",
        "\ufeffM,N,K\n1,2,32\n3,4,64\n",
        "1 2 32\n3 4 64\n1 2 32\n3,4,64\n",
    ],
)
def test_lines_of_numbers_are_shapes_each_once(shapes, text):
    assert shapes(text).sizes == ((1, 2, 32), (3, 4, 64))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "s.txt: expected M, N and K, three whole numbers, or a header line that names them; found no line of",
        ),
        ("M N K\n# none\n", "s.txt: expected M, N and K"),
        ("1 2\n", "s.txt:1: expected 3 values, found 2: '1 2'"),
        ("1 2 3\n\n# three\n1 2 3 4\n", "s.txt:4: expected 3 values, found 4: '1 2 3 4'"),
        ("1 2 3\n1 0 3\n", "s.txt:2: N: expected 1 to 4294967295, found '0'"),
        ("1 2 3\n1 2 -3\n", "s.txt:2: K: expected 1 to 4294967295, found '-3'"),
        ("4294967296 2 3\n", "s.txt:1: M: expected 1 to 4294967295, found '4294967296'"),
        ("1 2 3.0\n", "s.txt:1: K: expected 1 to 4294967295, found '3.0'"),
        ("1 2 ٣\n", "s.txt:1: K: expected 1 to 4294967295, found '٣'"),
        ("1 2 " + "9" * 5000 + "\n", "s.txt:1: K: expected 1 to 4294967295, found '9999"),
        (
            "M N\n1 2\n",
            "s.txt:1: expected M, N and K, three whole numbers, or a header line that names them; found",
        ),
        ("M N K M\n1 2 3 4\n", "s.txt:1: expected M, N and K"),
        ("(1, 2, 3)\n", "s.txt:1: M: expected 1 to 4294967295, found '(1'"),
        (b"\xff\xfe1\x00", "s.txt: expected a text file"),
    ],
)
def test_another_line_is_refused_with_its_place(shapes, text, message):
    with pytest.raises(InputError) as caught:
        shapes(text)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 250


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"^nowhere/s\.txt: cannot read the file: No such file"):
        read_shapes("nowhere/s.txt")


def test_the_list_of_aiter_is_whole():
    shapes = read_shapes("aiter")
    assert shapes.listed == 69
    assert len(shapes.sizes) == 67  # (64, 106496, 16384) and (64, 1280, 8192) are there twice
    assert shapes.sizes[:2] == ((256, 2048, 8192), (2048, 8192, 8192))
    assert shapes.sizes[-1] == (3072, 8192, 28672)
    assert {(32768, 106496, 16384), (1, 1280, 8192), (16384, 8192, 1024), (1552, 57344, 8192)} < set(
        shapes.sizes
    )
