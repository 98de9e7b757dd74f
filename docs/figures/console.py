"""Takes docs/figures/console.png: a question and its answer in the console, on the demo survey.

Run: python docs/figures/console.py (needs Playwright and Chromium)
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright
from waitress.server import create_server

import querygate.demo
from querygate.custody.roots.publish_version import publish_to
from querygate.custody.policy import load_policy
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app

DATA = Path(querygate.demo.__file__).parent
SQL = "SELECT ethnicity, COUNT(*), AVG(systolic)\nFROM survey\nWHERE age BETWEEN 40 AND 59\nGROUP BY ethnicity"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        publish_to(opened, load_policy(DATA / "survey.toml"), str(DATA / "survey.csv"), user="figure")
        opened.accounts.add_user("carl", "custodian")
        key = opened.accounts.new_key("carl").secret
        server = create_server(create_app(opened), host="127.0.0.1", port=0, threads=4)
        threading.Thread(target=server.run, daemon=True).start()
        take_picture(f"http://127.0.0.1:{server.effective_port}", key)
        server.close()


def take_picture(address: str, key: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 860}, color_scheme="light")
        page.goto(f"{address}/datasets/survey")
        page.fill("#key", key)
        page.press("#key", "Enter")
        page.click(".cm-content")
        page.keyboard.press("Control+A")
        page.keyboard.type(SQL)
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#result svg")
        page.screenshot(path=Path(__file__).with_suffix(".png"))
        browser.close()


if __name__ == "__main__":
    main()
