"""What is done with requests for extracts: each use-case asks whether it may happen, whether they may, and does it.

A request is decided inside the transaction of its table, on the request as it stands there: of two reviewers who act at
once, the second is told what the first has done.

What is built lies in the vault, for those who decide. To release it is to put it, as a zip, where it is fetched from:
a gate without a vault can give out what was released, and nothing else. There is no vault in this module: the builder
is given by whoever has one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from querygate.control import SqliteRequests, stamp_now
from querygate.core.errors import ExtractRefused, NotPermitted
from querygate.core.extracts.approval_states import (
    ACTIONS,
    FINAL,
    STATES,
    Act,
    Action,
    ExtractBuilder,
    ExtractRequest,
    advance,
    check_act,
    check_comment,
    check_seen,
    roles_of,
)
from querygate.core.extracts.extract_spec import ExtractSpec, invalid
from querygate.core.extracts.extracts_of_views import check_acknowledged, check_needed
from querygate.core.extracts.use_agreement import UseAgreement, check_agreed
from querygate.core.types import Catalog, Principal
from querygate.gate.grant_check import EXTRACT, check_granted
from querygate.gate.incidents import make_problem
from querygate.site.encryption_key import open_seal
from querygate.site.extract_requests.checked_request import read_wish
from querygate.site.extract_requests.extract_builds import REPORT, ExtractBuilds, change_request
from querygate.site.extract_requests.extract_package import ExtractFiles
from querygate.site.extract_requests.visible_request import RequestBody, request_body, request_history
from querygate.site.open_gate import OpenSite

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
        self._log, self._store, self._notify = site.log, site.store, notify
        self._requests = SqliteRequests(site.log.database, site.log, secrets.token_bytes, channels, via, os_user)
        self._native, self._grants = site.gate.native, site.gate.grants
        seal = partial(open_seal, site.site, make=True)
        self._files = ExtractFiles(site.site.vault, site.site.extracts, seal)
        self._reviewers: int = settings["extract_reviewers"]
        days: int = settings["extract_days"]
        self.builds = ExtractBuilds(self._requests, self._files, self._store, self._log, open_builder, days)

    # -- asking and deciding -----------------------------------------------------------------------------

    def request(self, by: Principal, body: Mapping[str, Any]) -> RequestBody:
        """A new draft, of a dataset that was granted to them."""
        spec = self._read_spec(by, body)
        made = self._requests.create(spec, Act("request", by, details={"wish": spec.to_dict()}))
        return self._body(by, made)

    def edit(self, by: Principal, request_id: str, body: Mapping[str, Any]) -> RequestBody:
        """Ask for something else; approvals of what was asked before are void."""
        self._check(by, request_id, "edit")
        spec = self._read_spec(by, body)

        def after(request: ExtractRequest) -> ExtractRequest:
            if request.spec.dataset != spec.dataset:
                raise invalid("dataset", "cannot be changed", request.spec.dataset)
            return replace(advance(request, "edit", by), spec=spec)

        return self._body(
            by, change_request(self._requests, by, request_id, "edit", after, details={"wish": spec.to_dict()})
        )

    def act(
        self,
        by: Principal,
        request_id: str,
        action: Action,
        comment: str = "",
        *,
        beside_views: bool = False,
        agreement: UseAgreement | None = None,
    ) -> RequestBody:
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
        return change_request(
            self._requests,
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

    def listed(self, by: Principal, *, state: str | None = None, mine: bool = False) -> list[RequestBody]:
        """Requests, newest first: to researchers their own, to custodians all."""
        self._expire()
        if state is not None and state not in STATES:
            raise invalid("state", "is not an accepted value", *STATES)
        requester = by.name if mine or not by.may("review") else None
        found = self._requests.listed(requester=requester, state=state)
        return [self._body(by, request, events=False) for request in found]

    def show(self, by: Principal, request_id: str, *, preview: bool = False) -> RequestBody:
        """A request; with `preview`, what a reviewer needs before there is an extract."""
        self._expire()
        request = self._see(by, request_id)
        body = self._body(by, request)
        if preview:
            body["preview"] = self._preview(by, request)
        return body

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
        return self.builds.may_build and is_open and "reviewer" in roles_of(by, request)

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
        return self.builds.builder.risk_page(self.risk(by, request_id))

    def fetch(self, by: Principal, request_id: str) -> BinaryIO:
        """The zip, open for reading, from the beginning; it is what was released, and that they took it is on record.

        Everything is read through one handle: what was verified is what is given.
        """
        self._expire()
        request = self._check(by, request_id, "fetch")
        self._check_granted(by, request)
        handle = self._files.open_released(request.id, request.manifest)
        try:
            change_request(self._requests, by, request_id, "fetch", lambda request: advance(request, "fetch", by))
        except BaseException:
            handle.close()
            raise
        return handle

    # -- building and releasing --------------------------------------------------------------------------

    def _build(self, by: Principal, request_id: str) -> ExtractRequest:
        """Files first, under a name that nobody reads; then the name, then the state. Whenever a process ends, the
        request is where it was before, or is built."""
        self._check_leaving(by, request_id, "build")
        self.builds.check_vault()
        with self._files.locked(request_id):
            request = self._check_leaving(by, request_id, "build")  # another process may have been faster
            on_record = request.manifest
            try:
                try:
                    built = self.builds.make(request)
                except Exception as error:
                    problem = make_problem(error)
                    self.builds.take_failure(by, request_id, problem)
                    raise problem from None
                moved = self.builds.take_build(by, request_id, built)
                on_record = built.manifest
            finally:
                self._files.sweep(request_id, keep=on_record)
        return moved

    def _release(self, by: Principal, request_id: str) -> ExtractRequest:
        """Put what was built, and nothing else, where it is fetched from, for so many days."""
        self._check(by, request_id, "release")
        self.builds.check_vault()
        with self._files.locked(request_id):
            manifest = self.builds.pack(self._check_leaving(by, request_id, "release"))
            try:
                return self.builds.take_release(by, request_id, manifest)
            except BaseException:
                self._files.withdraw(request_id)
                raise

    def _read_built(self, by: Principal, request: ExtractRequest) -> bytes | None:
        return self.builds.read_built(request)

    def _preview(self, by: Principal, request: ExtractRequest) -> dict[str, Any]:
        self._check_reviewer(by, request)
        builder = self.builds.builder
        try:
            return dict(builder.preview(request.spec, requester=request.requester))
        except ExtractRefused as refused:
            return {"refused": {"code": refused.code, "detail": refused.detail, "remedy": refused.remedy}}

    def _check_reviewer(self, by: Principal, request: ExtractRequest) -> None:
        if "reviewer" not in roles_of(by, request):
            raise ExtractRefused("QG602", "Only reviewers of the request can see a preview.", "Ask a custodian.")

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
        return read_wish(by, body, self._catalog, self._grants, self._native)

    def _body(self, by: Principal, request: ExtractRequest, *, events: bool = True) -> RequestBody:
        body = request_body(by, request, self._reviewers)
        history = request_history(by, request, self._requests.events(request.id), self._log) if events else {}
        return {**body, **history}
