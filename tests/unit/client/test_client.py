"""The client against a real gate: answers, refusals, attempts that fail on the way, and jobs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import querygate
from querygate.client import Client, ConfigError, NotPermitted, Range, Refusal, UnsupportedSQL
from querygate.client.problem import read_problem
from querygate.client.requests_and_replies import JobStillRuns, Patience
from querygate.web import create_app
from tests.api.small_site import SmallSite
from tests.each import each
from tests.http_gate import http_gate

SQL = "SELECT sex, AVG(sbp), MAX(sbp) FROM clinic GROUP BY sex"
QUICK = Patience((0.0, 0.0, 0.0))


class Unsteady(httpx.BaseTransport):
    """A way to the gate on which some replies get lost: the gate has heard the request all the same."""

    def __init__(self, way: httpx.BaseTransport, lost: int) -> None:
        self._way, self._lost, self.sent = way, lost, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._way.handle_request(request)
        self.sent += 1
        if self.sent <= self._lost:
            response.read()
            raise httpx.ReadTimeout("lost")
        return response


class Scripted(httpx.BaseTransport):
    """Replies one after the other, as no gate would give them in a test."""

    def __init__(self, *replies: tuple[int, Any, dict[str, str]]) -> None:
        self._replies = iter(replies)
        self.seen: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        status, body, headers = next(self._replies)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.Response(status, content=content, headers=headers)


def test_a_model_is_a_table_of_ranges_like_any_answer(small: SmallSite, gate: Client) -> None:
    found = gate.fit("linear", "sbp ~ sex", reference={"sex": "M"}, where="age >= 30")
    assert found.columns[:3] == ["term", "level", "coefficient"]
    assert found.model is not None
    assert found.model["family"] == "linear"
    told = create_app(small.opened).test_client().post(
        "/api/v1/model",
        json={"dataset": "clinic", "family": "linear", "formula": "sbp ~ sex", "reference": {"sex": "M"},
              "where": "age >= 30"},
        headers=small.headers("ann"),
    )  # fmt: skip
    assert found.body["rows"] == told.json["rows"]
    frame = found.to_pandas()
    assert list(frame.term) == ["(intercept)", "sex"]
    assert (frame.coefficient_low <= frame.coefficient_high).all()
    assert "coefficient" in found._repr_html_()
    assert found.plot() is not None
    with pytest.raises(UnsupportedSQL, match="QG218"):
        gate.fit("linear", "~ sex")
    assert gate.query("SELECT COUNT(*) FROM clinic").model is None


@each("maker", [Client, querygate.client.AsyncClient])
def test_a_client_says_where_it_asks_and_never_the_key(maker: Any) -> None:
    told = repr(maker("https://ann:hidden@gate.example.org/", "secret", "clinic"))
    assert told == f"<{maker.__name__} of the gate at https://gate.example.org, dataset clinic>"
    assert repr(maker("http://localhost:8000", "secret")) == f"<{maker.__name__} of the gate at http://localhost:8000>"


def test_an_answer_has_typed_cells(gate: Client, small: SmallSite) -> None:
    answer = gate.query(SQL)
    assert (answer.dataset, answer.version, answer.mode, len(answer)) == ("clinic", 1, "interval", 2)
    assert answer.policy_hash == small.opened.store.current("clinic").catalog.policy_hash
    row = answer.rows[0]
    cell = row["avg_sbp"]
    assert isinstance(cell, Range)
    assert cell.low is not None
    assert cell.estimate in cell
    assert (row["sex"], row.certain, str(row.count)) == ("F", True, "20 exactly")
    assert answer["sex"] == ["F", "M"]
    assert gate.answer(answer.id) == answer
    assert gate.query("SELECT COUNT(*) FROM clinic").one() == Range(40, 40, 40, sharp=True)
    with pytest.raises(ValueError, match="2 rows and 2 statistics"):
        answer.one()


def test_a_refusal_says_what_to_do(gate: Client) -> None:
    with pytest.raises(UnsupportedSQL) as refused:
        gate.query("SELECT * FROM clinic")
    error = refused.value
    assert isinstance(error, Refusal)
    assert (error.code, error.suggestion) == ("QG201", "SELECT COUNT(*) FROM clinic")
    assert error.span is not None
    assert (error.span.line, error.span.column) == (1, 8)
    assert error.remedy in error.__notes__[0]
    assert error.query_id is not None
    assert error.query_id.startswith("q_")


def test_looking_around(gate: Client) -> None:
    assert [each["dataset"] for each in gate.datasets()] == ["clinic"]
    assert [column["name"] for column in gate.describe()["columns"]] == ["age", "sex", "sbp"]
    assert gate.check(SQL)["accepted"]
    asked = gate.query("SELECT COUNT(*) FROM clinic WHERE age < 50")
    assert gate.history(limit=1)[0]["id"] == asked.id
    assert gate.saved() == gate.saved(shared=True) == []
    with pytest.raises(NotPermitted, match="Noisy answers"):
        gate.budget()


def test_an_answer_that_got_lost_is_one_question(small: SmallSite, inside: httpx.WSGITransport) -> None:
    way = Unsteady(inside, lost=2)
    with Client("http://localhost", small.keys["ann"], "clinic", patience=QUICK, transport=way) as gate:
        before = len(gate.history(limit=1000))
        way.sent = 0
        answer = gate.query("SELECT COUNT(*) FROM clinic WHERE age < 45")
        assert way.sent == 3
        entries = gate.history(limit=1000)
    assert entries[0]["id"] == answer.id
    assert len(entries) == before + 1
    with pytest.raises(ConfigError, match="Nothing answers"):
        Client("http://localhost", "k", "clinic", patience=QUICK, transport=Unsteady(inside, lost=9)).query(SQL)


BUSY = {"code": "QG325", "detail": "Still under way.", "title": "", "status": 409}
LIMIT = {"code": "QG318", "detail": "Too much.", "title": "", "status": 429}
DONE = {"query_id": "q_1", "dataset": "d", "version": 1, "mode": "interval", "columns": [], "rows": [], "notes": []}


def scripted(*replies: tuple[int, Any, dict[str, str]], **more: Any) -> tuple[Client, Scripted]:
    way = Scripted(*replies)
    return Client("http://localhost", "k", "d", patience=Patience((0.0,) * 3, **more), transport=way), way


def test_whoever_is_busy_is_asked_again_under_the_same_key() -> None:
    proxy = (502, b"<html>", {})
    gate, way = scripted((409, BUSY, {"Retry-After": "0"}), proxy, (429, LIMIT, {"Retry-After": "0"}), (200, DONE, {}))
    assert gate.query("SELECT 1").id == "q_1"
    assert len({request.headers["Idempotency-Key"] for request in way.seen}) == 1
    with pytest.raises(ConfigError, match="not a gate"):
        scripted(proxy, proxy, proxy, proxy)[0].query("SELECT 1")
    with pytest.raises(ConfigError, match="not a gate"):
        scripted((200, b"<html>", {}))[0].query("SELECT 1")
    gate, way = scripted((429, LIMIT, {"Retry-After": "3600"}))
    with pytest.raises(NotPermitted) as refused:
        gate.query("SELECT 1")
    assert refused.value.retry_after_s == 3600


class Endless(httpx.SyncByteStream):
    """What never ends; how much of it was read."""

    def __init__(self) -> None:
        self.read = 0

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.read += 1 << 20
            yield b" " * (1 << 20)


def test_what_answers_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.client.client.MOST_BYTES", 4 << 20)
    endless = Endless()
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=endless))
    with (
        Client("http://localhost", "k", "d", transport=transport) as client,
        pytest.raises(ConfigError, match="larger"),
    ):
        client.query("SELECT 1")
    assert endless.read == 5 << 20
    broken = Scripted((200, b"no gzip", {"content-encoding": "gzip"}))
    with (
        Client("http://localhost", "k", "d", transport=broken) as client,
        pytest.raises(ConfigError, match="not a gate"),
    ):
        client.query("SELECT 1")


def test_a_job_is_waited_for() -> None:
    links, runs = {"job": "j_1"}, {"finished": None}
    gate, way = scripted((202, links, {}), (200, runs, {}), (200, {"finished": "now", "result": DONE}, {}))
    assert gate.query("SELECT 1").id == "q_1"
    assert way.seen[-1].url.path == "/api/v1/jobs/j_1"
    gate, _ = scripted((202, links, {}), (200, {"finished": "now", "problem": {**LIMIT, "code": "QG401"}}, {}))
    with pytest.raises(querygate.client.BudgetExhausted, match="Too much"):
        gate.query("SELECT 1")
    gate, _ = scripted((202, links, {}), (200, runs, {}), job_s=0.0)
    with pytest.raises(JobStillRuns, match="j_1"):
        gate.query("SELECT 1")


def test_what_a_newer_gate_or_none_at_all_says() -> None:
    newer = read_problem(b'{"code": "QG299", "detail": "New.", "remedy": "Wait.", "title": "Newer", "status": 422}')
    assert isinstance(newer, Refusal)
    assert (newer.code, newer.meaning.title, newer.meaning.status) == ("QG299", "Newer", 422)
    assert read_problem(b'{"code": "QG900", "detail": "Failed (incident i_1)."}').code == "QG900"
    for content in (b"", b"[]", b"<html>", b'{"code": 3}', b'{"code": "QG201"}'):
        assert read_problem(content).code == "QG804"


@each("url", ["http://gate.example.org", "gate.example.org", "ftp://127.0.0.1", "https://[::1", "https://a:99999", ""])
def test_addresses_that_no_key_is_sent_to(url: str) -> None:
    with pytest.raises(ConfigError, match="https"):
        querygate.connect(url, "k")


def test_keys_come_from_files_and_the_environment(
    small: SmallSite, inside: httpx.WSGITransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gate.key"
    file.write_text(f"{small.keys['ann']}\n")
    assert querygate.connect("http://localhost", file, transport=inside).datasets()
    with pytest.raises(NotPermitted, match="key"):
        querygate.connect("http://localhost", transport=inside).datasets()
    monkeypatch.setenv("QUERYGATE_KEY", small.keys["ann"])
    assert querygate.connect("http://localhost", transport=inside).datasets()
    with pytest.raises(ConfigError, match="cannot be read"):
        querygate.connect("http://localhost", tmp_path / "none")
    with pytest.raises(ValueError, match="dataset"):
        querygate.connect("http://localhost", transport=inside).query(SQL)


def test_programs_that_await(app: Any, small: SmallSite) -> None:
    async def several(url: str) -> Iterable[str]:
        async with await querygate.connect_async(url, small.keys["ann"], "clinic") as gate:
            counts = [f"SELECT COUNT(*) FROM clinic WHERE age < {age}" for age in (50, 60)]
            answers = await asyncio.gather(*map(gate.query, counts), gate.query(SQL))
            assert [each["dataset"] for each in await gate.datasets()] == ["clinic"]
            assert (await gate.answer(answers[0].id)) == answers[0]
            assert (await gate.check(SQL))["accepted"]
            assert (await gate.describe())["dataset"] == "clinic"
            assert (await gate.history(limit=1))[0]["outcome"] == "answered"
            assert await gate.saved() == []
            assert (await gate.twin(rows=2)).count(b"\n") == 3
            with pytest.raises(UnsupportedSQL, match="Rows"):
                await gate.query("SELECT * FROM clinic")
            return [answer.id for answer in answers]

    with http_gate(app) as url:
        assert len(set(asyncio.run(several(url)))) == 3
