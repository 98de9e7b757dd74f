"""OpenAPI, the pages, and the explanations of codes: complete, and true."""

from __future__ import annotations

import re

import pytest

from querygate.core.errors import CODES, Refusal
from querygate.core.types import Catalog, Column
from querygate.sql import understand
from querygate.web.openapi import make_openapi
from querygate.web.refusal_explanations import EXPLANATIONS
from querygate.web.route_reference import SECTIONS
from querygate.web.routes import ROUTES
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.shapes import misfits
from tests.sql.study import NATIVE

PAGES = ["/sign-in", "/docs", "/docs/reference/refusals"]
PATIENTS = Catalog(
    "patients",
    1,
    "",
    5,
    100,
    (
        Column("age", 0, "quasi-identifier", "integer", False, 0, 120),
        Column("sex", 1, "quasi-identifier", "category", False, values=("F", "M")),
        Column("sbp", 2, "sensitive", "integer", False, 40, 300),
        Column("visited", 3, "quasi-identifier", "date", False, 0, 30_000),
    ),
)


def test_openapi_describes_exactly_what_the_application_serves(app, get):
    served = {
        (re.sub(r"<(?:[^>]*:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        # The console and the documentation are for people.
        if rule.endpoint != "static" and not rule.endpoint.startswith(("page:", "docs:"))
    }
    document = get("/openapi.json").json
    described = {(path, method) for path, operations in document["paths"].items() for method in operations}
    assert described == served
    assert document["openapi"] == "3.1.0"


def test_every_reference_in_openapi_leads_somewhere():
    text = str(make_openapi())
    assert set(re.findall(r"#/components/schemas/(\w+)", text)) <= set(SCHEMAS)


def test_every_path_parameter_is_described():
    for route in ROUTES:
        named = set(re.findall(r"\{(\w+)\}", route.path))
        assert named == {p.name for p in route.parameters if p.where == "path"}


def test_locked_routes_ask_for_a_key_and_say_what_they_refuse():
    paths = make_openapi()["paths"]
    for route in ROUTES:
        operation = paths[route.path][route.method.lower()]
        assert operation["security"] == ([{"key": []}] if route.who else [])
        assert ("401" in operation["responses"]) == bool(route.who)
        assert "500" in operation["responses"]


@pytest.mark.parametrize("name", [name for name in SCHEMAS if "example" in SCHEMAS[name]])
def test_every_example_has_the_shape_it_stands_for(name):
    assert misfits(SCHEMAS[name]["example"], SCHEMAS[name]) == []


def test_every_route_is_on_the_reference_page(get):
    text = get("/docs/reference/http").text
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(route.name for route in ROUTES)
    for route in ROUTES:
        assert f"<code>{route.method} {route.path}</code>" in text


def test_every_code_is_explained_and_no_other():
    assert set(EXPLANATIONS) == set(CODES)
    assert all(e.means and e.do and e.example for e in EXPLANATIONS.values())


@pytest.mark.parametrize("code", [code for code in CODES if EXPLANATIONS[code].accepted])
def test_the_explained_statements_are_refused_and_accepted_as_it_says(code):
    with pytest.raises(Refusal) as refused:
        understand(EXPLANATIONS[code].example, PATIENTS, NATIVE)
    assert refused.value.code == code
    assert understand(EXPLANATIONS[code].accepted, PATIENTS, NATIVE).dataset == "patients"


@pytest.mark.parametrize("path", PAGES)
def test_pages_bring_everything_themselves(get, path):
    response = get(path)
    assert response.status_code == 200
    assert response.content_type == "text/html; charset=utf-8"
    assert not re.findall(r"<script(?![^>]*\bsrc=\"/static/)", response.text)
    assert not re.findall(r"<style|\sstyle=|\son\w+=", response.text)
    assert not re.findall(r"(?:src|href)=\"(?!/|#)", response.text)
    for asset in re.findall(r"(?:src|href)=\"(/static/[^\"]+)\"", response.text):
        assert get(asset).status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_labelled(get, path):
    text = get(path).text
    assert '<html lang="en">' in text
    assert 'name="viewport"' in text
    assert len(re.findall(r"<h1", text)) == 1
    for field in re.findall(r"<(?:input|select|textarea)[^>]*\bid=\"(\w+)\"", text):
        assert f'<label for="{field}">' in text


def test_the_first_page_tells_no_dataset_without_a_key(get):
    assert get("/").headers["Location"] == "/sign-in?next=/"
    assert "clinic" not in get("/sign-in").text


def test_the_first_page_escapes_the_host_it_was_asked_under(client):
    text = client.get("/sign-in", headers={"Host": 'x"><script>alert(1)</script>'}).text
    assert "<script>alert" not in text


@pytest.mark.parametrize("name", ["gate", "console", "audits"])
def test_the_key_is_kept_nowhere(get, name):
    script = get(f"/static/{name}.js").text
    assert not re.findall(r"localStorage|sessionStorage|document\.cookie|innerHTML|eval\(", script)
