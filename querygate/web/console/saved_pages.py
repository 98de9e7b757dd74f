"""Pages about saved queries: what somebody keeps, what others share, and one of them with all that can be done."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from querygate.control.saved.saved_queries import QueryText, SavedQuery
from querygate.control.sessions import Session
from querygate.core.errors import ConfigError, NotPermitted
from querygate.site.open_gate import OpenSite
from querygate.site.saved_work import SavedWork, is_own
from querygate.web.console.confirmation import ask_first
from querygate.web.console.page import go, make_page, make_part, wants_part
from querygate.web.console.page_session import PageRoute
from querygate.web.problems import status_of

PAGES: Final = (
    PageRoute("saved", "GET", "/saved"),
    PageRoute("save_form", "POST", "/datasets/<dataset>/save"),
    PageRoute("save_asked", "GET", "/answers/<query_id>/save"),
    PageRoute("save", "POST", "/saved"),
    PageRoute("saved_query", "GET", "/saved/<saved_id>"),
    PageRoute("change_query", "POST", "/saved/<saved_id>"),
    PageRoute("share_query", "POST", "/saved/<saved_id>/<any(share, unshare):act>"),
    PageRoute("delete_query", "POST", "/saved/<saved_id>/delete"),
)


class SavedPages:
    """One method per page, called as its route's name."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened, self._saved = opened, SavedWork(opened)

    # -- looking -----------------------------------------------------------------------------------------

    def saved(self, session: Session) -> Response:
        wanted = request.args.get("q", "").strip()[:200]
        own, shared = self._saved.own(session.principal), self._saved.shared(session.principal)
        return make_page(
            "saved.html",
            session=session,
            wanted=wanted,
            own=[one for one in own if _is_found(one, wanted)],
            shared=[one for one in shared if _is_found(one, wanted)],
            is_empty=not own and not shared,
        )

    def saved_query(self, session: Session, saved_id: str) -> Response:
        return self._page(session, self._saved.read(session.principal, saved_id))

    # -- saving ------------------------------------------------------------------------------------------

    def save_form(self, session: Session, dataset: str) -> Response:
        """For the statement in the editor: how shall it be called?"""
        self._saved.check_dataset(session.principal, dataset)
        return self._form(session, QueryText("", "", dataset, request.form.get("sql", "")))

    def save_asked(self, session: Session, query_id: str) -> Response:
        """The same for a question that was asked before."""
        line = self._opened.log.query(query_id)
        if line is None or line["user"] != session.principal.name or line["dataset"] is None:
            raise NotPermitted(
                "QG304", "There is no answer with this id, or you may not see it.", "Send the query again."
            )
        return self._form(session, QueryText("", "", line["dataset"], line["sql"]))

    def save(self, session: Session) -> Response:
        text, is_shared = _read_text(request.form.get("dataset", "")), _is_ticked()
        try:
            made = self._saved.save(session.principal, text, is_shared=is_shared)
        except ConfigError as error:
            return self._form(session, text, error, is_shared=is_shared)
        if wants_part():
            return make_part("save_part.html", session=session, made=made)
        return go(f"/saved/{made.id}")

    # -- changing ----------------------------------------------------------------------------------------

    def change_query(self, session: Session, saved_id: str) -> Response:
        found = self._saved.read(session.principal, saved_id)
        text = _read_text(found.dataset)
        try:
            self._saved.change(session.principal, saved_id, text, is_shared=found.shared is not None)
        except ConfigError as error:
            return self._page(session, found, text, error)
        return go(f"/saved/{saved_id}")

    def share_query(self, session: Session, saved_id: str, act: str) -> Response:
        found = self._saved.read(session.principal, saved_id)
        text = QueryText(found.name, found.description, found.dataset, found.sql)
        self._saved.change(session.principal, saved_id, text, is_shared=act == "share")
        return go(f"/saved/{saved_id}")

    def delete_query(self, session: Session, saved_id: str) -> Response:
        found = self._saved.read(session.principal, saved_id)
        words = f"{found.name}: the statement will be deleted for you" + (" and for others." if found.shared else ".")
        asked = ask_first(session, "Delete this query?", words, "Delete", f"/saved/{found.id}")
        if asked is not None and is_own(session.principal, found):
            return asked
        self._saved.delete(session.principal, saved_id)
        return go("/saved")

    # -- along the way -----------------------------------------------------------------------------------

    def _form(
        self, session: Session, text: QueryText, error: ConfigError | None = None, *, is_shared: bool = False
    ) -> Response:
        values = {"text": text, "problem": error.to_dict() if error else None, "is_shared": is_shared}
        status = status_of(error)
        if wants_part():
            return make_part("save_part.html", status, session=session, **values)
        return make_page("save.html", status, session=session, **values)

    def _page(
        self, session: Session, found: SavedQuery, text: QueryText | None = None, error: ConfigError | None = None
    ) -> Response:
        return make_page(
            "saved_query.html",
            status_of(error),
            session=session,
            found=found,
            text=text or found,
            may_change=is_own(session.principal, found),
            may_ask=self._saved.may_ask(session.principal, found.dataset),
            problem=error.to_dict() if error else None,
        )


def _read_text(dataset: str) -> QueryText:
    form = request.form
    return QueryText(form.get("name", ""), form.get("description", ""), dataset, form.get("sql", ""))


def _is_ticked() -> bool:
    return request.form.get("shared") == "true"


def _is_found(one: SavedQuery, wanted: str) -> bool:
    told = f"{one.name} {one.description} {one.dataset} {one.owner} {one.sql}".lower()
    return all(word in told for word in wanted.lower().split())
