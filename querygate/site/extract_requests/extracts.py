"""What is done with requests for extracts: each use-case asks whether it may happen, whether they may, and does it.

A request is decided inside the transaction of its table, on the request as it stands there: of two reviewers who act at
once, the second is told what the first has done.

What is built lies in the vault, for those who decide. To release it is to put it, as a zip, where it is fetched from:
a gate without a vault can give out what was released, and nothing else. There is no vault in this module: the builder
is given by whoever has one.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import Any, BinaryIO

from querygate.control import SqliteRequests, stamp_now
from querygate.core.errors import ExtractRefused, Fault, NotPermitted, QueryGateError
from querygate.core.extracts.approval import (
    ACTIONS,
    FINAL,
    STATES,
    UNSEEN,
    Act,
    Action,
    BuiltExtract,
    ExtractBuilder,
    ExtractRequest,
    advance,
    check_act,
    check_comment,
    check_seen,
    is_text,
    possible,
    roles_of,
)
from querygate.core.extracts.beside_views import check_acknowledged, check_needed
from querygate.core.extracts.extract_checks import check_wish
from querygate.core.extracts.extract_spec import ExtractSpec, invalid
from querygate.core.extracts.use_agreement import UseAgreement, check_agreed
from querygate.core.types import Catalog, Principal, folded
from querygate.gate.grant_check import EXTRACT, check_granted
from querygate.gate.incidents import make_problem
from querygate.site.encryption_key import open_seal
from querygate.site.extract_requests.extract_package import ExtractFiles, no_raw_rows
from querygate.site.extract_requests.request_rounds import changes_since_return
from querygate.site.open_gate import OpenSite
from querygate.sql.extract_condition import read_condition

REPORT = "report.html"
CHANNELS = {"webhook": "extract_webhook", "mail": "extract_mail_command"}
"""Who is told of requests, and the setting that names them."""

ACTS = tuple(action for action in ACTIONS if action not in ("edit", "fetch", "expire"))
"""What `act` does."""


class Extracts:
    """The extracts of a site. `open_builder` is called when a builder is first needed: much comes with one. `via` names
    the door, `os_user` the account of the operating system at a console; `notify` is called when there is something to
    be sent.
    """

    def __init__(
        self,
        site: OpenSite,
        open_builder: Callable[[], ExtractBuilder] | None = None,
        *,
        via: str = "console",
        os_user: str | None = None,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        settings = site.site.settings
        channels = [channel for channel, setting in CHANNELS.items() if settings[setting]]
        self._log, self._store, self._open_builder, self._notify = site.log, site.store, open_builder, notify
        self._requests = SqliteRequests(site.log.database, site.log, secrets.token_bytes, channels, via, os_user)
        self._native, self._grants = site.gate.native, site.gate.grants
        seal = partial(open_seal, site.site, make=True)
        self._files = ExtractFiles(site.site.vault, site.site.extracts, seal)
        self._reviewers: int = settings["extract_reviewers"]
        self._days: int = settings["extract_days"]

    # -- asking and deciding -----------------------------------------------------------------------------

    def request(self, by: Principal, body: Mapping[str, Any]) -> dict[str, Any]:
        """A new draft, of a dataset that was granted to them."""
        spec = self._read_spec(by, body)
        made = self._requests.create(spec, Act("request", by, details={"wish": spec.to_dict()}))
        return self._body(by, made)

    def edit(self, by: Principal, request_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for something else; approvals of what was asked before are void."""
        self._check(by, request_id, "edit")
        spec = self._read_spec(by, body)

        def after(request: ExtractRequest) -> ExtractRequest:
            if request.spec.dataset != spec.dataset:
                raise invalid("dataset", "cannot be changed", request.spec.dataset)
            return replace(advance(request, "edit", by), spec=spec)

        return self._body(by, self._change(by, request_id, "edit", after, details={"wish": spec.to_dict()}))

    def act(
        self,
        by: Principal,
        request_id: str,
        action: Action,
        comment: str = "",
        *,
        beside_views: bool = False,
        agreement: UseAgreement | None = None,
    ) -> dict[str, Any]:
        """Do one of `ACTS`, and tell how the request stands then. `beside_views` acknowledges, with an approval, that
        records leave of a dataset that is published as views; `agreement` is what a limited data set leaves under."""
        self._expire()
        for name, given in (("beside_views", beside_views), ("agreement", agreement)):
            if given and action != "approve":
                raise invalid(name, f"'{action}' does not accept it", "approve")
        if action in ("build", "release"):
            if comment:
                raise invalid("comment", f"'{action}' does not accept a comment")
            request = self._build(by, request_id) if action == "build" else self._release(by, request_id)
        else:
            request = self._decide(by, request_id, action, comment, beside_views, agreement)
        if request.state in FINAL:
            self._files.withdraw(request.id)
        self._notify()
        return self._body(by, request)

    def _decide(
        self,
        by: Principal,
        request_id: str,
        action: Action,
        comment: str,
        beside_views: bool,
        agreement: UseAgreement | None,
    ) -> ExtractRequest:
        """Submit, take, comment, note, approve, return, reject, withdraw or revoke: what moves a request, no more."""
        request = self._check(by, request_id, action)
        comment = check_comment(action, comment)
        if action == "submit":
            self._check_granted(by, request)
        if action == "approve":
            catalog = self._catalog(request.spec.dataset)
            check_acknowledged(request.spec, catalog, beside_views)
            check_needed(request.spec, catalog, beside_views)
            check_agreed(request.spec, agreement, stamp_now(self._log.clock))
        details: dict[str, Any] = {"beside_views": True} if beside_views else {}
        details |= {"agreement": agreement.to_dict()} if agreement else {}
        return self._change(
            by,
            request_id,
            action,
            lambda request: advance(
                request, action, by, reviewers=self._reviewers, beside_views=beside_views, agreement=agreement
            ),
            comment=comment,
            details=details,
        )

    # -- looking -----------------------------------------------------------------------------------------

    def listed(self, by: Principal, *, state: str | None = None, mine: bool = False) -> list[dict[str, Any]]:
        """Requests, newest first: to researchers their own, to custodians all."""
        self._expire()
        if state is not None and state not in STATES:
            raise invalid("state", "is not an accepted value", *STATES)
        requester = by.name if mine or not by.may("review") else None
        found = self._requests.listed(requester=requester, state=state)
        return [self._body(by, request, events=False) for request in found]

    def show(self, by: Principal, request_id: str, *, preview: bool = False) -> dict[str, Any]:
        """A request; with `preview`, what a reviewer needs before there is an extract."""
        self._expire()
        request = self._see(by, request_id)
        body = self._body(by, request)
        return {**body, "preview": self._preview(by, request)} if preview else body

    def read_preview(self, by: Principal, request_id: str) -> Mapping[str, Any] | None:
        """The same figures if they are there; None where nobody has had them made. Nothing is begun by looking."""
        return self._preview(by, self._see(by, request_id))

    def start_preview(self, by: Principal, request_id: str) -> None:
        """Have them made, anew where there are some. Here they are made whenever somebody looks."""
        self._check_reviewer(by, self._see(by, request_id))

    def may_preview(self, by: Principal, request_id: str) -> bool:
        """Whether there is something to preview, for them, here."""
        request = self._see(by, request_id)
        is_open = request.state not in FINAL and request.manifest is None
        return self._open_builder is not None and is_open and "reviewer" in roles_of(by, request)

    def manifest_of(self, request_id: str) -> str | None:
        """The SHA-256 of the manifest that is on record; None where there is no such request, or nothing was built."""
        request = self._requests.find(request_id)
        return request.manifest if request else None

    def report(self, by: Principal, request_id: str) -> bytes:
        """The report of an extract: to reviewers once it is built, to the requester once it is released."""
        self._expire()
        request = self._see(by, request_id)
        if request.state == "built" and "reviewer" in roles_of(by, request):
            page = self._read_built(by, request)
        else:
            check_act(request, "fetch", by)
            page = self._files.read(request.id, request.manifest, REPORT, released=True)
        if page is None:
            raise NotPermitted("QG307", "This extract has no report.", "Use its summary.")
        self._log.note("export.report", user=by.name, dataset=request.spec.dataset, body={"id": request.id})
        return page

    def risk(self, by: Principal, request_id: str) -> dict[str, Any]:
        """The risk report on a request, for those who decide: of what was built, or of what would be."""
        self._expire()
        request = self._see(by, request_id)
        if "reviewer" not in roles_of(by, request):
            raise ExtractRefused("QG602", "Only reviewers of the request can see the risk report.", "Ask a custodian.")
        found = self._preview(by, request) if request.summary is None else request.summary
        if "refused" in found:
            raise ExtractRefused(**found["refused"])
        if found.get("assessment") is None:
            raise NotPermitted(
                "QG307",
                "This request has no risk report: its records are synthetic, or it was built without one.",
                "Use its figures.",
            )
        self._log.note("export.risk", user=by.name, dataset=request.spec.dataset, body={"id": request.id})
        return dict(found["assessment"])

    def risk_page(self, by: Principal, request_id: str) -> bytes:
        """The same as a page; it is drawn where the raw rows are."""
        return self._builder.risk_page(self.risk(by, request_id))

    def fetch(self, by: Principal, request_id: str) -> BinaryIO:
        """The zip, open for reading, from the beginning; it is what was released, and that they took it is on record.

        Everything is read through one handle: what was verified is what is given.
        """
        self._expire()
        request = self._check(by, request_id, "fetch")
        self._check_granted(by, request)
        handle = self._files.open_released(request.id, request.manifest)
        try:
            self._change(by, request_id, "fetch", lambda request: advance(request, "fetch", by))
        except BaseException:
            handle.close()
            raise
        return handle

    # -- building and releasing --------------------------------------------------------------------------

    def _build(self, by: Principal, request_id: str) -> ExtractRequest:
        """Files first, under a name that nobody reads; then the name, then the state. Whenever a process ends, the
        request is where it was before, or is built."""
        self._check_leaving(by, request_id, "build")
        self._check_vault()
        with self._files.locked(request_id):
            request = self._check_leaving(by, request_id, "build")  # another process may have been faster
            on_record = request.manifest
            try:
                try:
                    built = self.make(request)
                except Exception as error:
                    problem = make_problem(error)
                    self.take_failure(by, request_id, problem)
                    raise problem from None
                moved = self.take_build(by, request_id, built)
                on_record = built.manifest
            finally:
                self._files.sweep(request_id, keep=on_record)
        return moved

    def make(self, request: ExtractRequest) -> BuiltExtract:
        """The extract, in the vault. Nothing is on record of it yet."""
        builder = self._builder
        check_agreed(request.spec, request.agreement, stamp_now(self._log.clock))
        folder = self._files.stage(request.id, keep=request.manifest)
        catalog = self._catalog(request.spec.dataset)
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
        self, by: Principal, request_id: str, built: BuiltExtract, connection: sqlite3.Connection | None = None
    ) -> ExtractRequest:
        """Put on record what was built; within a transaction of the caller, where there is one."""

        def after(request: ExtractRequest) -> ExtractRequest:
            moved = advance(request, "build", by)
            return replace(moved, summary=built.summary, manifest=built.manifest, failure=None)

        details = {"manifest": built.manifest}
        return self._change(by, request_id, "build", after, details=details, connection=connection)

    def take_failure(
        self, by: Principal, request_id: str, error: QueryGateError, connection: sqlite3.Connection | None = None
    ) -> None:
        """A build came to nothing; the request stays as it was, and says why."""

        def after(request: ExtractRequest) -> ExtractRequest:
            check_act(request, "build", by)
            return replace(request, failure=f"{error.code}: {error.detail}")

        incident = {"incident": error.incident} if isinstance(error, Fault) else {}
        details = {"failed": error.code, **incident}
        self._change(by, request_id, "build", after, details=details, connection=connection)

    def _release(self, by: Principal, request_id: str) -> ExtractRequest:
        """Put what was built, and nothing else, where it is fetched from, for so many days."""
        self._check(by, request_id, "release")
        self._check_vault()
        with self._files.locked(request_id):
            manifest = self.pack(self._check_leaving(by, request_id, "release"))
            try:
                return self.take_release(by, request_id, manifest)
            except BaseException:
                self._files.withdraw(request_id)
                raise

    def pack(self, request: ExtractRequest) -> str:
        """Put what was built where it is fetched from; the SHA-256 of its manifest. Nobody may fetch it yet."""
        return self._files.release(request.id, request.manifest)

    def take_release(
        self, by: Principal, request_id: str, manifest: str, connection: sqlite3.Connection | None = None
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
        return self._change(by, request_id, "release", after, details=details, connection=connection)

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
        self._check_vault()
        return self._files.read(request.id, request.manifest, REPORT, released=False)

    def _read_built(self, by: Principal, request: ExtractRequest) -> bytes | None:
        return self.read_built(request)

    def _preview(self, by: Principal, request: ExtractRequest) -> dict[str, Any]:
        self._check_reviewer(by, request)
        builder = self._builder
        try:
            return dict(builder.preview(request.spec, requester=request.requester))
        except ExtractRefused as refused:
            return {"refused": {"code": refused.code, "detail": refused.detail, "remedy": refused.remedy}}

    def _check_reviewer(self, by: Principal, request: ExtractRequest) -> None:
        if "reviewer" not in roles_of(by, request):
            raise ExtractRefused("QG602", "Only reviewers of the request can see a preview.", "Ask a custodian.")

    def _check_vault(self) -> Callable[[], ExtractBuilder]:
        if self._open_builder is None:
            raise no_raw_rows()
        return self._open_builder

    @cached_property
    def _builder(self) -> ExtractBuilder:
        return self._check_vault()()

    # -- requests ----------------------------------------------------------------------------------------

    def _see(self, by: Principal, request_id: str) -> ExtractRequest:
        return check_seen(by, self._requests.find(request_id))

    def _check(self, by: Principal, request_id: str, action: Action) -> ExtractRequest:
        """The request, if this may be done to it now by them."""
        request = self._see(by, request_id)
        check_act(request, action, by)
        return request

    def _check_leaving(self, by: Principal, request_id: str, action: Action) -> ExtractRequest:
        """The same, where records are about to leave: none do of a dataset that was withdrawn, nor beside views that
        were published since it was approved, nor after the data use agreement has ended."""
        request = self._check(by, request_id, action)
        check_acknowledged(request.spec, self._catalog(request.spec.dataset), request.beside_views)
        check_agreed(request.spec, request.agreement, stamp_now(self._log.clock))
        return request

    def _change(
        self,
        by: Principal,
        request_id: str,
        action: Action,
        after: Callable[[ExtractRequest], ExtractRequest],
        *,
        comment: str = "",
        details: Mapping[str, Any] | None = None,
        connection: sqlite3.Connection | None = None,
    ) -> ExtractRequest:
        act, seen = Act(action, by, comment, details or {}), lambda request: after(check_seen(by, request))
        if connection is not None:
            return self._requests.change_in(connection, request_id, act, seen)
        return self._requests.change(request_id, act, seen)

    def _expire(self) -> None:
        for request in self._requests.expire_due():
            self._files.withdraw(request.id)

    def _catalog(self, dataset: str) -> Catalog:
        return self._store.current(dataset).catalog

    def _check_granted(self, by: Principal, request: ExtractRequest) -> None:
        """Whoever asks has a grant still; those who build for others need none."""
        if by.name.lower() == request.requester.lower():
            check_granted(by, request.spec.dataset, EXTRACT, self._grants)

    def _read_spec(self, by: Principal, body: Mapping[str, Any]) -> ExtractSpec:
        """What is asked for, of a dataset that they may ask for, columns that it has, and a condition that can be
        read."""
        spec = ExtractSpec.of(body)
        check_granted(by, spec.dataset, EXTRACT, self._grants)
        if not is_text(json.dumps(spec.to_dict(), ensure_ascii=False)):
            raise invalid("purpose", "must be valid Unicode, like all other keys")
        catalog = self._catalog(spec.dataset)
        apart, made = ({folded(name) for name in names} for names in (catalog.in_extracts, catalog.flags))
        for name in spec.columns:
            if (catalog.column(name) is None and folded(name) not in apart) or folded(name) in made:
                own = (column.name for column in catalog.columns if folded(column.name) not in made)
                there = (*own, *catalog.in_extracts)
                raise invalid("columns", f"{name[:63]} is not a column", *there)
        wanted = {folded(name) for name in spec.columns} or {folded(column.name) for column in catalog.columns}
        check_wish(spec, {column.name: column.type for column in catalog.columns if folded(column.name) in wanted})
        read_condition(spec.where, catalog, self._native)
        return spec

    def _body(self, by: Principal, request: ExtractRequest, *, events: bool = True) -> dict[str, Any]:
        """A request as this person may see it, as JSON has it.

        Figures are for those who decide: they speak of the raw records, and of what those who ask have learnt. What a
        recipient is told is in the extract; its hash, once it is released, is for them too.
        """
        decides = "reviewer" in roles_of(by, request)
        body = {
            "id": request.id,
            "number": request.number,
            "dataset": request.spec.dataset,
            "requester": request.requester,
            "state": request.state,
            "created": request.created,
            "changed": request.changed,
            "expires": request.expires,
            "approvals": list(request.approvals),
            "reviewers": self._reviewers,
            "wish": request.spec.to_dict(),
            "summary": dict(request.summary) if request.summary is not None and decides else None,
            "manifest": request.manifest if decides or request.expires else None,
            "failure": request.failure if decides else None,
            "may": list(possible(request, by)),
        }
        if request.beside_views:
            body["beside_views"] = True
        if request.agreement:
            body["agreement"] = request.agreement.to_dict()
        if events:
            done = self._requests.events(request.id)
            seen = [event for event in done if decides or event.action not in UNSEEN]
            body["events"] = [{**asdict(event), "number": place} for place, event in enumerate(seen, 1)]
            if any(event.action == "return" for event in done):
                body["changes"] = changes_since_return(self._log.events_in("export"), request.id)
        return body
