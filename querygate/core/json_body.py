"""Reports and bodies as JSON: a frozen dataclass is an object whose keys are its fields, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

OPTIONAL = {"optional": True}
"""Metadata of a field whose key is left out where it is None; otherwise None is null."""


def to_json(body: DataclassInstance) -> dict[str, JsonValue]:
    """The body as `json.dumps` takes it. A field that Python cannot name, as `from`, has an underscore at its end.

    >>> from dataclasses import dataclass, field
    >>> @dataclass
    ... class Bar:
    ...     from_: int
    ...     label: str | None = field(default=None, metadata=OPTIONAL)
    >>> to_json(Bar(3)), to_json(Bar(3, "three"))
    ({'from': 3}, {'from': 3, 'label': 'three'})
    """
    values = ((field, getattr(body, field.name)) for field in fields(body))
    return {
        field.name.removesuffix("_"): _part(value)
        for field, value in values
        if value is not None or not field.metadata.get("optional")
    }


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
