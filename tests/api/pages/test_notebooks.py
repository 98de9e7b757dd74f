"""Notebooks in the console: written, run, moved, shared without answers, and taken along as files."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from querygate.web import create_app
from querygate.web.console import notebook_pages
from querygate.web.console.notebook_text import make_fence, make_html, make_inert
from tests.api.browser import Browser
from tests.each import each
from tests.rights_site import CARL, make_rights_site

SQL = "SELECT sex, COUNT(*) FROM clinic GROUP BY sex"
OTHER = "SELECT AVG(sbp) FROM clinic"
SCRIPT = "<script>alert(1)</script>"
NOBODYS = "n_01KJKB3Q00Z5V7N0M1C2X3Y4W5"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "[a](javascript:alert(1))",
    "![a](https://elsewhere.example/x.png)",
    "<https://a.example/?<script>alert(1)</script>>",
    "`` ` <script>alert(1)</script> ``",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "[a]: data:text/html,<script>alert(1)</script>\n\n[a]",
    "ضغط الدم 血圧 e\u0301",
    "> " * 500 + "deep",
    "*" * 9_999,
]


@pytest.fixture(scope="module")
def rights(tmp_path_factory):
    site = make_rights_site(tmp_path_factory.mktemp("notebooks"))
    site.grant("researcher")
    return site


@pytest.fixture(scope="module")
def people(rights):
    app = create_app(rights.opened)
    return {name: Browser(app, rights.keys[name]) for name in ("researcher", "second", "reviewer")}


@pytest.fixture
def ann(people):
    return people["researcher"]


@pytest.fixture
def bob(people, rights):
    """Another researcher, with a grant for as long as the test takes."""
    given = rights.grant("second")
    yield people["second"]
    rights.opened.grants.revoke(given.id, by=CARL)


def begin(browser, *parts, name="Table 1"):
    made = browser.post("/notebooks", part=False, name=name, dataset="clinic")
    assert made.status_code == 303, made.text
    address = made.headers["Location"]
    for kind, text in parts:
        added = browser.post(f"{address}/cells", part=False, kind=kind, text=text)
        assert added.status_code == 303, added.text
    return address


def cells_of(browser, address):
    return re.findall(r'id="(c_\w+)"', browser.get(address).text)


def entries(rights):
    return [event for event in rights.opened.log.events() if event["kind"].startswith("saved.")]


def test_a_notebook_is_written_run_and_put_in_order(ann):
    address = begin(ann, ("text", "# Who\n**everybody**"), ("query", SQL), ("query", "SELECT * FROM clinic"))
    page = ann.get(address).text
    assert "<strong>everybody</strong>" in page
    assert "<h2>Who</h2>" in page
    assert "clinic, version 1, policy " in page
    assert "20 exactly" in page
    assert re.search(r'class="wrong">QG\d+: ', page)
    first, second, third = cells_of(ann, address)
    ann.post(f"{address}/cells/{third}", part=False, act="up")
    ann.post(f"{address}/cells/{first}", part=False, act="up")  # it is the first already
    assert cells_of(ann, address) == [first, third, second]
    ann.post(f"{address}/cells/{third}", part=False, act="remove")
    assert cells_of(ann, address) == [first, second]
    ann.post(f"{address}/cells/{second}", part=False, act="save", text=OTHER)
    assert "Not run yet." in ann.get(address).text  # the answer to another statement is none to this
    assert "20 exactly" not in ann.get(address).text
    ann.post(f"{address}/run", part=False)
    assert "Not run yet." not in ann.get(address).text


def test_an_answer_is_the_one_on_record(ann, rights):
    address = begin(ann, ("query", SQL))
    asked = re.findall(r"/answers/(q_\w+)", ann.get(address).text)
    assert rights.opened.log.query(asked[0])["sql"] == SQL
    ann.post(f"{address}/run", part=False)
    assert re.findall(r"/answers/(q_\w+)", ann.get(address).text) != asked


def test_what_is_shared_has_no_answers_and_is_copied_to_be_run(ann, bob, rights):
    address = begin(ann, ("text", "Why"), ("query", SQL))
    before = len(entries(rights))
    assert bob.get(address).text == bob.get(f"/notebooks/{NOBODYS}").text
    ann.post(f"{address}/share", part=False)
    page = bob.get(address).text
    assert SQL in unescape(page)
    assert "exactly" not in page
    assert "q_" not in page
    assert "Table 1" in bob.get("/notebooks").text
    for form in ("md", "html", "ipynb"):
        assert "exactly" not in bob.get(f"{address}/{form}").text
    copied = bob.post(f"{address}/copy", part=False).headers["Location"]
    bob.post(f"{copied}/run", part=False)
    assert "20 exactly" in bob.get(copied).text
    assert ann.get(copied).status_code == 404
    ann.post(f"{address}/run", part=False)  # nothing that others notice
    ann.post(f"{address}/cells", part=False, kind="text", text="more")
    ann.post(f"{address}/unshare", part=False)
    assert bob.get(address).status_code == 404
    found = entries(rights)[before:]
    assert [event["kind"] for event in found] == ["saved.share", "saved.change", "saved.unshare"]
    assert found[0]["body"]["cells"] == [{"kind": "text", "text": "Why"}, {"kind": "query", "text": SQL}]
    rights.opened.log.verify()


def test_what_is_somebody_elses_is_not_there(ann, bob):
    """Read, changed, run, shared, copied, taken along: the same page as for what there is not."""
    address = begin(ann, ("query", SQL))
    cell = cells_of(ann, address)[0]
    before = ann.get(address).text
    for form in ("ipynb", "html", "md"):
        assert bob.get(f"{address}/{form}").status_code == 404
    nothing = bob.post(f"/notebooks/{NOBODYS}/run", part=False)
    for path in ("", "/share", "/unshare", "/copy", "/run", "/delete", "/cells", f"/cells/{cell}"):
        refused = bob.post(address + path, part=False, name="x", text="x", sure="yes", act="remove")
        assert (refused.status_code, refused.text) == (404, nothing.text), path
    ann.post(f"{address}/share", part=False)
    for path in ("", "/unshare", "/run", "/delete", "/cells", f"/cells/{cell}"):
        assert bob.post(address + path, part=False, name="x", text="x", sure="yes").status_code == 404
    ann.post(f"{address}/unshare", part=False)
    assert cells_of(ann, address) == [cell]
    assert SQL in unescape(before)


def test_files_say_where_answers_are_from(ann):
    address = begin(ann, ("text", "# Who"), ("query", SQL), ("query", "SELECT 1 FROM nothing"))
    asked = re.search(r"/answers/(q_\w+)", ann.get(address).text)[1]
    written = {form: ann.get(f"{address}/{form}") for form in ("ipynb", "html", "md")}
    for response in written.values():
        assert response.headers["Content-Disposition"].startswith("attachment")
        assert "version 1, policy" in response.text
        assert asked in response.text
    book = json.loads(written["ipynb"].text)
    assert [cell["cell_type"] for cell in book["cells"]] == ["markdown", "markdown", "code", "code"]
    told = book["cells"][2]["metadata"]["querygate"]
    assert (told["query_id"], told["version"], told["sql"]) == (asked, 1, SQL)
    assert "exactly" in book["cells"][2]["outputs"][0]["data"]["text/plain"]
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            compile(cell["source"], "cell", "exec")


def test_jupyter_reads_the_file(ann):
    nbformat = pytest.importorskip("nbformat")
    address = begin(ann, ("text", "# Who"), ("query", SQL), ("query", "SELECT 1 FROM nothing"))
    nbformat.validate(nbformat.reads(ann.get(f"{address}/ipynb").text, as_version=4))


@each("text", HOSTILE)
def test_what_was_written_acts_nowhere(ann, bob, text):
    address = begin(ann, ("text", text), ("query", text), name=" ".join(text[:100].split()))
    ann.post(f"{address}/share", part=False)
    pages = [browser.get(path).text for browser in (ann, bob) for path in (address, "/notebooks")]
    pages.append(ann.get(f"{address}/html").text)
    for page in pages:
        assert "<script>alert" not in page
        assert "<img" not in page.replace('<img src="/static', "")
        assert not re.search(r'(href|src)="(javascript|data):', page)
    prose = re.sub(r"(?s)^```.*?^```", "", ann.get(f"{address}/md").text, flags=re.M)
    assert "<script>" not in prose
    assert "<img" not in prose


def test_fences_hold_whatever_is_in_them():
    assert make_fence("a ``` b", "sql") == "````sql\na ``` b\n````"
    assert make_inert("![x](y)") == "\\![x](y)"
    assert 'rel="noopener noreferrer nofollow"' in make_html("[x](https://a.example)")


@each(
    "form", [{"name": ""}, {"name": "x" * 10_000}, {"name": "a\u202eb"}, {"name": "two\nlines"}, {"dataset": "other"}]
)
def test_what_cannot_be_begun_is_refused(ann, form):
    before = ann.get("/notebooks").text.count("/notebooks/n_")
    refused = ann.post("/notebooks", part=False, **({"name": "x", "dataset": "clinic"} | form))
    assert refused.status_code in (404, 422)
    assert ann.get("/notebooks").text.count("/notebooks/n_") == before


@each("kind, text", [("text", "x" * 10_001), ("query", "x" * 20_001), ("text", ""), ("query", "a\u202eb")])
def test_what_cannot_be_kept_is_not_lost(ann, kind, text):
    address = begin(ann)
    refused = ann.post(f"{address}/cells", part=False, kind=kind, text=text)
    assert refused.status_code == 422
    assert text in unescape(refused.text)
    assert cells_of(ann, address) == []


def test_nobody_writes_without_end(ann, monkeypatch):
    address = begin(ann, ("text", "x"))
    monkeypatch.setattr("querygate.site.notebook_work.MOST_CELLS", 1)
    assert ann.post(f"{address}/cells", part=False, kind="text", text="y").status_code == 422
    monkeypatch.setattr("querygate.control.saved.notebooks.MOST_OF_ONE", 0)
    assert ann.post("/notebooks", part=False, name="x", dataset="clinic").status_code == 422


def test_it_is_renamed_and_deleted_when_asked_twice(ann):
    address = begin(ann)
    ann.post(address, part=False, name="Renamed")
    assert "Renamed" in ann.get(address).text
    assert ann.post(address, part=False, name="").status_code == 422
    assert "Delete this notebook?" in ann.post(f"{address}/delete", part=False).text
    ann.post(f"{address}/delete", part=False, sure="yes")
    assert ann.get(address).status_code == 404


@each("route", [page for page in notebook_pages.PAGES if page.method == "POST"])
def test_a_form_without_its_proof_changes_nothing(ann, route):
    address = begin(ann, ("query", SQL))
    cell = cells_of(ann, address)[0]
    path = route.rule.replace("/notebooks/<notebook_id>", address).replace("<cell_id>", cell)
    before = ann.get(address).text
    form = {"proof": "x", "name": "x", "dataset": "clinic", "text": "x", "act": "remove", "sure": "yes"}
    refused = ann.client.post(path.replace("<any(share, unshare):act>", "share"), data=form)
    assert (refused.status_code, "QG306" in refused.text) == (400, True)
    assert ann.get(address).text == before


def test_whoever_may_not_ask_has_no_notebooks(people):
    assert people["reviewer"].get("/notebooks").status_code == 403
