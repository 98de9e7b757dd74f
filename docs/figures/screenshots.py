"""Takes the pictures of the main pages: light and dark, wide and narrow, on the demo survey, in docs/figures/pages.

Run: make screenshots (needs Playwright and Chromium)
"""

from __future__ import annotations

import io
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from waitress.server import create_server

import querygate.demo
from querygate.control import Actor, Grantee
from querygate.core.errors import Refusal
from querygate.core.types import Principal, Request
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, now, open_gate
from querygate.web import create_app

DATA = Path(querygate.demo.__file__).parent
FOLDER = Path(__file__).parent / "pages"
SQL = "SELECT ethnicity, COUNT(*), AVG(systolic)\nFROM survey\nWHERE age BETWEEN 40 AND 59\nGROUP BY ethnicity"
REFUSED = "SELECT education, AVG(sistolic)\nFROM survey\nWHERE sex = 'female'\nGROUP BY education"
WIDE, NARROW = (1180, 860), (390, 844)
COLOURS = 96  # pages have few; the files stay small
PEOPLE = {"rita": "researcher", "carl": "custodian", "mara": "researcher", "jonas": "researcher"}
"""Who signs in, by name."""

BEFORE = {
    "mara": ("SELECT sex, AVG(systolic) FROM survey GROUP BY sex", "SELECT bmi FROM survey WHERE age = 44"),
    "jonas": ("SELECT education, COUNT(*) FROM survey GROUP BY education", "SELECT AVG(bmi) FROM survey WHERE smoked"),
    "rita": ("SELECT AVG(diastolic) FROM survey WHERE age < 40", "SELECT COUNT(*), AVG(weight) FROM survey"),
}
"""What others asked before the pictures are taken, again and again; of each pair the second is refused."""

A_DAY = (2, 4, 3, 0, 0, 5, 7, 4, 6, 3, 0, 1, 5, 4)
"""How often, on each day of two weeks."""


@dataclass(frozen=True)
class Shot:
    """One page, as somebody sees it; `asks` is what they type first."""

    name: str
    path: str
    who: str = ""
    asks: str = ""


SHOTS = (
    Shot("sign-in", "/sign-in"),
    Shot("dataset", "/datasets/survey", "rita"),
    Shot("answer", "/datasets/survey", "rita", SQL),
    Shot("refusal", "/datasets/survey", "rita", REFUSED),
    Shot("today", "/today", "carl"),
    Shot("log", "/log", "carl"),
    Shot("access", "/access", "carl"),
    Shot("manual", "/docs/tutorial/first-query"),
    Shot("search", "/docs/search?q=refused"),
    Shot("explorer", "/docs/api"),
)


@contextmanager
def demo_site() -> Iterator[tuple[str, dict[str, str]]]:
    """A served site with the demo survey, and a key for each of the people."""
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        opened.log.clock = partial(days_ago, len(A_DAY))
        publish_to(opened, load_policy(DATA / "survey.toml"), str(DATA / "survey.csv"), user="carl")
        keys = {name: make_person(opened, name, role) for name, role in PEOPLE.items()}
        for name in BEFORE:
            opened.grants.add(Grantee("user", name), "survey", ("interval",), by=Actor("carl"))
        ask_for_two_weeks(opened)
        server = create_server(create_app(opened), host="127.0.0.1", port=0, threads=4)
        threading.Thread(target=server.run, daemon=True).start()
        yield f"http://127.0.0.1:{server.effective_port}", keys
        server.close()


def days_ago(days: int) -> datetime:
    return now() - timedelta(days=days)


def ask_for_two_weeks(opened: OpenSite) -> None:
    """So that there is something to see of what was asked."""
    for day, times in enumerate(A_DAY):
        opened.log.clock = partial(days_ago, len(A_DAY) - 1 - day)
        for number in range(times):
            for place, (name, texts) in enumerate(BEFORE.items()):
                is_refused = (day + number + place) % 6 == 0
                if number >= place:
                    with suppress(Refusal):
                        answer(Request(Principal(name, "researcher"), "survey", texts[is_refused]), opened.gate)
    opened.log.clock = now


def make_person(opened: OpenSite, name: str, role: str) -> str:
    opened.accounts.add_user(name, role)
    return opened.accounts.keys.new(name).secret


def ask(page: Page, sql: str) -> None:
    page.click(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(sql)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#result svg, #result .refusal, #result [role=alert]")


def sign_in(page: Page, address: str, key: str) -> None:
    page.goto(f"{address}/sign-in")
    page.fill("#key", key)
    page.press("#key", "Enter")
    page.wait_for_load_state()


def keep(page: Page, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
    picture.save(FOLDER / f"{name}.png", optimize=True)


def take_all(browser: Browser, address: str, keys: dict[str, str], size: str, scheme: Literal["light", "dark"]) -> None:
    width, height = WIDE if size == "wide" else NARROW
    for who in ("", "rita", "carl"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        if who:
            sign_in(page, address, keys[who])
        for shot in SHOTS:
            if shot.who == who:
                page.goto(address + shot.path, wait_until="networkidle")
                if shot.asks:
                    ask(page, shot.asks)
                keep(page, f"{shot.name}-{size}-{scheme}")
        context.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with demo_site() as (address, keys), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for size in ("wide", "narrow"):
            for scheme in ("light", "dark"):
                take_all(browser, address, keys, size, scheme)
        browser.close()
    total = sum(path.stat().st_size for path in FOLDER.glob("*.png"))
    print(f"{FOLDER}: {total / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
