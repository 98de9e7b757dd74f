"""The audit of a site's own log: what ranges of certified views leave of a finding."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import DisclosureRefused
from querygate.core.types import Principal, Request
from querygate.custody.audit.audit import AuditOptions
from querygate.custody.audit.finding_text import explain
from querygate.custody.use_cases.audits.inline_auditor import NOTE, with_auditor
from querygate.custody.use_cases.audits.live_audit import LiveAudit
from querygate.custody.use_cases.audits.log_audit import audit_file, audit_site
from querygate.custody.use_cases.publish_version import publish_to
from querygate.custody.use_cases.requester_history import read_history
from querygate.gate.answer import ask
from querygate.gate.steps.admit import WARNING
from querygate.methods.audit import Finding
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.settings import FILE
from tests.policies import make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import write_parquet

TABLE = ("SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t WHERE sex <> 'x'", "SELECT COUNT(*) FROM t WHERE age < 60")
"""Two people have neither sex: everybody without the others is about them."""

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 99), grid=1, cuts=[30, 60]),
        "sex": quasi("category", values=["f", "m", "x"]),
        "ill": sensitive("category", values=["no", "yes"]),
    },
    k=5,
)


@pytest.fixture(params=["views", "classes"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


def people() -> dict[str, list[Any]]:
    rng = random.Random(3)
    sexes = ["x", "x", *("fm"[i % 2] for i in range(118))]
    ages = [rng.randrange(100) for _ in sexes]
    return {"age": ages, "sex": sexes, "ill": [rng.choice(["no", "yes", None]) for _ in sexes]}


def site_of(folder: Path, way: str, on_differencing: str = "alert") -> OpenSite:
    site = init_site(folder / "site")
    (site.folder / FILE).write_text("inline_audit = true\n", encoding="utf-8")
    opened = open_gate(open_site(site.folder))
    policy = POLICY.but(audit={"on_differencing": on_differencing})
    policy = policy.but(views={}) if way == "views" else policy
    publish_to(opened, policy.parsed(), str(write_parquet(folder / "t.parquet", people())), user="local")
    opened.accounts.add_user("ann", "researcher")
    return opened


def ask_table(opened: OpenSite) -> None:
    for sql in TABLE:
        ask(Request(Principal("ann", "researcher"), "t", sql), opened.gate)


def told(opened: OpenSite) -> list[tuple[Finding, str]]:
    return [told for one in audit_site(opened, "t", AuditOptions(), reveal=False) for told in one.found.findings]


def test_an_ordinary_table_from_certified_views_accuses_nobody(tmp_path: Path, way: str) -> None:
    opened = site_of(tmp_path, way)
    ask_table(opened)
    found = told(opened)
    assert found
    assert {one.severity for one, _ in found} == {"notice" if way == "views" else "attempt"}
    assert bool(read_history(opened, "t", "ann").isolating) == (way == "classes")
    if way == "views":
        text = explain(*found[0], reveal=False)
        assert "would isolate 2 records" in text
        assert "no combination is about fewer than 5 people" in text


def test_a_watch_alerts_of_no_ordinary_table_from_certified_views(tmp_path: Path, way: str) -> None:
    opened = site_of(tmp_path, way)
    ask_table(opened)
    seen = LiveAudit(opened, "t", user="local").look()
    assert seen.queries == len(TABLE)
    assert bool(seen.alerts) == (way == "classes")


@pytest.mark.parametrize("rule", ["refuse", "warn"])
def test_no_ordinary_table_from_certified_views_is_refused_or_warned_of(tmp_path: Path, way: str, rule: str) -> None:
    opened = with_auditor(site_of(tmp_path, way, rule))
    could = False
    for sql in TABLE:
        try:
            could |= WARNING in ask(Request(Principal("ann", "researcher"), "t", sql), opened.gate)["notes"]
        except DisclosureRefused:
            could = True
    assert could == (way == "classes")
    assert bool([event for event in opened.log.events() if event["kind"] == NOTE]) == could


@pytest.mark.parametrize(("k", "accuses"), [(5, False), (200, True)])
def test_an_exported_log_says_which_ranges_are_certified(tmp_path: Path, way: str, k: int, accuses: bool) -> None:
    """With a k that the views do not keep, it may be an attempt after all."""
    opened = site_of(tmp_path, way)
    ask_table(opened)
    exported = tmp_path / "log.jsonl"
    with exported.open("w", encoding="utf-8") as stream:
        opened.log.export(stream)
    audited = audit_file(exported, [str(tmp_path / "t.parquet")], AuditOptions(k=k, known=("age", "sex")), reveal=False)
    found = [one for part in audited for one in part.found.findings]
    assert found
    assert ("attempt" in {one.severity for one, _ in found}) == (accuses or way == "classes")
