"""A site whose dataset says what to do about differencing, with users in projects and organisations."""

from __future__ import annotations

from pathlib import Path

from querygate.core.types import Answer, Principal, Request
from querygate.custody.use_cases.audits.inline_auditor import with_auditor
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.settings import FILE
from tests.api.small_site import POLICY, write_inputs

MEMBERS = {"ann": ("heart", "uni a"), "bob": ("heart", "uni a"), "cyd": ("lung", "uni a"), "eve": ("skin", "uni b")}

FORTIES = "SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND 49"
AND_ONE_MORE = "SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND 50"


def make_audited_site(folder: Path, on_differencing: str = "refuse", source: str | None = None) -> OpenSite:
    """Forty patients, all of different ages."""
    site = init_site(folder / "site")
    (site.folder / FILE).write_text("inline_audit = true\n", encoding="utf-8")
    opened = open_gate(open_site(site.folder))
    policy = POLICY.but(audit={"on_differencing": on_differencing}).parsed()
    publish_to(opened, policy, source or str(write_inputs(folder)[1]), user="local")
    for name, (project, organisation) in MEMBERS.items():
        opened.accounts.add_user(name, "researcher", project, organisation)
    return with_auditor(opened)


def ask(opened: OpenSite, user: str, sql: str) -> Answer:
    return answer(Request(Principal(user, "researcher"), "clinic", sql), opened.gate)


def notes_of(opened: OpenSite, kind: str) -> list[dict]:
    return [event["body"] for event in opened.log.events() if event["kind"] == kind]
