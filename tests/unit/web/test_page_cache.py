"""Once the stock is filled, a page that nobody has seen yet is compiled and drawn from what is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment

from querygate.site.open_gate import open_gate
from querygate.web import create_app, fill_stock
from querygate.web.manual import library, search_index
from tests.empty_site import empty_site

PAGES = ("/sign-in", "/docs/reference/map", "/docs/reference/policy", "/docs/search?q=cuts", "/nowhere")


def test_the_first_view_of_a_page_compiles_and_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError("done while somebody waits for a page")

    fill_stock()
    client = create_app(open_gate(empty_site(tmp_path / "site"))).test_client()
    monkeypatch.setattr(Environment, "_generate", refuse)
    monkeypatch.setattr(library, "render", refuse)
    monkeypatch.setattr(search_index, "strip_marks", refuse)
    assert [client.get(page).status_code for page in PAGES] == [200, 200, 200, 200, 404]
