"""What one request may take: time over everything it does, and the size of its answer."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from querygate.core.errors import NotPermitted, UnsupportedSQL
from querygate.core.ports import Limits
from querygate.core.types import Principal, Request
from querygate.gate.answer import ask
from querygate.gate.answer_cache import KeptAnswers
from querygate.gate.dry_run import DRY_RUN, check
from querygate.gate.query_state import Gate
from querygate.web import create_app
from tests.api.small_site import SmallSite, make_small_site

ANN = Principal("ann", "researcher")
BY_AGE = "SELECT age, sex, COUNT(*), AVG(sbp), MIN(sbp), MAX(sbp) FROM clinic GROUP BY age, sex"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    return make_small_site(tmp_path_factory.mktemp("resources"))


def slow(gate: Gate) -> Gate:
    """A gate on whose clock every look takes a second."""
    seconds = count()
    return replace(gate, clock_s=lambda: float(next(seconds)), limits=Limits(timeout_s=10.0))


def functions(number: int) -> str:
    """A statement for which the database is asked that many times."""
    return "SELECT COUNT(*) FROM clinic WHERE " + " AND ".join(f"age % {n + 2} <> 1" for n in range(number))


def test_a_dry_run_has_the_same_time_as_a_query(site: SmallSite) -> None:
    assert check(Request(ANN, "clinic", functions(2)), slow(site.opened.gate))["accepted"]
    for way in (ask, check):
        with pytest.raises(NotPermitted, match="time or memory limit"):
            way(Request(ANN, "clinic", functions(40)), slow(site.opened.gate))


def test_statements_that_are_priced_together_share_one_time(tmp_path: Path) -> None:
    site = make_small_site(tmp_path)
    client = create_app(replace(site.opened, gate=slow(site.opened.gate))).test_client()
    body = {"dataset": "clinic", "statements": [functions(2)] * 30, "options": {"mode": "interval"}}
    answer = client.post("/api/v1/query/price", json=body, headers=site.headers("ann"))
    assert (answer.status_code, answer.json["code"]) == (503, "QG305")


def test_an_answer_has_a_size_and_none_larger_is_in_the_log(site: SmallSite) -> None:
    asked = Request(ANN, "clinic", BY_AGE)
    whole = len(str(ask(asked, site.opened.gate)))
    tight = replace(site.opened.gate, limits=Limits(max_answer_bytes=whole // 2))
    with pytest.raises(UnsupportedSQL, match="too large"):
        ask(asked, tight)
    last = list(site.opened.log.queries(dataset="clinic"))[-1]
    assert (last["outcome"], last["code"], last["answer"]) == ("refused", "QG212", None)


def test_ranges_are_counted_before_they_are_computed(site: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.gate.plan_cells.MOST_RANGES", 20)
    monkeypatch.setattr("querygate.gate.range_intersection.make_range", lambda *_: pytest.fail("was computed"))
    with pytest.raises(UnsupportedSQL, match="too large"):
        ask(Request(ANN, "clinic", BY_AGE), replace(site.opened.gate, answers=KeptAnswers(0)))


def test_dry_runs_are_on_record(site: SmallSite) -> None:
    check(Request(ANN, "clinic", "SELECT COUNT(*) FROM clinic"), site.opened.gate)
    with pytest.raises(UnsupportedSQL):
        check(Request(ANN, "clinic", "SELECT mrn FROM clinic"), site.opened.gate)
    noted = [event for event in site.opened.log.events() if event["kind"] == DRY_RUN][-2:]
    assert [(event["user"], event["dataset"], event["body"]["sql"], event["body"]["code"]) for event in noted] == [
        ("ann", "clinic", "SELECT COUNT(*) FROM clinic", None),
        ("ann", "clinic", "SELECT mrn FROM clinic", "QG203"),
    ]
