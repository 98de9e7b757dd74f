"""Pages of notebooks: the list, one notebook with its texts, queries and answers, and the same as a file."""

from __future__ import annotations

from typing import Final

from flask import Response, request
from markupsafe import Markup

from querygate.control.saved.notebooks import Cell, Notebook
from querygate.control.sessions import Session
from querygate.core.errors import ConfigError
from querygate.core.types import Principal
from querygate.gate import render
from querygate.gate.grant_check import known_datasets
from querygate.site.notebook_work import NotebookWork
from querygate.site.open_gate import OpenSite
from querygate.web.console.charts.answer_charts import make_charts
from querygate.web.console.confirmation import ask_first
from querygate.web.console.notebook_export import FILES, ShownAnswer, ShownCell
from querygate.web.console.notebook_text import make_html
from querygate.web.console.page import go, make_download, make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.problems import status_of

PAGES: Final = (
    PageRoute("notebooks", "GET", "/notebooks"),
    PageRoute("begin_notebook", "POST", "/notebooks"),
    PageRoute("notebook", "GET", "/notebooks/<notebook_id>"),
    PageRoute("rename_notebook", "POST", "/notebooks/<notebook_id>"),
    PageRoute("notebook_file", "GET", "/notebooks/<notebook_id>/<any(ipynb, html, md):form>"),
    PageRoute("share_notebook", "POST", "/notebooks/<notebook_id>/<any(share, unshare):act>"),
    PageRoute("copy_notebook", "POST", "/notebooks/<notebook_id>/copy"),
    PageRoute("run_notebook", "POST", "/notebooks/<notebook_id>/run"),
    PageRoute("delete_notebook", "POST", "/notebooks/<notebook_id>/delete"),
    PageRoute("add_cell", "POST", "/notebooks/<notebook_id>/cells"),
    PageRoute("change_cell", "POST", "/notebooks/<notebook_id>/cells/<cell_id>"),
)

MOST_ROWS = 40
"""How many rows of an answer a notebook's page shows; the whole is one click away."""


class NotebookPages:
    """One method per page, called as its route's name."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened, self._work = opened, NotebookWork(opened)

    def notebooks(self, session: Session) -> Response:
        return self._list(session)

    def begin_notebook(self, session: Session) -> Response:
        name, dataset = request.form.get("name", ""), request.form.get("dataset", "")
        try:
            made = self._work.begin(session.principal, name, dataset)
        except ConfigError as error:
            return self._list(session, error, name)
        return go(f"/notebooks/{made.id}")

    def notebook(self, session: Session, notebook_id: str) -> Response:
        return self._page(session, self._work.read(session.principal, notebook_id))

    def notebook_file(self, session: Session, notebook_id: str, form: str) -> Response:
        found = self._work.read(session.principal, notebook_id)
        media, write = FILES[form]
        cells = [self._shown(session.principal, cell) for cell in found.cells]
        return make_download(write(found, cells, request.host_url.rstrip("/")), media, f"{found.id}.{form}")

    # -- the whole ---------------------------------------------------------------------------------------

    def rename_notebook(self, session: Session, notebook_id: str) -> Response:
        try:
            self._work.rename(session.principal, notebook_id, request.form.get("name", ""))
        except ConfigError as error:
            return self._page(session, self._work.read(session.principal, notebook_id), error)
        return go(f"/notebooks/{notebook_id}")

    def share_notebook(self, session: Session, notebook_id: str, act: str) -> Response:
        self._work.share(session.principal, notebook_id, is_shared=act == "share")
        return go(f"/notebooks/{notebook_id}")

    def copy_notebook(self, session: Session, notebook_id: str) -> Response:
        return go(f"/notebooks/{self._work.copy(session.principal, notebook_id).id}")

    def run_notebook(self, session: Session, notebook_id: str) -> Response:
        self._work.run(session.principal, notebook_id)
        return go(f"/notebooks/{notebook_id}")

    def delete_notebook(self, session: Session, notebook_id: str) -> Response:
        found = self._work.read(session.principal, notebook_id)
        words = f"{found.name}: its texts and queries will be deleted for you" + (
            " and for others." if found.shared else "."
        )
        asked = ask_first(session, "Delete this notebook?", words, "Delete", f"/notebooks/{found.id}")
        if asked is not None and found.owner == session.principal.name:
            return asked
        self._work.delete(session.principal, notebook_id)
        return go("/notebooks")

    # -- its parts ---------------------------------------------------------------------------------------

    def add_cell(self, session: Session, notebook_id: str) -> Response:
        text, is_query = request.form.get("text", ""), request.form.get("kind") == "query"
        try:
            found = self._work.add_cell(session.principal, notebook_id, "query" if is_query else "text", text)
            if is_query:
                self._work.run(session.principal, notebook_id, found.cells[-1].id)
        except ConfigError as error:
            return self._page(session, self._work.read(session.principal, notebook_id), error, text)
        return go(f"/notebooks/{notebook_id}#{found.cells[-1].id}")

    def change_cell(self, session: Session, notebook_id: str, cell_id: str) -> Response:
        """Save or run what was written, move it, or take it out; a button says which."""
        principal, act = session.principal, request.form.get("act", "save")
        try:
            if act in ("up", "down"):
                self._work.move_cell(principal, notebook_id, cell_id, "up" if act == "up" else "down")
            elif act == "remove":
                self._work.remove_cell(principal, notebook_id, cell_id)
                return go(f"/notebooks/{notebook_id}")
            else:
                self._work.write_cell(principal, notebook_id, cell_id, request.form.get("text", ""))
                if act == "run":
                    self._work.run(principal, notebook_id, cell_id)
        except ConfigError as error:
            return self._page(session, self._work.read(principal, notebook_id), error, request.form.get("text", ""))
        return go(f"/notebooks/{notebook_id}#{cell_id}")

    # -- along the way -----------------------------------------------------------------------------------

    def _list(self, session: Session, error: ConfigError | None = None, name: str = "") -> Response:
        gate = self._opened.gate
        return make_page(
            "notebooks.html",
            status_of(error),
            session=session,
            own=self._work.own(session.principal),
            shared=self._work.shared(session.principal),
            datasets=sorted(known_datasets(session.principal, gate.store.datasets(), gate.grants)),
            problem=error.to_dict() if error else None,
            name=name,
        )

    def _page(self, session: Session, found: Notebook, error: ConfigError | None = None, written: str = "") -> Response:
        """`written` is what could not be kept: it is put where something new is written, so that it is not lost."""
        may_ask = self._work.may_ask(session.principal, found.dataset)
        return make_page(
            "notebook.html",
            status_of(error),
            session=session,
            found=found,
            cells=[self._shown(session.principal, cell, most=MOST_ROWS) for cell in found.cells],
            may_change=session.principal.name == found.owner,
            may_ask=may_ask,
            served=self._served(found.dataset) if may_ask else None,
            problem=error.to_dict() if error else None,
            written=written,
        )

    def _served(self, dataset: str) -> int | None:
        store = self._opened.gate.store
        return store.current(dataset).catalog.version if dataset in store.datasets() else None

    def _shown(self, principal: Principal, cell: Cell, most: int | None = None) -> ShownCell:
        if cell.kind == "text":
            return ShownCell(cell, make_html(cell.text), None)
        return ShownCell(cell, Markup(), self._answer(principal, cell, most))

    def _answer(self, principal: Principal, cell: Cell, most: int | None) -> ShownAnswer | None:
        """Read from the log, where it is on record; None if it was never asked or its entry is discarded."""
        line = self._opened.log.query(cell.answer) if cell.answer else None
        if line is None or line["answer"] is None or line["user"] != principal.name:
            return None
        body = line["answer"]
        headings, rows = render.readable(body)
        charts = make_charts(body, rows, line["sql"])[:2]
        return ShownAnswer(
            line["id"], line["time"], body["version"], cell.policy, headings, rows[:most], charts, body["notes"]
        )
