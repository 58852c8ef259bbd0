import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.hexdump import Dump, diff_bytes
from argpack.hexdump.report import report_bytes
from argpack.hexdump.table import to_text


def text_of(found):
    return to_text(report_bytes(found))


def test_ranges_of_differing_bytes():
    found = diff_bytes(Dump.whole(b"abcdefg"), Dump.whole(b"abXXefY"))
    assert found.ranges == ((2, 4), (6, 7))
    assert not found.same
    assert text_of(found) == (
        "3 bytes in 2 ranges differ\n"
        "compared 7 of 7 bytes\n"
        "\n"
        "bytes      first  second\n"
        "0002-0003  63 64  58 58\n"
        "0006       67     59\n"
    )


def test_unknown_bytes_are_not_compared():
    found = diff_bytes(Dump(b"a\0c", b"\1\0\1"), Dump.whole(b"abc"))
    assert found.same
    assert found.compared == 2
    assert text_of(found) == "no known byte differs\ncompared 2 of 3 bytes\n"


def test_a_longer_dump_differs():
    found = diff_bytes(Dump.whole(b"abc"), Dump.whole(b"abcd"))
    assert not found.same
    assert text_of(found) == "sizes differ: 3 and 4 bytes\ncompared 3 of 4 bytes\n"


def test_many_and_long_ranges_are_cut():
    many = diff_bytes(Dump.whole(b"ab" * 40), Dump.whole(b"aX" * 40))
    assert text_of(many).splitlines()[0] == "40 bytes in 40 ranges differ"
    assert text_of(many).endswith("\nand 8 more\n")
    long = diff_bytes(Dump.whole(b"a" * 20), Dump.whole(b"b" * 20))
    assert text_of(long).splitlines()[-1] == "0000-0019  " + "61 " * 16 + "...  " + "62 " * 16 + "..."


@given(st.binary(min_size=1, max_size=60), st.binary(min_size=1, max_size=60))
def test_it_mirrors_and_covers_exactly_the_bytes_that_differ(one, other):
    first, second = Dump.whole(one), Dump.whole(other)
    found = diff_bytes(first, second)
    offsets = [offset for start, end in found.ranges for offset in range(start, end)]
    assert offsets == [i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    assert diff_bytes(second, first).ranges == found.ranges
    assert found.same == (one == other)


@pytest.mark.parametrize("size", [1, 16])
def test_a_dump_does_not_differ_from_itself(size):
    one = Dump.whole(bytes(range(size)))
    assert diff_bytes(one, one).same
