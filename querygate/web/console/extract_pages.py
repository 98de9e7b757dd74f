"""Pages about extracts: whoever needs records asks for them here, and reviewers decide.

What is possible, and for whom, is decided by the same table as at every other door; a page shows its buttons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast, get_args

from flask import Response, request

from querygate.control.sessions import Session
from querygate.core.answer_bodies import DescriptionBody
from querygate.core.errors import QueryGateError, Refusal
from querygate.core.extracts.approval_states import STATES, Action, said
from querygate.core.extracts.extract_spec import ExtractSpec, Format, Kind
from querygate.core.extracts.extracts_of_views import is_synthetic
from querygate.core.extracts.use_agreement import KEYS as AGREEMENT
from querygate.core.extracts.use_agreement import UseAgreement
from querygate.core.jobs import JobUnderway
from querygate.core.types import Principal
from querygate.gate.description import make_description
from querygate.gate.grant_check import check_known
from querygate.site.extract_requests.extract_figures import make_figures
from querygate.site.extract_requests.extracts import ACTS, Extracts
from querygate.site.extract_requests.visible_request import RequestBody
from querygate.site.open_gate import OpenSite
from querygate.web.console.page import go, make_page, make_part, wants_part
from querygate.web.console.page_session import PageRoute
from querygate.web.extract_routes import Exports
from querygate.web.job_routes import JobViews
from querygate.web.problems import status_of
from querygate.web.routes import EXTRACTS

PAGES: Final = (
    PageRoute("requests", "GET", "/requests", rights=EXTRACTS),
    PageRoute("new_request", "GET", "/datasets/<dataset>/request"),
    PageRoute("make_request", "POST", "/datasets/<dataset>/request"),
    PageRoute("request", "GET", "/requests/<request_id>", rights=EXTRACTS),
    PageRoute("edit_request", "GET", "/requests/<request_id>/edit"),
    PageRoute("change_request", "POST", "/requests/<request_id>/edit"),
    PageRoute("act", "POST", f"/requests/<request_id>/<any({', '.join(ACTS)}):action>", rights=EXTRACTS),
    PageRoute("preview", "GET", "/requests/<request_id>/preview", rights=EXTRACTS),
    PageRoute("start_preview", "POST", "/requests/<request_id>/preview", rights=EXTRACTS),
    PageRoute("extract", "GET", "/requests/<request_id>/zip", rights=EXTRACTS),
    PageRoute("report", "GET", "/requests/<request_id>/report", rights=EXTRACTS),
    PageRoute("risk_report", "GET", "/requests/<request_id>/risk-report", rights=EXTRACTS),
)

WORDS = {
    "submit": "Submit for review",
    "take": "Start reviewing",
    "approve": "Approve",
    "release": "Release it",
    "build": "Build the extract",
    "return": "Return with a question",
    "reject": "Reject",
    "comment": "Comment",
    "note": "Note for reviewers",
    "withdraw": "Withdraw",
    "revoke": "Revoke",
}
"""What the buttons say, in their order: what brings a request on comes first."""

DONE = {
    "request": "wrote a draft",
    "edit": "changed it",
    "submit": "submitted it",
    "take": "started the review",
    "comment": "commented",
    "note": "left a note for reviewers",
    "approve": "approved it",
    "return": "returned it",
    "reject": "rejected it",
    "withdraw": "withdrew it",
    "build": "built the extract",
    "release": "released it",
    "fetch": "downloaded it",
    "revoke": "revoked it",
    "expire": "closed it, because it expired",
}
"""What was done, in the history."""

_NUMBERS = ("k", "suppress", "epsilon", "parts")


class RequestPages:
    """One method per page, called as its route's name."""

    def __init__(self, opened: OpenSite, extracts: Extracts, jobs: JobViews) -> None:
        self._gate, self._extracts, self._jobs, self._files = opened.gate, extracts, jobs, Exports(extracts)

    # -- looking -----------------------------------------------------------------------------------------

    def requests(self, session: Session) -> Response:
        state = request.args.get("state") or None
        found = self._extracts.listed(session.principal, state=state if state in STATES else None)
        return make_page(
            "extracts/requests.html", session=session, requests=found, state=state, states=STATES, said=said
        )

    def request(self, session: Session, request_id: str) -> Response:
        """A request; beside it, work on it that is underway."""
        job_id = request.args.get("job", "")
        return self._page(session, request_id, job=self._jobs.body_of(session.principal, job_id) if job_id else None)

    def preview(self, session: Session, request_id: str) -> Response:
        """Risk and utility for those who decide, once one of them has had it built on trial: to look begins nothing."""
        try:
            found = self._extracts.read_preview(session.principal, request_id)
        except JobUnderway as underway:
            job = self._jobs.body_of(session.principal, underway.job_id)
            return self._preview_part(session, request_id, 202, job=job)
        refused = found.get("refused") if found else None
        figures = make_figures(found) if found and not refused else None
        made = found.get("made") if found else None
        return self._preview_part(session, request_id, figures=figures, refused=refused, made=made)

    def start_preview(self, session: Session, request_id: str) -> Response:
        self._extracts.start_preview(session.principal, request_id)
        return self.preview(session, request_id) if wants_part() else go(f"/requests/{request_id}")

    def extract(self, session: Session, request_id: str) -> Response:
        return self._files.fetch_export(session.principal, request_id)

    def report(self, session: Session, request_id: str) -> Response:
        return self._drawn(session, request_id, self._files.read_export_report)

    def risk_report(self, session: Session, request_id: str) -> Response:
        return self._drawn(session, request_id, self._files.read_export_risk_report)

    # -- asking and deciding -----------------------------------------------------------------------------

    def new_request(self, session: Session, dataset: str) -> Response:
        return self._form(session, self._describe(session, dataset), {"dataset": dataset, "formats": ["csv"]})

    def make_request(self, session: Session, dataset: str) -> Response:
        wish = {"dataset": dataset, **_read_wish()}
        try:
            made = self._extracts.request(session.principal, wish)
        except Refusal as error:
            return self._form(session, self._describe(session, dataset), wish, error)
        return go(f"/requests/{made['id']}")

    def edit_request(self, session: Session, request_id: str) -> Response:
        shown = self._extracts.show(session.principal, request_id)
        if "edit" not in shown["may"]:
            return go(f"/requests/{request_id}")
        return self._form(session, self._describe(session, shown["dataset"]), shown["wish"], edited=request_id)

    def change_request(self, session: Session, request_id: str) -> Response:
        shown = self._extracts.show(session.principal, request_id)
        wish = {"dataset": shown["dataset"], **_read_wish()}
        try:
            self._extracts.edit(session.principal, request_id, wish)
        except Refusal as error:
            described = self._describe(session, shown["dataset"])
            return self._form(session, described, wish, error, edited=request_id)
        return go(f"/requests/{request_id}")

    def act(self, session: Session, request_id: str, action: str) -> Response:
        comment, beside_views = request.form.get("comment", ""), request.form.get("beside_views") == "true"
        given, signed = cast(Action, action), {key: request.form.get(key, "").strip() for key in AGREEMENT}
        try:
            agreement = UseAgreement.of(signed) if action == "approve" and any(signed.values()) else None
            self._extracts.act(
                session.principal, request_id, given, comment, beside_views=beside_views, agreement=agreement
            )
        except JobUnderway as underway:
            return go(f"/requests/{request_id}?job={underway.job_id}")  # to load that page again does nothing again
        except Refusal as error:
            return self._page(session, request_id, error)
        return go(f"/requests/{request_id}")

    # -- along the way -----------------------------------------------------------------------------------

    def _drawn(self, session: Session, request_id: str, read: Callable[[Principal, str], Response]) -> Response:
        """A report; where a worker still draws it, how far it is, and then the report."""
        try:
            return read(session.principal, request_id)
        except JobUnderway as underway:
            return go(f"/jobs/{underway.job_id}?next={request.path}")

    def _preview_part(self, session: Session, request_id: str, status: int = 200, **values: object) -> Response:
        """As a part of the page about the request; alone on a page for a browser without script."""
        values |= {"session": session, "request_id": request_id}
        if wants_part():
            return make_part("extracts/request_preview_part.html", status, **values)
        return make_page("extracts/request_preview.html", status, **values)

    def _page(
        self, session: Session, request_id: str, error: QueryGateError | None = None, job: dict[str, Any] | None = None
    ) -> Response:
        shown = self._extracts.show(session.principal, request_id)
        summary = make_figures(shown["summary"]) if shown["summary"] else None
        return make_page(
            "extracts/request.html",
            status_of(error),
            session=session,
            shown=shown,
            figures=summary,
            may_preview=self._extracts.may_preview(session.principal, request_id),
            must_acknowledge=self._must_acknowledge(shown),
            words=WORDS,
            done=DONE,
            said=said,
            problem=error.to_dict() if error else None,
            comment=request.form.get("comment", "") if error else "",
            job=job,
        )

    def _must_acknowledge(self, shown: RequestBody) -> bool:
        """Whether its records would leave beside views. A dataset that is gone has none."""
        try:
            catalog = self._gate.store.current(shown["dataset"]).catalog
        except QueryGateError:
            return False
        return bool(catalog.margins) and not is_synthetic(ExtractSpec.of(shown["wish"]))

    def _form(
        self,
        session: Session,
        described: DescriptionBody,
        wish: dict[str, Any],
        error: QueryGateError | None = None,
        edited: str = "",
    ) -> Response:
        return make_page(
            "extracts/request_form.html",
            status_of(error),
            session=session,
            described=described,
            wish=wish,
            kinds=get_args(Kind),
            formats=get_args(Format),
            problem=error.to_dict() if error else None,
            edited=edited,
        )

    def _describe(self, session: Session, dataset: str) -> DescriptionBody:
        check_known(session.principal, dataset, self._gate.grants)
        return make_description(self._gate.store.current(dataset).catalog, self._gate.native, self._gate.limits)


def _read_wish() -> dict[str, Any]:
    """What was asked for; a field that is empty was left to the builder."""
    form = request.form
    wish: dict[str, Any] = {name: form.get(name, "").strip() for name in ("purpose", "kind", "where", "noisy")}
    wish |= {"columns": form.getlist("columns"), "formats": form.getlist("formats")}
    wish["models"] = [line.strip() for line in form.get("models", "").splitlines() if line.strip()]
    wish |= {name: _number(form.get(name, "").strip()) for name in _NUMBERS}
    return {name: value for name, value in wish.items() if value not in ("", None, [])}


def _number(text: str) -> int | float | str:
    """A number if it is one; what is not is refused by name where requests are read."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
