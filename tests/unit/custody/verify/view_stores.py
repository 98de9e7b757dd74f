"""A version of views as it was published, and copies of its file with something changed, for the verifier."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import querygate.custody.publish.publish as publishing
from querygate.core.types import Catalog
from querygate.custody.policy import Policy
from querygate.custody.verify.certificate_proposals import Proposals
from querygate.custody.verify.verifier_types import Measurement
from querygate.custody.verify.view_check import verify_views
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.catalog_json import catalog_to_json
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from querygate_adapters.vault.written_store import WrittenStore
from tests.engine import reading
from tests.policies import PolicyText, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, put, write_parquet

VIEWS = {"mode": "spanning", "spanning": [["age", "sex", "race"], ["age", "sex", "school"]]}
SURVEY = make_policy(
    "t",
    {
        "age": quasi("integer", (20, 59), grid=1, cuts=[30, 40, 50]),
        "sex": quasi("category", values=["f", "m"]),
        "race": quasi("category", values=["a", "b", "c", "d"]),
        "school": quasi("category", values=["high", "low", "mid"]),
        "sbp": sensitive("integer", (40, 300), bins=10, guard=10),
        "bmi": sensitive("number", (10.0, 80.0), bins=2.5, guard=2.5),
        "ill": sensitive("category", values=["no", "yes"]),
    },
    k=5,
    views=VIEWS,
)


def survey(records: int, seed: int = 1) -> dict[str, list[Any]]:
    """People whose pressure rises with age; every column but age and sex misses some."""
    random = np.random.default_rng(seed)
    age = random.integers(20, 60, records)

    def missing(values: Any, share: float) -> list[Any]:
        return [None if random.random() < share else value for value in values.tolist()]

    return {
        "age": age.tolist(),
        "sex": random.choice(["f", "m"], records).tolist(),
        "race": missing(random.choice(["a", "b", "c", "d"], records, p=[0.4, 0.3, 0.2, 0.1]), 0.03),
        "school": missing(random.choice(["high", "low", "mid"], records), 0.05),
        "sbp": missing(np.clip(random.normal(105 + age / 2, 15), 60, 220).astype(int), 0.05),
        "bmi": missing(np.clip(random.normal(27, 5, records), 11, 70).round(2), 0.03),
        "ill": missing(np.where(random.random(records) < 0.05 + age / 300, "yes", "no"), 0.02),
    }


@dataclass(frozen=True)
class ViewStore:
    """A published version, its raw rows, and what the publisher proposed to the verifier."""

    folder: Path
    path: Path
    policy: Policy
    staging: DuckDBStagingTables
    rows: int
    proposals: Proposals

    def verify(
        self, *changes: str, proposals: Proposals | None = None, catalog: Callable[[Catalog], Catalog] | None = None
    ) -> Measurement:
        """What the verifier says of the file, or of a copy with these changes."""
        copy = self.folder / "copy.duckdb"
        shutil.copy(self.path, copy)
        with duckdb.connect(str(copy)) as file:
            for change in changes:
                file.execute(change)
            if catalog is not None:
                told = catalog(WrittenStore(self.path).catalog())
                file.execute("UPDATE catalog SET body = ?", [catalog_to_json(told)])
        given = self.proposals if proposals is None else proposals
        return verify_views(WrittenStore(copy), self.policy, self.staging, self.rows, given)

    def one(self, sql: str) -> Any:
        with reading(self.path) as file:
            return file.execute(sql).fetchall()[0]

    def column(self, name: str) -> int:
        return [column.name for column in WrittenStore(self.path).catalog().columns].index(name)


def publish_views(folder: Path, text: PolicyText, columns: Mapping[str, Any]) -> ViewStore:
    opened, policy = new_site(folder), text.parsed()
    given: dict[int, Any] = {}

    def remember(*arguments: Any) -> Measurement:
        given.update(arguments[4])
        return verify_views(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "verify_views", remember)
        put(opened, policy, columns)
    return ViewStore(
        folder,
        opened.site.store / "t" / "v00001.duckdb",
        policy,
        load_rows(folder, policy, columns),
        len(next(iter(columns.values()))),
        given,
    )


def load_rows(folder: Path, policy: Policy, columns: Mapping[str, Any]) -> DuckDBStagingTables:
    """Raw rows as a vault has them."""
    staging = DuckDBStagingTables(folder / "rows.duckdb")
    source = open_source(str(write_parquet(folder / "rows.parquet", columns)))
    types = {column.name: str(column.type or "category") for column in policy.columns if column.name in columns}
    staging.load(source, types)
    return staging
