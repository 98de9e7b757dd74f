"""Noisy answers over HTTP: asked, priced, told what is left; and a gate that has no rows says so."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from querygate.web import create_app
from tests.api.browser import PART, Browser
from tests.unit.custody.noise.site_with_noise import NoisySite, noisy_site
from tests.waiting_clock import WaitingClock, hasty_jobs

COUNT = "SELECT COUNT(*) AS n FROM patients WHERE age > 50"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> NoisySite:
    site = noisy_site(tmp_path_factory.mktemp("noise"), each=0.1, total=5.0, user=0.35)
    for name, role in (("ann", "researcher"), ("cleo", "custodian")):
        site.opened.accounts.add_user(name, role)
    return site


@pytest.fixture(scope="module")
def headers(site: NoisySite) -> dict[str, dict[str, str]]:
    keys = {name: site.opened.accounts.keys.new(name).secret for name in ("ann", "cleo")}
    return {name: {"Authorization": f"Bearer {secret}"} for name, secret in keys.items()}


@pytest.fixture
def client(site: NoisySite) -> FlaskClient:
    return create_app(site.opened).test_client()


def body(sql: str, **options: Any) -> dict[str, Any]:
    return {"dataset": "patients", "sql": sql, "options": {"mode": "laplace", **options}}


def test_a_noisy_answer_tells_its_noise_its_cost_and_what_is_left(
    client: FlaskClient, headers: dict[str, dict[str, str]]
) -> None:
    answer = client.post("/api/v1/query", json=body(COUNT, readable=True), headers=headers["ann"]).json
    cell = answer["rows"][0]["n"]
    assert (answer["mode"], cell["noise"], cell["scale"], cell["epsilon"]) == ("laplace", "geometric", 10.0, 0.1)
    assert cell["interval95"] == [cell["value"] - 30, cell["value"] + 30]
    assert answer["budget"] == {"spent": 0.1, "left": 0.25}
    assert answer["readable"]["headings"] == ["n"]
    again = client.get(f"/api/v1/answers/{answer['query_id']}.csv", headers=headers["ann"])
    assert again.text.splitlines()[0] == "n,n_low95,n_high95"


def test_the_price_of_a_batch_and_what_is_left(client: FlaskClient, headers: dict[str, dict[str, str]]) -> None:
    batch = {"dataset": "patients", "statements": [COUNT, COUNT], "options": {"mode": "laplace"}}
    priced = client.post("/api/v1/query/price", json=batch, headers=headers["ann"])
    assert (priced.status_code, priced.json["cost"]) == (200, {"epsilon": 0.2})
    own = client.get("/api/v1/budget?dataset=patients", headers=headers["ann"]).json
    assert own["limits"] == {"dataset": 5.0, "user": 0.35}
    assert "spent" not in own
    all_of_it = client.get("/api/v1/budget?dataset=patients", headers=headers["cleo"]).json
    assert {one["whose"] for one in all_of_it["spent"]} <= {"dataset", "user"}


def test_when_the_budget_is_spent_the_refusal_has_a_code(
    client: FlaskClient, headers: dict[str, dict[str, str]]
) -> None:
    client.post("/api/v1/query", json=body(COUNT), headers=headers["ann"])
    asked = [body(f"SELECT COUNT(*) FROM patients WHERE age > {age}") for age in range(20, 26)]
    told = [client.post("/api/v1/query", json=one, headers=headers["ann"]) for one in asked]
    assert {reply.status_code for reply in told} == {200, 403}
    assert told[-1].json["code"] == "QG401"
    assert client.post("/api/v1/query", json=body(COUNT), headers=headers["ann"]).json["budget"]["spent"] == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"epsilon": 0}, "QG306"),
        ({"epsilon": True}, "QG306"),
        ({"epsilon": 7.0}, "QG306"),
        ({"mode": "exact"}, "QG306"),
    ],
)
def test_bad_options_are_named(
    client: FlaskClient, headers: dict[str, dict[str, str]], options: dict[str, Any], code: str
) -> None:
    reply = client.post("/api/v1/query", json=body(COUNT, **options), headers=headers["cleo"])
    assert (reply.json["code"], reply.status_code) == (code, 400)


def test_a_gate_with_the_store_alone_has_no_rows_to_count(
    site: NoisySite, headers: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    store_only = replace(site.opened, gate=replace(site.opened.gate, noise=None))
    alone = create_app(store_only).test_client()
    reply = alone.post("/api/v1/query", json=body(COUNT), headers=headers["ann"])
    assert (reply.status_code, reply.json["code"]) == (409, "QG310")


def test_the_console_shows_prices_budgets_and_noisy_answers(site: NoisySite) -> None:
    site.opened.accounts.add_user("dan", "researcher")
    app = create_app(site.opened)
    browser = Browser(app, site.opened.accounts.keys.new("dan").secret)
    assert "0.35 of 0.35 epsilon is left" in browser.get("/datasets/patients/budget").text
    priced = browser.post("/datasets/patients/price", sql=COUNT, mode="laplace", epsilon="0.05")
    assert "It would cost epsilon 0.05" in priced.text
    answered = browser.ask(COUNT, "patients", mode="laplace", epsilon="0.05")
    assert "This answer cost epsilon 0.05; you have 0.3 left." in answered.text
    assert answered.headers["HX-Trigger"] == "answered"
    assert "0.3 of 0.35 epsilon is left" in browser.get("/datasets/patients/budget").text


def test_the_console_follows_work_behind_the_scenes(site: NoisySite) -> None:
    """No worker runs here, so that the job stays in the queue until its page is looked at."""
    joined = hasty_jobs(site.opened, 2.0, WaitingClock())
    app = create_app(joined.opened, joined.extracts, joined.exchange)
    names = ("eve", "fay")
    for name in names:
        site.opened.accounts.add_user(name, "researcher")
    eve, fay = (Browser(app, site.opened.accounts.keys.new(name).secret) for name in names)
    page = eve.ask(COUNT, "patients", mode="laplace")
    assert page.status_code == 202
    found = re.search(r'hx-get="(/jobs/[^"]+)"', page.text)
    assert found is not None
    for part in (PART, {}):
        assert "In progress" in eve.get(found[1], headers=part).text
        hidden = fay.get(found[1], headers=part)
        assert (hidden.status_code, "QG316" in hidden.text) == (404, True)
