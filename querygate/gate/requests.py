"""What is done with requests for extracts: each use-case asks whether it may happen, whether they may, and does it.

The decision is made inside the store's transaction, on the request as it stands there: of two reviewers who act at
once, the second is told what the first has done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from querygate.core.approval import (
    STATES,
    Act,
    Action,
    ExtractRequest,
    Requests,
    advance,
    check_act,
    check_comment,
    check_seen,
    is_text,
    possible,
    roles_of,
)
from querygate.core.errors import ExtractRefused, Fault, QueryGateError
from querygate.core.extract_spec import ExtractSpec, invalid
from querygate.core.types import Catalog, Principal, folded


@dataclass(frozen=True, slots=True)
class ExtractRequests:
    """Where requests are made and decided. `reviewers` approve, and `days` pass between release and expiry."""

    requests: Requests
    catalog: Callable[[str], Catalog]
    now: Callable[[], datetime]
    stamp: Callable[[datetime], str]
    reviewers: int = 1
    days: int = 30

    # -- asking ------------------------------------------------------------------------------------------

    def request(self, by: Principal, body: Mapping[str, Any]) -> ExtractRequest:
        """A new draft."""
        wish = self._wish(body)
        return self.requests.create(wish, Act("request", by, details={"wish": wish.to_dict()}))

    def edit(self, by: Principal, request_id: str, body: Mapping[str, Any]) -> ExtractRequest:
        """Another wish in the place of the old one; approvals of the old one are void."""
        self.check(by, request_id, "edit")
        wish = self._wish(body)

        def after(asked: ExtractRequest) -> ExtractRequest:
            if asked.wish.dataset != wish.dataset:
                raise invalid("dataset", "cannot be changed", asked.wish.dataset)
            return replace(advance(asked, "edit", by), wish=wish)

        return self._change(by, request_id, "edit", after, details={"wish": wish.to_dict()})

    def act(self, by: Principal, request_id: str, action: Action, comment: str = "") -> ExtractRequest:
        """Submit, take, comment, approve, return, reject, withdraw or revoke: what moves a request and nothing else."""
        self.check(by, request_id, action)
        words = check_comment(action, comment)
        return self._change(by, request_id, action, lambda a: advance(a, action, by, reviewers=self.reviewers), words)

    # -- giving ------------------------------------------------------------------------------------------

    def built(self, by: Principal, request_id: str, summary: Mapping[str, Any], manifest: str) -> ExtractRequest:
        """An extract lies on the disk."""

        def after(asked: ExtractRequest) -> ExtractRequest:
            return replace(advance(asked, "build", by), summary=summary, manifest=manifest, failure=None)

        return self._change(by, request_id, "build", after, details={"manifest": manifest})

    def failed(self, by: Principal, request_id: str, error: QueryGateError) -> ExtractRequest:
        """A build came to nothing; the request stays as it was, and says why."""
        why = f"{error.code}: {error.detail}"

        def after(asked: ExtractRequest) -> ExtractRequest:
            check_act(asked, "build", by)
            return replace(asked, failure=why)

        incident = {"incident": error.incident} if isinstance(error, Fault) else {}
        return self._change(by, request_id, "build", after, details={"failed": error.code, **incident})

    def released(self, by: Principal, request_id: str, manifest: str) -> ExtractRequest:
        """The extract with this manifest can be fetched from now on, for so many days."""
        expires = self.stamp(self.now() + timedelta(days=self.days))

        def after(asked: ExtractRequest) -> ExtractRequest:
            moved = replace(advance(asked, "release", by), expires=expires)
            if asked.manifest != manifest:
                raise ExtractRefused(
                    "QG601", "The extract was rebuilt in the meantime.", "Look at the new one, then release it."
                )
            return moved

        return self._change(by, request_id, "release", after, details={"manifest": manifest, "expires": expires})

    def fetched(self, by: Principal, request_id: str) -> ExtractRequest:
        """Somebody takes the extract: on record before they have it."""
        return self._change(by, request_id, "fetch", lambda asked: advance(asked, "fetch", by))

    # -- looking -----------------------------------------------------------------------------------------

    def check(self, by: Principal, request_id: str, action: Action) -> ExtractRequest:
        """The request, if this may be done to it now by them."""
        asked = self.see(by, request_id)
        check_act(asked, action, by)
        return asked

    def see(self, by: Principal, request_id: str) -> ExtractRequest:
        return check_seen(by, self.requests.find(request_id))

    def listed(self, by: Principal, *, state: str | None = None, mine: bool = False) -> list[ExtractRequest]:
        """Requests, newest first: to researchers their own, to custodians all."""
        if state is not None and state not in STATES:
            raise invalid("state", "is not an accepted value", *STATES)
        requester = by.name if mine or not by.is_custodian else None
        return self.requests.listed(requester=requester, state=state)

    def told(self, by: Principal, asked: ExtractRequest, *, events: bool = True) -> dict[str, Any]:
        """A request as this person may see it, as JSON has it.

        Figures are for those who decide: they speak of the raw records, and of what those who ask have learnt. What a
        recipient is told is in the extract; its hash, once it is released, is for them too.
        """
        decides = "reviewer" in roles_of(by, asked)
        body = {
            "id": asked.id,
            "number": asked.number,
            "dataset": asked.wish.dataset,
            "requester": asked.requester,
            "state": asked.state,
            "created": asked.created,
            "changed": asked.changed,
            "expires": asked.expires,
            "approvals": list(asked.approvals),
            "reviewers": self.reviewers,
            "wish": asked.wish.to_dict(),
            "summary": dict(asked.summary) if asked.summary is not None and decides else None,
            "manifest": asked.manifest if decides or asked.expires else None,
            "failure": asked.failure if decides else None,
            "may": list(possible(asked, by)),
        }
        if events:
            body["events"] = [asdict(event) for event in self.requests.events(asked.id)]
        return body

    def _wish(self, body: Mapping[str, Any]) -> ExtractSpec:
        """The wish, of a dataset that there is and columns that it has."""
        wish = ExtractSpec.of(body)
        if not is_text(json.dumps(wish.to_dict(), ensure_ascii=False)):
            raise invalid("purpose", "must be valid Unicode, like all other keys")
        catalog = self.catalog(wish.dataset)
        apart = {folded(name) for name in catalog.in_extracts}
        for name in wish.columns:
            if catalog.column(name) is None and folded(name) not in apart:
                there = (*(column.name for column in catalog.columns), *catalog.in_extracts)
                raise invalid("columns", f"{name[:63]} is not a column", *there)
        return wish

    def _change(
        self,
        by: Principal,
        request_id: str,
        action: Action,
        after: Callable[[ExtractRequest], ExtractRequest],
        comment: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> ExtractRequest:
        return self.requests.change(
            request_id, Act(action, by, comment, details or {}), lambda asked: after(check_seen(by, asked))
        )
