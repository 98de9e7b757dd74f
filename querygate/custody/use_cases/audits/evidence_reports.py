"""The custodian's reports from the published plane and the log alone: replay, store, users. No vault is opened."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import cast

from querygate.control import stamp
from querygate.core.errors import NotPermitted
from querygate.custody.evidence.class_reader import ClassReader
from querygate.custody.evidence.intent_score import Intent, ScoredQuery, score_users
from querygate.custody.evidence.replay import LoggedQuery, Replay, replay
from querygate.custody.evidence.store_weakness import Weakness, find_weaknesses
from querygate.custody.evidence.view_differences import ViewsTold, read_views
from querygate.custody.use_cases.withdraw_dataset import last_catalog
from querygate.site.open_gate import OpenSite
from querygate_adapters.vault.cell_classes import ClassedRelease, open_version


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What a version gives away, and how much of it each user has read out."""

    dataset: str
    version: int
    k: int
    classes: int
    columns: tuple[Weakness, ...]
    read_out: Mapping[str, int]  # user -> classes
    views: ViewsTold | None  # where it is published as views


def replay_site(
    opened: OpenSite,
    *,
    user: str,
    dataset: str | None = None,
    since: datetime | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Replay:
    """Compute every logged answer again from its store version, and log the outcome."""
    began = time.perf_counter()
    logged = cast("Iterator[LoggedQuery]", opened.log.queries(dataset=dataset, since=since))
    found = replay(logged, opened.gate, lambda *at: _open(opened, *at), progress)
    body = {
        "since": None if since is None else stamp(since),
        "answers": found.answers,
        "same": found.same,
        "sharper": found.sharper,
        "different": [one.query_id for one in found.different],
        "gone": sum(found.gone.values()),
        "seconds": round(time.perf_counter() - began, 1),
    }
    opened.log.note("audit.replay", user=user, dataset=dataset, body=body)
    return found


def report_store(opened: OpenSite, dataset: str, version: int | None, *, user: str) -> StoreReport:
    """How weak a version is, by itself and for those who queried it."""
    wanted = version or last_catalog(opened, dataset).version
    release = _open(opened, dataset, wanted)
    if release is None:
        raise NotPermitted(
            "QG303", "There is no such version.", f"List the versions with `querygate versions {dataset}`."
        )
    opened.log.note("audit.store", user=user, dataset=dataset, body={"version": wanted})
    reader = ClassReader(release, opened.gate.native)
    asked: dict[str, dict[str, None]] = {}
    for line in opened.log.queries(dataset=dataset):
        if line["outcome"] == "answered" and line["version"] == wanted:
            asked.setdefault(line["user"], {})[line["sql"]] = None
    return StoreReport(
        dataset,
        wanted,
        release.catalog.k,
        int(reader.labels.size),
        tuple(find_weaknesses(release)),
        {name: reader.read_out(statements) for name, statements in sorted(asked.items())},
        read_views(release),
    )


def report_users(opened: OpenSite, *, user: str, dataset: str | None, since: datetime | None) -> list[Intent]:
    """Who behaves as if probing the data."""
    first = None if since is None else stamp(since)
    opened.log.note("audit.users", user=user, dataset=dataset, body={} if first is None else {"since": first})

    @lru_cache(None)
    def reader(dataset: str, version: int) -> ClassReader | None:
        release = _open(opened, dataset, version)
        return None if release is None else ClassReader(release, opened.gate.native)

    def is_rare(entry: ScoredQuery) -> bool:
        at = reader(entry["dataset"], entry["version"])
        concerned = None if at is None else at.concerned(entry["sql"])
        return concerned is not None and concerned <= 1

    return score_users(_outcomes(opened, dataset, first), is_rare)


def _outcomes(opened: OpenSite, dataset: str | None, since: str | None) -> Iterator[ScoredQuery]:
    for event in opened.log.events():
        if event["kind"] != "query.outcome" or (dataset is not None and event["dataset"] != dataset):
            continue
        if since is None or event["time"] >= since:
            body = event["body"]
            yield {
                "user": event["user"] or "",
                "time": event["time"],
                "dataset": event["dataset"],
                "version": body.get("version"),
                "sql": body["sql"],
                "code": body["code"] if body["outcome"] == "refused" else None,
                "canonical_hash": body.get("canonical_hash"),
            }


def _open(opened: OpenSite, dataset: str, version: int) -> ClassedRelease | None:
    return open_version(opened.site.store, dataset, version, memory_mb=opened.site.settings.limits.memory_mb)
