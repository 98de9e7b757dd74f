"""A researcher without a grant learns nothing: not from answers, not from what is done for them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import psycopg
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.control import Database, Grantee
from querygate.core.rights import ROLES, TABLE
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.gate.render import FORMATS
from querygate.web import create_app
from querygate.web.routes import API, ROUTES
from querygate.web.schemas.schema_table import SCHEMAS
from tests.each import each
from tests.rights_site import CARL, make_rights_site
from tests.wire.wire_site import WireSite, served

SQL = "SELECT COUNT(*) AS n FROM NAME"
NAMING = [route for route in ROUTES if "{dataset}" in route.path or any(p.name == "dataset" for p in route.parameters)]
BODIES = {
    "ask": {"sql": SQL},
    "check": {"sql": SQL},
    "price": {"statements": [SQL]},
    "fit_model": {"formula": "sbp ~ age", "family": "linear"},
    "save_query": {"name": "mine", "sql": SQL},
    "run_audit": {},
    "request_export": {"purpose": "to know"},
    "edit_export": {"purpose": "to know"},
}

FORMS = ("*/*", *(media for media, _ in FORMATS.values()))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = make_rights_site(tmp_path_factory.mktemp("grants"))
    made.grant("researcher")
    return made


def sent(client, site, route, dataset, name="second", accept="*/*"):
    """One request to the route about this dataset."""
    path = route.path.replace("{dataset}", dataset).replace("{request_id}", "x_1").replace("{form}", "csv")
    path += f"?dataset={dataset}" if any(p.name == "dataset" and p.where == "query" for p in route.parameters) else ""
    body = json.loads(json.dumps(BODIES[route.name]).replace("NAME", dataset)) if route.name in BODIES else None
    more = {} if body is None else {"json": {"dataset": dataset, **body}}
    headers = {**site.headers(name), "Accept": accept}
    return client.open(path, method=route.method, headers=headers, buffered=True, **more)


def bytes_of(response):
    """All that came back, but for what names the request."""
    body = dict(response.json)
    body.pop("query_id", None)
    return response.status_code, json.dumps(body), sorted(
        (key, value) for key, value in response.headers if key not in ("Content-Length", "X-Request-ID")
    )  # fmt: skip


def test_every_route_that_takes_the_name_of_a_dataset_is_here():
    """But for that of those who give access, who know every dataset."""
    takes = {route.name for route in ROUTES if route.body and "dataset" in SCHEMAS[route.body]["properties"]}
    assert takes == {*BODIES, "add_grant"}


@each("dataset", ["other", "broken", "gone"])
def test_what_exists_and_what_does_not_give_the_same_bytes(site, tmp_path_factory, dataset):
    """A dataset that is served, one whose file is damaged, one that was withdrawn; and none."""
    if dataset == "gone":
        site = make_rights_site(tmp_path_factory.mktemp("gone"))
        withdraw_dataset(site.opened, "other", user="local")
    if dataset == "broken":
        site = make_rights_site(tmp_path_factory.mktemp("broken"))
        next((site.folder / "store" / "other").glob("v*.duckdb")).write_bytes(b"nothing")
    client = site.client()
    for route, accept in product((*NAMING, *(route for route in ROUTES if route.name in BODIES)), FORMS):
        there, missing = (sent(client, site, route, name, accept=accept) for name in ("other", "third"))
        assert bytes_of(there) == bytes_of(missing), route.name
        assert there.status_code >= 400 or route.name == "read_history"  # their own questions, of which there are none
        assert len(there.data) == len(missing.data)  # both names have five letters


WIRE_RIGHTS = {"ask", "ask_any", "look"}


def test_every_role_over_the_wire(site):
    """The third door: who may connect, see tables and ask; all other rights have no statement there."""
    found = {}
    with served(site.opened) as port:
        for role in ROLES:
            found[role] = set()
            if not TABLE[role] & WIRE_RIGHTS:
                with pytest.raises(psycopg.OperationalError, match="QG302"):
                    WireSite(site.opened, port, site.keys).connect(role)
                continue
            with WireSite(site.opened, port, site.keys).connect(role) as client:
                found[role] = (
                    {"look"} if len(client.execute("SELECT tablename FROM pg_tables").fetchall()) == 2 else set()
                )
                for dataset, right in (("clinic", "ask"), ("other", "ask_any")):
                    with suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidCatalogName):
                        client.execute(f"SELECT COUNT(*) FROM {dataset}")
                        found[role].add(right)
    assert found == {role: TABLE[role] & WIRE_RIGHTS for role in ROLES}


def test_the_same_at_the_shell_and_over_the_wire(site):
    """Both names have five letters; nothing else differs in what they are told."""
    key = site.folder.parent / "second.key"
    key.write_text(site.keys["second"])
    for words in (["query", "--dataset", "NAME", SQL], ["describe", "NAME"], ["budget", "show", "--dataset", "NAME"]):
        told = []
        for name in ("other", "third"):
            line = [*(word.replace("NAME", name) for word in words), "--site", str(site.folder), "--key-file", str(key)]
            done = CliRunner().invoke(main, line, prog_name="querygate")
            told.append((done.exit_code, done.output))
        assert told[0] == told[1]
        assert told[0][1].startswith("QG303")
    with served(site.opened) as port, WireSite(site.opened, port, site.keys).connect("second") as client:
        errors = []
        for name in ("other", "third"):
            with pytest.raises(psycopg.errors.InvalidCatalogName) as refused:
                client.execute(SQL.replace("NAME", name))
            diag = refused.value.diag
            told = [getattr(diag, part) for part in dir(diag) if not part.startswith("_")]
            errors.append([re.sub(r"q_\w{26}", "q", part or "") for part in told])
        assert errors[0] == errors[1]


def test_the_store_is_not_even_asked(site):
    asked = []

    class Watched:
        def current(self, dataset):
            asked.append(dataset)
            return site.opened.store.current(dataset)

        def datasets(self):
            return site.opened.store.datasets()

    gate = replace(site.opened.gate, store=Watched())
    client = create_app(replace(site.opened, gate=gate)).test_client()
    for route in (*NAMING, *(route for route in ROUTES if route.name in BODIES)):
        for dataset in ("other", "third"):
            sent(client, site, route, dataset)
    assert client.get(f"{API}/datasets", headers=site.headers("second")).json == {"datasets": []}
    assert asked == []
    [ask] = [route for route in ROUTES if route.name == "ask"]
    assert sent(client, site, ask, "clinic", "researcher").status_code == 200  # the watch works
    assert asked == ["clinic"]


def test_neither_takes_longer(site, monkeypatch):
    """Told by what is done and not by a clock: the control database is asked the same, in the same order."""
    done, rows = [], Database.rows
    monkeypatch.setattr(Database, "rows", lambda self, sql, values=(): done.append(sql) or rows(self, sql, values))
    monkeypatch.setattr(Database, "appending", counted(Database.appending, done))
    client = site.client()
    for route in (*NAMING, *(route for route in ROUTES if route.name in BODIES)):
        told = []
        for dataset in ("other", "third", "other"):
            done.clear()
            sent(client, site, route, dataset)
            told.append(tuple(done))
        assert told[1] == told[2], route.name
        assert told[1], route.name


def counted(method, done):
    def called(self):
        done.append(method.__name__)
        return method(self)

    return called


def test_lists_show_what_is_granted(site):
    client = site.client()
    seen = {
        name: [one["dataset"] for one in client.get(f"{API}/datasets", headers=site.headers(name)).json["datasets"]]
        for name in ("researcher", "second", "auditor", "custodian")
    }
    assert seen == {
        "researcher": ["clinic"],
        "second": [],
        "auditor": ["clinic", "other"],
        "custodian": ["clinic", "other"],
    }


@each(
    "name",
    ["Clinic", "CLINIC", "clinic ", " clinic", "cl\u0131nic", "\uff43linic", "clinic\u0000", "*", "clinic/../other"],
)
def test_tricks_with_names_open_nothing(site, name):
    """Of a dataset that was granted in other letters, and of one that was not."""
    client = site.client()
    for asked in (name, name.replace("clinic", "other").replace("linic", "ther")):
        body = {"dataset": asked, "sql": SQL.replace("NAME", "clinic")}
        refused = client.post(f"{API}/query", headers=site.headers("researcher"), json=body)
        assert (refused.status_code, refused.json["code"]) == (404, "QG303")


def test_a_grant_for_one_mode_is_for_no_other(tmp_path):
    site = make_rights_site(tmp_path)
    site.grant("researcher", "clinic", "extract")
    client, headers = site.client(), site.headers("researcher")
    body = {"dataset": "clinic", "sql": SQL.replace("NAME", "clinic")}
    refused = client.post(f"{API}/query", headers=headers, json=body)
    assert (refused.status_code, refused.json["code"]) == (403, "QG313")
    wish = {"dataset": "clinic", "purpose": "to know", "columns": ["age"]}
    assert client.post(f"{API}/exports", headers=headers, json=wish).status_code == 200
    site.grant("second", "clinic", "interval")
    assert client.post(f"{API}/query", headers=site.headers("second"), json=body).status_code == 200
    refused = client.post(f"{API}/exports", headers=site.headers("second"), json=wish)
    assert (refused.status_code, refused.json["code"]) == (403, "QG313")


def test_a_grant_that_is_revoked_during_a_session_ends_it(tmp_path):
    site = make_rights_site(tmp_path)
    given = site.grant("researcher")
    client, headers = site.client(), site.headers("researcher")
    body = {"dataset": "clinic", "sql": SQL.replace("NAME", "clinic")}
    assert client.post(f"{API}/query", headers=headers, json=body).status_code == 200
    wish = {"dataset": "clinic", "purpose": "to know", "columns": ["age"]}
    made = client.post(f"{API}/exports", headers=headers, json=wish).json["id"]
    revoked = client.post(f"{API}/grants/{given.id}/revoke", headers=site.headers("admin"))
    assert (revoked.status_code, revoked.json["id"]) == (200, given.id)
    assert client.post(f"{API}/query", headers=headers, json=body).json["code"] == "QG303"
    assert client.get(f"{API}/datasets/clinic", headers=headers).json["code"] == "QG303"
    assert client.get(f"{API}/datasets", headers=headers).json == {"datasets": []}
    assert client.post(f"{API}/exports/{made}/submit", headers=headers).json["code"] == "QG303"


def test_an_expired_grant_and_an_expired_key_open_nothing(tmp_path, monkeypatch):
    site = make_rights_site(tmp_path)
    soon = datetime.now(UTC) + timedelta(hours=1)
    site.opened.grants.add(Grantee("user", "researcher"), "clinic", (), soon, by=CARL)
    site.grant("second")
    site.keys["second"] = site.opened.accounts.keys.new("second", expires=soon).secret
    client, body = site.client(), {"dataset": "clinic", "sql": SQL.replace("NAME", "clinic")}

    def codes():
        found = (client.post(f"{API}/query", headers=site.headers(n), json=body) for n in ("researcher", "second"))
        return [given.json.get("code") for given in found]

    assert codes() == [None, None]
    later = datetime.now(UTC) + timedelta(hours=2)
    monkeypatch.setattr(site.opened.log, "clock", lambda: later)
    monkeypatch.setattr(site.opened.accounts, "_clock", lambda: later)
    assert codes() == ["QG303", "QG301"]


def test_a_researcher_grants_nothing_to_themselves(site):
    client = site.client()
    wanted = {"to": "user", "name": "second", "dataset": "other"}
    for name in ("second", "researcher", "reviewer", "auditor"):
        refused = client.post(f"{API}/grants", headers=site.headers(name), json=wanted)
        assert (refused.status_code, refused.json["code"]) == (403, "QG302")
    given = client.post(f"{API}/grants", headers=site.headers("admin"), json={**wanted, "until": "2099-12-31"})
    assert (given.status_code, given.json["modes"]) == (200, ["interval", "laplace", "extract"])
    listed = client.get(f"{API}/grants", headers=site.headers("custodian")).json["grants"]
    assert given.json in listed
    client.post(f"{API}/grants/{given.json['id']}/revoke", headers=site.headers("custodian"))


def test_nobody_reviews_their_own_request_in_another_guise(tmp_path):
    """Another key of the same account, other letters of the name, a new role: it stays their own request. Another
    account's key is another person: whoever has it answers for it, and is on record."""
    site = make_rights_site(tmp_path)
    client = site.client()
    wish = {"dataset": "clinic", "purpose": "to know", "columns": ["age"]}
    made = client.post(f"{API}/exports", headers=site.headers("custodian"), json=wish).json["id"]
    client.post(f"{API}/exports/{made}/submit", headers=site.headers("custodian"))
    second_key = {"Authorization": f"Bearer {site.opened.accounts.keys.new('CUSTODIAN').secret}"}
    assert client.post(f"{API}/exports/{made}/take", headers=second_key).json["code"] == "QG602"
    site.opened.accounts.add_user("spare", "custodian")
    site.opened.accounts.change_user("custodian", role="reviewer")
    assert client.post(f"{API}/exports/{made}/take", headers=second_key).json["code"] == "QG602"
    assert client.post(f"{API}/exports/{made}/take", headers=site.headers("second")).json["code"] == "QG603"
    assert client.post(f"{API}/exports/{made}/take", headers=site.headers("reviewer")).status_code == 200
