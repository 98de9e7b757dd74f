"""The audit of a site's own log: what ranges of certified views leave of a finding."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from querygate.core.types import Principal, Request
from querygate.custody.audit.audit import AuditOptions
from querygate.custody.audit.finding_text import explain
from querygate.custody.jobs.log_audit import audit_site
from querygate.custody.jobs.requester_history import read_history
from querygate.gate.answer import ask
from querygate.methods.inference import Finding
from querygate.site.open_gate import OpenSite
from tests.policies import make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, put

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


def site_of(folder: Path, way: str) -> OpenSite:
    opened = new_site(folder)
    rng = random.Random(3)
    sexes = ["x", "x", *("fm"[i % 2] for i in range(118))]
    ages = [rng.randrange(100) for _ in sexes]
    ill = [rng.choice(["no", "yes", None]) for _ in sexes]
    put(opened, POLICY.but(views={}) if way == "views" else POLICY, {"age": ages, "sex": sexes, "ill": ill})
    opened.accounts.add_user("ann", "researcher")
    return opened


def told(opened: OpenSite) -> list[tuple[Finding, str]]:
    return [told for one in audit_site(opened, "t", AuditOptions(), exact=False) for told in one.found.findings]


def test_an_ordinary_table_from_certified_views_accuses_nobody(tmp_path: Path, way: str) -> None:
    opened = site_of(tmp_path, way)
    for sql in TABLE:
        ask(Request(Principal("ann", "researcher"), "t", sql), opened.gate)
    found = told(opened)
    assert found
    assert {one.severity for one, _ in found} == {"notice" if way == "views" else "attempt"}
    assert bool(read_history(opened, "t", "ann").isolating) == (way == "classes")
    if way == "views":
        text = explain(*found[0], reveal=False)
        assert "would isolate 2 records" in text
        assert "no combination is about fewer than 5 people" in text
