"""Extracts built and released: files first, under a name that nobody reads; then the name, then the state."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import Any

from querygate.control import Log, SqliteRequests, stamp_now
from querygate.control.ports import Connection
from querygate.core.errors import ExtractRefused, Fault, QueryGateError
from querygate.core.extracts.approval_states import (
    Act,
    Action,
    BuiltExtract,
    ExtractBuilder,
    ExtractRequest,
    advance,
    check_act,
    check_seen,
)
from querygate.core.extracts.use_agreement import check_agreed
from querygate.core.ports import Store
from querygate.core.types import Principal
from querygate.site.extract_requests.extract_package import ExtractFiles, no_raw_rows

REPORT = "report.html"


def change_request(
    requests: SqliteRequests,
    by: Principal,
    request_id: str,
    action: Action,
    after: Callable[[ExtractRequest], ExtractRequest],
    *,
    comment: str = "",
    details: Mapping[str, Any] | None = None,
    connection: Connection | None = None,
) -> ExtractRequest:
    """Change a request that they may see; within a transaction of the caller, where there is one."""
    act, seen = Act(action, by, comment, details or {}), lambda request: after(check_seen(by, request))
    if connection is not None:
        return requests.change_in(connection, request_id, act, seen)
    return requests.change(request_id, act, seen)


class ExtractBuilds:
    """What is built of requests, and put on record. `open_builder` is called when a builder is first needed: much comes
    with one; None where there is no vault. What is released can be fetched for so many days."""

    def __init__(
        self,
        requests: SqliteRequests,
        files: ExtractFiles,
        store: Store,
        log: Log,
        open_builder: Callable[[], ExtractBuilder] | None,
        days: int,
    ) -> None:
        self._requests, self._files, self._store = requests, files, store
        self._log, self._open_builder, self._days = log, open_builder, days

    @property
    def may_build(self) -> bool:
        return self._open_builder is not None

    def check_vault(self) -> Callable[[], ExtractBuilder]:
        if self._open_builder is None:
            raise no_raw_rows()
        return self._open_builder

    @cached_property
    def builder(self) -> ExtractBuilder:
        return self.check_vault()()

    def make(self, request: ExtractRequest) -> BuiltExtract:
        """The extract, in the vault. Nothing is on record of it yet."""
        builder = self.builder
        check_agreed(request.spec, request.agreement, stamp_now(self._log.clock))
        folder = self._files.stage(request.id, keep=request.manifest)
        catalog = self._store.current(request.spec.dataset).catalog
        found = builder.build(request.spec, folder, request_id=request.id, requester=request.requester)
        summary = {"version": catalog.version, "policy_hash": catalog.policy_hash, **found}
        summary = json.loads(json.dumps(summary, allow_nan=False))
        facts = {
            "request": request.id,
            "dataset": request.spec.dataset,
            "version": summary["version"],
            "policy_hash": summary["policy_hash"],
            "method": summary["method"],
            "made": stamp_now(self._log.clock),
            "wish": request.spec.to_dict(),
        }
        facts |= {"agreement": request.agreement.to_dict()} if request.agreement else {}
        return BuiltExtract(summary, self._files.keep(request.id, facts))

    def take_build(
        self, by: Principal, request_id: str, built: BuiltExtract, connection: Connection | None = None
    ) -> ExtractRequest:
        """Put on record what was built; within a transaction of the caller, where there is one."""

        def after(request: ExtractRequest) -> ExtractRequest:
            moved = advance(request, "build", by)
            return replace(moved, summary=built.summary, manifest=built.manifest, failure=None)

        details = {"manifest": built.manifest}
        return change_request(self._requests, by, request_id, "build", after, details=details, connection=connection)

    def take_failure(
        self, by: Principal, request_id: str, error: QueryGateError, connection: Connection | None = None
    ) -> None:
        """A build came to nothing; the request stays as it was, and says why."""

        def after(request: ExtractRequest) -> ExtractRequest:
            check_act(request, "build", by)
            return replace(request, failure=f"{error.code}: {error.detail}")

        incident = {"incident": error.incident} if isinstance(error, Fault) else {}
        details = {"failed": error.code, **incident}
        change_request(self._requests, by, request_id, "build", after, details=details, connection=connection)

    def pack(self, request: ExtractRequest) -> str:
        """Put what was built where it is fetched from; the SHA-256 of its manifest. Nobody may fetch it yet."""
        return self._files.release(request.id, request.manifest)

    def take_release(
        self, by: Principal, request_id: str, manifest: str, connection: Connection | None = None
    ) -> ExtractRequest:
        """Put on record that it may be fetched; within a transaction of the caller, where there is one."""
        expires = self._last_moment(request_id)

        def after(request: ExtractRequest) -> ExtractRequest:
            moved = replace(advance(request, "release", by), expires=expires)
            if request.manifest != manifest:
                raise ExtractRefused(
                    "QG601", "The extract was rebuilt in the meantime.", "Look at the new one, then release it."
                )
            return moved

        details = {"manifest": manifest, "expires": expires}
        return change_request(self._requests, by, request_id, "release", after, details=details, connection=connection)

    def _last_moment(self, request_id: str) -> str:
        """Until when it can be fetched: for the days of the setting, but no longer than its agreement holds."""
        expires, request = stamp_now(self._log.clock, timedelta(days=self._days)), self._requests.find(request_id)
        if request is None or request.agreement is None:
            return expires
        return min(expires, f"{request.agreement.until}T23:59:59.999999Z")

    def locked(self, request_id: str) -> AbstractContextManager[None]:
        """Nobody else builds or releases this extract meanwhile."""
        return self._files.locked(request_id)

    def read_built(self, request: ExtractRequest) -> bytes | None:
        """The report of what was built, from the vault."""
        self.check_vault()
        return self._files.read(request.id, request.manifest, REPORT, released=False)
