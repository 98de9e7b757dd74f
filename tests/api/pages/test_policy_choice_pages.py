"""What each choice would cost, in the console: the map of risk and utility, the log run again, predicted answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from querygate.web.console.charts.risk_map import make_risk_map
from tests.api.console_site import ConsoleSite, make_console_site
from tests.api.pages.test_publish_pages import dropped, step, upload
from tests.api.small_site import POLICY
from tests.each import each

CLINIC = "/publish/datasets/clinic"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> ConsoleSite:
    """A site of its own: what is asked here would be in the audits of others."""
    return make_console_site(tmp_path_factory.mktemp("choice"), "upload_mb = 1\n")


@pytest.fixture(autouse=True)
def nothing_left(site: ConsoleSite) -> Iterator[None]:
    yield
    site.forget_jobs()
    for file in dropped(site):
        file.unlink()
        site.opened.log.note("source.remove", user="carl", body={"id": file.name})


def worked(site: ConsoleSite, path: str, **form: str) -> tuple[str, str]:
    """Where the result of a job is, and its page."""
    sent = site["carl"].post(path, part=False, **form)
    assert sent.status_code == 303, sent.text
    assert site.worker.work_off() == 1
    address = sent.headers["Location"]
    return address, unescape(site["carl"].get(address).text)


def test_the_map_shows_versions_and_other_k(site: ConsoleSite) -> None:
    assert "Draw the map" in site["carl"].get(CLINIC).text
    address, page = worked(site, f"{CLINIC}/map")
    k = POLICY.parsed().k
    assert re.search(rf"version 1 <span class=\"state approved\">served</span></th><td>{k}</td>", page)
    others = {5, 10, 20} - {k}
    assert all(f'<th scope="row">k = {other}</th>' in page for other in others)
    assert site.opened.log.last("publish.map", "clinic")
    listed = site["carl"].get(CLINIC).text
    assert f'<a href="{address}">Risk and utility</a></th><td>clinic</td><td>done</td>' in listed
    assert f'<a href="{address}">' in site["carl"].get("/publish").text
    picture = site["carl"].get(f"{address}/map.svg")
    assert picture.content_type == "image/svg+xml"
    assert ElementTree.fromstring(picture.text).tag.endswith("svg")


def test_work_is_cancelled_by_whoever_began_it(site: ConsoleSite) -> None:
    address = site["carl"].post(f"{CLINIC}/map", part=False).headers["Location"]
    job = address.rsplit("/", 1)[1]
    assert f'action="/jobs/{job}/cancel"' in site["carl"].get(address).text
    assert site["ann"].post(f"/jobs/{job}/cancel", part=False).status_code == 404
    cancelled = site["carl"].post(f"/jobs/{job}/cancel", part=False, next=address)
    assert cancelled.headers["Location"] == address
    assert site["carl"].post(f"/jobs/{job}/cancel", part=False, next="//elsewhere.example").headers["Location"] == "/"
    assert "cancelled" in site["carl"].get(CLINIC).text
    assert site.worker.work_off() == 0


def test_names_on_the_map_keep_clear_of_each_other_and_problems_are_told() -> None:
    told = {"figures": 8, "share": 0.5, "width": 1.0, "problem": "", "error": 0.1}
    points = [{"name": f"version {v}", "version": v, "is_served": v == 3, "k": 10, "standing": told} for v in (1, 2, 3)]
    points.append(
        {"name": "k = 50", "version": None, "is_served": False, "k": 50, "standing": {"share": None, "problem": "few"}}
    )
    chart = make_risk_map({"points": points})
    heights = sorted(dot.label_y for dot in chart.dots)
    assert all(after - before >= 12 for before, after in pairwise(heights))
    assert chart.problems == (("k = 50", "few"),)
    assert make_risk_map({"points": points[3:]}).dots == ()


def test_the_log_is_asked_again_under_a_version(site: ConsoleSite) -> None:
    site["ann"].ask("SELECT sex, AVG(sbp) FROM clinic GROUP BY sex")
    site["ann"].ask("SELECT sbp FROM clinic")
    answers = len(list(site.opened.log.queries(dataset="clinic")))
    _, page = worked(site, f"{CLINIC}/what-if", version="1", days="30")
    assert "of the last 30 days, run again" in page
    assert re.search(r"SELECT sex, AVG\(sbp\) FROM clinic GROUP BY sex</code></td><td>same width</td>", page)
    assert re.search(r"SELECT sbp FROM clinic</code></td><td>still refused</td>", page)
    assert len(list(site.opened.log.queries(dataset="clinic"))) == answers  # nothing is recorded as a question
    noted = site.opened.log.last("publish.what_if", "clinic")
    assert noted
    assert noted["body"] == {"days": 30, "version": 1}


def test_the_log_is_asked_again_under_a_coarser_policy(site: ConsoleSite) -> None:
    site["ann"].ask("SELECT AVG(sbp) FROM clinic WHERE age < 45")
    site["ann"].ask("SELECT sex, AVG(sbp) FROM clinic GROUP BY sex")
    upload(site)
    site.worker.work_off()
    coarser = POLICY.replace(f"k = {POLICY.parsed().k}", "k = 20")
    _, page = worked(site, "/publish/what-if", source=dropped(site)[-1].name, policy=coarser, days="30")
    assert "run again" in page
    assert "<td>wider</td>" in page
    assert 'id="policy"' in page  # one goes on from here


@each("form", [{"version": "9"}, {"version": "x"}, {"version": "1", "days": "0"}, {"version": "1", "days": "x"}])
def test_what_cannot_be_asked_again_is_told(site: ConsoleSite, form: dict[str, str]) -> None:
    assert site["carl"].post(f"{CLINIC}/what-if", part=False, **form).status_code == 400


def test_others_statements_are_for_those_who_may_read_the_log(site: ConsoleSite) -> None:
    for name in ("ann", "olaf", "dora", "rita"):
        assert site[name].post(f"{CLINIC}/what-if", part=False, version="1", days="9").status_code == 403
        assert site[name].post(f"{CLINIC}/map", part=False).status_code == 403
    address, _ = worked(site, f"{CLINIC}/what-if", version="1", days="9")
    job = address.rsplit("/", 1)[1]
    told = site.app.test_client().get(f"/api/v1/jobs/{job}", headers=site.small.headers("carl")).json
    assert told is not None
    assert "result" not in told


def test_a_policy_shows_what_it_would_answer(site: ConsoleSite) -> None:
    upload(site)
    site.worker.work_off()
    source = dropped(site)[-1].name
    questions = "SELECT sex, COUNT(*) FROM clinic GROUP BY sex;\nSELECT nothing FROM clinic;"
    page = step(site, "preview", source=source, policy=str(POLICY), questions=questions)
    assert "Answers that researchers would get" in page
    assert re.search(r'<td class="range">F</td>\s*<td class="range">30 exactly</td>', page)
    assert '<span class="state returned">refused</span>' in page
    assert "SELECT nothing FROM clinic;" in page  # still there to be tried again
    page = step(site, "preview", source=source, policy=str(POLICY))
    assert page.count('<td class="range">') > 1  # the examples
    assert not site.opened.store.versions("clinic")[1:]
