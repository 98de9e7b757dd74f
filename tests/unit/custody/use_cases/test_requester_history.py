"""What reviewers are told of a requester's queries, however much there is to audit."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import pytest

from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.use_cases.extract_builder import SiteExtractBuilder
from querygate.custody.use_cases.publish_version import publish_to
from querygate.custody.use_cases.requester_history import (
    AUDITED,
    NOT_AUDITED,
    TOO_LARGE,
    RequesterHistory,
    read_history,
)
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.settings import FILE
from tests.api.small_site import POLICY
from tests.audited_site import AND_ONE_MORE, FORTIES, ask, make_audited_site
from tests.policies import quasi
from tests.work import HANG_S

ROWS = 6000


def make_large_site(folder: Path) -> OpenSite:
    """People of so many ages and areas that an answer by both has thousands of groups."""
    site = init_site(folder / "site")
    (site.folder / FILE).write_text("review_audit_s = 3\nmax_groups = 100000\n", encoding="utf-8")
    opened = open_gate(open_site(site.folder))
    areas = [f"a{i:02d}" for i in range(40)]
    lines = [f"M{i},{20 + i % 70},{'FM'[i % 2]},{101 + 37 * i % 71},a{i // 70 % 40:02d}" for i in range(ROWS)]
    (folder / "large.csv").write_text("\n".join(["mrn,age,sex,sbp,area", *lines]) + "\n")
    policy = POLICY.but(columns={"area": quasi("category", values=areas)})
    publish_to(opened, policy.parsed(), str(folder / "large.csv"), user="local")
    opened.accounts.add_user("ann", "researcher")
    return opened


def test_the_history_of_a_project_is_audited(tmp_path: Path) -> None:
    opened = make_audited_site(tmp_path, "alert")
    assert read_history(opened, "clinic", "ann") == RequesterHistory(3, 0, 0, AUDITED, 0, 0, 0)
    ask(opened, "ann", FORTIES)
    ask(opened, "bob", AND_ONE_MORE)
    ask(opened, "eve", AND_ONE_MORE)  # nobody of ann's
    history = read_history(opened, "clinic", "ann")
    assert (history.people, history.asked, history.answered, history.audit) == (3, 2, 2, AUDITED)
    assert history.findings
    assert history.isolating


def test_a_history_that_is_too_large_is_told_and_holds_no_review_up(tmp_path: Path) -> None:
    opened = make_large_site(tmp_path)
    for measure in ("AVG(sbp)", "SUM(sbp)"):
        ask(opened, "ann", f"SELECT age, area, {measure} FROM clinic GROUP BY age, area")
    wish = ExtractSpec("clinic", "Does age matter?", columns=("age", "sex"))
    before = time.monotonic()
    shown = SiteExtractBuilder(opened).preview(wish, requester="ann")
    assert time.monotonic() - before < HANG_S
    assert shown["learnt"] == asdict(RequesterHistory(1, 2, 2, TOO_LARGE, None, None, None))


def test_memory_has_a_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = make_audited_site(tmp_path, "alert")
    for sql in (FORTIES, AND_ONE_MORE):
        ask(opened, "ann", sql)
    monkeypatch.setenv("QUERYGATE_REVIEW_AUDIT_MB", "64")
    history = read_history(opened, "clinic", "ann")
    assert (history.audit in (TOO_LARGE, NOT_AUDITED), history.findings, history.isolating) == (True, None, None)
