"""Publishing from the console: jobs for a worker on this machine, and which versions there are.

Nothing here reads a source or a policy. Both travel in jobs, and the worker looks at them with its own eyes.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from querygate.control import new_query_id
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.jobs import Job, JobKind, JobUnderway
from querygate.core.types import Principal
from querygate.site.job_exchange import JobExchange
from querygate.site.noise_by_job import no_worker
from querygate.site.open_gate import OpenSite, now
from querygate.site.publication_sources import (
    UPLOADED,
    Drop,
    PublicationSource,
    configured_sources,
    ending_of,
    known_uploads,
    plain_title,
)
from querygate_adapters.store.duckdb_store import is_withdrawn, versions_in
from querygate_adapters.store.retired_versions import retired_in

LONGEST_POLICY = 400_000
PUBLISH = "publish."
MOST_WORK = 12


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version with what the log says of its publication."""

    version: int
    state: str
    published: str | None = None
    by: str | None = None
    rows: int | None = None
    k: int | None = None

    @property
    def is_readable(self) -> bool:
        return self.state in ("served", "readable")


class Publications:
    """What custodians do about publishing at the gate. Without an exchange nothing can be done."""

    def __init__(self, opened: OpenSite, exchange: JobExchange | None) -> None:
        self._opened, self._exchange, self._settings = opened, exchange, opened.site.settings

    # -- sources -----------------------------------------------------------------------------------------

    @property
    def most_upload_bytes(self) -> int:
        return int(self._settings["upload_mb"]) * 1_000_000

    def sources(self) -> list[PublicationSource]:
        """What may be published: what the settings name, and what was uploaded."""
        named = [PublicationSource(name, name) for name in configured_sources(self._settings["publish_sources"])]
        return [*named, *(known_uploads(self._opened.log) if self.most_upload_bytes else ())]

    def begin_upload(self, file_name: str) -> Drop:
        """A file to be written, under a name of our own; QG309 where none are taken."""
        if not self.most_upload_bytes:
            raise NotPermitted(
                "QG309",
                "This site does not accept uploads.",
                "An administrator can allow them with the setting `upload_mb`, if everything runs on one machine.",
            )
        ident = new_query_id(now, secrets.token_bytes).replace("q_", "u_", 1)
        return Drop(self._opened.site, ident + ending_of(plain_title(file_name)))

    def keep_upload(self, by: Principal, drop: Drop, file_name: str) -> str:
        """The name under which jobs know it. It is on record before anybody uses it."""
        digest = drop.keep()
        body = {"id": drop.name, "title": plain_title(file_name), "bytes": drop.size_bytes, "sha256": digest}
        self._opened.log.note(UPLOADED, user=by.name, body=body)
        return drop.name

    # -- jobs --------------------------------------------------------------------------------------------

    def put(self, by: Principal, kind: JobKind, dataset: str = "", **body: Any) -> str:
        """The id of a new job."""
        if self._exchange is None:
            raise no_worker()
        if "source" in body:
            known = {one.name: one.title for one in self.sources()}
            if body["source"] not in known:
                raise NotPermitted("QG306", "source: is not a source of this site.", "Choose one from the list.")
            body["title"] = known[body["source"]]
        if len(str(body.get("policy", ""))) > LONGEST_POLICY:
            raise NotPermitted("QG308", "The policy is larger than this site accepts.", "Send a shorter policy.")
        try:
            self._exchange.ask(kind, dataset=dataset, user=by.name, body=body, shared_s=0, wait=False)
        except JobUnderway as underway:
            return underway.job_id
        raise AssertionError("a new job is never there at once")

    def job(self, by: Principal, job_id: str) -> Job:
        """A job of one's own about publishing."""
        found = self._exchange.find(job_id) if self._exchange is not None else None
        if found is None or found.user.lower() != by.name.lower() or not found.kind.startswith(PUBLISH):
            raise NotPermitted("QG316", "There is no job with this id, or you may not see it.", "Begin again.")
        return found

    def own_work(self, by: Principal, dataset: str = "") -> list[Job]:
        """What somebody has begun about a dataset or, without one, about any; newest first."""
        return self._exchange.own(by.name, "publish", dataset, MOST_WORK) if self._exchange is not None else []

    # -- versions ----------------------------------------------------------------------------------------

    def datasets(self) -> list[str]:
        """Those that are served, and those that were withdrawn."""
        folder = self._opened.site.store
        there = folder.iterdir() if folder.is_dir() else ()
        known = {path.name for path in there if path.is_dir() and path.name[0].isalpha()}
        return sorted(known.union(self._opened.store.datasets()))

    def versions(self, dataset: str) -> list[VersionLine]:
        """All versions there are or were, newest first; QG303 for a dataset that there is not."""
        if dataset not in self.datasets():
            raise NotPermitted("QG303", "There is no dataset with this name.", "List the datasets to see their names.")
        log, folder = self._opened.log, self._opened.site.store / dataset
        events = {event["body"]["version"]: event for event in log.events_of("publish", dataset, archived=False)}
        gone = {event["body"]["version"] for event in log.events_of("version.retire", dataset, archived=False)}
        gone |= set(retired_in(folder))
        there, served = set(versions_in(folder)), self._served(dataset)
        found = []
        for version in sorted({*events, *there, *gone}, reverse=True):
            body: Mapping[str, Any] = events[version]["body"] if version in events else {}
            time, by = (events[version]["time"], events[version]["user"]) if version in events else (None, None)
            state = "served" if version == served else "retired" if version in gone else "readable"
            state = state if version in there or version in gone else "lost"
            found.append(VersionLine(version, state, time, by, body.get("rows"), body.get("k")))
        return found

    def is_withdrawn(self, dataset: str) -> bool:
        return is_withdrawn(self._opened.site.store / dataset)

    def _served(self, dataset: str) -> int | None:
        try:
            return self._opened.store.current(dataset).catalog.version
        except QueryGateError:
            return None
