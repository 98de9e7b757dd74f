"""Extracts over HTTP: the whole way, who sees what, and what is refused."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from querygate.control import Log
from querygate.core.extracts.approval_states import STATES, TABLE
from querygate.site.extract_requests.extract_package import opened, verify
from querygate.site.extract_requests.extracts import ACTS, Extracts
from querygate.web import create_app
from querygate.web.routes import API
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.shapes import misfits
from tests.api.small_site import make_small_site
from tests.extract_site import WISH, CsvBuilder

PATH = f"{API}/exports"


class Clock:
    """Goes on by itself, from where the test puts it."""

    ahead = timedelta()

    def __call__(self):
        return datetime.now(UTC) + self.ahead


@pytest.fixture(scope="module")
def clock():
    return Clock()


@pytest.fixture(scope="module")
def site(tmp_path_factory, clock):
    small = make_small_site(tmp_path_factory.mktemp("exports"))
    small.opened.accounts.add_user("dora", "custodian")
    small.keys["dora"] = small.opened.accounts.keys.new("dora").secret
    return replace(small, opened=replace(small.opened, log=Log(small.opened.log.database, clock)))


@pytest.fixture(scope="module")
def call(site):
    """Call as one of the people of the site; what is JSON must have the shape it is said to have."""
    client = create_app(site.opened, extracts=Extracts(site.opened, CsvBuilder, via="http")).test_client()
    return make_caller(client, site)


def make_caller(client, site):
    def called(name, method, path="", body=None, **more):
        text = None if body is None else body if isinstance(body, bytes) else json.dumps(body)
        response = client.open(PATH + path, method=method, headers=site.headers(name), data=text, **more)
        if response.content_type == "application/problem+json":
            assert misfits(response.json, SCHEMAS["Problem"]) == []
        elif response.content_type == "application/json":
            assert misfits(response.json, SCHEMAS["Exports" if "exports" in response.json else "Export"]) == []
        return response

    return called


@pytest.fixture
def ident(call):
    return call("ann", "POST", body=WISH).json["id"]


def act(call, name, ident, action, **body):
    return call(name, "POST", f"/{ident}/{action}", body)


def bring(call, ident, *steps):
    for step in steps:
        name, action = step.split()
        response = act(call, name, ident, action, **({"comment": "why"} if action in ("return", "reject") else {}))
        assert response.status_code == 200, response.text


def test_an_acknowledgement_is_true_or_false_and_about_views(call, ident):
    bring(call, ident, "ann submit", "carl take")
    for given, code in (("yes", "QG306"), (1, "QG306"), (True, "QG604")):  # the dataset has no views
        assert act(call, "carl", ident, "approve", beside_views=given).json["code"] == code
    approved = act(call, "carl", ident, "approve", beside_views=False).json
    assert (approved["state"], "beside_views" in approved) == ("approved", False)


APPROVED = ("ann submit", "carl take", "carl approve")
RELEASED = (*APPROVED, "carl build", "dora release")


def test_the_whole_way(call, site, clock, ident):
    bring(call, ident, *RELEASED)
    shown = call("ann", "GET", f"/{ident}").json
    assert (shown["state"], shown["may"], shown["approvals"]) == ("released", ["fetch"], ["carl"])
    assert [event["action"] for event in shown["events"]] == [
        "request",
        "submit",
        "take",
        "approve",
        "build",
        "release",
    ]
    fetched = call("ann", "GET", f"/{ident}/extract.zip", buffered=True)
    assert (fetched.status_code, fetched.content_type) == (200, "application/zip")
    assert fetched.headers["Content-Disposition"] == f'attachment; filename="{ident}.zip"'
    with opened(io.BytesIO(fetched.data)) as contents:
        assert verify(contents, shown["manifest"]).manifest["request"] == ident
    report = call("ann", "GET", f"/{ident}/report.html")
    assert (report.status_code, report.content_type) == (200, "text/html; charset=utf-8")
    assert report.headers["Content-Disposition"].startswith("attachment")
    events = [event for event in site.opened.log.events() if event["body"].get("id") == ident]
    assert [event["kind"].removeprefix("export.") for event in events] == [
        *("request", "submit", "take", "approve", "build", "release", "fetch", "report")
    ]
    assert {event["body"]["via"] for event in events[:-1]} == {"http"}
    site.opened.log.verify()
    clock.ahead += timedelta(days=31)
    gone = call("ann", "GET", f"/{ident}/extract.zip")
    assert (gone.status_code, gone.json["code"]) == (410, "QG606")
    assert call("ann", "GET", f"/{ident}").json["state"] == "expired"


def test_returned_edited_and_submitted_again(call, ident):
    bring(call, ident, "ann submit", "carl take", "carl return")
    edited = call("ann", "PUT", f"/{ident}", {**WISH, "k": 7})
    assert (edited.json["state"], edited.json["wish"]["k"]) == ("returned", 7)
    bring(call, ident, "ann submit", "dora take", "dora reject")
    assert call("ann", "GET", f"/{ident}").json["events"][-1]["comment"] == "why"


def test_researchers_see_their_own_and_custodians_all(call, ident):
    other = call("bob", "POST", body=WISH).json["id"]
    assert {one["requester"] for one in call("ann", "GET").json["exports"]} == {"ann"}
    assert {ident, other} <= {one["id"] for one in call("carl", "GET").json["exports"]}
    assert call("carl", "GET", "?mine=true").json["exports"] == []
    drafts = call("carl", "GET", "?state=draft").json["exports"]
    assert {one["state"] for one in drafts} == {"draft"}
    ways = [("GET", ""), ("PUT", ""), ("POST", "/submit"), ("GET", "/extract.zip"), ("GET", "/report.html")]
    for method, rest in ways:
        body = None if method == "GET" else WISH if method == "PUT" else {}
        unknown = call("ann", method, f"/x_1{rest}", body)
        hidden = call("ann", method, f"/{other}{rest}", body)
        assert (unknown.status_code, unknown.json["code"]) == (404, "QG603")
        assert unknown.json == hidden.json  # nobody learns what others have asked for


def test_previews_are_for_reviewers(call, ident):
    assert call("carl", "GET", f"/{ident}?preview=true").json["preview"]["risk"] == {"prosecutor": 0.2}
    refused = call("ann", "GET", f"/{ident}?preview=true")
    assert (refused.status_code, refused.json["code"]) == (403, "QG602")
    assert call("carl", "GET", f"/{ident}?preview=1").json["code"] == "QG306"


WAYS = {
    "draft": (),
    "submitted": APPROVED[:1],
    "in_review": APPROVED[:2],
    "returned": (*APPROVED[:2], "carl return"),
    "rejected": (*APPROVED[:2], "carl reject"),
    "withdrawn": ("ann withdraw",),
    "approved": APPROVED,
    "built": RELEASED[:4],
    "released": RELEASED,
    "revoked": (*RELEASED, "carl revoke"),
    "expired": RELEASED,
}
ROLES = {"ann": {"requester"}, "bob": set(), "carl": {"custodian", "reviewer"}, "dora": {"custodian", "reviewer"}}


@pytest.mark.parametrize("state", STATES)
def test_every_act_that_the_table_has_not_is_refused(call, clock, site, state, ident):
    """All states, all people, all acts that HTTP knows; the allowed ones are tried where they are followed up."""
    bring(call, ident, *WAYS[state])
    if state == "expired":
        clock.ahead += timedelta(days=31)
    assert call("ann", "GET", f"/{ident}").json["state"] == state
    before = sum(1 for _ in site.opened.log.events())
    for name, roles in ROLES.items():
        for action in (*ACTS, "edit", "fetch"):
            rule = TABLE.get((state, action))
            if rule and rule.who & roles:
                continue
            gone = action == "fetch" and state in ("expired", "revoked")
            code = "QG603" if not roles else "QG606" if gone else "QG602" if rule else "QG601"
            if action == "edit":
                response = call(name, "PUT", f"/{ident}", WISH)
            elif action == "fetch":
                response = call(name, "GET", f"/{ident}/extract.zip")
            else:
                response = act(call, name, ident, action)
            assert (name, action, response.json["code"]) == (name, action, code)
    assert sum(1 for _ in site.opened.log.events()) == before
    assert call("ann", "GET", f"/{ident}").json["state"] == state


def test_a_custodian_who_asked_cannot_decide(call):
    ident = call("carl", "POST", body=WISH).json["id"]
    bring(call, ident, "carl submit", "dora take")
    refused = act(call, "carl", ident, "approve")
    assert (refused.status_code, refused.json["code"]) == (403, "QG602")


def test_what_was_changed_on_the_disk_is_not_sent(call, site, ident):
    bring(call, ident, *RELEASED)
    path = site.opened.site.extracts / f"{ident}.zip"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.txt", "more")
    refused = call("ann", "GET", f"/{ident}/extract.zip")
    assert (refused.status_code, refused.json["code"]) == (409, "QG607")
    assert sha256(path.read_bytes()).hexdigest() not in refused.text


def test_a_gate_without_a_vault_builds_nothing_and_gives_out_what_was_released(call, site, ident):
    gate = make_caller(create_app(site.opened).test_client(), site)
    bring(gate, ident, *APPROVED)
    for name, action in (("carl", "build"), ("carl", "release")):
        refused = act(gate, name, ident, action)
        assert (refused.status_code, refused.json["code"]) == (409, "QG310")
        if action == "build":
            assert gate("carl", "GET", f"/{ident}?preview=true").json["code"] == "QG310"
            bring(call, ident, "carl build")
    bring(call, ident, "dora release")
    assert gate("ann", "GET", f"/{ident}/extract.zip", buffered=True).status_code == 200


def test_a_build_that_fails_is_a_refusal(call):
    ident = call("ann", "POST", body={**WISH, "purpose": "impossible"}).json["id"]
    bring(call, ident, *APPROVED)
    refused = act(call, "carl", ident, "build")
    assert (refused.status_code, refused.json["code"]) == (422, "QG605")
    broken = call("ann", "POST", body={**WISH, "purpose": "broken"}).json["id"]
    bring(call, broken, *APPROVED)
    failed = act(call, "carl", broken, "build")
    assert (failed.status_code, failed.json["code"]) == (500, "QG900")
    assert "Smith" not in failed.text
    assert call("carl", "GET", f"/{broken}").json["state"] == "approved"


BAD = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "not UTF-8": b'{"dataset": "\xff"}',
    "brackets without end": b"[" * 50_000,
}


def test_an_action_needs_no_body(call, ident, client):
    submitted = call("ann", "POST", f"/{ident}/submit", None)
    assert (submitted.status_code, submitted.json["state"]) == (200, "submitted")
    assert call("carl", "POST", f"/{ident}/take", None).json["state"] == "in_review"
    refused = call("carl", "POST", f"/{ident}/reject", None)
    assert (refused.status_code, refused.json["code"]) == (422, "QG604")  # it needs a comment
    assert call("ann", "POST", "", None).status_code == 400
    described = client.get("/openapi.json").json["paths"]["/api/v1/exports/{request_id}/{action}"]["post"]
    assert described["requestBody"]["required"] is False


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_bodies_that_cannot_be_read(call, ident, body):
    ways = [("POST", ""), ("PUT", f"/{ident}"), ("POST", f"/{ident}/submit")]
    for method, path in ways if body else ways[:2]:
        response = call("ann", method, path, body)
        assert (response.status_code, response.json["code"]) == (400, "QG306")


@pytest.mark.parametrize(
    ("wish", "key"),
    [
        ({"purpose": "x"}, "dataset"),
        ({**WISH, "k": "5"}, "k"),
        ({**WISH, "columns": "age"}, "columns"),
        ({**WISH, "columns": ["mrn"]}, "columns"),
        ({**WISH, "models": [{"family": "cox"}]}, "models"),
        ({**WISH, "tolerances": []}, "tolerances"),
        ({**WISH, "formats": ["exe"]}, "formats"),
        ({**WISH, "kind": ["k-anonymous"]}, "kind"),
        ({**WISH, "state": "approved"}, "state"),
        ({**WISH, "purpose": "\ud800"}, "purpose"),
        ({**WISH, "method": "improved"}, "method"),  # it condenses
        ({**WISH, "tolerances": {"mean(nothing)": 5}}, "tolerances"),
        ({**WISH, "tolerances": {"mean(sex)": 5}}, "tolerances"),
        ({**WISH, "models": [], "tolerances": {"sign": 0.1}}, "tolerances"),
        ({**WISH, "models": ["linear: sbp ~ nothing"]}, "formula"),
        ({**WISH, "models": ["linear: sbp ~ sex"]}, "formula"),  # it does not leave
        ({**WISH, "models": ["linear: sbp ~ log(age"]}, "formula, character 14"),
        ({**WISH, "where": "age > 30 LIMIT 3"}, "where"),
    ],
)
def test_wishes_that_cannot_be(call, wish, key):
    response = call("ann", "POST", body=wish)
    assert (response.status_code, response.json["code"]) == (422, "QG604")
    assert response.json["detail"].startswith(f"{key}:")


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("age >", "QG101"),
        ("nothing > 3", "QG203"),
        ("mrn = 'p1'", "QG203"),
        ("age > (SELECT max(age) FROM clinic)", None),
        ("age > 30; DROP TABLE rows", None),
    ],
)
def test_a_bad_condition_is_refused_when_the_request_is_drafted(call, ident, where, code):
    """And in an edit, so that nobody approves what cannot be built."""
    for method, path in (("POST", ""), ("PUT", f"/{ident}")):
        response = call("ann", method, path, {**WISH, "where": where})
        assert response.status_code in (400, 422), response.json
        assert response.json["code"] == (code or response.json["code"])
        assert response.json["code"] not in ("QG605", "QG900")
    assert call("ann", "GET", f"/{ident}").json["wish"]["where"] == ""


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"comment": 5}, "QG306"),
        ({"comment": None}, "QG306"),
        ({"comment": "\ud800"}, "QG306"),
        ({"force": True}, "QG306"),
        ({"comment": "x" * 4001}, "QG604"),
        ({"comment": "\0"}, "QG604"),
    ],
)
def test_comments_that_cannot_be(call, ident, body, code):
    assert act(call, "ann", ident, "submit", **body).json["code"] == code
    assert call("ann", "GET", f"/{ident}").json["state"] == "draft"


def test_acts_that_there_are_not(call, ident):
    for action in ("expire", "fetch", "edit", "explode"):
        assert act(call, "carl", ident, action).status_code in (404, 405)
