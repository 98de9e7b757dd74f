"""A real browser on a real server: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import threading

import pytest
from waitress.server import create_server

from querygate.web import create_app
from tests.api.small_site import make_small_site

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


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


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The small site behind a server of its own; its address is `url`."""
    small = make_small_site(tmp_path_factory.mktemp("browser"))
    server = create_server(create_app(small.opened), host="127.0.0.1", port=0, threads=4)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield small, f"http://127.0.0.1:{server.effective_port}"
    server.close()
    thread.join(10)


@pytest.fixture
def open_page(chromium, served):
    """A page of somebody signed in. Whatever a browser complains of, errors and broken rules, fails the test."""
    contexts, complaints = [], []

    def opened(name="ann", path="/datasets/clinic", **settings):
        small, url = served
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if "Security" in message.text else None)
        page.on("request", lambda sent: None if sent.url.startswith((url, "blob:")) else complaints.append(sent.url))
        page.goto(url + path)
        page.fill("#key", small.keys[name])
        page.press("#key", "Enter")
        page.wait_for_url(url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
