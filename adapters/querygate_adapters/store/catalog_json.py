"""What the releases of all engines share: the catalog as text, the cache of blocks, and the refusals."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, TypeAlias

from querygate.core.block import Block
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.json_body import JsonValue
from querygate.core.types import Catalog, Column, Margin, NoiseOptions, Reference

KEPT_BYTES = 256 * 2**20
"""Memory for the blocks that a release caches."""

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
"""Names of datasets."""


FORMAT = 11
"""The newest store format that can be read. Each feature raises the format: code lists (2), moments of classes (3),
noisy answers (4), a rule about differencing that the gate has to keep (5), columns only for extracts and one that
identifies persons (6), people with several rows or a name for rare values (7), views (8), groups of codes in views (9),
ordered categories (10), cuts of a policy (11). A store with none of them has the first format, and does not name it."""


def catalog_to_json(catalog: Catalog) -> str:
    """In a form that older programs can read too, unless it has features that they do not know."""
    body = _fields(catalog) | {"columns": [_fields(column) for column in catalog.columns]}
    for column in body["columns"]:
        if not column["parents"]:
            del column["parents"]
        if column["moments"] == "none":
            del column["moments"], column["shared"]
        for name in ("rare", "groups", "order", "cuts"):
            if not column[name]:
                del column[name]
    if any(column.is_codes for column in catalog.columns):
        body["format"] = 2
    if any(column.moments != "none" for column in catalog.columns):
        body["format"] = 3
    if catalog.noise is None:
        del body["noise"]
    else:
        body["format"] = 4
    if catalog.on_differencing == "alert":
        del body["on_differencing"]
    else:
        body["format"] = 5
    for name in ("in_extracts", "person"):
        if body[name]:
            body["format"] = 6
        else:
            del body[name]
    if catalog.persons or any(column.rare for column in catalog.columns):
        body["format"] = 7
    if not catalog.persons:
        del body["persons"]
    if catalog.margins:
        body["format"] = 8
    else:
        del body["margins"]
    if any(column.groups for column in catalog.columns):
        body["format"] = 9
    if any(column.order for column in catalog.columns):
        body["format"] = 10
    if any(column.cuts for column in catalog.columns):
        body["format"] = 11
    return json.dumps(body, ensure_ascii=False, default=_fields)


def _fields(of: Any) -> dict[str, Any]:
    """A dataclass as a dict, without copying its values: a list of codes is long."""
    return {field.name: getattr(of, field.name) for field in fields(of)}


def catalog_from_json(text: str) -> Catalog:
    body = _with_tuples(json.loads(text))
    if body.pop("format", 1) > FORMAT:
        raise ConfigError(
            "QG804", "This version was published by a newer QueryGate.", "Update the gate, or serve another version."
        )
    columns = tuple(Column(**column) for column in body["columns"])
    references = tuple(Reference(**table) for table in body.get("references", ()))  # missing in older catalogs
    noise = NoiseOptions(**body["noise"]) if body.get("noise") else None
    margins = tuple(Margin(**margin) for margin in body.get("margins", ()))
    return Catalog(**{**body, "columns": columns, "references": references, "noise": noise, "margins": margins})


NESTED = frozenset((list, dict))


def _with_tuples(body: JsonValue) -> Any:
    """Turns JSON's lists into the catalog's tuples, at any depth."""
    if isinstance(body, dict):
        return {key: _with_tuples(value) for key, value in body.items()}
    if isinstance(body, list):
        return tuple(body if NESTED.isdisjoint(map(type, body)) else map(_with_tuples, body))
    return body


Names: TypeAlias = tuple[str, ...]
Row: TypeAlias = tuple[Any, ...]
"""A row as an engine gives it."""


class KeptBlocks:
    """A cache of blocks, by their columns, the columns with moments, their margin, and whether they are grouped by
    class. A version never changes, so blocks stay valid."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[Names, Names, int | None, bool], tuple[Block, int]] = {}
        self._held = 0
        self._lock = threading.Lock()

    def get(
        self,
        names: Collection[str],
        moments: Collection[str],
        margin: int | None,
        by_class: bool,
        read: Callable[[Names, Names, int | None, bool], Block],
    ) -> Block:
        """The block for these names, from the cache if possible. The oldest blocks make room."""
        wanted = tuple(sorted(names)), tuple(sorted(moments)), margin, by_class
        with self._lock:
            known = self._blocks.get(wanted)
        if known is not None:
            return known[0]
        block = read(*wanted)
        size = block.nbytes
        with self._lock:
            self._held += size - self._blocks.pop(wanted, (block, 0))[1]
            self._blocks[wanted] = block, size
            while self._held > KEPT_BYTES:
                self._held -= self._blocks.pop(next(iter(self._blocks)))[1]
        return block


def withdrawn() -> NotPermitted:
    return NotPermitted(
        "QG312", "The custodian has withdrawn this dataset.", "Ask the custodian, or list the datasets that are served."
    )
