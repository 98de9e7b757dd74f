"""The console of those who look after a site, in a browser: an attack found, a table published, pages for everybody."""

from __future__ import annotations

import re

import pytest

from querygate.web.console.page_session import COOKIE
from tests.api.small_site import csv_text
from tests.browser.crawl.crawler import AXE, GRAVE, RUN_AXE, Onlooker, State
from tests.work import wait_until


@pytest.fixture(scope="module")
def case(served):
    """Where the case is that an audit of the classic attack has found."""
    for last in (50, 51):
        served.site["ann"].ask(f"SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND {last}")
    served.site["carl"].post("/audits/clinic/run", part=False)
    case = re.compile(r'href="(/audits/clinic/c_\w+)"')
    return wait_until(lambda: case.search(served.site["carl"].get("/audits/clinic").text), 0.1)[1]


def test_an_attack_is_seen_explained_and_resolved(open_page, case):
    page = open_page("carl", "/audits/clinic")
    page.click(".case a")
    assert page.locator("mark").all_inner_texts() == ["50", "51"]
    assert "age BETWEEN 30 AND 51, without age BETWEEN 30 AND 50" in page.locator("main").inner_text()
    page.click("text=Unmask (logged)")
    page.wait_for_selector("text=People's values are shown below")  # the page goes on by itself when the job is done
    told = page.locator("main").inner_text()
    assert "age = 51" in told
    assert "40 to 300" in told
    page.reload()
    assert "age = 51" not in page.locator("main").inner_text()
    page.fill("#note", "We talked. It was a slip.")
    page.click("button:text-is('Resolve')")
    page.wait_for_selector("h1 >> text=resolved")
    page.click("text=Audits of clinic")
    assert "Every case is resolved" in page.locator("main").inner_text()


def test_a_table_is_published_from_an_upload(open_page):
    page = open_page("carl", "/publish")
    file = {"name": "visits.csv", "mimeType": "text/csv", "buffer": csv_text(60).encode()}
    page.set_input_files("#file", file)
    page.click("text=Upload and draft a policy")
    page.wait_for_selector(".cm-editor")
    assert "dataset = " in page.locator(".cm-content").inner_text()
    policy = page.locator("#policy").input_value()
    page.evaluate("text => window.querygateEditor.replace(text)", policy.replace('role = "', 'role = "un', 1))
    page.click("button:text-is('Check')")
    page.wait_for_selector(".cm-lintRange-error")
    assert 'role = "un' in page.locator(".cm-lintRange-error").first.inner_text()
    page.evaluate("text => window.querygateEditor.replace(text)", policy)
    page.click("text=Try your own queries")
    page.fill("#questions", "SELECT sex, COUNT(*) FROM visits GROUP BY sex;")
    page.click("text=What would be usable?")
    page.wait_for_selector("h2 >> text=Answers that researchers would get")
    assert "(about 30)" in page.locator("section", has_text="Answers that researchers would get").inner_text()
    assert grave_findings(page, "preview") == []
    page.check("text=I have checked every column")
    page.click("button:text-is('Publish')")
    page.wait_for_selector("text=of visits is served")
    page.click("text=Query it")
    page.wait_for_selector("h1 >> text=visits")


def test_what_each_choice_costs_is_drawn_and_listed(open_page, case):
    page = open_page("carl", "/publish/datasets/clinic")
    page.click("button:text-is('Draw the map')")
    page.wait_for_selector("svg.map")
    assert page.locator("svg.map circle").count() == 1  # the version, among what it could be
    assert grave_findings(page, "map") == []
    with page.expect_download() as saved:
        page.click("text=PNG")
    assert saved.value.suggested_filename.endswith("-map.png")
    page.click("text=Versions of clinic")
    page.click("button:text-is('Run them again')")
    page.wait_for_selector("h2 >> text=run again")
    assert "BETWEEN 30 AND 51" in page.locator("main").inner_text()
    assert grave_findings(page, "what if") == []


WIDE, PHONE = (1280, "light"), (360, "dark")
"""On a phone in the dark colours differ, and more of a page scrolls."""

BOTH = (WIDE, PHONE)
EXAMINED = {
    "carl": ("/-/patterns", "/today", "/log", "/access", "/site", "/datasets/clinic", "/publish/datasets/clinic"),
    "dora": ("/access/users/bob",),
    "ann": ("/datasets/clinic/request", "/notebooks"),
}
"""All parts of pages, and a page of each kind, every time; `make soak ONLY=pages` has every page in every state."""

FITTING = ("/audits/clinic", "/access/users/ann", "/publish", "/docs/how-to/use-the-console")


def grave_findings(page, where):
    page.evaluate(AXE)
    grave = [one for one in page.evaluate(RUN_AXE) if one["impact"] in GRAVE]
    return [f"{where}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in grave]


def test_no_page_keeps_anybody_out_or_is_wider_than_a_phone(chromium, served, case):
    wrong = {}
    for name, paths in EXAMINED.items():
        context = chromium.new_context()
        token = served.site[name].client.get_cookie(COOKIE).value
        context.add_cookies([{"name": COOKIE, "value": token, "url": served.url}])
        onlooker = Onlooker(context, served.url, is_cold=False)
        states = [State(path, path, looks=BOTH) for path in paths]
        if name == "carl":
            states += [State(path, path, looks=(PHONE,), is_examined=False) for path in FITTING]
            states += [State(case, case, looks=BOTH), State("no such page", "/nowhere", statuses=(404,), looks=(WIDE,))]
        seen = {f"{name} {state.name}": onlooker.look(state).wrong() for state in states}
        wrong |= {name: found for name, found in seen.items() if found}
        context.close()
    assert wrong == {}
