"""Reports and bodies as JSON: a frozen dataclass is an object whose keys are its fields, in their order."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

OPTIONAL = {"optional": True}
"""Metadata of a field whose key is left out where it is None; otherwise None is null."""


def to_json(body: DataclassInstance) -> dict[str, JsonValue]:
    """The body as `json.dumps` takes it. A field that Python cannot name, as `from`, has an underscore at its end.

    A class may name properties in `DERIVED`; their keys follow those of the fields.

    >>> from dataclasses import dataclass, field
    >>> @dataclass
    ... class Bar:
    ...     from_: int
    ...     label: str | None = field(default=None, metadata=OPTIONAL)
    >>> to_json(Bar(3)), to_json(Bar(3, "three"))
    ({'from': 3}, {'from': 3, 'label': 'three'})
    """
    return dict(_items(body))


def _items(body: DataclassInstance) -> Iterator[tuple[str, JsonValue]]:
    for field in fields(body):
        value = getattr(body, field.name)
        if value is not None or not field.metadata.get("optional"):
            yield _key(field), _part(value)
    for name in getattr(body, "DERIVED", ()):
        yield name, _part(getattr(body, name))


def _key(field: Field[object]) -> str:
    return field.name.removesuffix("_")


def _part(value: object) -> JsonValue:
    if is_dataclass(value) and not isinstance(value, type):
        return to_json(value)
    if isinstance(value, Mapping):
        return {str(key): _part(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_part(part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def from_json(kind: type[T], value: object) -> T:
    """What `to_json` made a body of, as its class again: classes from objects, tuples from lists, whole numbers from
    keys. TypeError for keys that the class does not have, or that are missing."""
    return cast(T, _read(kind, value))


def _read(kind: object, value: object) -> object:
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, Mapping):
        hints, named = typing.get_type_hints(kind), {_key(field): field for field in fields(kind)}
        made = {*getattr(kind, "DERIVED", ()), *(key for key, field in named.items() if not field.init)}
        names = {key: named[key].name if key in named else key for key in value.keys() - made}
        return kind(**{name: _read(hints.get(name), value[key]) for key, name in names.items()})
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _read(next((one for one in inner if _fits(one, value)), None), value)
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        return {int(key) if inner[0] is int else key: _read(inner[1], part) for key, part in value.items()}
    if origin is tuple and isinstance(value, list):
        kinds = [inner[0]] * len(value) if inner[1:] == (...,) else list(inner)
        return tuple(_read(one, part) for one, part in zip(kinds, value, strict=True))
    return value


def _fits(kind: object, value: object) -> bool:
    """Is the value of this kind, among several? An object is the class that has all of its keys."""
    if isinstance(kind, type) and is_dataclass(kind):
        known = {*map(_key, fields(kind)), *getattr(kind, "DERIVED", ())}
        return isinstance(value, Mapping) and known >= value.keys()
    return typing.get_origin(kind) is tuple and isinstance(value, list)
