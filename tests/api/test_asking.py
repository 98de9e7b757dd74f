"""POST query and POST query/check: answers, refusals, and requests that cannot be read."""

from __future__ import annotations

import json

import pytest
import sqlglot

from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.web import create_app
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.shapes import misfits
from tests.api.small_site import make_small_site

QUERY, CHECK = "/api/v1/query", "/api/v1/query/check"
MEAN = "SELECT AVG(sbp), COUNT(*) FROM clinic"


def test_an_answer_is_a_range_that_holds_the_truth(ask):
    response = ask(MEAN)
    body = response.json
    assert response.status_code == 200
    assert misfits(body, SCHEMAS["Answer"]) == []
    values = [101 + 37 * i % 71 for i in range(40)]
    found = body["rows"][0]
    assert found["avg_sbp"]["low"] <= sum(values) / 40 <= found["avg_sbp"]["high"]
    assert (found["count"]["low"], found["count"]["high"]) == (40, 40)
    assert "readable" not in body


def test_groups_come_with_their_size(ask):
    body = ask("SELECT sex, COUNT(*) FROM clinic GROUP BY sex").json
    assert [row["sex"] for row in body["rows"]] == ["F", "M"]
    assert all(row["_group"]["count"]["low"] <= 20 <= row["_group"]["count"]["high"] for row in body["rows"])


def test_a_person_can_have_the_answer_as_text(ask):
    body = ask(MEAN, options={"readable": True, "mode": "interval"}).json
    assert misfits(body, SCHEMAS["Answer"]) == []
    assert body["readable"]["headings"] == ["avg_sbp", "count"]
    assert body["readable"]["rows"][0][1] == "40 exactly"


def test_a_dry_run_says_what_would_come_and_is_on_record(ask, small):
    before = small.opened.log.verify().entries
    body = ask("SELECT sex, AVG(sbp) AS mean FROM clinic GROUP BY sex", path=CHECK).json
    assert misfits(body, SCHEMAS["Verdict"]) == []
    assert [column["name"] for column in body["columns"]] == ["sex", "mean"]
    assert body["groups_at_most"] == 2
    assert body["width"] == "sharp"
    assert body["cost"] == {"epsilon": 0}
    assert small.opened.log.verify().entries == before + 1


def test_equal_meaning_has_an_equal_canonical_form(ask):
    forms = [
        ask(sql, path=CHECK).json["canonical"]
        for sql in (
            "SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 40 AND 50",
            "select avg(SBP) as a from CLINIC where not (age < 40 or age > 50)",
        )
    ]
    assert forms[0] == forms[1]


@pytest.mark.parametrize("path", [QUERY, CHECK])
@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT * FROM clinic", "QG201"),
        ("SELECT AVG(spb) FROM clinic", "QG203"),
        ("SELECT AVG(mrn) FROM clinic", "QG203"),
        ("DROP TABLE clinic", "QG202"),
        ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "QG205"),
        ("SELECT COUNT(* FROM clinic", "QG101"),
    ],
)
def test_a_refusal_is_a_problem_with_a_suggestion_that_works(ask, path, sql, code):
    response = ask(sql, path=path)
    body = response.json
    assert response.status_code == body["status"] == 422
    assert response.content_type == "application/problem+json"
    assert body["code"] == code
    assert misfits(body, SCHEMAS["Problem"]) == []
    assert body["remedy"]
    assert ("query_id" in body) == (path == QUERY)
    assert ask(body["suggestion"], path=CHECK).json["accepted"] is True


def test_a_refusal_is_on_record(ask, small):
    query_id = ask("SELECT * FROM clinic").json["query_id"]
    entry = next(line for line in small.opened.log.queries() if line["id"] == query_id)
    assert (entry["user"], entry["outcome"], entry["code"]) == ("ann", "refused", "QG201")


@pytest.mark.parametrize("dataset", ["nothing", "Clinic", "../clinic", "", "clinic/.."])
@pytest.mark.parametrize("path", [QUERY, CHECK])
def test_an_unknown_dataset_is_not_found(ask, path, dataset):
    response = ask(MEAN, path=path, dataset=dataset)
    assert (response.status_code, response.json["code"]) == (404, "QG303")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "object"),
        (b"7", "object"),
        (b"null", "object"),
        ({"sql": "SELECT 1"}, "dataset:"),
        ({"dataset": 7, "sql": "SELECT 1"}, "dataset:"),
        ({"dataset": "x" * 64, "sql": "SELECT 1"}, "dataset:"),
        ({"dataset": "clinic"}, "sql:"),
        ({"dataset": "clinic", "sql": None}, "sql:"),
        ({"dataset": "clinic", "sql": ["SELECT 1"]}, "sql:"),
        (b'{"dataset": "clinic", "sql": "\\ud800"}', "sql:"),
        ({"dataset": "clinic", "sql": "SELECT 1", "mode": "laplace"}, "mode:"),
        ({"dataset": "clinic", "sql": "SELECT 1", "options": []}, "options:"),
        ({"dataset": "clinic", "sql": "SELECT 1", "options": {"epsilon": 0}}, "options.epsilon:"),
        ({"dataset": "clinic", "sql": "SELECT 1", "options": {"mode": "exact"}}, "options.mode:"),
        ({"dataset": "clinic", "sql": "SELECT 1", "options": {"readable": 1}}, "options.readable:"),
    ],
)
def test_a_request_that_cannot_be_read_names_the_field(client, small, body, names):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = client.post(QUERY, headers=small.headers("ann"), data=data)
    assert (response.status_code, response.json["code"]) == (400, "QG306")
    assert names in response.json["detail"]
    assert misfits(response.json, SCHEMAS["Problem"]) == []


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_the_body_is_json_whatever_it_is_called(client, small, content_type):
    data = json.dumps({"dataset": "clinic", "sql": MEAN})
    response = client.post(QUERY, headers=small.headers("ann"), data=data, content_type=content_type)
    assert response.status_code == 200


@pytest.mark.parametrize("size", [30_000, 1_000_000])
def test_a_very_long_statement_is_refused_unread(ask, size, monkeypatch):
    monkeypatch.setattr(sqlglot.Dialect, "tokenize", lambda *given: pytest.fail("it was read"))
    response = ask("SELECT COUNT(*) FROM clinic WHERE age IN (" + "1," * (size // 2) + "1)")
    assert (response.status_code, response.json["code"]) in ((422, "QG102"), (413, "QG308"))


def test_the_largest_request_is_a_setting(client, small):
    most = small.opened.site.settings["max_body_kb"] * 1024
    padded = json.dumps({"dataset": "clinic", "sql": MEAN}).encode()
    fits = client.post(QUERY, headers=small.headers("ann"), data=padded.ljust(most))
    assert fits.status_code == 200
    too_large = client.post(QUERY, headers=small.headers("ann"), data=padded.ljust(most + 1))
    assert (too_large.status_code, too_large.json["code"]) == (413, "QG308")


def test_a_withdrawn_dataset_is_gone(tmp_path):
    own = make_small_site(tmp_path)
    withdraw_dataset(own.opened, "clinic", user="carl")
    client, ann = create_app(own.opened).test_client(), own.headers("ann")
    for path in (QUERY, CHECK):
        response = client.post(path, headers=ann, json={"dataset": "clinic", "sql": MEAN})
        assert (response.status_code, response.json["code"]) == (410, "QG312")
    assert client.get("/api/v1/datasets/clinic", headers=ann).status_code == 410
    assert client.get("/api/v1/datasets", headers=ann).json == {"datasets": []}


def test_an_explanation_is_given_where_it_is_asked_for(ask):
    sql = "SELECT sex, COUNT(*) FROM clinic WHERE age >= 44 GROUP BY sex"
    body = ask(sql, options={"explain": True, "readable": True}).json
    assert misfits(body, SCHEMAS["Answer"]) == []
    assert body["explanation"]["columns"][0]["width"] > 0
    assert body["readable"]["explanation"][0].startswith("count is ")
    verdict = ask(sql, path=CHECK, options={"explain": True}).json
    assert misfits(verdict, SCHEMAS["Verdict"]) == []
    assert verdict["widths"] == {"count": body["explanation"]["columns"][0]["width"]}
    assert "explanation" not in ask(sql, options={"readable": True}).json["readable"]
    assert ask(sql, options={"explain": "yes"}).status_code == 400
