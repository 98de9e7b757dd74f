"""Audits in the console: what was found, case by case; who sees values, and what is done about it."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.api.console_site import ConsoleSite
from tests.each import each

SCRIPT = "<script>alert(1)</script>"
WIDER, NARROWER = (f"SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND {last}" for last in (54, 47))
"""They differ by the people of 48 to 54, which is more than k; of the next two, by one of 53."""

PLANTED = "53"
"""An age that one person has and no statement mentions."""

PAIR = ("SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND 52", "SELECT AVG(sbp) FROM clinic WHERE age < 53.5")


@pytest.fixture(autouse=True, scope="module")
def audited(site: ConsoleSite) -> None:
    site.forget_jobs()
    for sql in (WIDER, NARROWER, *PAIR):
        assert site["ann"].ask(sql).status_code == 200
    run = site["carl"].post("/audits/clinic/run", part=False)
    assert "job=" in run.headers["Location"]
    assert "In progress" in site["carl"].get(run.headers["Location"]).text
    assert site.worker.work_off() == 1


def case_of(site: ConsoleSite) -> str:
    found = re.search(r'href="(/audits/clinic/c_\w+)"', site["carl"].get("/audits/clinic").text)
    assert found
    return found[1]


def test_a_case_shows_the_queries_the_set_and_the_arithmetic(site: ConsoleSite) -> None:
    for name in ("carl", "olaf"):
        page = site[name].get(case_of(site))
        assert page.status_code == 200
        text = unescape(page.text)
        for sql in PAIR:
            assert re.sub(r"\s+", "", sql) in re.sub(r"</?mark>|\s+", "", text)
        assert "age < 53.5, without age BETWEEN 30 AND 52" in text
        assert "Over records" in text
        assert "their total, hidden here" in text


def without_statements(text: str) -> str:
    """What is told beside what was asked, ids and times."""
    text = re.sub(r"53\.5|<mark>[^<]*</mark>|<code>[^<]*</code>", "", text)
    return re.sub(r"[qcfj]_\w+|[0-9a-f]{64}|\d\d:\d\d(:\d\d)?|\d{4}-\d\d-\d\d", "", text)


def test_no_value_is_served_that_no_query_mentions(site: ConsoleSite) -> None:
    path = case_of(site)
    for page in ("/audits", "/audits/clinic", path, f"{path}/file"):
        assert PLANTED not in re.findall(r"\d+", without_statements(site["olaf"].get(page).text)), page
    found = site.opened.log.last("audit.findings", "clinic")
    assert found
    for finding in found["body"]["findings"]:
        told = without_statements(finding["isolates"]["where"] + finding["explanation"])
        assert PLANTED not in re.findall(r"\d+", told)


def test_values_are_unmasked_by_a_job_on_record_and_shown_once(site: ConsoleSite) -> None:
    path = case_of(site)
    for last in (50, 51, 53, 54):  # since then: they would be in the case too
        site["ann"].ask(f"SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND {last}")
    before = site.kinds()
    sent = site["carl"].post(f"{path}/unmask", part=False)
    assert site.kinds()[len(before) :] == ["audit.read"]
    address = sent.headers["Location"]
    assert "In progress" in site["carl"].get(address).text
    assert site.worker.work_off() == 1
    job = address.partition("job=")[2]
    told = site.app.test_client().get(f"/api/v1/jobs/{job}", headers=site.small.headers("carl")).json
    assert (told["state"], "result" in told) == ("done", False)
    assert "age = 53" not in site["olaf"].get(address).text  # a job is seen by whoever asked
    shown = unescape(site["carl"].get(address).text)
    assert "age = 53" in shown
    assert "40 to 300" in shown  # all of the public domain
    again = site["carl"].get(address).text
    assert "age = 53" not in again
    assert "have not been kept" in again
    assert site.opened.log.database.rows("SELECT * FROM job WHERE id = ?", (job,)) == []
    assert "unmasked it" in again


def test_a_case_is_resolved_with_a_note_and_opened_again(site: ConsoleSite) -> None:
    path = case_of(site)
    assert "note: is missing" in site["carl"].post(f"{path}/resolve", part=False).text
    assert site["carl"].post(f"{path}/resolve", part=False, note=f"We talked. {SCRIPT}").status_code == 303
    page = site["olaf"].get(path).text
    assert ">resolved</span>" in page
    assert SCRIPT not in page
    assert SCRIPT in unescape(page)
    assert SCRIPT in site["olaf"].get(f"{path}/file").text  # a plain text, to be saved
    assert site["olaf"].get(f"{path}/file").headers["Content-Disposition"].startswith("attachment")
    assert "Resolved" in site["carl"].get("/audits/clinic").text
    site["carl"].post(f"{path}/reopen", part=False)
    assert ">resolved</span>" not in site["carl"].get(path).text
    acts = [event["body"]["act"] for event in site.opened.log.events() if event["kind"] == "audit.case"]
    assert [act for act in acts if act != "suspend"] == ["resolve", "reopen"]


def test_whom_a_case_is_about_is_suspended_with_two_clicks(site: ConsoleSite) -> None:
    path = case_of(site)
    assert site["carl"].post(f"{path}/suspend", part=False, user="bob", sure="yes").status_code == 303
    assert site["bob"].get("/history").status_code == 200  # the case is not about them
    asked = site["carl"].post(f"{path}/suspend", part=False, user="ann")
    assert "Suspend ann?" in asked.text
    assert site["ann"].get("/history").status_code == 200
    assert site["carl"].post(f"{path}/suspend", part=False, user="ann", sure="yes").status_code == 303
    assert site["ann"].get("/history").status_code == 303  # to sign in
    assert "suspended</strong>" in site["carl"].get(path).text or "suspended ann" in site["carl"].get(path).text
    site.opened.accounts.enable_user("ann")
    assert site["ann"].get("/history").status_code == 303  # that session stays ended
    del site.browsers["ann"]
    assert site["ann"].get("/history").status_code == 200


@each("name", ["ann", "rita", "dora"])
def test_audits_are_for_those_who_oversee(site: ConsoleSite, name: str) -> None:
    path = case_of(site)
    for page in ("/audits", "/audits/clinic", path, f"{path}/file"):
        assert site[name].get(page).status_code == 403
    for act in ("run",):
        assert site[name].post(f"/audits/clinic/{act}", part=False).status_code == 403
    assert "/audits" not in site[name].get("/history").text


@each("act", ["unmask", "resolve", "reopen", "comment", "suspend"])
def test_auditors_look_and_touch_nothing(site: ConsoleSite, act: str) -> None:
    path = case_of(site)
    before = len(site.kinds())
    assert site["olaf"].post(f"{path}/{act}", part=False, note="x", user="ann", sure="yes").status_code == 403
    assert site.kinds()[before:] == []
    assert f"{path}/{act}" not in site["olaf"].get(path).text


@each("path", ["/audits/nothing", "/audits/clinic/c_0000000000", "/audits/%3Cb%3E/x", "/audits/clinic/%3Cb%3E"])
def test_what_is_not_there(site: ConsoleSite, path: str) -> None:
    page = site["carl"].get(path)
    assert page.status_code == 404
    assert "<b>" not in page.text


def test_unmasking_another_case_with_a_job_of_this_one_shows_nothing(site: ConsoleSite) -> None:
    """The address of a page names the job, and whoever has it may write another."""
    path = case_of(site)
    job = site["carl"].post(f"{path}/unmask", part=False).headers["Location"].partition("job=")[2]
    site.worker.work_off()
    assert site["carl"].get(f"/audits/clinic/c_0000000000?job={job}").status_code == 404
    assert "age = 53" not in site["olaf"].get(f"{path}?job={job}").text
    assert "age = 53" in unescape(site["carl"].get(f"{path}?job={job}").text)


def test_pages_that_are_not_there_look_like_the_console(site: ConsoleSite) -> None:
    html = {"Accept": "text/html,application/xhtml+xml"}
    page = site["carl"].get("/nowhere", headers=html)
    assert (page.status_code, "There is no page at this address." in page.text) == (404, True)
    assert "Sign out" in page.text
    assert "form-action 'self'" in page.headers["Content-Security-Policy"]
    assert site["carl"].get("/nowhere").json["code"] == "QG307"  # a program
    assert site["carl"].get("/api/v1/nowhere", headers=html).json["code"] == "QG307"
    assert "Sign out" not in site.app.test_client().get("/nowhere", headers=html).text


@each(
    "name, first, seen, unseen",
    [
        ("ann", 200, ["/datasets", "/history", "/requests"], ["/audits"]),
        ("carl", 303, ["/datasets", "/history", "/requests", "/audits"], []),
        ("olaf", 303, ["/datasets", "/audits"], ["/history", "/requests"]),
        ("rita", 303, ["/datasets", "/requests"], ["/history", "/audits"]),
    ],
)
def test_each_role_has_its_own_menu_and_first_page(
    site: ConsoleSite, name: str, first: int, seen: list[str], unseen: list[str]
) -> None:
    start = site[name].get("/")
    assert start.status_code == first
    page = site[name].get("/datasets").text
    assert [path for path in (*seen, *unseen) if f'href="{path}"' in page] == seen
    for path in seen:
        assert site[name].get(path).status_code in (200, 303)
    for path in unseen:
        assert site[name].get(path).status_code == 403


def test_whoever_may_not_ask_sees_no_editor(site: ConsoleSite) -> None:
    for name in ("olaf", "rita"):
        page = site[name].get("/datasets/clinic").text
        assert "Columns" in page
        assert "<textarea" not in page
    assert "<textarea" in site["carl"].get("/datasets/clinic").text
