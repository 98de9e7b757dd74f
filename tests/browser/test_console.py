"""The console as a person uses it, in a browser."""

from __future__ import annotations

import pytest
from flask import Flask

from querygate.web import create_app
from tests.browser.conftest import serving
from tests.browser.test_custodian import grave_findings


def write(page, sql):
    page.click(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.type(sql)


def test_from_the_door_to_a_first_answer_by_keyboard_alone(open_page, served):
    page = open_page()
    page.context.clear_cookies()
    page.goto(f"{served.url}/datasets/clinic")  # whoever is not signed in is sent to sign in, and back
    page.wait_for_selector("#key:focus")
    page.keyboard.type(served.site.small.keys["ann"])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{served.url}/datasets/clinic")
    page.wait_for_selector(".cm-editor")
    write(page, "SELECT sex, COUNT(*), AVG(sbp) FROM clinic GROUP BY sex")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#result svg")
    assert page.locator("#result svg").count() == 2
    assert page.locator("#result tbody tr").count() == 2
    page.reload()  # as whoever comes back to it
    page.wait_for_selector("#result svg")
    assert "AVG(sbp)" in page.locator(".cm-content").inner_text()


def test_a_refusal_is_repaired_a_table_built_and_a_width_explained(open_page):
    page = open_page()
    write(page, "SELECT sex, AVG(sbq) FROM clinic GROUP BY sex")
    page.click("#run")
    page.wait_for_selector(".cm-lintRange-error")
    assert page.locator(".cm-lintRange-error").inner_text() == "sbq"
    page.click("text=Use this instead")
    page.wait_for_selector("#result tbody tr")
    assert page.locator(".cm-lintRange-error").count() == 0
    assert "AVG(sbp)" in page.locator(".cm-content").inner_text()

    page.click("text=Build a table")
    page.select_option("#t-measure", "median")
    page.select_option("#t-of", "sbp")
    page.select_option("#t-rows", "sex")
    page.click("text=Write the statement")
    page.click("text=Run it")
    page.wait_for_selector("#result th >> text=median_sbp")
    assert "MEDIAN(sbp)" in page.locator(".cm-content").inner_text()

    write(page, "SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 33 AND 57")
    page.click("#run")
    page.wait_for_selector("#result th >> text=avg_sbp")
    page.click("#result >> text=Why is it this wide?")
    page.wait_for_selector(".why")
    with page.expect_download() as saved:
        page.click("text=PNG")
    assert saved.value.suggested_filename.endswith(".png")


def test_a_phone_in_the_dark(open_page):
    page = open_page(color_scheme="dark", is_mobile=True, has_touch=True)
    page.set_viewport_size({"width": 360, "height": 740})
    page.click("#run")
    page.wait_for_selector("#result table")
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(16, 23, 22)"


def test_pages_work_without_script(open_page):
    page = open_page(java_script_enabled=False)
    page.fill("#sql", "SELECT COUNT(*) FROM clinic")
    page.click("#run")
    assert page.locator("#result tbody td").first.inner_text() == "40 exactly"
    page.click("text=Link to this answer")
    assert page.locator("h1").inner_text() == "Answer"


def test_a_notebook_is_written_and_read_on_a_phone(open_page):
    page = open_page(path="/notebooks", color_scheme="dark", is_mobile=True, has_touch=True)
    page.set_viewport_size({"width": 390, "height": 740})
    page.fill("#n-name", "Table 1 <b>")
    page.click("button:text-is('Create')")
    page.fill("#new-text", "Everybody who came in **2024**.")
    page.click("text=Add as text")
    page.wait_for_selector(".markdown strong")
    page.fill("#new-text", "SELECT sex, COUNT(*) FROM clinic GROUP BY sex")
    page.click("text=Add as a query")
    page.wait_for_selector(".cell table")
    assert page.locator("h1").inner_text() == "Table 1 <b>"
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    with page.expect_download() as saved:
        page.click("text=Jupyter")
    assert saved.value.suggested_filename.endswith(".ipynb")
    assert grave_findings(page, "notebook") == []


def test_distributions_histograms_and_models_are_drawn_and_saved(open_page):
    page = open_page()
    drawn = {
        "SELECT QUANTILE_CONT(sbp, [0.1, 0.5, 0.9]) FROM clinic": "steps",
        "SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) FROM clinic GROUP BY decade": "histogram",
        "SELECT ODDS_RATIO(sbp > 130, sex = 'F') AS r FROM clinic": "ratios",
    }
    found = []
    for sql, kind in drawn.items():
        write(page, sql)
        page.click("#run")
        page.wait_for_selector(f"#result svg.{kind}")
        found += grave_findings(page, kind)
    with page.expect_download() as saved:
        page.click("#result >> text=SVG")
    assert saved.value.suggested_filename.endswith(".svg")
    page.click("summary >> text=Fit a model")
    page.select_option("#m-family", "linear")
    page.fill("#m-formula", "sbp ~ bands(age) + sex")
    page.click("text=Fit the model")
    page.wait_for_selector("#result svg.intervals .limits")
    found += grave_findings(page, "model")
    with page.expect_download() as saved:
        page.click("#result >> text=PNG")
    assert saved.value.suggested_filename.endswith("-model.png")
    assert found == []


@pytest.fixture
def unescaped(monkeypatch, served):
    """The same site, but that what people wrote is put into pages as it is."""
    with monkeypatch.context() as patch:
        patch.setattr(Flask, "select_jinja_autoescape", lambda app, name: False)
        app = create_app(served.site.opened)
        assert app.jinja_env.autoescape is not None
    return app


@pytest.mark.parametrize("has_policy", [True, False])
def test_a_script_that_came_into_a_page_runs_only_without_the_content_policy(open_page, served, unescaped, has_policy):
    def app(environ, start):
        def begin(status, headers, *more):
            kept = [one for one in headers if has_policy or one[0] != "Content-Security-Policy"]
            return start(status, kept, *more)

        return unescaped(environ, begin)

    page = open_page("ann", "/history")
    with serving(served.site, app) as other:
        alone = page.context.new_page()
        cookies = [{**one, "url": other.url} for one in page.context.cookies(served.url)]
        alone.context.add_cookies([{"name": one["name"], "value": one["value"], "url": other.url} for one in cookies])
        alone.goto(f"{other.url}/history?q=%22%3E%3Cscript%3Edocument.title='taken over'%3C/script%3E")
        assert "<script>document.title" in alone.content()
        assert (alone.title() == "taken over") is not has_policy
        alone.close()
