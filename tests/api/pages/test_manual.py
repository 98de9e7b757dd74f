"""The documentation inside the gate: complete, reachable without a key, searchable, and nothing but the pages."""

from __future__ import annotations

import gzip
import re
import runpy
from html import unescape
from pathlib import Path

import pytest

from querygate.core.errors import CODES
from querygate.web.help_page import help_page
from querygate.web.manual.contents import make_contents
from querygate.web.manual.library import Library
from querygate.web.manual.manual_pages import Manual
from querygate.web.manual.search_index import find, make_sections
from querygate.web.manual.static_site import StaticSite
from querygate.web.routes import ROUTES
from tests.docs.pages import ROOT, all_pages, anchors
from tests.each import each

LIBRARY = Library(ROOT)
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def drawn(app):
    """Every page as it is served, by name."""
    client = app.test_client()
    return {name: client.get(f"/docs/{name}".rstrip("/")).text for name in LIBRARY.documents}


def test_a_gate_without_its_pages_still_begins(tmp_path):
    """Whoever packs the code alone has no documentation in the gate, and a gate."""
    manual = Manual(Library(tmp_path))
    manual.prepare()
    assert make_contents(Library(tmp_path)) == []


def test_every_page_is_served(drawn):
    left_out = {ROOT / "README.md"}  # the front page of the repository
    assert {document.file for document in LIBRARY.documents.values()} == set(all_pages()) - left_out
    assert all("<h1" in text for text in drawn.values())


def test_every_link_between_pages_leads_to_a_page_and_a_heading(drawn, get):
    ids = {name: set(re.findall(r'id="([^"]+)"', text)) for name, text in drawn.items()}
    lost = set()
    for name, text in drawn.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            path, _, anchor = unescape(target).partition("#")
            there = path.removeprefix("/docs").strip("/") if path else name
            if (not path or path.startswith("/docs")) and there in ids:
                lost |= {(name, target)} if anchor and anchor not in ids[there] else set()
            elif not path.startswith(("/", "https://", "http://")) or (
                path.startswith(("/docs", "/static")) and get(path).status_code != 200
            ):
                lost.add((name, target))
    assert lost == set()


def test_headings_are_linked_as_the_repository_links_them(drawn):
    for document in LIBRARY.documents.values():
        assert anchors(document.file) <= set(re.findall(r'id="([^"]+)"', drawn[document.name])), document.name


def test_pages_need_no_script_and_no_other_host(drawn):
    for name, text in drawn.items():
        assert not re.findall(r"<(?:script|style|iframe|object)|\sstyle=|\son\w+=\"", text), name
        assert not re.findall(r"<(?:img|link|script)[^>]*(?:src|href)=\"(?!/)", text), name


@each("code", CODES)
def test_a_refusal_is_one_click_away_from_its_explanation(drawn, get, code):
    assert get(f"/docs/refusals#{code}").headers["Location"] == "/docs/reference/refusals"
    assert f'id="{code}"' in drawn["reference/refusals"]
    assert help_page(code).address.removeprefix("/docs/") in drawn


def test_a_problem_names_the_page_that_helps(get, ask):
    assert get("/api/v1/nowhere").json["help"] == "/docs/reference/http"
    assert ask("SELECT * FROM clinic").json["help"] == "/docs/reference/sql"


OUTSIDE = """
../pyproject.toml ..%2f..%2fpyproject.toml %2e%2e/%2e%2e/etc/passwd /etc/passwd ..\\pyproject.toml
figures/../../pyproject.toml figures/ranges.py measured.py how-to/ index.md how-to/deploy.md
figures/ranges.png%00.md figures/%252e%252e/ranges.png ./figures/ranges.png tutorial//first-query
"""


@each("path", OUTSIDE.split())
def test_nothing_but_pages_is_served(get, path):
    assert get(f"/docs/{path}").status_code == 404


@each(
    "asked", [SCRIPT, '"><img src=x onerror=alert(1)>', "'; DROP TABLE x; --", "(" * 200, "\\", "%", "é" * 500, "a.*"]
)
def test_a_search_shows_what_was_asked_as_text(app, asked):
    shown = app.test_client().get("/docs/search", query_string={"q": asked})
    assert shown.status_code == 200
    assert SCRIPT not in shown.text
    assert "<img src=x" not in shown.text


def test_a_search_finds_pages_by_the_beginnings_of_words(get):
    found = re.findall(r'<a href="(/docs/[^"]+#[^"]+)"', get("/docs/search?q=qg204").text)
    assert found[0] == "/docs/reference/refusals#qg204"
    found = re.findall(r'<a href="(/docs/[^"]+#[^"]+)"', get("/docs/search?q=standardis+rate").text)
    assert "/docs/how-to/fit-a-model#standardise-rates" in found
    assert "Nothing was found" in get("/docs/search?q=xyzzyplugh").text
    assert "Type a word" in get("/docs/search?q=++").text


def test_sections_are_found_under_the_anchors_that_pages_have(drawn):
    for document in LIBRARY.documents.values():
        ids = set(re.findall(r'id="([^"]+)"', drawn[document.name]))
        assert {section.anchor for section in make_sections(document)} <= ids, document.name


def test_pages_are_kept_until_they_change(client):
    first = client.get("/docs/glossary")
    again = client.get("/docs/glossary", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_a_page_may_load_what_is_here_and_nothing_else(get):
    for path in ("/docs", "/docs/search?q=x", "/docs/api"):
        policy = get(path).headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'self';")
        assert "form-action 'self'" in policy
        assert "data:" not in policy


def test_every_call_of_the_api_is_on_its_page_which_is_small(client, get):
    page = get("/docs/api").text
    assert sorted(re.findall(r'<details class="call" id="([a-z_]+)"', page)) == sorted(one.name for one in ROUTES)
    for route in ROUTES:
        assert f'data-call="{route.method}" data-path="{route.path}"' in page
    linked = set(re.findall(r'href="#(shape-\w+)"', page))
    assert linked <= set(re.findall(r'id="(shape-\w+)"', page))
    sent = client.get("/docs/api", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(sent.data).decode() == page
    assert len(sent.data) < 60_000
    assert client.get("/docs/api", headers={"Accept-Encoding": "identity"}).text == page


def test_a_hostile_page_is_shown_as_text(tmp_path):
    """Pages are ours; if one were not, its markup would still not get through."""
    (tmp_path / "docs").mkdir()
    links = "[a](javascript:alert(1)) [b](../../etc/passwd)"
    text = f"# {SCRIPT}\n\n## Pages\n\n{links} {SCRIPT}\n\n{SCRIPT}\n<!-- gone -->\n"
    (tmp_path / "docs" / "index.md").write_text(text)
    library = Library(tmp_path)
    page = library.draw(library.documents[""], str)
    assert "<script" not in page.html
    assert 'href="javascript' not in page.html
    assert "gone" not in page.html
    assert "passwd" not in page.html
    assert find(make_sections(library.documents[""]), "alert")


def test_the_same_pages_for_the_web(tmp_path):
    written = StaticSite(Library(ROOT), tmp_path).write()
    assert written == len(LIBRARY.documents)
    lost = []
    for page in tmp_path.rglob("*.html"):
        for target in re.findall(r'(?:href|src|action)="([^"#]+)', page.read_text(encoding="utf-8")):
            if not target.startswith(("https://", "http://")) and not (page.parent / target).resolve().is_file():
                lost.append((page.name, target))
    assert lost == []
    assert (tmp_path / "search.json").is_file()


def test_a_wheel_has_every_page_and_picture():
    packed = set(runpy.run_path(str(ROOT / "hatch_build.py"))["find_pages"](ROOT))
    needed = {*(d.file for d in LIBRARY.documents.values()), *LIBRARY.pictures.values()}
    assert {str(path) for path in needed} <= packed
    assert not [path for path in packed if Path(path).suffix == ".py"]
