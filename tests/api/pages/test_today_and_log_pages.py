"""What happened, and the log of it: figures by day, entries by what one looks for, and the check of the chain."""

from __future__ import annotations

import re
from datetime import date, timedelta
from html import unescape

import pytest

from querygate.control.activity import Activity
from querygate.control.log.log_search import PAGE, LogFilter, first_at, search_log
from querygate.site.open_gate import now
from querygate.web.console.timeline import make_timeline
from tests.api.console_site import ConsoleSite
from tests.each import each
from tests.work import count_calls

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True, scope="module")
def asked(site: ConsoleSite) -> None:
    for name in ("ann", "bob"):
        for sql in ("SELECT COUNT(*) FROM clinic", "SELECT AVG(nothing) FROM clinic", f"SELECT '{SCRIPT}"):
            site[name].ask(sql)
    site["ann"].ask('SELECT COUNT(*) AS "x"",""outcome"":""refused"",""code"":""QG999" FROM clinic')


# -- figures by day ------------------------------------------------------------------------------------------------


def test_a_day_is_counted_as_it_was(site: ConsoleSite) -> None:
    (*before, today) = Activity(site.opened.log.database).days(now().date(), 3)
    assert [day.questions for day in before] == [0, 0]
    lines = list(site.opened.log.queries())
    for outcome in ("answered", "refused"):
        assert today.outcomes.get(outcome, 0) == sum(line["outcome"] == outcome for line in lines)
    assert today.questions == len(lines) == sum(today.outcomes.values())
    assert today.users >= {"ann", "bob"}
    assert sum(today.codes.values()) == sum(line["code"] is not None for line in lines)
    assert "QG999" not in today.codes  # what a statement says is no code of the entry


def test_days_that_are_over_are_counted_once(site: ConsoleSite) -> None:
    activity = Activity(site.opened.log.database)
    _, first = count_calls(lambda: activity.days(now().date(), 14))
    _, second = count_calls(lambda: activity.days(now().date(), 14))
    assert second < first / 3


def test_what_is_new_today_is_added_to_what_was_counted(site: ConsoleSite) -> None:
    activity = Activity(site.opened.log.database)
    before = activity.days(now().date(), 2)[-1]
    site["bob"].ask("SELECT COUNT(*) FROM clinic")
    site["bob"].ask("SELECT AVG(nothing) FROM clinic")
    after = activity.days(now().date(), 2)[-1]
    assert after == Activity(site.opened.log.database).days(now().date(), 2)[-1]
    assert (after.questions - before.questions, after.refused - before.refused) == (2, 1)
    assert activity.days(now().date(), 2)[-1] == after


def test_the_first_entry_of_a_day_is_found_by_halving(site: ConsoleSite) -> None:
    times = [event["time"] for event in site.opened.log.events()]
    for moment in (times[0], times[5], times[-1], "1999", "2999", times[5][:10]):
        expected = next((i for i, time in enumerate(times, 1) if time >= moment), len(times) + 1)
        assert first_at(site.opened.log.database, moment) == expected


def test_an_empty_log_has_no_figures() -> None:
    assert make_timeline("Users", ["users"], [("2026-03-01", [0])]).bars == ()
    assert make_timeline("Users", ["users"], []).bars == ()


def test_today_tells_and_draws(site: ConsoleSite) -> None:
    for name in ("carl", "olaf"):
        page = site[name].get("/today")
        assert page.status_code == 200
        assert page.text.count("<svg") == 5
        assert page.text.count("As a table") == 5
        assert "QG203" in page.text
        assert site[name].get("/").headers["Location"] == "/today"
    for name in ("ann", "rita", "dora"):
        assert site[name].get("/today").status_code == site[name].get("/log").status_code == 403


# -- the log -------------------------------------------------------------------------------------------------------


@each(
    "query, kinds",
    [
        ("user=bob&kind=query", {"query.intent", "query.outcome"}),
        ("kind=person", set()),
        ("kind=session.begin", {"session.begin"}),
        ("kind=session", {"session.begin"}),
        ("code=QG203", {"query.outcome"}),
        ("dataset=clinic&kind=query&user=bob", {"query.intent", "query.outcome"}),
        ("since=2999-01-01", set()),
        ("until=1999-01-01", set()),
        ("user=nobody", set()),
        ("user=' OR 1=1 --", set()),
        ("kind=%25", set()),
    ],
)
def test_entries_are_found_by_what_they_are(site: ConsoleSite, query: str, kinds: set[str]) -> None:
    page = site["olaf"].get(f"/log?{query}")
    assert page.status_code == 200
    shown = re.findall(r"<td>([a-z_]+(?:\.[a-z_]+)?)(?:<span|</td>)", page.text)
    assert {kind for kind in shown if kind != "clinic"} == kinds
    assert ("Nothing found" in page.text) == (not kinds)


def test_every_entry_is_on_some_page_once(site: ConsoleSite) -> None:
    for _ in range(PAGE + 3):
        site.opened.log.note("log.read", user="carl")
    wanted, before, seen = LogFilter(), None, []
    while True:
        page = search_log(site.opened.log.database, wanted, before)
        seen += [entry.seq for entry in page.entries]
        if page.older is None:
            break
        before = page.older
    entries = [event["seq"] for event in site.opened.log.events() if event["kind"] != "query.intent"]
    assert seen == entries[::-1]
    older = re.search(r'href="(/log\?[^"]*before=\d+)"', site["carl"].get("/log?user=carl").text)
    assert older
    assert "user=carl" in older[1]
    assert site["carl"].get(unescape(older[1])).status_code == 200


def test_days_are_included_at_both_ends(site: ConsoleSite) -> None:
    today = now().date().isoformat()
    assert search_log(site.opened.log.database, LogFilter(since=today, until=today)).entries
    day_before = (date.fromisoformat(today) - timedelta(days=1)).isoformat()
    assert not search_log(site.opened.log.database, LogFilter(until=day_before)).entries


@each("query", ["since=yesterday", "until=2026-13-01", "code=QG1", "before=x", "before=-1", "before=%0a"])
def test_what_cannot_be_looked_for(site: ConsoleSite, query: str) -> None:
    page = site["carl"].get(f"/log?{query}")
    assert (page.status_code, "QG306" in page.text) == (400, True)


def test_whoever_reads_the_log_is_in_it(site: ConsoleSite) -> None:
    site["olaf"].get("/log?user=ann&dataset=clinic")
    last = list(site.opened.log.events())[-1]
    assert (last["kind"], last["user"], last["dataset"], last["body"]) == (
        "log.read",
        "olaf",
        "clinic",
        {"user": "ann", "page": True},
    )


def test_an_entry_is_shown_as_text(site: ConsoleSite) -> None:
    asked = search_log(site.opened.log.database, LogFilter(user="bob", kind="query")).entries
    for entry in asked:
        page = site["carl"].get(f"/log/{entry.seq}")
        assert SCRIPT not in page.text
        assert page.text.count("<code>") >= 2
    for path in ("/log", "/log?user=bob", f"/log?user={SCRIPT}", f"/log?kind={SCRIPT}&dataset={SCRIPT}", "/today"):
        assert SCRIPT not in site["carl"].get(path).text
    assert site["carl"].get("/log/999999").status_code == 404
    assert site["carl"].get("/log/0").status_code == 404


def test_the_log_is_verified_by_a_worker_that_tells_how_far_it_is(site: ConsoleSite) -> None:
    sent = site["olaf"].post("/log/verify", part=False)
    assert "In progress" in site["olaf"].get(sent.headers["Location"]).text
    assert site.worker.work_off() == 1
    page = site["olaf"].get(sent.headers["Location"]).text
    assert "The log is intact" in page
    assert re.search(r"<code>\d+:[0-9a-f]{64}</code>", page)
    job = sent.headers["Location"].partition("job=")[2]
    assert site["carl"].get(f"/log?job={job}").status_code == 404  # of somebody else
    part = site["olaf"].get(f"/jobs/{job}?next=/log%3Fjob%3D{job}", headers={"HX-Request": "true"})
    assert part.headers["HX-Redirect"] == f"/log?job={job}"
    events = site["olaf"].get(f"/jobs/{job}/events").text
    assert "event: job" in events
    hostile = site["olaf"].get(f"/jobs/{job}?next=//elsewhere.example", headers={"HX-Request": "true"})
    assert hostile.headers["HX-Redirect"] == "/"


def test_a_log_that_was_altered_is_named(site: ConsoleSite) -> None:
    database = site.opened.log.database
    with database.writing() as connection:
        connection.execute("DROP TRIGGER log_no_update")
        [before] = connection.execute("SELECT body FROM log WHERE seq = 3").fetchone()
        connection.execute("UPDATE log SET body = ? WHERE seq = 3", (before.replace("a", "b") + " ",))
    try:
        sent = site["olaf"].post("/log/verify", part=False)
        site.worker.work_off()
        page = site["olaf"].get(sent.headers["Location"]).text
        assert "The log has been altered" in page
        assert "broken at entry 3" in page
    finally:
        with database.writing() as connection:
            connection.execute("UPDATE log SET body = ? WHERE seq = 3", (before,))


def test_rare_entries_are_found_with_an_index(site: ConsoleSite) -> None:
    """Of a long log, pages must not read all of it."""
    rows = site.opened.log.database.rows
    for sql, values in (
        ("SELECT * FROM log WHERE user = ? AND seq < 10 ORDER BY seq DESC LIMIT 5", ("ann",)),
        (
            "SELECT * FROM log WHERE kind = ? AND dataset = ? AND kind NOT IN ('query.intent', 'query.outcome')"
            " ORDER BY seq DESC LIMIT 1",
            ("publish", "clinic"),
        ),
    ):
        plan = " ".join(row["detail"] for row in rows(f"EXPLAIN QUERY PLAN {sql}", values))
        assert "USING INDEX log_" in plan
