"""The page to ask from: what its scripts look for is on it, and where they call there is something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import querygate.web
from querygate.web.routes import ROUTES

WEB = Path(querygate.web.__file__).parent
PAGES = {"querygate.js": "home.html", "audits.js": "audits.html"}


@pytest.mark.parametrize("script", PAGES)
def test_what_a_script_looks_for_is_on_its_page(script: str) -> None:
    wanted = set(re.findall(r'byId\("([\w-]+)"\)', (WEB / "static" / script).read_text()))
    found = set(re.findall(r'id="([\w-]+)"', (WEB / "templates" / PAGES[script]).read_text()))
    assert wanted
    assert wanted <= found


@pytest.mark.parametrize("script", PAGES)
def test_where_a_script_calls_there_is_something(script: str) -> None:
    called = re.findall(r'call\([`"]([^`"?]+)', (WEB / "static" / script).read_text())
    rules = [re.sub(r"<[^>]+>", "[^/]+", route.rule).replace(".", r"\.") for route in ROUTES]
    assert called
    for path in called:
        plain = re.sub(r"\$\{[^}]*\}", "x", path)
        assert any(re.fullmatch(rule, plain) for rule in rules), path
