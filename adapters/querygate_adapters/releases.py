"""What the releases of all engines share: the catalog as text, the blocks that were read, and the refusals."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Any

from querygate.core.block import Block
from querygate.core.errors import NotPermitted
from querygate.core.types import Catalog, Column, Reference

KEPT_BYTES = 256 * 2**20
"""What a release may keep of the blocks it has read."""

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
"""Names of datasets."""


def catalog_to_json(catalog: Catalog) -> str:
    return json.dumps(asdict(catalog), ensure_ascii=False)


def catalog_from_json(text: str) -> Catalog:
    body = json.loads(text)
    columns = tuple(Column(**{**column, "values": tuple(column["values"])}) for column in body.pop("columns"))
    references = tuple(map(_reference, body.pop("references", ())))  # a catalog of before there were any has none
    return Catalog(**{**body, "modes": tuple(body["modes"])}, columns=columns, references=references)


def _reference(body: dict[str, Any]) -> Reference:
    columns = tuple((name, tuple(values)) for name, values in body["columns"])
    return Reference(body["name"], body["key"], tuple(body["keys"]), columns)


class KeptBlocks:
    """Blocks by the columns they were grouped to. A version never changes, so what was read once is kept."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[str, ...], Block] = {}
        self._lock = threading.Lock()

    def get(self, names: Collection[str], read: Callable[[tuple[str, ...]], Block]) -> Block:
        """The block of these names, read now if it was not before. The oldest make room."""
        wanted = tuple(sorted(names))
        with self._lock:
            known = self._blocks.get(wanted)
        if known is not None:
            return known
        block = read(wanted)
        with self._lock:
            self._blocks[wanted] = block
            while sum(kept.nbytes for kept in self._blocks.values()) > KEPT_BYTES:
                self._blocks.pop(next(iter(self._blocks)))
        return block


def no_dataset() -> NotPermitted:
    return NotPermitted("QG303", "There is no dataset of that name.", "List the datasets to see their names.")


def over_the_limit() -> NotPermitted:
    return NotPermitted(
        "QG305",
        "The statement was stopped at the limit of time or memory.",
        "Ask for fewer groups or fewer columns at once.",
    )
