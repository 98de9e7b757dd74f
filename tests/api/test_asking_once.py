"""A question that is sent again under its key is one question on record, and an answer comes in the form wanted."""

from __future__ import annotations

import io
import threading

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from querygate.core.jobs import JobUnderway
from querygate.core.types import Principal, Request
from querygate.site import idempotent_question
from querygate.site.idempotent_question import QuestionsOnce
from tests.each import each
from tests.work import HANG_S

SQL = "SELECT sex, AVG(sbp) FROM clinic GROUP BY sex"


@pytest.fixture
def send(client, small):
    def sent(sql, key, name="ann", **headers):
        headers = {**small.headers(name), "Idempotency-Key": key, **headers}
        return client.post("/api/v1/query", headers=headers, json={"dataset": "clinic", "sql": sql})

    return sent


@pytest.fixture
def asked(small):
    """How many entries the log has about questions."""
    sql = "SELECT count(*) FROM log WHERE kind LIKE 'query.%'"
    return lambda: small.opened.log.database.rows(sql)[0][0]


def test_the_same_key_is_the_same_question(send, asked):
    first, before = send(SQL, "a-1").json, asked()
    again = send(SQL, "a-1").json
    assert again == first
    assert asked() == before
    assert send(SQL, "a-2").json["query_id"] != first["query_id"]
    assert send(SQL, "a-1", name="bob").json["query_id"] != first["query_id"]


def test_a_refusal_is_told_again_with_its_place(send, asked):
    first, before = send("SELECT * FROM clinic", "b-1"), asked()
    again = send("SELECT * FROM clinic", "b-1")
    assert (first.status_code, first.json["code"]) == (422, "QG201")
    assert (again.status_code, again.json) == (422, first.json)
    assert {"suggestion", "span", "query_id"} <= again.json.keys()
    assert asked() == before


def test_a_key_names_one_question_only(send):
    send(SQL, "c-1")
    other = send("SELECT COUNT(*) FROM clinic", "c-1")
    assert (other.status_code, other.json["code"]) == (400, "QG306")
    assert "another question" in other.json["detail"]


@each("key", ["", "two words", "x" * 65, "ä"])
def test_keys_that_are_no_names(send, key):
    assert send(SQL, key).json["code"] == "QG306"


def test_while_it_is_under_way_nobody_asks_again(small, asked, monkeypatch):
    once, began, go_on = QuestionsOnce(small.opened), threading.Event(), threading.Event()
    question, real = Request(Principal("ann", "researcher"), "clinic", SQL), idempotent_question.ask

    def slow(*given):
        began.set()
        assert go_on.wait(HANG_S)
        return real(*given)

    monkeypatch.setattr(idempotent_question, "ask", slow)
    found = []
    first = threading.Thread(target=lambda: found.append(once.ask(question, "d-1")))
    first.start()
    assert began.wait(HANG_S)
    with pytest.raises(idempotent_question.NotPermitted) as busy:
        once.ask(question, "d-1")
    assert (busy.value.code, busy.value.retry_after_s) == ("QG325", 1.0)
    go_on.set()
    first.join()
    assert once.ask(question, "d-1") == found[0]


def test_what_failed_for_the_moment_can_be_asked_again(small, monkeypatch):
    once, question = QuestionsOnce(small.opened), Request(Principal("ann", "researcher"), "clinic", SQL)
    real = idempotent_question.ask

    def out_of_time(*given):
        raise idempotent_question.NotPermitted("QG305", "Too long.")

    monkeypatch.setattr(idempotent_question, "ask", out_of_time)
    with pytest.raises(idempotent_question.NotPermitted, match="Too long"):
        once.ask(question, "e-1")
    monkeypatch.setattr(idempotent_question, "ask", real)
    assert once.ask(question, "e-1")["rows"]


def test_a_job_is_named_again(small, asked, monkeypatch):
    once, question = QuestionsOnce(small.opened), Request(Principal("ann", "researcher"), "clinic", SQL)

    def underway(*given):
        raise JobUnderway("j_1")

    monkeypatch.setattr(idempotent_question, "ask", underway)
    before = asked()
    for _ in range(2):
        with pytest.raises(JobUnderway, match="j_1"):
            once.ask(question, "f-1")
    assert asked() == before


def test_whoever_died_is_taken_over_from_and_never_answers_twice(small, asked, monkeypatch):
    """A process that died before it asked leaves a key that somebody else takes up; one that died after it had answered
    leaves the answer."""
    once, question = QuestionsOnce(small.opened), Request(Principal("ann", "researcher"), "clinic", SQL)
    monkeypatch.setattr(once._asked, "settle", lambda *given, **more: None)
    first, before = once.ask(question, "g-1"), asked()
    with pytest.raises(idempotent_question.NotPermitted) as busy:
        once.ask(question, "g-1")
    assert busy.value.code == "QG325"
    with small.opened.log.database.writing() as connection:
        connection.execute("UPDATE asked_once SET began = '2000', query_id = query_id WHERE key = 'g-1'")
        connection.execute("UPDATE asked_once SET began = ? WHERE key = 'g-1'", (_an_hour_ago(),))
    assert (once.ask(question, "g-1"), asked()) == (first, before)
    with small.opened.log.database.writing() as connection:
        connection.execute("UPDATE asked_once SET query_id = 'q_never' WHERE key = 'g-1'")
    assert once.ask(question, "g-1")["query_id"] not in ("q_never", first["query_id"])


def test_a_key_whose_owner_died_stays_that_of_its_question(small, monkeypatch):
    """Also for whoever takes it up; and the first, who was only slow, neither settles nor forgets it for the second."""
    once, question = QuestionsOnce(small.opened), Request(Principal("ann", "researcher"), "clinic", SQL)
    slow = once._asked.claim("ann", "h-1", idempotent_question._digest(question), lambda: "q_slow")
    with small.opened.log.database.writing() as connection:
        connection.execute("UPDATE asked_once SET began = ? WHERE key = 'h-1'", (_an_hour_ago(),))
    other = Request(Principal("ann", "researcher"), "clinic", "SELECT COUNT(*) FROM clinic")
    with pytest.raises(idempotent_question.NotPermitted, match="another question"):
        once.ask(other, "h-1")
    answer = once.ask(question, "h-1")
    once._asked.forget("ann", "h-1", slow)
    once._asked.settle("ann", "h-1", slow, problem="{}")
    assert once.ask(question, "h-1") == answer


def _an_hour_ago():
    from datetime import timedelta

    from querygate.control import stamp

    return stamp(idempotent_question.now() - timedelta(hours=1))


FORMS = {
    "application/vnd.apache.arrow.stream": lambda data: pa.ipc.open_stream(data).read_all().to_pylist(),
    "application/vnd.apache.arrow.file": lambda data: pa.ipc.open_file(data).read_all().to_pylist(),
    "application/vnd.apache.parquet": lambda data: pa.parquet.read_table(io.BytesIO(data)).to_pylist(),
}


@each("media", list(FORMS))
def test_an_answer_in_the_form_that_is_accepted(send, media):
    plain, other = send(SQL, f"h-{len(media)}").json, send(SQL, f"h-{len(media)}", Accept=f"{media}, */*;q=0.1")
    assert other.content_type == media
    rows = FORMS[media](other.data)
    for row, told in zip(rows, plain["rows"], strict=True):
        cell = told["avg_sbp"]
        parts = ("low", "high", "estimate", "sharp", "may_be_null")
        assert [row[f"avg_sbp_{part}"] for part in parts] == [cell[part] for part in parts]
    assert plain["query_id"] in other.headers["Content-Disposition"]


def test_other_forms(send):
    assert send(SQL, "i-1", Accept="text/csv").text.startswith("sex,avg_sbp_low,")
    for accept in ("*/*", "text/html", "application/json, text/csv;q=0.5"):
        assert send(SQL, "i-1", Accept=accept).content_type == "application/json"
    refused = send("SELECT * FROM clinic", "i-2", Accept="text/csv")
    assert refused.content_type == "application/problem+json"


def test_answers_name_their_policy(send, small, get):
    asked, wanted = send(SQL, "j-1"), small.opened.store.current("clinic").catalog.policy_hash
    again = get(f"/api/v1/answers/{asked.json['query_id']}.csv", "ann")
    assert [one.headers["X-QueryGate-Policy"] for one in (asked, again)] == [wanted, wanted]


def test_history_is_ones_own(send, get):
    mine = send("SELECT COUNT(*) FROM clinic WHERE age < 41", "k-1").json["query_id"]
    theirs = send("SELECT COUNT(*) FROM clinic WHERE age < 51", "k-2", name="bob").json["query_id"]
    ids = [entry["id"] for entry in get("/api/v1/history?limit=5&dataset=clinic", "ann").json["entries"]]
    assert ids[0] == mine
    assert theirs not in ids
    pages, address = [], "/api/v1/history?limit=2&dataset=clinic"
    while address:
        page = get(address, "ann").json
        pages += page["entries"]
        address = page["next"] and f"/api/v1/history?limit=2&dataset=clinic&before={page['next']}"
    assert pages == get("/api/v1/history?limit=1000&dataset=clinic", "ann").json["entries"]
    assert [entry["id"] for entry in pages[: len(ids)]] == ids
    assert get("/api/v1/history?before=x", "ann").json["code"] == "QG306"
    assert get("/api/v1/history?limit=0", "ann").json["code"] == "QG306"
