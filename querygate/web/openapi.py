"""The table of routes as OpenAPI 3.1."""

from __future__ import annotations

from importlib.metadata import version

from querygate.core.errors import CODES
from querygate.web.problems import MEDIA, STATUSES
from querygate.web.route_reference import SECTIONS
from querygate.web.routes import JSON, ROUTES, Parameter, Route
from querygate.web.schemas.schema_parts import Schema
from querygate.web.schemas.schema_table import SCHEMAS, ref

_TAGS = {name: title for title, names in SECTIONS.items() for name in names}
SAME = "Not changed: `If-None-Match` matches its `ETag`."
LATER = "It takes longer: a job was queued, and the links say where to find its result."


def make_openapi() -> Schema:
    """The description of the whole interface."""
    paths: dict[str, Schema] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "QueryGate",
            "version": version("querygate"),
            "summary": "Ordinary SQL in, guaranteed ranges out.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": title} for title in SECTIONS],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "qg_..."}},
        },
    }


def _operation(route: Route) -> Schema:
    operation: Schema = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [_TAGS[route.name]],
        "security": [{"key": []}] if route.who else [],
    }
    if route.parameters:
        operation["parameters"] = [_parameter(parameter) for parameter in route.parameters]
    if route.body:
        required = bool(SCHEMAS[route.body]["required"])  # a body of which nothing is required may be left out
        operation["requestBody"] = {"required": required, "content": {JSON: {"schema": ref(route.body)}}}
    given = {media: {"schema": ref(route.gives)} if media == JSON and route.gives else {} for media in route.media}
    later: Schema = (
        {"202": {"description": LATER, "content": {JSON: {"schema": ref("JobLinks")}}}} if route.later else {}
    )
    same: Schema = {"304": {"description": SAME}} if route.has_tag else {}
    operation["responses"] = {
        "200": {"description": route.summary, "content": given}, **later, **same, **_refusals(route)
    }  # fmt: skip
    return operation


def _parameter(parameter: Parameter) -> Schema:
    return {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.where == "path",
        "description": parameter.help,
        "schema": parameter.schema,
    }


def _refusals(route: Route) -> Schema:
    """Refusals by HTTP status; a status says which codes it may carry."""
    by_status: dict[str, list[str]] = {}
    for code in route.all_codes:
        by_status.setdefault(str(STATUSES.get(code, CODES[code].status)), []).append(f"{code} {CODES[code].title}.")
    return {
        status: {"description": " ".join(codes), "content": {MEDIA: {"schema": ref("Problem")}}}
        for status, codes in sorted(by_status.items())
    }
