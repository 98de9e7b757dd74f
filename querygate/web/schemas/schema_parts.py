"""What the schemas are made of."""

from __future__ import annotations

from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema, or a part of OpenAPI."""

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TRUTH: Schema = {"type": "boolean"}
END: Schema = {"type": ["number", "string", "boolean", "null"]}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def record(description: str, properties: Schema, *, optional: tuple[str, ...] = (), **more: object) -> Schema:
    """An object with exactly these properties."""
    required = [name for name in properties if name not in optional]
    shape = {"type": "object", "description": description, "properties": properties, "required": required}
    return {**shape, "additionalProperties": False, **more}
