"""The part of JSON Schema that the interface is described in: does a value have the shape that is promised?"""

from __future__ import annotations

from typing import Any

from querygate.web.schemas.schema_table import SCHEMAS

TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
TYPES |= {"object": dict, "array": list}


def misfits(value: Any, schema: dict[str, Any], where: str = "") -> list[str]:
    """Everything about a value that its schema does not allow."""
    if "$ref" in schema:
        return misfits(value, SCHEMAS[schema["$ref"].rpartition("/")[2]], where)
    if "anyOf" in schema:
        tries = [misfits(value, option, where) for option in schema["anyOf"]]
        return [] if [] in tries else min(tries, key=len)
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is not listed"]
    if "const" in schema and value != schema["const"]:
        return [f"{where}: {value!r} is another constant"]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(value, name) for name in types):
        return [f"{where}: {value!r} is not {types}"]
    if isinstance(value, dict):
        return _of_object(value, schema, where)
    if isinstance(value, list):
        return [m for i, item in enumerate(value) for m in misfits(item, schema.get("items", {}), f"{where}[{i}]")]
    return []


def _is(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _of_object(value: dict[str, Any], schema: dict[str, Any], where: str) -> list[str]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    found = [f"{where}.{name}: is missing" for name in schema.get("required", ()) if name not in value]
    for name, inner in value.items():
        allowed = properties.get(name, others)
        found += (
            [f"{where}.{name}: is not described"] if allowed is False else misfits(inner, allowed, f"{where}.{name}")
        )
    return found
