"""Answers that raise no suspicion: ranges from certified views, in which no combination is about fewer than k people.

Ordinary tables by sex, by region and by year sometimes have sets that differ by few people. If such answers are ranges
from views, nothing about these people follows from them.
"""

from __future__ import annotations

from querygate.core.types import Catalog
from querygate.gate.query_state import INTERVAL
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import DuckDBRelease, version_file


def has_views(opened: OpenSite, last: Catalog, version: int) -> bool:
    """Whether this version is published as certified views. Unknown, so False, if its file is gone."""
    if last.version == version:
        return bool(last.margins)
    path = version_file(opened.site.store / last.dataset, version)
    return path.exists() and bool(DuckDBRelease(path).catalog.margins)


def is_certified(mode: str | None, *, views: bool) -> bool:
    """Of an answer of a version with or without views. Noisy answers are computed from raw rows."""
    return views and mode == INTERVAL
