"""A small published dataset whose policy allows noisy answers, and the truth beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from querygate.core.answer_bodies import AnswerBody, Verdict
from querygate.core.types import Principal, QueryOptions, Request
from querygate.custody.use_cases.open_custody import with_vault
from querygate.gate import answer as gate
from querygate.gate import dry_run
from querygate.site.open_gate import OpenSite, open_gate
from tests.empty_site import empty_site
from tests.engine import scratch
from tests.small_release import publish_small


@dataclass(frozen=True)
class NoisySite:
    """A site, and a plain database with the rows it was published from."""

    opened: OpenSite
    truth: duckdb.DuckDBPyConnection

    def ask(self, sql: str, user: str = "ann", **options: Any) -> AnswerBody:
        return self.answer(self.request(sql, user, **options))

    def answer(self, request: Request) -> AnswerBody:
        return gate.ask(request, self.opened.gate)

    def check(self, request: Request) -> Verdict:
        return dry_run.check(request, self.opened.gate)

    def request(self, sql: str, user: str = "ann", **options: Any) -> Request:
        return Request(Principal(user, "researcher"), "patients", sql, QueryOptions(**{"mode": "laplace", **options}))


def noisy_site(folder: Path, *, each: float = 1.0, total: float = 10.0, user: float = 10.0, **more: Any) -> NoisySite:
    """Publish random patients, with noisy answers allowed."""
    opened = with_vault(open_gate(empty_site(folder / "site")))
    spent = {"epsilon_per_query": each, "epsilon_total": total, "epsilon_per_user": user}
    publish_small(opened, folder, answers={"modes": ["interval", "laplace"]}, laplace={**spent, **more})
    truth = scratch()
    truth.execute(f"CREATE TABLE patients AS SELECT * FROM '{folder / 'patients.parquet'}'")
    return NoisySite(opened, truth)
