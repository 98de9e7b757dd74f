"""What may be known before asking, and the log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.shapes import misfits
from tests.numbers_in import numbers

LOG = "/api/v1/log"


def test_the_list_of_datasets(get):
    body = get("/api/v1/datasets", "ann").json
    assert misfits(body, SCHEMAS["Datasets"]) == []
    assert [(d["dataset"], d["version"], d["rows"], d["k"]) for d in body["datasets"]] == [("clinic", 1, 40, 5)]


def test_a_dataset_tells_its_schema_and_policy(get):
    body = get("/api/v1/datasets/clinic", "ann").json
    assert misfits(body, SCHEMAS["Dataset"]) == []
    columns = {column["name"]: column for column in body["columns"]}
    assert list(columns) == ["age", "sex", "sbp"]
    assert columns["age"]["domain"] == [0, 120]
    assert columns["sex"]["values"] == ["F", "M"]
    assert "One row is one person." in body["policy"]
    assert any("age, sex with at least 4 others (k = 5)" in sentence for sentence in body["policy"])


def test_what_was_kept_is_not_sent_again(client, small):
    headers = small.headers("ann")
    for path in ("/api/v1/datasets", "/api/v1/datasets/clinic", "/api/v1/history"):
        first = client.get(path, headers=headers)
        again = client.get(path, headers={**headers, "If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
        other = client.get(path, headers={**headers, "If-None-Match": '"x"'})
        assert (other.status_code, other.data) == (200, first.data)
        assert again.headers["X-Request-Id"]
    stranger = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert stranger.status_code == 401


def test_a_dataset_tells_nothing_of_its_records(get):
    text = get("/api/v1/datasets/clinic", "ann").text
    assert "mrn" not in text
    assert "MRN-" not in text
    assert "7000" not in numbers(text)


def test_every_example_is_answered(get, ask):
    examples = get("/api/v1/datasets/clinic", "ann").json["examples"]
    assert len(examples) == 5
    assert [ask(sql).status_code for sql in examples] == [200] * 5


@pytest.mark.parametrize("name", ["nothing", "Clinic", "..", "clinic%2e", "x" * 1000])
def test_an_unknown_dataset_is_not_found(get, name):
    response = get(f"/api/v1/datasets/{name}", "ann")
    assert (response.status_code, response.json["code"]) == (404, "QG303")


def test_the_log_has_the_shape_of_the_contract(get, ask):
    asked = ask("SELECT MIN(sbp) FROM clinic", name="bob").json
    body = get(f"{LOG}?user=bob&dataset=clinic&limit=1", "carl").json
    assert misfits(body, SCHEMAS["Log"]) == []
    (entry,) = body["entries"]
    assert entry["id"] == asked["query_id"]
    assert entry["answer"] == asked


def test_the_log_can_be_narrowed(get, ask):
    ask("SELECT MIN(sbp) FROM clinic", name="bob")
    ask("SELECT MIN(sbp) FROM clinic", name="ann")
    assert {entry["user"] for entry in get(f"{LOG}?user=bob", "carl").json["entries"]} == {"bob"}
    assert get(f"{LOG}?dataset=other", "carl").json["entries"] == []
    assert len(get(f"{LOG}?limit=2", "carl").json["entries"]) == 2
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat().replace("+", "%2B")
    assert get(f"{LOG}?since={later}", "carl").json["entries"] == []
    assert len(get(f"{LOG}?since=2020-01-01", "carl").json["entries"]) >= 2


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ("since=yesterday", "since"),
        ("since=0001-01-01T00:00%2B14:00", "since"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=-1", "limit"),
        ("limit=many", "limit"),
        ("limit=²", "limit"),
    ],
)
def test_a_parameter_that_cannot_be_read_is_named(get, parameters, name):
    response = get(f"{LOG}?{parameters}", "carl")
    assert (response.status_code, response.json["code"]) == (400, "QG306")
    assert response.json["detail"].startswith(f"{name}:")


def test_the_log_never_holds_a_key(get, small):
    text = get(LOG, "carl").text
    assert not [key for key in small.keys.values() if key in text]


def test_who_reads_the_log_is_in_it_with_the_filters(get, small):
    assert get(f"{LOG}?user=ann&limit=7", "carl").status_code == 200
    last = list(small.opened.log.events())[-1]
    assert (last["kind"], last["user"], last["body"]) == ("log.read", "carl", {"user": "ann", "limit": 7})


def test_a_custodian_who_looks_at_anothers_answer_is_in_the_log(get, ask, small):
    query = ask("SELECT COUNT(*) FROM clinic").json["query_id"]
    before = small.opened.log.verify().entries
    assert get(f"/api/v1/answers/{query}.json", "ann").status_code == 200
    assert small.opened.log.verify().entries == before  # one's own answer is no news
    assert get(f"/api/v1/answers/{query}.json", "carl").status_code == 200
    last = list(small.opened.log.events())[-1]
    assert (last["kind"], last["user"], last["body"]) == ("answer.read", "carl", {"query_id": query})
