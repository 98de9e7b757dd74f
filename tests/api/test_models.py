"""Models over HTTP."""

from __future__ import annotations

import pytest

from tests.api.browser import Browser
from tests.each import each

PATH = "/api/v1/model"


@pytest.fixture
def fit(client, small):
    def fitted(name="ann", **body):
        sent = {"dataset": "clinic", "family": "logistic", "formula": "sbp >= 130 ~ sex", **body}
        return client.post(PATH, headers=small.headers(name) if name else {}, json=sent)

    return fitted


def test_a_model_is_a_table_of_ranges(fit, get):
    answer = fit(family="standardised", formula="sbp >= 130 ~ sex | bands(age, 50)", readable=True)

    assert answer.status_code == 200, answer.json
    body = answer.json
    assert [row["level"] for row in body["rows"]] == ["F", "M"]
    assert body["rows"][1]["rate"]["low"] <= body["rows"][1]["rate"]["high"]
    assert body["model"]["statement"].startswith("SELECT sex, CASE WHEN age < 50")
    assert body["readable"]["headings"][:3] == ["term", "level", "rate"]
    kept = get(f"/api/v1/answers/{body['query_id']}.csv", "ann")
    assert kept.status_code == 200
    assert kept.text.startswith("sex,")
    assert get(f"/api/v1/answers/{body['query_id']}.csv", "bob").status_code == 404


def test_whoever_has_no_key_is_not_answered(fit):
    assert fit(name=None).status_code == 401


def test_a_formula_that_cannot_be_read_says_where(fit):
    answer = fit(formula="sbp >= 130 ~ sex + nothing")

    assert (answer.status_code, answer.json["code"]) == (422, "QG218")
    assert answer.json["span"]["column"] == 20
    assert "sbp" in answer.json["remedy"]


def test_what_cannot_be_bounded_names_the_answer_that_was_asked(fit, get):
    answer = fit(formula="sbp >= 130 ~ bands(age, 31)")

    assert (answer.status_code, answer.json["code"]) == (422, "QG219")
    assert get(f"/api/v1/answers/{answer.json['query_id']}.json", "ann").status_code == 200


def test_the_history_says_that_a_model_was_refused(fit, app, small):
    fit(formula="sbp >= 130 ~ bands(age, 31)")
    page = Browser(app, small.keys["ann"]).get("/history").text
    assert "model refused, QG219" in page


MALFORMED = [
    {"family": "cox"}, {"family": 3}, {"formula": None}, {"formula": "x ~ " + "a" * 5000}, {"unknown": 1},
    {"reference": ["sex"]}, {"reference": {"sex": 1}}, {"weights": {"a": "b"}}, {"weights": {"a": -1}},
    {"weights": {"a": 0}}, {"weights": {"a": True}}, {"where": 1}, {"explain": "yes"}, {"readable": 1},
    {"dataset": "x" * 99}, {"exposure": []},
]  # fmt: skip


@each("body", MALFORMED)
def test_bodies_are_read_strictly(fit, body):
    answer = fit(**body)

    assert (answer.status_code, answer.json["code"]) == (400, "QG306")


def test_a_dataset_that_is_not_there(fit):
    assert fit(dataset="nothing").json["code"] == "QG303"
