"""Frozen value classes for what every command imports: as frozen dataclasses with slots, without their cost.

Importing `dataclasses` takes 11 ms, which is a command's whole budget; everywhere else dataclasses are the choice.
"""

from __future__ import annotations

from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_MISSING = object()


class _Factory:
    __slots__ = ("make",)

    def __init__(self, make: Any) -> None:
        self.make = make


def anew(make: Any) -> Any:
    """A default that is made for each object, `anew(dict)` say."""
    return _Factory(make)


@dataclass_transform(frozen_default=True)
def value(*, kw_only: bool = False, uncompared: tuple[str, ...] = (), slots: bool = True) -> Any:
    """Make a class of annotated fields a frozen value with slots: __init__, ==, hash, repr.

    Defaults are class attributes, `anew(dict)` for one made for each object. Fields in `uncompared` do not count in
    == and hash. With `kw_only` the fields are given by name; without `slots` a class can have cached properties.
    """

    def decorate(cls: type[T]) -> type[T]:
        names = tuple(getattr(cls, "__annotations__", {}))
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        compared = tuple(name for name in names if name not in uncompared)
        body = {k: v for k, v in cls.__dict__.items() if k not in {*names, "__dict__", "__weakref__"}}
        body |= _methods(names, defaults, compared, kw_only=kw_only)
        if slots:
            body["__slots__"] = names
        body["__fields__"] = names
        body["__match_args__"] = () if kw_only else names
        metaclass: Any = type(cls)
        made: type[T] = metaclass(cls.__name__, cls.__bases__, body)
        return made

    return decorate


def _methods(
    names: tuple[str, ...], defaults: dict[str, Any], compared: tuple[str, ...], *, kw_only: bool
) -> dict[str, Any]:
    put = object.__setattr__

    def init(self: Any, *args: Any, **given: Any) -> None:
        if len(args) > (0 if kw_only else len(names)):
            raise TypeError(f"{type(self).__name__}: {len(args)} values by position are too many")
        for name, item in zip(names, args, strict=False):
            if name in given:
                raise TypeError(f"{type(self).__name__}: {name} is given twice")
            put(self, name, item)
        for name in names[len(args) :]:
            item = given.pop(name, defaults.get(name, _MISSING))
            if item is _MISSING:
                raise TypeError(f"{type(self).__name__}: {name} is missing")
            put(self, name, item.make() if isinstance(item, _Factory) else item)
        if given:
            raise TypeError(f"{type(self).__name__}: no field is called {', '.join(given)}")
        check = getattr(self, "__post_init__", None)
        if check is not None:
            check()

    def refuse(self: Any, name: str, _: Any = None) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be changed")

    def key(self: Any) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in compared)

    def equal(self: Any, other: Any) -> Any:
        return key(self) == key(other) if type(other) is type(self) else NotImplemented

    def shown(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def reduced(self: Any) -> Any:
        return (_restored, (type(self), {name: getattr(self, name) for name in names}))

    return {
        "__init__": init,
        "__setattr__": refuse,
        "__delattr__": refuse,
        "__eq__": equal,
        "__hash__": lambda self: hash(key(self)),
        "__repr__": shown,
        "__reduce__": reduced,
    }


def _restored(cls: type[T], fields: dict[str, Any]) -> T:
    made = object.__new__(cls)
    for name, item in fields.items():
        object.__setattr__(made, name, item)
    return made


def changed(old: T, /, **changes: Any) -> T:
    """A copy of a value (or of a dataclass) with some fields changed. Raises TypeError for a name that is no field."""
    names = getattr(type(old), "__fields__", None) or tuple(getattr(type(old), "__dataclass_fields__", ()))
    return type(old)(**{name: getattr(old, name) for name in names} | changes)
