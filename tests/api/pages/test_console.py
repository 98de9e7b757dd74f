"""The console: signing in, asking, coming back to answers, and everything that must not work."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest

import querygate.web
from querygate.web.console import console, device_pages, sign_in_pages
from querygate.web.console.page_session import COOKIE
from querygate.web.console.snippets import Snippets
from querygate.web.console.table_builder import MEASURES, TableChoice, TableFilter, write_statement
from tests.api.browser import PART, Browser
from tests.each import each

PAGES = (*console.PAGES, *sign_in_pages.PAGES, *device_pages.PAGES)
TEMPLATES = Path(querygate.web.__file__).parent / "templates"
COUNT = "SELECT sex, COUNT(*), AVG(sbp) FROM clinic GROUP BY sex"


@pytest.fixture
def ann(app, small):
    return Browser(app, small.keys["ann"])


def answer_id(page):
    return re.search(r"q_[0-9A-Z]{26}", page.text)[0]


# -- coming in -----------------------------------------------------------------------------------------------------


def test_a_key_opens_a_session_that_no_script_can_read(app, small):
    response = app.test_client().post("/sign-in", data={"key": f" {small.keys['ann']} ", "next": "/history?q=x"})
    assert (response.status_code, response.headers["Location"]) == (303, "/history?q=x")
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert small.keys["ann"] not in cookie
    https = app.test_client().post("/sign-in", data={"key": small.keys["ann"]}, base_url="https://gate.example.org")
    assert "Secure" in https.headers["Set-Cookie"]


@each("key", ["", "qg_", "qg_aaaaaaaa_" + "a" * 52, "ann", "ä" * 100])
def test_a_wrong_key_opens_nothing(app, key):
    response = app.test_client().post("/sign-in", data={"key": key})
    assert response.status_code == 401
    assert "The key is missing or not valid." in response.text
    assert "Set-Cookie" not in response.headers


@each("next", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)", ""])
def test_signing_in_leads_nowhere_else(app, small, next):
    response = app.test_client().post("/sign-in", data={"key": small.keys["ann"], "next": next})
    assert response.headers["Location"] == "/"


@each("route", [page for page in PAGES if page.who == "session"])
def test_whoever_is_not_signed_in_is_sent_to_sign_in(app, route):
    path = re.sub(r"<[^>]+>", "1", route.rule.replace("<any(csv, json, parquet, arrow):form>", "csv"))
    for cookie in ("", "x", "a" * 64):
        client = app.test_client()
        client.set_cookie(COOKIE, cookie)
        response = client.open(path, method=route.method)
        assert response.status_code == 303
        assert response.headers["Location"].startswith("/sign-in?next=")
    assert app.test_client().open(path, method=route.method, headers=PART).headers["HX-Redirect"]


def test_signing_out_ends_the_session(app, small):
    browser = Browser(app, small.keys["bob"])
    token = browser.client.get_cookie(COOKIE).value
    assert browser.post("/sign-out", part=False).status_code == 303
    client = app.test_client()
    client.set_cookie(COOKIE, token)
    assert client.get("/history").status_code == 303


def test_signing_in_again_ends_the_session_before(app, small):
    browser = Browser(app, small.keys["ann"])
    before = browser.client.get_cookie(COOKIE).value
    browser.client.post("/sign-in", data={"key": small.keys["bob"]})
    after = browser.client.get_cookie(COOKIE).value
    assert before != after
    client = app.test_client()
    client.set_cookie(COOKIE, before)
    assert client.get("/").status_code == 303


# -- what other sites can do ---------------------------------------------------------------------------------------


@each("route", [page for page in PAGES if page.method == "POST" and page.who == "session"])
def test_a_form_without_its_proof_is_refused(ann, route):
    path = route.rule.replace("<dataset>", "clinic")
    for proof in ("", "x", "0" * 64):
        response = ann.client.post(path, data={"proof": proof, "sql": COUNT})
        assert response.status_code == 400
        assert "QG306" in response.text
    assert ann.get("/history").status_code == 200  # nobody was signed out


@each(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_a_form_of_another_site_is_refused(ann, small, headers):
    assert ann.client.post("/sign-in", data={"key": small.keys["bob"]}, headers=headers).status_code == 400
    sent = ann.client.post("/datasets/clinic/answer", data={"proof": ann.proof, "sql": COUNT}, headers=headers)
    assert sent.status_code == 400


def test_pages_let_in_nothing_from_elsewhere(ann):
    for path in ("/", "/datasets/clinic", "/history", "/sign-in"):
        policy = ann.get(path).headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert ann.get(path).headers["Cache-Control"] == "no-store"
    nonces = {re.search(r"nonce-([\w-]+)", ann.get("/").headers["Content-Security-Policy"])[1] for _ in range(3)}
    assert len(nonces) == 3


@each("template", sorted(TEMPLATES.rglob("*.html")))
def test_no_page_has_script_or_style_of_its_own(template):
    text = template.read_text()
    if template.parent.name == "files":  # what is downloaded is no page: it carries its style along, and nothing else
        text = re.sub(r"(?s)<style>.*?</style>", "", text, count=1)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:|https?://", text)
    assert "|safe" not in text


# -- asking --------------------------------------------------------------------------------------------------------


def test_an_answer_is_a_table_and_pictures_of_it(ann, ask):
    page = ann.ask(COUNT)
    assert page.status_code == 200
    assert "<html" not in page.text
    assert page.text.count("<svg") == 2
    readable = ask(COUNT, options={"readable": True}).json["readable"]["rows"]
    for row in readable:
        for cell in row:
            assert f">{cell}</t" in unescape(page.text)


def test_a_browser_without_script_gets_whole_pages(ann):
    for path, form in (("answer", {"sql": COUNT}), ("price", {"sql": COUNT}), ("statement", {"rows": "sex"})):
        page = ann.post(f"/datasets/clinic/{path}", part=False, **form)
        assert page.status_code == 200
        assert "</html>" in page.text
    refused = ann.post("/datasets/clinic/answer", part=False, sql="SELECT * FROM clinic")
    assert refused.status_code == 422
    assert "</html>" in refused.text


def test_a_refusal_shows_its_place_and_what_to_use_instead(ann):
    page = ann.ask("SELECT sex,\n  AVG(sbq) FROM clinic GROUP BY sex")
    assert page.status_code == 422
    assert 'data-line="2" data-column="7" data-length="3"' in page.text
    suggested = unescape(re.search(r'data-sql="([^"]+)" data-run="true">Use this instead', page.text)[1])
    assert ann.ask(suggested).status_code == 200


def test_width_is_explained_with_questions_that_are_answered(ann):
    page = ann.ask("SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 33 AND 57", explain="true")
    assert "Why is it this wide?" in page.text
    for sql in re.findall(r'class="sql" type="button" data-sql="([^"]+)"', page.text):
        assert ann.ask(unescape(sql)).status_code == 200


@each("form", [{"mode": "both"}, {"mode": "laplace", "epsilon": "many"}, {"mode": "laplace", "epsilon": "-1"}])
def test_a_form_with_a_wrong_field_is_refused(ann, form):
    page = ann.ask(COUNT, **form)
    assert page.status_code == 400
    assert "QG306" in page.text


def test_an_unknown_dataset_is_a_page_too(ann):
    for page in (ann.get("/datasets/nothing"), ann.get("/datasets/%3Cb%3E")):
        assert page.status_code == 404
        assert "QG303" in page.text
        assert "<b>" not in page.text


# -- coming back ---------------------------------------------------------------------------------------------------


def test_an_answer_can_be_opened_and_saved_again(ann, get):
    query_id = answer_id(ann.ask(COUNT))
    page = ann.get(f"/answers/{query_id}")
    assert unescape(page.text).count(COUNT) >= 1
    for form in ("csv", "json", "parquet", "arrow"):
        saved = ann.get(f"/answers/{query_id}/{form}")
        assert saved.data == get(f"/api/v1/answers/{query_id}.{form}", "ann").data
        assert saved.headers["Content-Disposition"].startswith("attachment")
    picture = ann.get(f"/answers/{query_id}/chart-0.svg")
    assert picture.text.startswith("<svg")
    assert "xmlns" in picture.text
    assert ann.get(f"/answers/{query_id}/chart-9.svg").status_code == 404


def test_answers_and_history_are_ones_own(app, small, ann):
    query_id = answer_id(ann.ask("SELECT COUNT(*) AS only_of_ann FROM clinic"))
    for name in ("bob", "carl"):
        other = Browser(app, small.keys[name])
        assert "only_of_ann" not in other.get("/history").text
        missing = other.get("/answers/q_01KJKB3Q00Z5V7N0M1C2X3Y4W5").text
        for path in (f"/answers/{query_id}", f"/answers/{query_id}/csv", f"/answers/{query_id}/chart-0.svg"):
            page = other.get(path)
            assert page.status_code == 404
            assert page.text == missing
    assert "only_of_ann" in ann.get("/history").text


def test_history_is_searched_by_words(ann):
    ann.ask("SELECT COUNT(*) AS needle FROM clinic WHERE age > 40")
    ann.ask("SELECT nonsense FROM clinic")
    assert "needle" in ann.get("/history?q=NEEDLE+age").text
    assert "Nothing found" in ann.get("/history?q=needle+haystack").text
    assert "QG203" in ann.get("/history?q=nonsense").text


def test_a_page_that_is_loaded_again_shows_what_was_asked_and_asks_nothing(app, small, ann):
    answered = re.search(r'data-asked="(q_\w{26})"', ann.ask("SELECT COUNT(*) AS people FROM clinic").text)
    refused = re.search(r'data-asked="(q_\w{26})"', ann.ask("SELECT nonsense FROM clinic").text)
    assert answered
    assert refused
    before = len(list(small.opened.log.queries()))
    page = ann.get(f"/datasets/clinic?asked={answered[1]}").text
    assert "COUNT(*) AS people" in page
    assert ">40 exactly</td>" in page
    assert ">SELECT nonsense FROM clinic</textarea>" in ann.get(f"/datasets/clinic?asked={refused[1]}").text
    for nothing in ("q_", "x" * 200, "../../x"):
        assert ann.get(f"/datasets/clinic?asked={nothing}").status_code == 200
    assert (
        "COUNT(*) AS people" not in Browser(app, small.keys["carl"]).get(f"/datasets/clinic?asked={answered[1]}").text
    )  # somebody else's
    assert len(list(small.opened.log.queries())) == before > 1


SCRIPT = "<script>alert(1)</script>"


def test_what_was_written_is_shown_as_text(ann):
    ann.ask(f"SELECT COUNT(*) AS \"{SCRIPT}\" FROM clinic WHERE sex = '{SCRIPT}'")
    pages = [
        ann.ask(f'SELECT COUNT(*) AS "{SCRIPT}" FROM clinic'),
        ann.ask(f"SELECT '{SCRIPT}"),
        ann.get(f"/history?q={SCRIPT}"),
        ann.get(f"/datasets/clinic?sql={SCRIPT}"),
        ann.get(f"/sign-in?next=/{SCRIPT}"),
        ann.post("/datasets/clinic/statement", rows=SCRIPT, filter="sex", value=SCRIPT),
    ]
    pages.append(ann.get(f"/answers/{answer_id(pages[0])}"))
    for page in pages:
        assert SCRIPT not in page.text
    drawn = ann.get(f"/answers/{answer_id(pages[0])}/chart-0.svg")
    assert SCRIPT not in drawn.text


def test_code_to_copy_is_quoted_for_its_language():
    sql = 'SELECT COUNT(*) FROM t -- it\'s \\ "x" $HOME `id`'
    written = Snippets(5433)("http://gate.example:8080", "t", sql, "ann")
    assert list(written) == ["Python", "R", "curl", "psql"]
    assert repr(sql) in written["Python"]
    assert shlex.split(written["psql"])[-1] == sql
    assert shlex.split(written["psql"])[:5] == ["psql", "-h", "gate.example", "-p", "5433"]
    assert json.loads(shlex.split(written["curl"])[-1]) == {"dataset": "t", "sql": sql}
    assert json.dumps(sql) in written["R"]
    assert "psql" not in Snippets()("http://gate.example:8080", "t", sql, "ann")


# -- tables without SQL --------------------------------------------------------------------------------------------


def test_every_table_that_can_be_built_is_answered(ann, get):
    described = get("/api/v1/datasets/clinic", "ann").json
    choices = [
        TableChoice(measure, of, rows, columns, (TableFilter(filter, **only), TableFilter("sex", "M"), TableFilter("")))
        for measure in MEASURES
        for of, rows, columns, filter, only in (
            ("", "", "", "", {"value": "F"}),
            ("sbp", "sex", "", "age", {"low": "40", "high": "60.5"}),
            ("age", "sex", "sex", "sex", {"value": "F"}),
            ("nothing", "nothing", "sex", "sbp", {"low": "110"}),
            ("sbp", "age", "sex", "", {}),
        )
    ]
    for choice in choices:
        sql = write_statement(choice, described)
        assert ann.ask(sql).status_code == 200, sql


def test_what_is_typed_into_a_table_stays_a_value(get):
    described = get("/api/v1/datasets/clinic", "ann").json
    hostile = "x' OR 1=1 --"
    sql = write_statement(TableChoice(filters=(TableFilter("sex", value=hostile),)), described)
    assert sql.endswith("WHERE sex = 'x'' OR 1=1 --'")
    sql = write_statement(TableChoice(filters=(TableFilter("age", low=hostile, high="1e3"),)), described)
    assert sql.endswith("WHERE age >= 'x'' OR 1=1 --' AND age <= 1000.0")


# -- files ---------------------------------------------------------------------------------------------------------


def test_scripts_travel_compressed(client):
    plain = client.get("/static/editor.js", buffered=True)
    small = client.get("/static/editor.js", headers={"Accept-Encoding": "gzip"}, buffered=True)
    assert "Content-Encoding" not in plain.headers
    assert small.headers["Content-Encoding"] == "gzip"
    assert len(small.data) < len(plain.data) / 2
    pages = sum(
        len(client.get(f"/static/{name}", headers={"Accept-Encoding": "gzip"}, buffered=True).data)
        for name in ("editor.js", "htmx.js", "console.js", "theme.css", "console.css", "mark.svg")
    )
    assert pages < 200_000


@each(
    "choice, condition",
    [
        (TableChoice(filters=(TableFilter("sex", low="F", high="M"),)), "sex >= 'F' AND sex <= 'M'"),
        (TableChoice(filters=(TableFilter("age", value="50"),)), "age = 50"),
        (TableChoice(filters=(TableFilter("age", value="fifty"),)), "age = 'fifty'"),
        (TableChoice(filters=(TableFilter("sbp", value="25,5"),)), "sbp = '25,5'"),
        (TableChoice(filters=(TableFilter("codes", value="J45.0"),)), "has_code(codes, 'J45.0')"),
        (TableChoice(filters=(TableFilter("smoker", value="ja"),)), "smoker = 'ja'"),
        (TableChoice(filters=(TableFilter("smoker", value="No"),)), "smoker = false"),
        (TableChoice(filters=(TableFilter("born", value="01.01.1960"),)), "born = DATE '01.01.1960'"),
    ],
)
def test_nothing_that_was_filled_in_is_left_out(get, choice, condition):
    """A condition that is dropped, or turned round, would show the answer to another question as exact."""
    described = get("/api/v1/datasets/clinic", "ann").json
    described["columns"] += [
        {"name": "codes", "type": "codes"},
        {"name": "smoker", "type": "boolean"},
        {"name": "born", "type": "date"},
    ]
    assert write_statement(choice, described).endswith(f"WHERE {condition}")


@each("scope", ["worker", "oversee", "admin", "publish", "review"])
def test_a_key_opens_no_page_beyond_its_scope(app, small, ann, scope):
    query_id = answer_id(ann.ask(COUNT))
    for owner in ("ann", "carl"):
        browser = Browser(app, small.opened.accounts.keys.new(owner, scopes=(scope,)).secret)
        pages = ["/history", f"/answers/{query_id}", f"/answers/{query_id}/csv", f"/answers/{query_id}/chart-0.svg"]
        assert [browser.get(page).status_code for page in pages] == [403] * 4
        assert browser.ask(COUNT).status_code == 403


def test_signing_in_takes_no_line_breaks_along(app, small):
    response = app.test_client().post("/sign-in", data={"key": small.keys["ann"], "next": "/\r\nX-Y: z"})
    assert (response.status_code, response.headers["Location"]) == (303, "/")
