"""The root that joins what extracts need: requests, a builder where the raw rows are, and a place to fetch from.

What is built lies in the vault, for those who decide. To release it is to put it, as a zip, where it is fetched from:
a gate without a vault can give out what was released, and nothing else. There is no vault in this module: the builder
is given by whoever has one.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from querygate.control import SqliteRequests, stamp
from querygate.core.approval import ACTIONS, FINAL, Action, ExtractBuilder, ExtractRequest, check_act, roles_of
from querygate.core.errors import ExtractRefused, NotPermitted, QueryGateError
from querygate.core.extract_spec import invalid
from querygate.core.types import Principal
from querygate.gate.incidents import make_fault
from querygate.gate.requests import ExtractRequests
from querygate.site.extract_package import Contents, altered, in_folder, opened, pack, seal, sync, verify
from querygate.site.open_gate import OpenSite

REPORT = "report.html"
STAGED = ".staged"
CHANNELS = {"webhook": "extract_webhook", "mail": "extract_mail_command"}
"""Who is told of requests, and the setting that names them."""

ACTS = tuple(action for action in ACTIONS if action not in ("edit", "fetch", "expire"))
"""What `act` does."""


class Extracts:
    """The extracts of a site. `via` names the door; `told` is called when there is something to be sent."""

    def __init__(
        self,
        site: OpenSite,
        builder: ExtractBuilder | None = None,
        *,
        via: str = "console",
        told: Callable[[], None] = lambda: None,
    ) -> None:
        settings = site.site.settings
        channels = [channel for channel, setting in CHANNELS.items() if settings[setting]]
        self._site, self._builder, self._told = site, builder, told
        self._requests = SqliteRequests(site.log.database, site.log, secrets.token_bytes, channels, via)
        self._desk = ExtractRequests(
            self._requests,
            catalog=lambda name: site.store.current(name).catalog,
            now=site.log.clock,
            stamp=stamp,
            reviewers=settings["extract_reviewers"],
            days=settings["extract_days"],
        )

    # -- asking and deciding -----------------------------------------------------------------------------

    def request(self, by: Principal, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._desk.told(by, self._desk.request(by, body))

    def edit(self, by: Principal, request_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._desk.told(by, self._desk.edit(by, request_id, body))

    def act(self, by: Principal, request_id: str, action: Action, comment: str = "") -> dict[str, Any]:
        """Do one of `ACTS`, and tell how the request stands then."""
        self._expire()
        if action in ("build", "release"):
            if comment:
                raise invalid("comment", f"'{action}' does not accept a comment")
            asked = self._build(by, request_id) if action == "build" else self._release(by, request_id)
        else:
            asked = self._desk.act(by, request_id, action, comment)
        if asked.state in FINAL:
            self._outgoing(asked).unlink(missing_ok=True)
        self._told()
        return self._desk.told(by, asked)

    # -- looking -----------------------------------------------------------------------------------------

    def listed(self, by: Principal, *, state: str | None = None, mine: bool = False) -> list[dict[str, Any]]:
        self._expire()
        return [self._desk.told(by, asked, events=False) for asked in self._desk.listed(by, state=state, mine=mine)]

    def show(self, by: Principal, request_id: str, *, preview: bool = False) -> dict[str, Any]:
        """A request; with `preview`, what a reviewer needs before there is an extract."""
        self._expire()
        asked = self._desk.see(by, request_id)
        body = self._desk.told(by, asked)
        return {**body, "preview": self._preview(by, asked)} if preview else body

    def may_preview(self, by: Principal, request_id: str) -> bool:
        """Whether there is something to preview, for them, here."""
        asked = self._desk.see(by, request_id)
        is_open = asked.state not in FINAL and asked.manifest is None
        return self._builder is not None and is_open and "reviewer" in roles_of(by, asked)

    def manifest_of(self, request_id: str) -> str | None:
        """The SHA-256 of the manifest that is on record; None where there is no such request, or nothing was built."""
        asked = self._requests.find(request_id)
        return asked.manifest if asked else None

    def report(self, by: Principal, request_id: str) -> bytes:
        """The report of an extract: to reviewers once it is built, to the requester once it is released."""
        self._expire()
        asked = self._desk.see(by, request_id)
        if asked.state == "built" and "reviewer" in roles_of(by, asked):
            self._builder_here()
            source: Path | BinaryIO = self._built(asked)
        else:
            check_act(asked, "fetch", by)
            source = self._outgoing(asked)
        with opened(source) as contents:
            verify(contents, asked.manifest)
            if REPORT not in contents.sizes:
                raise NotPermitted("QG307", "This extract has no report.", "Use its summary.")
            self._site.log.note("export.report", user=by.name, dataset=asked.wish.dataset, body={"id": asked.id})
            with contents.open(REPORT) as stream:
                return stream.read()

    def risk(self, by: Principal, request_id: str) -> dict[str, Any]:
        """The risk report on a request, for those who decide: of what was built, or of what would be."""
        self._expire()
        asked = self._desk.see(by, request_id)
        if "reviewer" not in roles_of(by, asked):
            raise ExtractRefused("QG602", "Only reviewers of the request can see the risk report.", "Ask a custodian.")
        found = self._preview(by, asked) if asked.summary is None else asked.summary
        if "refused" in found:
            raise ExtractRefused(**found["refused"])
        if found.get("assessment") is None:
            raise NotPermitted(
                "QG307",
                "This request has no risk report: its records are synthetic, or it was built without one.",
                "Use its figures.",
            )
        self._site.log.note("export.risk", user=by.name, dataset=asked.wish.dataset, body={"id": asked.id})
        return dict(found["assessment"])

    def risk_page(self, by: Principal, request_id: str) -> bytes:
        """The same as a page; it is drawn where the raw rows are."""
        return self._builder_here().risk_page(self.risk(by, request_id))

    def fetch(self, by: Principal, request_id: str) -> BinaryIO:
        """The zip, open for reading, from the beginning; it is what was released, and that they took it is on record.

        Everything is read through one handle: what was verified is what is given.
        """
        self._expire()
        asked = self._desk.check(by, request_id, "fetch")
        try:
            handle = self._outgoing(asked).open("rb")
        except FileNotFoundError:
            raise altered("The extract is not in the place where it was released.") from None
        try:
            with opened(handle) as contents:
                verify(contents, asked.manifest)
            self._desk.fetched(by, request_id)
            handle.seek(0)
        except BaseException:
            handle.close()
            raise
        return handle

    # -- building and releasing --------------------------------------------------------------------------

    def _build(self, by: Principal, request_id: str) -> ExtractRequest:
        """Files first, under a name that nobody reads; then the name, then the state. Whenever a process ends, the
        request is where it was before, or is built."""
        self._desk.check(by, request_id, "build")
        builder = self._builder_here()
        with self._locked(request_id):
            asked = self._desk.check(by, request_id, "build")  # another process may have been faster
            on_record = asked.manifest
            try:
                summary, manifest = self._made(builder, asked, by)
                built = self._desk.built(by, request_id, summary, manifest)
                on_record = manifest
            finally:
                self._sweep(asked, keep=on_record)
        return built

    def _made(self, builder: ExtractBuilder, asked: ExtractRequest, by: Principal) -> tuple[dict[str, Any], str]:
        """As below; what went wrong is on record."""
        try:
            return self._make(builder, asked)
        except QueryGateError as error:
            self._desk.failed(by, asked.id, error)
            raise
        except Exception as error:
            fault = make_fault(error)
            self._desk.failed(by, asked.id, fault)
            raise fault from None

    def _make(self, builder: ExtractBuilder, asked: ExtractRequest) -> tuple[dict[str, Any], str]:
        """An extract in the vault, under the hash of its manifest: a new one never replaces one that is on record."""
        self._sweep(asked, keep=asked.manifest)
        staged = self._work(asked) / STAGED
        staged.mkdir(mode=0o700, parents=True)
        catalog = self._site.store.current(asked.wish.dataset).catalog
        found = builder.build(asked.wish, staged, request_id=asked.id, requester=asked.requester)
        summary = {"version": catalog.version, "policy_hash": catalog.policy_hash, **found}
        summary = json.loads(json.dumps(summary, allow_nan=False))
        facts = {
            "request": asked.id,
            "dataset": asked.wish.dataset,
            "version": summary["version"],
            "policy_hash": summary["policy_hash"],
            "method": summary["method"],
            "made": stamp(self._site.log.clock()),
            "wish": asked.wish.to_dict(),
        }
        manifest = seal(staged, facts)
        shutil.rmtree(self._work(asked) / manifest, ignore_errors=True)  # the very same, or what became of it
        staged.rename(self._work(asked) / manifest)
        sync(self._work(asked))
        return summary, manifest

    def _release(self, by: Principal, request_id: str) -> ExtractRequest:
        """Put what was built, and nothing else, where it is fetched from."""
        self._desk.check(by, request_id, "release")
        self._builder_here()
        with self._locked(request_id):
            asked = self._desk.check(by, request_id, "release")
            contents = in_folder(self._built(asked))
            manifest = verify(contents, asked.manifest).sha256
            self._put(contents, self._outgoing(asked))
            try:
                return self._desk.released(by, request_id, manifest)
            except BaseException:
                self._outgoing(asked).unlink(missing_ok=True)
                raise

    @staticmethod
    def _put(contents: Contents, target: Path) -> None:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        staged = target.with_name(f"{STAGED}{target.name}")
        staged.unlink(missing_ok=True)
        with os.fdopen(os.open(staged, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as stream:
            pack(contents, stream)
            stream.flush()
            os.fsync(stream.fileno())
        staged.replace(target)
        sync(target.parent)

    def _preview(self, by: Principal, asked: ExtractRequest) -> dict[str, Any]:
        if "reviewer" not in roles_of(by, asked):
            raise ExtractRefused("QG602", "Only reviewers of the request can see a preview.", "Ask a custodian.")
        builder = self._builder_here()
        try:
            return dict(builder.preview(asked.wish, requester=asked.requester))
        except ExtractRefused as refused:
            return {"refused": {"code": refused.code, "detail": refused.detail, "remedy": refused.remedy}}

    def _builder_here(self) -> ExtractBuilder:
        if self._builder is None:
            raise NotPermitted(
                "QG310",
                "Extracts are made from the raw rows, and this gate has no access to them.",
                "Run `querygate export` on the custodian's machine.",
            )
        return self._builder

    @contextmanager
    def _locked(self, request_id: str) -> Iterator[None]:
        """One process at a time. The lock is the kernel's, so it dies with its holder."""
        folder = self._site.site.vault / "_extracts"
        folder.mkdir(mode=0o700, exist_ok=True)
        with (folder / f"{request_id}.lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ExtractRefused(
                    "QG601", "Another process is working on this extract.", "Wait until it has finished."
                ) from None
            yield

    # -- places ------------------------------------------------------------------------------------------

    def _work(self, asked: ExtractRequest) -> Path:
        return self._site.site.vault / "_extracts" / asked.id

    def _built(self, asked: ExtractRequest) -> Path:
        return self._work(asked) / str(asked.manifest)

    def _outgoing(self, asked: ExtractRequest) -> Path:
        return self._site.site.extracts / f"{asked.id}.zip"

    def _sweep(self, asked: ExtractRequest, keep: str | None) -> None:
        """Remove what earlier builds left, finished or not."""
        for left in self._work(asked).glob("*"):
            if left.name != keep:
                shutil.rmtree(left)

    def _expire(self) -> None:
        for asked in self._requests.expire_due():
            self._outgoing(asked).unlink(missing_ok=True)
