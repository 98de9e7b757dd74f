"""A request for an extract as somebody may see it, as JSON has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NotRequired, TypedDict

from querygate.control import Log
from querygate.core.extracts.approval_states import UNSEEN, Event, ExtractRequest, possible, roles_of
from querygate.core.types import Principal
from querygate.site.extract_requests.request_rounds import WishChange, changes_since_return


class EventBody(TypedDict):
    """One act on a request; those that somebody may see are numbered from 1."""

    number: int
    time: str
    user: str | None
    action: str
    before: str | None
    after: str
    comment: str


class RequestHistory(TypedDict, total=False):
    """What was done to a request, and how it differs from what was returned."""

    events: list[EventBody]
    changes: list[WishChange]


class RequestBody(RequestHistory):
    """Figures and failures are for those who decide: they speak of the raw records, and of what those who ask have
    learnt. What a recipient is told is in the extract; its hash, once it is released, is for them too."""

    id: str
    number: int
    dataset: str
    requester: str
    state: str
    created: str
    changed: str
    expires: str | None
    approvals: list[str]
    reviewers: int
    wish: dict[str, Any]
    summary: dict[str, Any] | None
    manifest: str | None
    failure: str | None
    may: list[str]
    beside_views: NotRequired[bool]
    agreement: NotRequired[dict[str, Any]]
    preview: NotRequired[Mapping[str, Any]]


def request_body(by: Principal, request: ExtractRequest, reviewers: int) -> RequestBody:
    decides = "reviewer" in roles_of(by, request)
    body: RequestBody = {
        "id": request.id,
        "number": request.number,
        "dataset": request.spec.dataset,
        "requester": request.requester,
        "state": request.state,
        "created": request.created,
        "changed": request.changed,
        "expires": request.expires,
        "approvals": list(request.approvals),
        "reviewers": reviewers,
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
    return body


def request_history(by: Principal, request: ExtractRequest, done: Sequence[Event], log: Log) -> RequestHistory:
    decides = "reviewer" in roles_of(by, request)
    seen = [event for event in done if decides or event.action not in UNSEEN]
    history: RequestHistory = {"events": [_event(event, place) for place, event in enumerate(seen, 1)]}
    if any(event.action == "return" for event in done):
        history["changes"] = changes_since_return(log.events_in("export"), request.id)
    return history


def _event(event: Event, number: int) -> EventBody:
    return EventBody(**{**asdict(event), "number": number})  # type: ignore[typeddict-item]
