"""Audits over HTTP: custodians read what their own process found; the gate has nothing to audit with."""

from __future__ import annotations

import json

import pytest

from querygate.cli import main
from querygate.web import create_app
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.shapes import misfits
from tests.api.small_site import make_small_site

FINDINGS = "/api/v1/audit/findings?dataset=clinic"
RUN = "/api/v1/audit/run"


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A site of its own, in which somebody set two means against each other, and a custodian audited."""
    small = make_small_site(tmp_path_factory.mktemp("audited"))
    client = create_app(small.opened).test_client()
    for last in (50, 51):
        sql = f"SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND {last}"
        client.post("/api/v1/query", headers=small.headers("ann"), json={"dataset": "clinic", "sql": sql})
    words = ["--site", str(small.folder), "audit", "run", "--dataset", "clinic", "--reveal", "--format", "json"]
    main(words, standalone_mode=False)
    return small, client


def test_the_last_findings_without_values(audited):
    small, client = audited
    body = client.get(FINDINGS, headers=small.headers("carl")).json
    assert misfits(body, SCHEMAS["Findings"]) == []
    (case,), (finding,) = body["cases"], body["findings"]
    assert (case["severity"], case["users"], case["records"]) == ("attempt", ["ann"], 1)
    assert finding["isolates"] == {
        "records": 1,
        "where": "age BETWEEN 30 AND 51, without age BETWEEN 30 AND 50",
    }
    assert [one["times"] for one in finding["combination"]] == ["1", "-1"]
    assert all(one["hidden"] for one in finding["inferred"])
    assert {one["id"] for one in body["statements"]} == set(case["queries"])
    assert all("AVG(sbp)" in one["sql"] for one in body["statements"])
    assert (body["by"], body["k"], body["queries"]) == ("local", 5, 2)


def test_what_the_watch_told_of_stands_beside_them(audited):
    small, client = audited
    words = ["--site", str(small.folder), "audit", "watch", "--dataset", "clinic", "--once", "--format", "jsonl"]
    main(words, standalone_mode=False)
    body = client.get(FINDINGS, headers=small.headers("carl")).json
    assert misfits(body, SCHEMAS["Findings"]) == []
    assert {(one["user"], one["rule"], one["records"]) for one in body["alerts"]} == {("ann", "pair", 1)}
    assert body["cases"]


def test_who_reads_them_is_in_the_log(audited):
    small, client = audited
    client.get(FINDINGS, headers=small.headers("carl"))
    last = list(small.opened.log.events())[-1]
    assert (last["kind"], last["user"], last["dataset"], last["body"]) == (
        "audit.read",
        "carl",
        "clinic",
        {"reveal": False},
    )


def test_asking_for_values_is_logged_and_leads_to_the_custodians_process(audited):
    small, client = audited
    response = client.get(f"{FINDINGS}&reveal=true", headers=small.headers("carl"))
    assert (response.status_code, response.json["code"]) == (409, "QG309")
    assert "querygate audit run --dataset clinic --reveal" in response.json["remedy"]
    assert list(small.opened.log.events())[-1]["body"] == {"reveal": True}


def test_the_gate_cannot_audit_and_says_who_can(audited):
    small, client = audited
    response = client.post(RUN, headers=small.headers("carl"), json={"dataset": "clinic"})
    assert (response.status_code, response.json["code"]) == (409, "QG309")
    assert "`querygate audit run --dataset clinic`" in response.json["remedy"]
    assert client.post(RUN, headers=small.headers("carl"), json={"dataset": "other"}).json["code"] == "QG303"
    assert client.post(RUN, headers=small.headers("carl"), data=b"{").json["code"] == "QG306"
    assert client.post(RUN, headers=small.headers("carl"), json={"dataset": "clinic", "x": 1}).json["code"] == "QG306"


@pytest.mark.parametrize("name", ["ann", None])
def test_they_are_for_custodians(audited, name):
    small, client = audited
    headers = small.headers(name) if name else {}
    before = small.opened.log.verify().entries
    expected = (403, "QG302") if name else (401, "QG301")
    for response in (client.get(FINDINGS, headers=headers), client.post(RUN, headers=headers, json={"dataset": "x"})):
        assert (response.status_code, response.json["code"]) == expected
        assert "age" not in json.dumps(response.json)
    assert small.opened.log.verify().entries == before


@pytest.mark.parametrize(
    ("query", "code"), [("", "QG306"), ("?dataset=other", "QG303"), ("?dataset=clinic&reveal=1", "QG306")]
)
def test_what_cannot_be_read(audited, query, code):
    small, client = audited
    assert client.get(f"/api/v1/audit/findings{query}", headers=small.headers("carl")).json["code"] == code


def test_before_the_first_audit_there_is_nothing(get):
    body = get(FINDINGS, "carl").json
    assert misfits(body, SCHEMAS["Findings"]) == []
    assert (body["audited"], body["cases"], body["findings"]) == (None, [], [])


def test_an_audit_of_nothing_says_so_over_http(tmp_path):
    """The raw records are gone, so that none of the queries can be audited."""
    small = make_small_site(tmp_path)
    client = create_app(small.opened).test_client()
    asked = {"dataset": "clinic", "sql": "SELECT AVG(sbp) FROM clinic"}
    client.post("/api/v1/query", headers=small.headers("ann"), json=asked)
    for path in (small.folder / "vault" / "clinic").glob("v00001*"):
        path.unlink()
    assert main(["--site", str(small.folder), "audit", "run", "--dataset", "clinic"], standalone_mode=False) == 1
    body = client.get(FINDINGS, headers=small.headers("carl")).json
    assert misfits(body, SCHEMAS["Findings"]) == []
    assert (body["queries"], body["queries_audited"], len(body["not_audited"]), body["unproved"]) == (1, 0, 1, [])
