"""Saved queries, over the API and in the console: kept, shared, found, and never anybody else's business."""

from __future__ import annotations

from html import unescape

import pytest

from querygate.core.errors import ConfigError
from querygate.core.written_text import check_line, check_text
from querygate.web import create_app
from querygate.web.console import saved_pages
from tests.api.browser import Browser
from tests.each import each
from tests.rights_site import CARL, make_rights_site

SQL = "SELECT sex, COUNT(*) FROM clinic GROUP BY sex"
SCRIPT = "<script>alert(1)</script>"
PATH = "/api/v1/saved"
NOBODYS = "s_01KJKB3Q00Z5V7N0M1C2X3Y4W5"


@pytest.fixture(scope="module")
def rights(tmp_path_factory):
    site = make_rights_site(tmp_path_factory.mktemp("saved"))
    site.grant("researcher")
    return site


@pytest.fixture(scope="module")
def saved_app(rights):
    return create_app(rights.opened)


@pytest.fixture
def call(saved_app, rights):
    """A request of somebody, and what came back."""

    def called(who, method, path=PATH, /, **body):
        more = {"json": body} if body else {}
        return saved_app.test_client().open(path, method=method, headers=rights.headers(who), **more)

    return called


@pytest.fixture
def browse(saved_app, rights):
    return lambda name: Browser(saved_app, rights.keys[name])


@pytest.fixture
def second(rights):
    """A second researcher with a grant, for as long as the test takes."""
    given = rights.grant("second")
    yield "second"
    rights.opened.grants.revoke(given.id, by=CARL)


def save(call, **more):
    made = call("researcher", "POST", **({"name": "By sex", "dataset": "clinic", "sql": SQL} | more))
    assert made.status_code == 200, made.text
    return made.json


def kinds(rights):
    return [event["kind"] for event in rights.opened.log.events()]


# -- over the API ------------------------------------------------------------------------------------------------------


def test_a_query_is_kept_renamed_and_deleted(call):
    made = save(call, description="For table 1.\nPlease check.")
    address = f"{PATH}/{made['id']}"
    assert (made["owner"], made["shared"], made["sql"]) == ("researcher", None, SQL)
    assert made["id"] in [one["id"] for one in call("researcher", "GET").json["queries"]]
    changed = call("researcher", "PUT", address, name="By sex, all ages").json
    assert changed == made | {"name": "By sex, all ages", "changed": changed["changed"]}
    assert call("researcher", "GET", address).json == changed
    assert call("researcher", "DELETE", address).json == changed
    assert call("researcher", "GET", address).json["code"] == "QG324"
    assert call("researcher", "DELETE", address).json["code"] == "QG324"


def test_what_is_private_is_not_there_for_anybody_else(call, second):
    """The same words, byte for byte, as for what there is not."""
    made = save(call)
    nothing = call(second, "GET", f"{PATH}/{NOBODYS}").data
    for name in (second, "custodian"):
        for method, body in (("GET", {}), ("PUT", {"name": "mine"}), ("DELETE", {})):
            other = call(name, method, f"{PATH}/{made['id']}", **body)
            assert (other.status_code, other.data) == (404, nothing)
        for whose in ("own", "shared"):
            assert made["id"] not in call(name, "GET", f"{PATH}?whose={whose}").text
    assert call("researcher", "GET", f"{PATH}/{made['id']}").json == made


def test_what_is_shared_is_read_by_those_with_a_grant_and_changed_by_nobody_else(call, rights):
    made = save(call, shared=True)
    address = f"{PATH}/{made['id']}"
    assert call("second", "GET", address).json["code"] == "QG324"
    assert call("second", "GET", f"{PATH}?whose=shared").json == {"queries": []}
    given = rights.grant("second")
    try:
        assert call("second", "GET", address).json == made
        assert made in call("second", "GET", f"{PATH}?whose=shared").json["queries"]
        assert call("second", "PUT", address, sql="SELECT 1").json["code"] == "QG324"
        assert call("second", "DELETE", address).json["code"] == "QG324"
        assert call("custodian", "GET", address).json == made  # they may ask everything
    finally:
        rights.opened.grants.revoke(given.id, by=CARL)
    assert call("second", "GET", address).json["code"] == "QG324"
    call("researcher", "PUT", address, shared=False)
    assert call("custodian", "GET", address).json["code"] == "QG324"


def test_sharing_is_on_record_and_keeping_is_not(call, rights):
    before = len(kinds(rights))
    address = f"{PATH}/{save(call)['id']}"
    call("researcher", "PUT", address, name="Other")
    assert [kind for kind in kinds(rights)[before:] if kind.startswith("saved")] == []
    for change in ({"shared": True}, {"sql": SQL + " "}, {"shared": False}, {"shared": True}):
        assert call("researcher", "PUT", address, **change).status_code == 200
    call("researcher", "DELETE", address)
    found = [event for event in rights.opened.log.events() if event["kind"].startswith("saved.")][-5:]
    assert [event["kind"].partition(".")[2] for event in found] == ["share", "change", "unshare", "share", "delete"]
    assert {(event["user"], event["dataset"], event["body"]["name"]) for event in found} == {
        ("researcher", "clinic", "Other")
    }
    assert "saved.share" in kinds(rights)
    rights.opened.log.verify()


@each(
    "body, code",
    [
        ({"name": ""}, "QG806"),
        ({"name": "   "}, "QG806"),
        ({"name": "x" * 121}, "QG806"),
        ({"name": "two\nlines"}, "QG806"),
        ({"name": "nul\0"}, "QG806"),
        ({"name": "invoice\u202etxt.exe"}, "QG806"),
        ({"description": "\u2066hidden\u2069"}, "QG806"),
        ({"description": "x" * 2_001}, "QG806"),
        ({"sql": ""}, "QG806"),
        ({"sql": "x" * 20_001}, "QG806"),
        ({"dataset": "other"}, "QG303"),
        ({"dataset": "nothing"}, "QG303"),
        ({"shared": "yes"}, "QG306"),
        ({"answer": "q_1"}, "QG306"),
        ({"name": 7}, "QG306"),
    ],
)
def test_what_cannot_be_kept_is_refused(call, body, code):
    before = call("researcher", "GET").json
    refused = call("researcher", "POST", **({"name": "By sex", "dataset": "clinic", "sql": SQL} | body))
    assert refused.json["code"] == code
    assert call("researcher", "GET").json == before


def test_a_custodian_keeps_nothing_about_a_dataset_that_there_is_not(call):
    assert call("custodian", "POST", name="x", dataset="nothing", sql=SQL).json["code"] == "QG303"


@each("name", ["ملح وضغط الدم", "ציר הזמן", "血圧", "𝔘𝔫𝔦", "e\u0301te\u0301", "👩‍⚕️ ward", "a" * 120])
def test_names_of_every_script_are_kept(name):
    assert check_line("name", f"  {name} ", most=120) == check_line("name", name, most=120)


@each("text", ["a\u202eb", "a\u200bb\u2067", "\x1b[31m", "a\u2028b", "\ud800", "\ufdd0"])
def test_texts_that_show_as_something_else_are_refused(text):
    for check in (check_line, check_text):
        with pytest.raises(ConfigError):
            check("name", text, most=100)


def test_nobody_keeps_without_end(call, rights, monkeypatch):
    monkeypatch.setattr("querygate.control.saved.saved_queries.MOST_OF_ONE", 2)
    for _ in range(2):
        call("custodian", "POST", name="x", dataset="clinic", sql=SQL)
    assert call("custodian", "POST", name="x", dataset="clinic", sql=SQL).json["code"] == "QG806"


# -- in the console ----------------------------------------------------------------------------------------------------


def keep(browser, **form):
    made = browser.post("/saved", part=False, **({"dataset": "clinic", "sql": SQL, "name": "By sex"} | form))
    assert made.status_code == 303, made.text
    return made.headers["Location"]


def test_a_query_is_saved_from_the_editor_and_opened_there_again(browse):
    ann = browse("researcher")
    form = ann.post("/datasets/clinic/save", sql=SQL)
    assert "<html" not in form.text
    assert SQL in unescape(form.text)
    made = ann.post("/saved", dataset="clinic", sql=SQL, name="Sexes & ages", shared="true")
    assert "Sexes &amp; ages" in made.text
    assert "shared with everybody who may query clinic" in made.text
    address = keep(ann)
    page = ann.get(address)
    assert SQL in unescape(page.text)
    assert "private" in page.text
    editor = ann.get("/datasets/clinic?saved=" + address.rpartition("/")[2])
    assert f">{SQL}</textarea>" in unescape(editor.text)
    assert ann.get(f"/datasets/clinic?saved={NOBODYS}").status_code == 404


def test_a_page_without_script_saves_too(browse):
    ann = browse("researcher")
    assert "</html>" in ann.post("/datasets/clinic/save", part=False, sql=SQL).text
    wrong = ann.post("/saved", part=False, dataset="clinic", sql=SQL, name="")
    assert wrong.status_code == 422
    assert SQL in unescape(wrong.text)  # what was written is not lost
    assert ann.post("/datasets/other/save", sql=SQL).status_code == 404


def test_a_question_of_the_past_is_saved(browse):
    ann = browse("researcher")
    ann.ask("SELECT COUNT(*) AS kept_later FROM clinic")
    line = ann.get("/history?q=kept_later").text
    query_id = line.partition("/answers/")[2].partition('"')[0]
    assert "kept_later" in ann.get(f"/answers/{query_id}/save").text
    other = browse("custodian")
    assert other.get(f"/answers/{query_id}/save").status_code == 404


def test_it_is_renamed_shared_and_deleted_in_its_page(browse, second):
    ann, bob = browse("researcher"), browse(second)
    address = keep(ann)
    assert bob.get(address).text == bob.get(f"/saved/{NOBODYS}").text
    ann.post(f"{address}/share", part=False)
    page = bob.get(address)
    assert page.status_code == 200
    assert SQL in unescape(page.text)
    assert "Delete" not in page.text
    for path, form in ((address, {"name": "x", "sql": "x"}), (f"{address}/unshare", {}), (f"{address}/delete", {})):
        assert bob.post(path, part=False, **form).status_code == 404
    ann.post(address, part=False, name="Renamed", sql=SQL, description="why")
    assert "Renamed" in bob.get("/saved").text
    assert "Delete this query?" in ann.post(f"{address}/delete", part=False).text
    assert ann.get(address).status_code == 200
    ann.post(f"{address}/delete", part=False, sure="yes")
    assert ann.get(address).status_code == 404
    assert "Renamed" not in bob.get("/saved").text


def test_saved_queries_are_searched_by_words(browse):
    ann = browse("researcher")
    keep(ann, name="Needle of the year")
    assert "Needle" in ann.get("/saved?q=year+NEEDLE").text
    assert "Needle" not in ann.get("/saved?q=needle+haystack").text
    assert SCRIPT not in ann.get(f"/saved?q={SCRIPT}").text


@each(
    "hostile", [SCRIPT, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "'; DROP TABLE saved_query; --", "&lt;b&gt;"]
)
def test_what_was_written_is_shown_as_text(browse, second, hostile):
    ann, bob = browse("researcher"), browse(second)
    address = keep(ann, name=hostile, description=hostile, sql=f"SELECT '{hostile}'", shared="true")
    pages = [ann.get(address), bob.get(address), ann.get("/saved"), bob.get("/saved")]
    pages.append(ann.post(f"{address}/delete", part=False))
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img" not in page.text.replace('<img src="/static', "")
        assert hostile in unescape(page.text)


@each("route", [page for page in saved_pages.PAGES if page.method == "POST"])
def test_a_form_without_its_proof_changes_nothing(browse, route):
    ann = browse("researcher")
    address = keep(ann)
    path = route.rule.replace("<dataset>", "clinic").replace("<any(share, unshare):act>", "share")
    path = path.replace("/saved/<saved_id>", address)
    before = ann.get("/saved").text
    refused = ann.client.post(path, data={"proof": "x", "sql": SQL, "name": "x", "dataset": "clinic", "sure": "yes"})
    assert (refused.status_code, "QG306" in refused.text) == (400, True)
    assert ann.get("/saved").text == before


def test_whoever_may_not_ask_has_no_such_pages(browse):
    for name in ("reviewer", "auditor", "admin"):
        assert browse(name).get("/saved").status_code == 403
