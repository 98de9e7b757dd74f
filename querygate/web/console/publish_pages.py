"""Pages for publishing: from a source to a draft, to what it would leave usable, to a version that is served.

Each step is a job. Its page shows what came of it above the policy, which goes along to the next step.
"""

from __future__ import annotations

from typing import Any, Final, cast

from flask import Response, g, render_template, request

from querygate.control.sessions import Session
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.jobs import JobKind
from querygate.core.rights import Right, not_allowed
from querygate.site.publications import Publications
from querygate.web.console.charts.risk_map import make_risk_map
from querygate.web.console.confirmation import ask_first
from querygate.web.console.page import go, make_download, make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.console.rerun_tally import tally_rerun
from querygate.web.job_routes import JobViews
from querygate.web.problems import malformed, status_of

PUBLISH: tuple[Right, ...] = ("publish",)
STEPS = ("check", "preview", "version")
STEP_NAMES = {
    "publish.draft": "Draft",
    "publish.check": "Check",
    "publish.preview": "What would be usable",
    "publish.version": "Publish",
    "publish.serve": "Serve another version",
    "publish.withdraw": "Withdraw",
    "publish.map": "Risk and utility",
    "publish.what_if": "What if",
}

PAGES: Final = (
    PageRoute("publish", "GET", "/publish", rights=PUBLISH),
    PageRoute("upload", "POST", "/publish/sources", rights=PUBLISH, takes_file=True),
    PageRoute("draft", "POST", "/publish/draft", rights=PUBLISH),
    PageRoute("work", "GET", "/publish/work/<job_id>", rights=PUBLISH),
    PageRoute("take_step", "POST", f"/publish/<any({', '.join(STEPS)}):step>", rights=PUBLISH),
    PageRoute("versions", "GET", "/publish/datasets/<dataset>", rights=PUBLISH),
    PageRoute("withdraw", "POST", "/publish/datasets/<dataset>/withdraw", rights=PUBLISH),
    PageRoute("serve_version", "POST", "/publish/datasets/<dataset>/serve", rights=PUBLISH),
    PageRoute("draw_map", "POST", "/publish/datasets/<dataset>/map", rights=PUBLISH),
    PageRoute("map_picture", "GET", "/publish/work/<job_id>/map.svg", rights=PUBLISH),
    PageRoute("what_if_version", "POST", "/publish/datasets/<dataset>/what-if", rights=PUBLISH),
    PageRoute("what_if_policy", "POST", "/publish/what-if", rights=PUBLISH),
)

WHAT_IF: JobKind = "publish.what_if"
LONGEST_QUESTIONS = 20_000
MOST_DAYS = 3650


class PublishPages:
    def __init__(self, publications: Publications, jobs: JobViews) -> None:
        self._publications, self._jobs = publications, jobs

    def publish(self, session: Session) -> Response:
        return self._page(session)

    def prepare_upload(self) -> None:
        """Before the form is read: how large it may be, and that its file goes to the custodian's folder. What stands
        around the file in a form takes some room too."""
        g.begin_upload = self._publications.begin_upload
        request.max_content_length = self._publications.most_upload_bytes + 100_000

    def upload(self, session: Session) -> Response:
        """The file has come in by now, or was refused on the way."""
        file = request.files.get("file")
        if file is None or not file.filename or g.get("drop") is None:
            return self._page(session, malformed("file: is missing.", "Choose a table to upload."))
        name = self._publications.keep_upload(session.principal, g.pop("drop"), file.filename)
        return self._put(session, "publish.draft", source=name)

    def draft(self, session: Session) -> Response:
        return self._put(session, "publish.draft", source=request.form.get("source", ""))

    def take_step(self, session: Session, step: str) -> Response:
        source, policy = request.form.get("source", ""), request.form.get("policy", "").replace("\r\n", "\n")
        kind = cast(JobKind, f"publish.{step}")
        if step == "version" and request.form.get("sure") != "yes":
            return self._page(session, malformed("sure: is missing.", "Confirm that you have checked every column."))
        more: dict[str, Any] = {"reinstate": request.form.get("reinstate") == "yes"} if step == "version" else {}
        more |= {"questions": request.form.get("questions", "")[:LONGEST_QUESTIONS]} if step == "preview" else {}
        return self._put(session, kind, source=source, policy=policy, **more)

    def work(self, session: Session, job_id: str) -> Response:
        """A step and what came of it; the policy as it is now."""
        job = self._publications.job(session.principal, job_id)
        if job.kind == WHAT_IF:
            _check_overseer(session)  # others' statements are in it
        result = dict(job.result or {}) if job.state == "done" else {}
        policy = result.get("policy") if job.kind == "publish.draft" else job.body.get("policy")
        return make_page(
            "custodian/publish_work.html",
            session=session,
            job=self._jobs.body_of(session.principal, job_id),
            kind=job.kind.partition(".")[2],
            step_name=STEP_NAMES[job.kind],
            source=job.body.get("source", ""),
            title=job.body.get("title", ""),
            policy=policy,
            questions=job.body.get("questions", ""),
            result=result,
            risk_map=make_risk_map(result["map"]) if "map" in result else None,
            rerun=tally_rerun(result["what_if"]) if "what_if" in result else None,
            dataset=job.dataset or result.get("dataset", ""),
        )

    # -- versions ----------------------------------------------------------------------------------------

    def versions(self, session: Session, dataset: str) -> Response:
        return make_page(
            "custodian/versions.html",
            session=session,
            dataset=dataset,
            versions=self._publications.versions(dataset),
            is_withdrawn=self._publications.is_withdrawn(dataset),
            work=self._publications.own_work(session.principal, dataset),
            step_names=STEP_NAMES,
        )

    def withdraw(self, session: Session, dataset: str) -> Response:
        self._publications.versions(dataset)
        text = (
            "No version will be served from now on. People keep the answers they have received. You can serve the "
            "dataset again later."
        )
        asked = ask_first(session, f"Withdraw {dataset}?", text, "Withdraw", f"/publish/datasets/{dataset}")
        return asked or self._put(session, "publish.withdraw", dataset)

    def serve_version(self, session: Session, dataset: str) -> Response:
        version = request.form.get("version", "")
        known = {str(one.version) for one in self._publications.versions(dataset) if one.state == "readable"}
        if version not in known:
            raise malformed("version: cannot be served.", "Choose one from the list.")
        text = "From now on all questions will be answered from it."
        back = f"/publish/datasets/{dataset}"
        asked = ask_first(session, f"Serve version {version} of {dataset}?", text, "Serve it", back, version=version)
        return asked or self._put(session, "publish.serve", dataset, version=int(version))

    # -- what each choice costs --------------------------------------------------------------------------

    def draw_map(self, session: Session, dataset: str) -> Response:
        """Risk against utility of all versions, and of the one that is served with another k."""
        self._publications.versions(dataset)
        return self._put(session, "publish.map", dataset)

    def map_picture(self, session: Session, job_id: str) -> Response:
        result = self._publications.job(session.principal, job_id).result or {}
        if "map" not in result:
            raise NotPermitted("QG307", "There is no such picture.", "Draw the map again.")
        drawn = render_template("console/charts/risk_map.svg", chart=make_risk_map(result["map"]), standalone=True)
        return make_download(drawn.encode(), "image/svg+xml", f"{job_id}-map.svg")

    def what_if_version(self, session: Session, dataset: str) -> Response:
        """The questions of the log, put to another version."""
        _check_overseer(session)
        version = request.form.get("version", "")
        if version not in {str(one.version) for one in self._publications.versions(dataset) if one.is_readable}:
            raise malformed("version: cannot be queried.", "Choose one from the list.")
        return self._put(session, WHAT_IF, dataset, version=int(version), days=_read_days())

    def what_if_policy(self, session: Session) -> Response:
        """The same under a policy that is being written."""
        _check_overseer(session)
        source, policy = request.form.get("source", ""), request.form.get("policy", "").replace("\r\n", "\n")
        return self._put(session, WHAT_IF, source=source, policy=policy, days=_read_days())

    # -- along the way -----------------------------------------------------------------------------------

    def _put(self, session: Session, kind: JobKind, dataset: str = "", **body: Any) -> Response:
        try:
            job_id = self._publications.put(session.principal, kind, dataset, **body)
        except QueryGateError as error:
            return self._page(session, error)
        return go(f"/publish/work/{job_id}")

    def _page(self, session: Session, error: QueryGateError | None = None) -> Response:
        return make_page(
            "custodian/publish.html",
            status_of(error),
            session=session,
            sources=self._publications.sources(),
            most_mb=self._publications.most_upload_bytes // 1_000_000,
            datasets=self._publications.datasets(),
            work=self._publications.own_work(session.principal),
            step_names=STEP_NAMES,
            problem=error.to_dict() if error else None,
        )


def _check_overseer(session: Session) -> None:
    if not session.principal.may("oversee"):
        raise not_allowed("oversee")


def _read_days() -> int:
    text = request.form.get("days", "90")
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= MOST_DAYS):
        raise malformed(f"days: must be a whole number from 1 to {MOST_DAYS:,}.", "Write a number of days, such as 90.")
    return int(text)
