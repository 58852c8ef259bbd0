from __future__ import annotations

import copy
import pickle
from functools import cached_property

import pytest

from argpack.values import anew, changed, value


@value(uncompared=("note",))
class Point:
    x: int
    y: int = 3
    seen: dict[str, int] = anew(dict)
    note: str = ""

    def total(self) -> int:
        return self.x + self.y


@value(kw_only=True)
class Named:
    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("negative")


@value(slots=False)
class Lazy:
    x: int

    @cached_property
    def double(self) -> int:
        return 2 * self.x


def test_fields_by_position_name_and_default():
    point = Point(1, note="a")
    assert (point.x, point.y, point.seen, point.note) == (1, 3, {}, "a")
    assert point.total() == 4
    assert repr(point) == "Point(x=1, y=3, seen={}, note='a')"
    assert Point(1).seen is not Point(1).seen


@pytest.mark.parametrize(
    ("args", "given", "message"),
    [
        ((), {}, "Point: x is missing"),
        ((1,), {"x": 2}, "Point: x is given twice"),
        ((1, 2, {}, "", 5), {}, "Point: 5 values by position are too many"),
        ((1,), {"z": 2}, "Point: no field is called z"),
    ],
)
def test_wrong_arguments_are_named(args, given, message):
    with pytest.raises(TypeError, match=message):
        Point(*args, **given)


def test_values_compare_by_their_fields_but_for_the_uncompared():
    assert Point(1, note="a") == Point(1, 3, note="b")
    assert Point(1) != Point(2)
    assert Point(1) != (1, 3)
    assert hash(Named(size=1)) == hash(Named(size=1))


def test_values_are_frozen_and_have_no_other_attributes():
    point = Point(1)
    with pytest.raises(AttributeError, match="Point is frozen: x cannot be changed"):
        point.x = 2
    with pytest.raises(AttributeError, match="Point is frozen: x cannot be changed"):
        del point.x
    assert not hasattr(point, "__dict__")


def test_a_keyword_only_class_checks_itself():
    with pytest.raises(TypeError, match="Named: 1 values by position are too many"):
        Named(1)
    with pytest.raises(ValueError, match="negative"):
        Named(size=-1)


def test_a_class_without_slots_can_cache():
    assert Lazy(2).double == 4


def test_changed_copies_and_checks():
    assert changed(Point(1), y=5) == Point(1, 5)
    with pytest.raises(ValueError, match="negative"):
        changed(Named(size=1), size=-1)
    with pytest.raises(TypeError, match="Point: no field is called z"):
        changed(Point(1), z=5)


def test_values_can_be_copied_and_pickled():
    point = Point(1, 2, {"a": 1}, "n")
    assert pickle.loads(pickle.dumps(point)) == point  # noqa: S301  what this test has just made
    assert copy.deepcopy(point) == point
