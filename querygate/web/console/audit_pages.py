"""Pages about audits: what was found, case by case, and what was done about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, cast

from flask import Response, render_template, request

from querygate.control import Actor
from querygate.control.log.query_entries import QueryLine
from querygate.control.sessions import Session
from querygate.core.errors import QueryGateError
from querygate.core.jobs import JobUnderway
from querygate.core.rights import Right
from querygate.gate import render
from querygate.site.audit_cases import ACTS, AuditCases, CaseAct, CaseView
from querygate.site.open_gate import OpenSite
from querygate.web.console.confirmation import SUSPENDED, ask_first
from querygate.web.console.page import go, make_download, make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.job_routes import JobViews
from querygate.web.problems import status_of

OVERSEE: tuple[Right, ...] = ("oversee",)
AUDIT: tuple[Right, ...] = ("audit",)

PAGES: Final = (
    PageRoute("audits", "GET", "/audits", rights=OVERSEE),
    PageRoute("findings", "GET", "/audits/<dataset>", rights=OVERSEE),
    PageRoute("run_audit", "POST", "/audits/<dataset>/run", rights=AUDIT),
    PageRoute("case", "GET", "/audits/<dataset>/<case_id>", rights=OVERSEE),
    PageRoute("case_file", "GET", "/audits/<dataset>/<case_id>/file", rights=OVERSEE),
    PageRoute("unmask", "POST", "/audits/<dataset>/<case_id>/unmask", rights=AUDIT),
    PageRoute("act_on_case", "POST", f"/audits/<dataset>/<case_id>/<any({', '.join(ACTS)}):act>", rights=AUDIT),
    PageRoute("suspend", "POST", "/audits/<dataset>/<case_id>/suspend", rights=("suspend",)),
)

MOST_ROWS = 8
"""Rows of an answer that are shown beside its statement."""

Word = tuple[str, bool]
"""A piece of a statement, and whether the one beside it says something else there."""

_WORD = re.compile(r"\s+|\w+(?:\.\w+)?|'(?:[^']|'')*'|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AskedStatement:
    """A statement of a finding beside the others: what it says, and what was answered."""

    line: QueryLine
    words: Sequence[Word]
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    more: int


class AuditPages:
    def __init__(self, opened: OpenSite, cases: AuditCases, jobs: JobViews) -> None:
        self._opened, self._cases, self._jobs = opened, cases, jobs

    # -- looking -----------------------------------------------------------------------------------------

    def audits(self, session: Session) -> Response:
        found = self._cases.overview()
        return go(f"/audits/{found[0].name}") if len(found) == 1 else self._overview(session)

    def _overview(self, session: Session) -> Response:
        return make_page("custodian/audits.html", session=session, datasets=self._cases.overview())

    def findings(self, session: Session, dataset: str) -> Response:
        found = self._cases.findings(session.principal, dataset)
        texts = {one["id"]: one for one in found["findings"]}
        several = len(self._opened.store.datasets()) > 1
        return make_page(
            "custodian/findings.html",
            session=session,
            found=found,
            texts=texts,
            several=several,
            job=self._job(session),
        )

    def case(self, session: Session, dataset: str, case_id: str) -> Response:
        return self._case_page(session, dataset, case_id)

    def case_file(self, session: Session, dataset: str, case_id: str) -> Response:
        """The case as a text to file away, without values; where its evidence is in the log."""
        view = self._cases.case(session.principal, dataset, case_id)
        text = render_template(
            "console/custodian/case_file.txt", view=view, head=self._opened.log.head(), by=session.principal.name
        )
        return make_download(text.encode(), "text/plain; charset=utf-8", f"{case_id}.txt")

    # -- acting ------------------------------------------------------------------------------------------

    def run_audit(self, session: Session, dataset: str) -> Response:
        try:
            self._cases.run(session.principal, dataset, wait=False)
        except JobUnderway as underway:
            return go(f"/audits/{dataset}?job={underway.job_id}")
        return go(f"/audits/{dataset}")

    def unmask(self, session: Session, dataset: str, case_id: str) -> Response:
        job_id = self._cases.unmask(session.principal, dataset, case_id)
        return go(f"/audits/{dataset}/{case_id}?job={job_id}")

    def act_on_case(self, session: Session, dataset: str, case_id: str, act: str) -> Response:
        try:
            note = request.form.get("note", "")
            self._cases.act(session.principal, dataset, case_id, cast(CaseAct, act), note)
        except QueryGateError as error:
            return self._case_page(session, dataset, case_id, error)
        return go(f"/audits/{dataset}/{case_id}")

    def suspend(self, session: Session, dataset: str, case_id: str) -> Response:
        """Close the account of somebody whom the case is about."""
        name, address = request.form.get("user", ""), f"/audits/{dataset}/{case_id}"
        if name not in self._cases.case(session.principal, dataset, case_id, noted=False).case["users"]:
            return go(address)
        if (asked := ask_first(session, f"Suspend {name}?", SUSPENDED, "Suspend", address, user=name)) is not None:
            return asked
        try:
            self._cases.suspend(Actor(session.principal.name), dataset, case_id, name)
        except QueryGateError as error:
            return self._case_page(session, dataset, case_id, error)
        return go(address)

    # -- along the way -----------------------------------------------------------------------------------

    def _job(self, session: Session) -> dict[str, Any] | None:
        job_id = request.args.get("job", "")
        return self._jobs.body_of(session.principal, job_id) if job_id else None

    def _case_page(self, session: Session, dataset: str, case_id: str, error: QueryGateError | None = None) -> Response:
        job_id, job, unmasked = request.args.get("job", ""), None, None
        if job_id and error is None:
            unmasked = self._cases.unmasked(session.principal, dataset, case_id, job_id)
            job = None if unmasked is not None else self._known_job(session, job_id)
        view = self._cases.case(session.principal, dataset, case_id, noted=job is None and error is None)
        shown = view.findings if unmasked is None else unmasked
        users = {user.name: user.disabled for user in self._opened.accounts.list_users()}
        return make_page(
            "custodian/case.html",
            status_of(error),
            session=session,
            view=view,
            findings=[(one, asked_statements(one, view)) for one in shown],
            is_unmasked=unmasked is not None,
            is_gone=bool(job_id) and unmasked is None and job is None,
            job=job,
            suspended=users,
            problem=error.to_dict() if error else None,
        )

    def _known_job(self, session: Session, job_id: str) -> dict[str, Any] | None:
        """A job that has shown its values is gone."""
        try:
            return self._jobs.body_of(session.principal, job_id)
        except QueryGateError:
            return None


def asked_statements(finding: Mapping[str, Any], view: CaseView) -> list[AskedStatement]:
    """The statements of a finding, in the order of the log; where there are two, what differs is marked."""
    lines = [line for query, line in view.lines.items() if query in finding["queries"]]
    texts = [line["sql"] for line in lines]
    marked = differences(*texts) if len(texts) == 2 else [[(text, False)] for text in texts]
    found = []
    for line, words in zip(lines, marked, strict=True):
        headings, rows = render.readable(line["answer"]) if line["answer"] else ([], [])
        found.append(AskedStatement(line, words, headings, rows[:MOST_ROWS], max(len(rows) - MOST_ROWS, 0)))
    return found


def differences(one: str, other: str) -> list[list[Word]]:
    """Two statements in pieces, those marked that the other does not have.

    >>> differences("age < 50", "age < 51")
    [[('age < ', False), ('50', True)], [('age < ', False), ('51', True)]]
    """
    first, second = _WORD.findall(one), _WORD.findall(other)
    pieces: list[list[Word]] = [[], []]
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        for side, text in ((0, "".join(first[a:b])), (1, "".join(second[c:d]))):
            if text:
                pieces[side].append((text, kind != "equal" and not text.isspace()))
    return pieces
