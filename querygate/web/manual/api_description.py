"""The OpenAPI document as its page shows it: calls in their sections, and the shapes of what goes in and out.

A viewer such as Swagger UI sends 448 kB of script to show this; the page is drawn here, and a script of a few lines
sends the calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from querygate.web.openapi import make_openapi
from querygate.web.schemas.schema_parts import Schema


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a shape: its type in words, with links to other shapes."""

    name: str
    where: str
    kind: Markup
    help: str
    required: bool
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A status that a call may answer with."""

    status: str
    text: str
    kind: Markup


@dataclass(frozen=True, slots=True)
class Call:
    """One route. `example` is a body to start from, None where nothing is sent."""

    name: str
    method: str
    path: str
    summary: str
    needs_key: bool
    parameters: tuple[Field, ...]
    example: str | None
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema by its name."""

    name: str
    text: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ApiDescription:
    """All that the page shows."""

    sections: dict[str, list[Call]]
    shapes: tuple[Shape, ...]


@cache
def describe_api() -> ApiDescription:
    """Made once: the description is the same as long as the process runs."""
    document = make_openapi()
    shapes = document["components"]["schemas"]
    sections: dict[str, list[Call]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            sections[operation["tags"][0]].append(_call(path, method, operation, shapes))
    listed = (Shape(name, shape.get("description", ""), tuple(_fields(shape))) for name, shape in shapes.items())
    return ApiDescription(sections, tuple(listed))


def _call(path: str, method: str, operation: Schema, shapes: Schema) -> Call:
    parameters = tuple(
        Field(one["name"], one["in"], kind_of(one["schema"]), one["description"], one["required"], _choices(one))
        for one in operation.get("parameters", ())
    )
    return Call(
        operation["operationId"],
        method.upper(),
        path,
        operation["summary"],
        bool(operation["security"]),
        parameters,
        _example(operation, shapes),
        tuple(_outcomes(operation)),
    )


def _choices(parameter: Schema) -> tuple[str, ...]:
    return tuple(map(str, parameter["schema"].get("enum", ())))


def _example(operation: Schema, shapes: Schema) -> str | None:
    for media in operation.get("requestBody", {}).get("content", {}).values():
        shape = shapes[media["schema"]["$ref"].rpartition("/")[2]]
        return json.dumps(shape.get("example", {}), indent=2, ensure_ascii=False)
    return None


def _outcomes(operation: Schema) -> Iterator[Outcome]:
    for status, response in operation["responses"].items():
        kinds = [kind_of(content["schema"]) if "schema" in content else Markup.escape(media) for media, content in
                 response.get("content", {}).items()]  # fmt: skip
        text = "" if status == "200" else response["description"]
        yield Outcome(status, text, Markup(", ").join(kinds))


def _fields(shape: Schema) -> Iterator[Field]:
    required = shape.get("required", ())
    for name, one in shape.get("properties", {}).items():
        yield Field(name, "", kind_of(one), one.get("description", ""), name in required)


def kind_of(shape: Schema) -> Markup:
    """The type of a schema in words.

    >>> kind_of({"type": "array", "items": {"type": ["string", "null"]}})
    Markup('list of string or null')
    >>> kind_of({"enum": ["csv", "<b>"]})
    Markup('csv or &lt;b&gt;')
    >>> kind_of({"$ref": "#/components/schemas/Answer"})
    Markup('<a href="#shape-Answer">Answer</a>')
    """
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return Markup('<a href="#shape-{0}">{0}</a>').format(name)
    for joined in ("anyOf", "oneOf"):
        if joined in shape:
            return Markup(" or ").join(map(kind_of, shape[joined]))
    if "enum" in shape:
        return Markup(" or ").join(map(str, shape["enum"]))
    if shape.get("type") == "array":
        return Markup("list of {}").format(kind_of(shape["items"]))
    if shape.get("type") == "object" and isinstance(shape.get("additionalProperties"), dict):
        return Markup("object of {}").format(kind_of(shape["additionalProperties"]))
    told = shape.get("type", "any")
    return Markup(" or ").join([told] if isinstance(told, str) else told)
