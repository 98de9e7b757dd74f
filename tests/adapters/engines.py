"""The engines under test. One that is added here runs the whole suite.

What an engine cannot do stands beside it with the reason, and a test that needs it is skipped with that reason: not
done by us yet, the engine's own limit, or never.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

from querygate.core.ports import Store
from querygate.custody.use_cases.copy_store import copy_store
from querygate.gate.query_state import Gate
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import DuckDBStore
from querygate_adapters.store.postgres_store import PostgresStore
from tests import spark
from tests.postgres import server

Capability = Literal[
    "time limit",  # a statement is stopped in the middle
    "memory limit",  # a statement that needs more than its memory is stopped
    "lock",  # SQL on its connection reaches nothing but the cells, and cannot change that
    "switch",  # another version may be served while the first is being read
    "file",  # a version is a file, which may be damaged
    "speed",  # hundreds of statements take no time to speak of
]


EVERYTHING = "QUERYGATE_TEST_EVERYTHING"
"""While it is set, slow engines are asked everything."""


@dataclass(frozen=True)
class Engine:
    """How to open the store that serves a site's versions, with so much memory, and what the engine lacks.

    `bring` carries what was published in the site's folder to where the engine reads it. Without
    speed it is asked less of in `make test`, and everything in `make soak ONLY=conformance`.
    """

    name: str
    open: Callable[[OpenSite, int], Store]
    bring: Callable[[OpenSite], None] = lambda opened: None
    lacks: Mapping[Capability, str] = field(default_factory=dict)
    marks: Sequence[pytest.MarkDecorator] = ()

    @property
    def slow(self) -> bool:
        return "speed" in self.lacks and not os.environ.get(EVERYTHING)

    def needs(self, capability: Capability) -> None:
        if capability in self.lacks and not (capability == "speed" and os.environ.get(EVERYTHING)):
            pytest.skip(f"{self.name}: {self.lacks[capability]}")

    def gate(self, opened: OpenSite, memory_mb: int = 1024) -> Gate:
        """The site's gate, reading through this engine."""
        self.bring(opened)
        return replace(opened.gate, store=self.open(opened, memory_mb))


def _open_duckdb(opened: OpenSite, memory_mb: int) -> Store:
    return DuckDBStore(opened.site.store, memory_mb=memory_mb)


def _open_postgres(opened: OpenSite, memory_mb: int) -> Store:
    return PostgresStore(_location(opened.site.store), memory_mb=memory_mb)


def _bring_postgres(opened: OpenSite) -> None:
    copy_store(opened, _location(opened.site.store), user="tester")


def _location(store: Path) -> str:
    """A schema for every site."""
    return f"{server().url(database=_database())}#s_{hashlib.sha256(str(store).encode()).hexdigest()[:16]}"


@cache
def _database() -> str:
    return server().new_database()


def _open_spark(opened: OpenSite, memory_mb: int) -> Store:
    from querygate_adapters.store.spark_store import SparkStore

    spark.begin()
    return SparkStore(_spark_folder(opened), memory_mb=memory_mb)


def _bring_spark(opened: OpenSite) -> None:
    spark.begin()
    copy_store(opened, _spark_folder(opened), user="tester")


def _spark_folder(opened: OpenSite) -> str:
    return f"spark:{opened.site.folder.absolute()}-spark"


ENGINES = (
    Engine("duckdb", _open_duckdb),
    Engine(
        "postgresql",
        _open_postgres,
        _bring_postgres,
        lacks={
            "lock": "what a role may do is the server's to say; see test_postgres_store.py",
            "file": "versions are tables of a server",
        },
    ),
    Engine(
        "spark",
        _open_spark,
        _bring_spark,
        lacks={
            "lock": "what a user may do is the cluster's to say; no text of a researcher reaches Spark",
            "file": "a version is a folder of Parquet files; see test_spark_store.py",
            "speed": "a statement takes tenths of a second; everything is asked in make soak ONLY=conformance",
        },
        marks=spark.MARKS,
    ),
)

OTHERS = [pytest.param(one, id=one.name, marks=one.marks) for one in ENGINES[1:]]
"""Those that are compared with the first."""
