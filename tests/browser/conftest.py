"""A real browser on a real server: Debian's Chromium, driven by Playwright.

Whoever signs in does so once: a session is begun without the browser, and each person keeps one window for each kind of
window. Tests about signing in type their keys.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow.parquet as pq
import pytest

from querygate.custody.use_cases.publish_version import publish_to
from querygate.web.console.page_session import COOKIE
from tests.api.console_site import ConsoleSite, copy_console_site, make_console_site
from tests.unit.custody.extract.study import POLICY, records
from tests.waitress_server import waitress
from tests.work import HANG_S

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
ARGUMENTS += ["--disable-extensions", "--disable-dev-shm-usage", "--renderer-process-limit=2"]


@dataclass(frozen=True)
class Served:
    """A site behind a server of its own."""

    site: ConsoleSite
    url: str


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("Chromium is not installed (tests/install_tools.sh installs it on Debian).")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def serving(site: ConsoleSite, app=None) -> Iterator[Served]:
    """The site behind a server, with a worker at work; or another application of it, beside that."""
    over = threading.Event()
    worker = threading.Thread(target=site.worker.run, args=(over.is_set,), daemon=True)
    with waitress(app or site.app, threads=8) as address:
        if app is None:
            worker.start()
        yield Served(site, address)
    over.set()
    if app is None:
        worker.join(HANG_S)


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """Forty patients to ask about, a trial to have extracts of, and people of every role."""
    folder = tmp_path_factory.mktemp("browser")
    site = make_console_site(folder, "upload_mb = 5\nextract_reviewers = 2\n")
    pq.write_table(records(), folder / "trial.parquet")
    publish_to(site.opened, POLICY.parsed(), str(folder / "trial.parquet"), user="carl")
    return site


@pytest.fixture(scope="module")
def served(published, tmp_path_factory):
    """A copy for each module to change."""
    with serving(copy_console_site(published, tmp_path_factory.mktemp("served"))) as given:
        yield given


@pytest.fixture(scope="module")
def windows(chromium):
    """Windows that are open, by whose and which; closed at the end."""
    opened = {}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def open_page(chromium, served, windows):
    """A page of somebody signed in. Whatever a browser complains of, errors and broken rules, fails the test."""
    pages, complaints = [], []

    def opened(name="ann", path="/datasets/clinic", **settings):
        key = (served.url, name, json.dumps(settings, sort_keys=True))
        if key not in windows:
            seen = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}  # what turns costs work
            windows[key] = chromium.new_context(**seen, **settings)
            token = served.site[name].client.get_cookie(COOKIE).value
            windows[key].add_cookies([{"name": COOKIE, "value": token, "url": served.url}])
        page = windows[key].new_page()
        pages.append(page)
        page.set_default_timeout(1000 * HANG_S)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if "Security" in message.text else None)
        page.on(
            "request", lambda sent: None if sent.url.startswith((served.url, "blob:")) else complaints.append(sent.url)
        )
        page.goto(served.url + path)
        return page

    yield opened
    for page in pages:
        page.close()
    assert complaints == []
