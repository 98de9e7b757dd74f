"""The console of those who look after a site, in a browser: an attack found, a table published, pages for everybody."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from waitress.server import create_server

from tests.api.console_site import make_console_site
from tests.api.small_site import csv_text
from tests.work import HANG_S

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The console's site behind a server, with a worker at work."""
    site = make_console_site(tmp_path_factory.mktemp("custodian"), "upload_mb = 5\n")
    server = create_server(site.app, host="127.0.0.1", port=0, threads=8)
    over = threading.Event()
    threads = [
        threading.Thread(target=server.run, daemon=True),
        threading.Thread(target=site.worker.run, args=(over.is_set,), daemon=True),
    ]
    for thread in threads:
        thread.start()
    yield site.small, f"http://127.0.0.1:{server.effective_port}"
    over.set()
    server.close()
    for thread in threads:
        thread.join(10)


@pytest.fixture(scope="module")
def case(chromium, served):
    """Where the case is that an audit of the classic attack has found."""
    small, url = served
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for name, path in (("ann", "/datasets/clinic"), ("carl", "/audits/clinic")):
        page.goto(f"{url}/sign-in?next={path}")
        page.fill("#key", small.keys[name])
        page.press("#key", "Enter")
        if name == "ann":
            for last in (50, 51):
                page.fill("#sql", f"SELECT AVG(sbp) FROM clinic WHERE age BETWEEN 30 AND {last}")
                page.click("#run")
            page.click("text=Sign out")
    page.click("text=Audit the log now")
    until_s = time.monotonic() + HANG_S
    while not page.locator(".case a").count():  # without script, one looks again
        assert time.monotonic() < until_s
        page.wait_for_timeout(100)
        page.goto(f"{url}/audits/clinic")
    page.click(".case a")
    address = page.url.removeprefix(url)
    context.close()
    return address


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
    page.click("button:text-is('Ask them again')")
    page.wait_for_selector("h2 >> text=asked again")
    assert "BETWEEN 30 AND 51" in page.locator("main").inner_text()
    assert grave_findings(page, "what if") == []


def test_a_policy_shows_what_it_would_answer(open_page):
    page = open_page("carl", "/publish")
    page.set_input_files("#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": csv_text(60).encode()})
    page.click("text=Upload and draft a policy")
    page.wait_for_selector(".cm-editor")
    page.click("text=Try your own questions")
    page.fill("#questions", "SELECT sex, COUNT(*) FROM a GROUP BY sex;")
    page.click("text=What would be usable?")
    page.wait_for_selector("h2 >> text=What would be answered")
    assert "(about 30)" in page.locator("section", has_text="What would be answered").inner_text()
    assert grave_findings(page, "preview") == []


DARK = {
    "carl": (
        *("/today", "/site", "/access/users/ann", "/datasets/clinic", "/-/patterns"),
        "/docs/how-to/use-the-console",
    )
}
"""On a phone in the dark colours differ, and more of a page scrolls."""

PAGES = {
    "carl": (
        *("/today", "/audits", "/log", "/log/3", "/access", "/access/users/ann", "/site"),
        *("/publish", "/publish/datasets/clinic", "/datasets", "/datasets/clinic", "/history", "/requests", "/nowhere"),
        *("/-/patterns", "/docs/api"),
    ),
    "olaf": ("/datasets/clinic", "/access"),
    "dora": ("/access/users/bob",),
    "ann": ("/datasets/clinic/request", "/saved", "/notebooks"),
}


def grave_findings(page, where):
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    grave = [one for one in found if one["impact"] in GRAVE]
    return [f"{where}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in grave]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_anybody_out(open_page, case, scheme):
    found = []
    for name, paths in (PAGES if scheme == "light" else DARK).items():
        page = open_page(name, "/history" if name == "ann" else paths[0], color_scheme=scheme)
        if scheme == "dark":
            page.set_viewport_size({"width": 360, "height": 740})
        address = page.url[: -len("/history" if name == "ann" else paths[0])]
        for path in (*paths, *([case] if name == "carl" else [])):
            page.goto(address + path)
            found += grave_findings(page, f"{name} {path} {scheme}")
    assert found == []


CHOICES = ("/publish/datasets/clinic", "/-/patterns")


def test_pages_fit_a_phone(open_page, case):
    page = open_page("carl", "/today", is_mobile=True, has_touch=True)
    page.set_viewport_size({"width": 360, "height": 740})
    address = page.url.removesuffix("/today")
    wide = []
    for path in (
        "/today",
        "/audits/clinic",
        case,
        "/log",
        "/access",
        "/access/users/ann",
        "/site",
        "/publish",
        *CHOICES,
    ):
        page.goto(address + path)
        if not page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"):
            wide.append(path)
    assert wide == []
