"""What one user may use: 429 with a code, a time to wait, and nobody else affected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from querygate.control.usage import Usage, Used
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.routes import API
from tests.api.small_site import make_small_site

SQL = "SELECT sex, COUNT(*) FROM clinic GROUP BY sex"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return make_small_site(tmp_path_factory.mktemp("limits"))


def client_of(small, monkeypatch, **settings):
    for name, value in settings.items():
        monkeypatch.setenv(f"QUERYGATE_{name.upper()}", str(value))
    return create_app(open_gate(open_site(small.folder))).test_client()


def ask(client, small, name="ann"):
    return client.post(f"{API}/query", headers=small.headers(name), json={"dataset": "clinic", "sql": SQL})


def test_requests_a_minute(small, monkeypatch, still_throttles):
    client = client_of(small, monkeypatch, requests_per_minute=5)
    given = [ask(client, small) for _ in range(8)]
    assert [one.status_code for one in given[:5]] == [200] * 5
    assert given[-1].status_code == 429
    assert given[-1].json["code"] == "QG318"
    assert 1 <= int(given[-1].headers["Retry-After"]) <= 60
    assert ask(client, small, "bob").status_code == 200


@pytest.mark.parametrize(("setting", "used"), [
    ("answer_mb_per_day", Used(bytes=2**20)),
    ("answer_rows_per_day", Used(rows=1)),
    ("cpu_s_per_day", Used(cpu_ms=1000)),
])  # fmt: skip
def test_a_day(small, monkeypatch, setting, used):
    monkeypatch.setenv(f"QUERYGATE_{setting.upper()}", "1")
    opened = open_gate(open_site(small.folder))
    app = create_app(opened)
    _, limits = app.extensions["querygate"]
    limits.usage.add("bob", used)
    refused = ask(app.test_client(), small, "bob")
    assert (refused.status_code, refused.json["code"]) == (429, "QG318")
    assert 1 <= int(refused.headers["Retry-After"]) <= 86_400


def test_what_was_answered_is_counted(small):
    app = create_app(open_gate(open_site(small.folder)))
    _, limits = app.extensions["querygate"]
    before = limits.usage.today("ann")
    given = ask(app.test_client(), small)
    after = limits.usage.today("ann")
    assert after.rows - before.rows == 2
    assert after.bytes - before.bytes == len(given.data)
    assert after.cpu_ms >= before.cpu_ms


def test_processes_count_together_and_a_day_ends(small):
    moment = datetime(2031, 1, 1, 12, tzinfo=UTC)
    clocks = [[moment], [moment]]
    database = open_gate(open_site(small.folder)).log.database
    one, two = (Usage(database, lambda clock=clock: clock[0]) for clock in clocks)
    one.add("Ann", Used(10, 1, 5))
    assert (one.today("ann"), two.today("ann")) == (Used(10, 1, 5), Used())
    for clock in clocks:
        clock[0] += timedelta(seconds=6)
    one.add("ann", Used(1, 0, 0))
    assert two.today("ANN") == one.today("ann") == Used(11, 1, 5)
    two.add("ann", Used(0, 0, 1))
    two.write_all()
    clocks[0][0] += timedelta(seconds=6)
    assert one.today("ann") == Used(11, 1, 6)
    clocks[0][0] += timedelta(days=1)
    assert one.today("ann") == Used()
