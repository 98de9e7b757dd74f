"""Who may come in, and what every response carries."""

from __future__ import annotations

import pytest

from querygate.web.app import HEADERS
from querygate.web.routes import API, ROUTES
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.route_paths import path_of
from tests.api.shapes import misfits
from tests.api.small_site import make_small_site
from tests.each import each

LOCKED = [route for route in ROUTES if route.who]
NOT_FOR_RESEARCHERS = [route for route in LOCKED if not {"ask", "own_keys"} & {*route.who}]
WRONG = {
    "nothing": {},
    "empty": {"Authorization": ""},
    "no key": {"Authorization": "Bearer"},
    "another scheme": {"Authorization": "Basic YW5uOmFubg=="},
    "no scheme": {"Authorization": "qg_aaaaaaaa_" + "a" * 52},
    "unknown key": {"Authorization": "Bearer qg_aaaaaaaa_" + "a" * 52},
    "not ASCII": {"Authorization": "Bearer qg_\xe4"},
}


@each("route", LOCKED)
@each("headers", WRONG.values())
def test_no_locked_route_opens_without_a_key(client, route, headers):
    response = client.open(path_of(route), method=route.method, headers=headers)
    assert (response.status_code, response.json["code"]) == (401, "QG301")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert misfits(response.json, SCHEMAS["Problem"]) == []


def test_the_scheme_is_read_without_regard_to_case(client, small):
    response = client.get(f"{API}/datasets", headers={"Authorization": f"bearer  {small.keys['ann']} "})
    assert response.status_code == 200


def test_a_revoked_key_and_a_closed_account_open_nothing(client, small):
    accounts = small.opened.accounts
    accounts.add_user("dora", "researcher")
    issued = [accounts.keys.new("dora") for _ in range(2)]
    headers = [{"Authorization": f"Bearer {key.secret}"} for key in issued]
    assert [client.get(f"{API}/datasets", headers=h).status_code for h in headers] == [200, 200]
    accounts.keys.revoke(issued[0].id)
    assert [client.get(f"{API}/datasets", headers=h).status_code for h in headers] == [401, 200]
    accounts.disable_user("dora")
    assert [client.get(f"{API}/datasets", headers=h).status_code for h in headers] == [401, 401]


@pytest.mark.parametrize("route", NOT_FOR_RESEARCHERS, ids=lambda route: route.name)
def test_what_is_for_custodians_is_refused_to_researchers(client, small, route):
    response = client.open(path_of(route), method=route.method, headers=small.headers("ann"))
    assert (response.status_code, response.json["code"]) == (403, "QG302")


@pytest.mark.parametrize("route", [r for r in LOCKED if "accounts" not in r.who], ids=lambda route: route.name)
def test_an_unknown_parameter_is_named(client, small, route):
    response = client.open(path_of(route) + "?sinec=2026", method=route.method, headers=small.headers("carl"))
    assert (response.status_code, response.json["code"]) == (400, "QG306")
    assert response.json["detail"].startswith("sinec:")


@pytest.mark.parametrize(
    "path", ["/nope", f"{API}", f"{API}/", f"{API}/datasets/", "/docs//refusals", f"{API}/../log", "/%ff"]
)
def test_an_unknown_address_is_no_page(client, path):
    response = client.get(path)
    assert (response.status_code, response.json["code"]) == (404, "QG307")


@each("route", ROUTES)
@each("method", ["PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_a_wrong_method_tells_the_right_one(client, route, method):
    if (method, route.path) in {(other.method, other.path) for other in ROUTES}:
        return
    response = client.open(path_of(route), method=method)
    assert response.status_code == response.json["status"] == 405
    assert response.json["code"] == "QG306"
    assert route.method in response.headers["Allow"]


@each("path", [*map(path_of, ROUTES), "/nope", "/static/console.js", "/static/nope"])
@each("name", [None, "ann", "carl"])
def test_every_response_is_hardened(get, path, name):
    response = get(path, name)
    for header, value in HEADERS.items():
        assert response.headers.getlist(header) == [value]  # once: browsers would obey the strictest of several
    assert response.headers["Cache-Control"] == ("no-store" if path.startswith(API) else "no-cache")
    assert "Set-Cookie" not in response.headers
    assert "Access-Control-Allow-Origin" not in response.headers


def test_the_policy_of_content_lets_in_nothing_from_elsewhere():
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_fault_shows_an_incident_and_nothing_else(tmp_path, caplog, monkeypatch):
    """Something that nobody expected: Python's words quote a value, the response does not."""
    from querygate.web import create_app

    small = make_small_site(tmp_path)
    monkeypatch.setattr(type(small.opened.store), "current", lambda store, dataset: int("nine"))
    client = create_app(small.opened).test_client()
    response = client.get(f"{API}/datasets/clinic", headers=small.headers("ann"))
    assert (response.status_code, response.json["code"]) == (500, "QG900")
    assert misfits(response.json, SCHEMAS["Problem"]) == []
    incident = response.json["detail"].split("incident ")[1].split(")")[0]
    said = [record.getMessage() for record in caplog.records if incident in record.getMessage()]
    assert len(said) == 1
    assert "ValueError at " in said[0]
    for text in (response.text, caplog.text):
        assert "nine" not in text
        assert small.keys["ann"] not in text
    asked = client.post(
        f"{API}/query", headers=small.headers("ann"), json={"dataset": "clinic", "sql": "SELECT COUNT(*) FROM clinic"}
    )
    assert (asked.status_code, asked.json["code"]) == (500, "QG900")
    assert "Traceback" not in asked.text


def test_a_site_that_is_not_ready_says_so(tmp_path):
    from querygate.web import create_app

    small = make_small_site(tmp_path)
    client = create_app(small.opened).test_client()
    assert client.get("/readyz").json == {"status": "ready", "checks": {"store": "ok", "control": "ok"}}
    pointer = small.folder / "store" / "clinic" / "current"
    pointer.write_text("9")
    unready = client.get("/readyz")
    assert (unready.status_code, unready.json["code"], unready.json["status"]) == (503, "QG804", 503)
    assert "store" in unready.json["detail"]
    pointer.write_text("1")
    assert client.get("/readyz").status_code == 200
    small.opened.site.control.rename(tmp_path / "elsewhere")
    assert "control" in client.get("/readyz").json["detail"]
    assert client.get("/healthz").json == {"status": "ok"}
